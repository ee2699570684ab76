package translator_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/internal/test/hostile"
	"github.com/meowdis/meowdis/internal/test/storetest"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store/schema"
)

// writer is a session with the expected strings of its store.
type writer struct {
	t       *testing.T
	session *engine.Session
	strings map[string][]byte
}

func (w writer) do(args ...any) resp.Value {
	w.t.Helper()
	words := make([][]byte, len(args))
	for i, a := range args {
		switch a := a.(type) {
		case []byte:
			words[i] = a
		default:
			words[i] = fmt.Append(nil, a)
		}
	}
	v, err := w.session.Do(context.Background(), words...)
	if err != nil || v.HasError() {
		w.t.Fatalf("%.40q: %s %v", words, v.Str, err)
	}
	return v
}

// write writes b at an offset.
func (w writer) write(key string, offset int, b []byte) {
	value := w.strings[key]
	if grown := offset + len(b); grown > len(value) {
		value = append(value, make([]byte, grown-len(value))...)
	}
	copy(value[offset:], b)
	w.strings[key] = value
}

// check compares every string, and a part of it.
func (w writer) check(what string, from, to int) {
	w.t.Helper()
	for key, want := range w.strings {
		if got := w.do("GET", key).Str; !bytes.Equal(got, want) {
			w.t.Fatalf("after %s, %s has %d bytes and should have %d, or others", what, key, len(got), len(want))
		}
		if n := w.do("STRLEN", key).Int; n != int64(len(want)) {
			w.t.Fatalf("after %s, %s is %d long and should be %d", what, key, n, len(want))
		}
		first, end := min(from, len(want)), min(to+1, len(want))
		if got := w.do("GETRANGE", key, from, to).Str; !bytes.Equal(got, want[first:max(first, end)]) {
			w.t.Fatalf("after %s, %s from %d to %d is %d bytes, or others", what, key, from, to, len(got))
		}
	}
}

// TestLongStrings writes into strings at random, mostly near the ends of parts, and compares them with plain bytes.
func TestLongStrings(t *testing.T) {
	for name, open := range map[string]func() (engine.Store, error){
		"memory":  func() (engine.Store, error) { return local.Open(local.Memory, local.Options{SweepEvery: -1}) },
		"hostile": func() (engine.Store, error) { return hostile.Open() },
	} {
		t.Run(name, func(t *testing.T) {
			s, err := open()
			if err != nil {
				t.Fatal(err)
			}
			random := rand.New(rand.NewPCG(7, 7))
			near := func(n int) int { return max(0, random.IntN(6)*n+random.IntN(7)-3) }
			some := func(n int) []byte {
				b := make([]byte, n)
				for i := range b {
					b[i] = byte(random.IntN(256))
				}
				return b
			}
			w := writer{t, storetest.NewEngine(s, storetest.NewClock()).Session(), map[string][]byte{}}
			for range 250 {
				key, other := string(rune('a'+random.IntN(3))), string(rune('a'+random.IntN(3)))
				at, n := near(schema.StringPart), 1+random.IntN(4)*random.IntN(schema.StringPart)
				what := "SETRANGE"
				switch b := some(n); random.IntN(9) {
				case 0:
					what = "SET"
					w.do("SET", key, b)
					w.strings[key] = b
				case 1:
					what = "MSET"
					w.do("MSET", key, b, other, "short", other, b[:n/2])
					w.strings[key], w.strings[other] = b, bytes.Clone(b[:n/2])
				case 2:
					what = "DEL"
					w.do("DEL", key)
					delete(w.strings, key)
				case 3:
					what = "COPY"
					if w.strings[other] != nil && key != other {
						w.do("COPY", other, key, "REPLACE")
						w.strings[key] = bytes.Clone(w.strings[other])
					}
				case 4:
					what = "APPEND"
					w.do("APPEND", key, b)
					w.write(key, len(w.strings[key]), b)
				case 5:
					what = "SETBIT"
					w.do("SETBIT", key, 8*at+7, 1)
					w.write(key, at, []byte{w.at(key, at) | 1})
				case 6:
					what = "BITFIELD"
					w.do("BITFIELD", key, "SET", "u16", 8*at, 0x4142)
					w.write(key, at, []byte("AB"))
				default:
					w.do("SETRANGE", key, at, b)
					w.write(key, at, b)
				}
				w.check(what, max(0, at-3), at+n)
			}
			storetest.Check(t, s)
		})
	}
}

func (w writer) at(key string, i int) byte {
	if i < len(w.strings[key]) {
		return w.strings[key][i]
	}
	return 0
}

// TestLongValues passes a long value through every command that sets or compares a whole value.
func TestLongValues(t *testing.T) {
	c := newClient(t)
	long, other := strings.Repeat("long", 40_000), strings.Repeat("text", 40_000)
	want := func(reply string, args ...string) {
		t.Helper()
		if got := string(resp.Append2(nil, c.do(args...))); got != reply && got != fmt.Sprintf("$%d\r\n%s\r\n", len(reply), reply) {
			t.Errorf("%.60q: %.60q", args, got)
		}
	}
	want(":1\r\n", "SETNX", "a", long)
	want(":0\r\n", "SETNX", "a", other)
	want(long, "GETSET", "a", other)
	want(other, "SET", "a", long, "GET")
	want("$-1\r\n", "SET", "a", "x", "IFEQ", other)
	want("$-1\r\n", "SET", "a", "x", "IFEQ", "")
	want("+OK\r\n", "SET", "a", other, "IFEQ", long)
	want("$-1\r\n", "SET", "a", "x", "IFNE", other)
	want("+OK\r\n", "SET", "a", long, "IFNE", "")
	want(":0\r\n", "DELEX", "a", "IFEQ", "")
	want(":0\r\n", "DELEX", "a", "IFNE", long)
	want(":1\r\n", "MSETEX", "2", "b", long, "c", other, "NX", "EX", "10")
	want("+OK\r\n", "RESTORE", "d", "0", string(c.do("DUMP", "a").Str))
	want(long, "GETEX", "d", "PERSIST")
	want(":160000\r\n", "BITOP", "XOR", "e", "a", "b")
	want(":0\r\n", "BITCOUNT", "e")
	want("*3\r\n$-1\r\n$160000\r\n"+long+"\r\n$160000\r\n"+other+"\r\n", "MGET", "none", "d", "c")
	want(string(c.do("DIGEST", "a").Str), "DIGEST", "d")
	want(":1\r\n", "DELEX", "d", "IFEQ", long)
	want(":1\r\n", "DELEX", "a", "IFNE", other)
	c.do("RPUSH", "list", "c", "b")
	want("*2\r\n$160000\r\n"+long+"\r\n$160000\r\n"+other+"\r\n", "SORT", "list", "BY", "*", "ALPHA", "GET", "*")
	c.now += 11_000
	want("$-1\r\n", "GET", "b")
	want("+OK\r\n", "SET", "b", "short")
	want("short", "GETDEL", "b")
	storetest.Check(t, c.store)
	c.expect("DEL e list", ":2", "SCAN 0", "*2 $1 0 *0")
	if left := c.exec(`SELECT key_id FROM string_parts WHERE key_id NOT IN (SELECT id FROM keys WHERE key = CAST('c' AS BLOB))`); len(left) > 0 {
		t.Errorf("%d parts without a key are left", len(left))
	}
}
