package server_test

import (
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"sort"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/meowdis/meowdis/commands"
	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/lua"
	"github.com/meowdis/meowdis/resp"
	"github.com/meowdis/meowdis/script"
	"github.com/meowdis/meowdis/server"
)

// serveFaulty serves a store whose translations, steps and decoders panic while faulty is set. It counts the
// panics that are logged.
func serveFaulty(t *testing.T, faulty *atomic.Bool) (s *served, logged *atomic.Int64) {
	st, err := local.Open(t.TempDir()+"/db.sqlite", local.Options{SweepEvery: -1, Lanes: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close() })
	logged = &atomic.Int64{}
	c := server.Config{Engine: engine.New(st, engine.WithHook(func() {
		if faulty.Load() {
			panic("injected")
		}
	}))}
	c.Logger = slog.New(slog.NewTextHandler(writerFunc(func(line []byte) (int, error) {
		if text := string(line); strings.Contains(text, "panic=") && strings.Contains(text, "stack=") {
			logged.Add(1)
		}
		return len(line), nil
	}), nil))
	return serve(t, c), logged
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// broken sends a pipeline, and reads replies until the server closes the connection.
func (s *served) broken(t *testing.T, calls ...[]string) (replies []string) {
	t.Helper()
	p := s.dial(t)
	defer p.Close()
	var wire []byte
	for _, args := range calls {
		wire = resp.AppendCommand(wire, words(args...)...)
	}
	p.send(string(wire))
	for {
		p.SetReadDeadline(time.Now().Add(20 * time.Second))
		v, err := p.r.ReadReply()
		if err == io.EOF {
			return replies
		}
		if err != nil {
			t.Fatalf("%v: %v", calls, err)
		}
		replies = append(replies, show(v))
	}
}

// works fails the test unless reads, writes and transactions work over RESP and REST.
func (s *served) works(t *testing.T, after string) {
	t.Helper()
	p := s.dial(t)
	defer p.Close()
	for range 2 { // of each connection of the store
		if got := show(p.do("SET", "works", "1")) + show(p.do("GET", "works")) + show(p.do("EVAL_RO", "return redis.call('get','works')", "0")); got != "OK"+`"1""1"` {
			t.Fatalf("after %s: %s", after, got)
		}
	}
	if status, got := s.get(t, "/get/works"); status != http.StatusOK || got != `{"result":"1"}` {
		t.Fatalf("after %s over REST: %d %s", after, status, got)
	}
}

// TestPanickingCommands has each command of the table panic in its translation or decoder: alone, in a
// pipeline, in MULTI and over REST.
func TestPanickingCommands(t *testing.T) {
	var faulty atomic.Bool
	s, logged := serveFaulty(t, &faulty)
	const says = "internal error: injected"
	for _, cmd := range commands.All() {
		args := strings.Fields(cmd.Name + " 1 1 1 1 1 1")
		if cmd.Arity > 0 && cmd.Arity <= len(args) {
			args = args[:cmd.Arity]
		}
		if cmd.Flags&(commands.Blocking|commands.Admin|commands.PubSub|commands.NoMulti) != 0 || cmd.Name == "QUIT" || cmd.Name == "MEMORY STATS" {
			continue // the last one runs others
		}
		faulty.Store(true)
		before := logged.Load()
		end := []string{"QUIT"} // for a command that does not come to its translation
		var panicked int64
		for _, calls := range [][][]string{{args, end}, {args, args, end}, {{"MULTI"}, args, {"EXEC"}, end}} {
			if got := s.broken(t, calls...); strings.Contains(strings.Join(got, " "), says) {
				panicked++
			}
		}
		if _, got := s.request(t, "POST", "/", fmt.Sprintf(`["%s"]`, strings.Join(args, `","`))); strings.Contains(got, says) {
			panicked++
		}
		faulty.Store(false)
		if now := logged.Load() - before; now != panicked {
			t.Errorf("%v: %d replies, and %d lines in the log", args, panicked, now)
		}
	}
	if logged.Load() < 500 {
		t.Errorf("only %d commands panicked", logged.Load())
	}
	s.works(t, "all commands")
}

// TestPanickingFunctions has each Lua function panic in scripts that write, that only read, in MULTI and over REST.
func TestPanickingFunctions(t *testing.T) {
	var armed atomic.Pointer[string]
	none := ""
	armed.Store(&none)
	names := map[string]bool{}
	script.Hook = func(st *lua.State) {
		wrap(st.Globals, "", map[*lua.Table]bool{}, func(name string, f *lua.Function) lua.Value {
			names[name] = true
			return lua.Of(lua.GoFunc(name, func(s *lua.State, args []lua.Value) []lua.Value {
				if *armed.Load() == name {
					panic("injected")
				}
				return s.Invoke(lua.Of(f), args...)
			}))
		})
	}
	defer func() { script.Hook = nil }()
	script.NewMachine()
	var sorted []string
	for name := range names {
		sorted = append(sorted, name)
	}
	sort.Strings(sorted)
	if len(sorted) < 80 {
		t.Fatalf("there are only %d functions", len(sorted))
	}
	var faulty atomic.Bool
	s, logged := serveFaulty(t, &faulty)
	const says = "internal error: injected"
	for _, name := range sorted {
		armed.Store(&name)
		writes := []string{"EVAL", "redis.call('set','written','1') return " + name + "('get','works')", "0"}
		reads := []string{"EVAL_RO", "return " + name + "('get','works')", "0"}
		if name == "redis.call" {
			writes = reads
		}
		before := logged.Load()
		for _, calls := range [][][]string{{writes}, {reads}, {{"MULTI"}, {"SET", "written", "1"}, writes, {"EXEC"}}} {
			got := s.broken(t, calls...)
			if len(got) != len(calls) || !strings.Contains(got[len(got)-1], says) {
				t.Errorf("%s: %q", name, got)
			}
		}
		_, got := s.request(t, "POST", "/", fmt.Sprintf(`["EVAL_RO",%q,"0"]`, reads[1]))
		if !strings.Contains(got, says) {
			t.Errorf("%s over REST: %s", name, got)
		}
		if logged.Load()-before != 4 {
			t.Errorf("%s: %d lines in the log", name, logged.Load()-before)
		}
		armed.Store(&none)
		p := s.dial(t)
		if got := show(p.do("EXISTS", "written")); got != show(resp.Zero) {
			t.Fatalf("%s: the script was not rolled back", name)
		}
		p.Close()
		s.works(t, name)
	}
}

// wrap replaces the functions of a table and of those in it.
func wrap(t *lua.Table, prefix string, seen map[*lua.Table]bool, by func(name string, f *lua.Function) lua.Value) {
	if t == nil || seen[t] {
		return
	}
	seen[t] = true
	var keys []string
	for k, _, _ := t.Next(lua.Nil); !k.IsNil(); k, _, _ = t.Next(k) {
		if name, is := k.AsString(); is && !strings.HasPrefix(name, "_") {
			keys = append(keys, name)
		}
	}
	for _, key := range keys {
		v := t.Field(key)
		if f := v.AsFunction(); f != nil {
			t.SetField(key, by(prefix+key, f))
		} else {
			wrap(v.AsTable(), prefix+key+".", seen, by)
		}
	}
}

// TestScriptOverflow replies with an error to an offset that no integer has.
func TestScriptOverflow(t *testing.T) {
	s := serve(t, server.Config{})
	p := s.dial(t)
	for _, args := range []string{`"!i4","abcdefgh",1e300`, `"!8i8","abcdefgh",9223372036854775807`, `"i4","abcdefgh",-1e300`, `">!16i16c0","abcdefgh",2^63`} {
		if v := p.do("EVAL", "return struct.unpack("+args+")", "0"); !v.IsError() || strings.Contains(string(v.Str), "internal") {
			t.Errorf("%s: %s", args, show(v))
		}
	}
	s.works(t, "overflows")
}

// TestLargeReplies reads replies of 1 and 33 MB whole, and one of 100 MB, on each way that a reply takes.
func TestLargeReplies(t *testing.T) {
	s := serve(t, server.Config{})
	filler := s.dial(t)
	const mb = 1 << 20
	for _, size := range []int{1, 33, 100} {
		value := strings.Repeat("x", mb)
		for _, key := range []string{"string", "list", "hash", "json", "set", "zset"} {
			filler.do("DEL", key)
		}
		element := func(i int) string { return value + fmt.Sprint(i) }
		for i := range size {
			filler.do("RPUSH", "list", element(i))
			if size < 100 {
				filler.do("HSET", "hash", fmt.Sprint(i), element(i))
				filler.do("SADD", "set", element(i))
				filler.do("ZADD", "zset", fmt.Sprint(i), element(i))
			}
		}
		reads := [][]string{{"LRANGE", "list", "0", "-1"}}
		if size < 100 {
			filler.do("SET", "string", strings.Repeat(value, size))
			filler.do("JSON.SET", "json", "$", `{"a":"`+strings.Repeat(value, size)+`"}`)
			reads = append(reads, []string{"GET", "string"}, []string{"HGETALL", "hash"}, []string{"JSON.GET", "json"}, []string{"JSON.GET", "json", "INDENT", " ", "$"}, []string{"SMEMBERS", "set"},
				[]string{"ZRANGE", "zset", "0", "-1", "WITHSCORES"}, []string{"GETRANGE", "string", "0", "-1"}, []string{"MGET", "string"}, []string{"HVALS", "hash"}, []string{"SORT", "list", "ALPHA"},
				[]string{"EVAL", "return redis.call('get','string')", "0"}, []string{"DUMP", "string"})
		}
		for _, args := range reads {
			for i, before := range [][][]string{nil, {{"CLIENT", "TRACKING", "OFF"}}, {{"MULTI"}}, {{"PING"}, {"PING"}}} {
				if size > 1 && i > 0 && args[0] != "LRANGE" {
					continue // the loop's way only
				}
				p := s.dial(t)
				calls := append(append([][]string{}, before...), args)
				replies := len(calls)
				if len(before) == 1 && before[0][0] == "MULTI" {
					calls, replies = append(calls, []string{"EXEC"}), 3
				}
				var wire []byte
				for _, call := range append(calls, []string{"PING"}) {
					wire = resp.AppendCommand(wire, words(call...)...)
				}
				p.send(string(wire))
				var v resp.Value
				for range replies {
					v = p.reply()
				}
				if n := weightOf(v); n < size*mb {
					t.Errorf("%v after %v: %d bytes of %d MB", args, before, n, size)
				}
				if got := show(p.reply()); got != "PONG" {
					t.Errorf("%v after %v: then %s", args, before, got)
				}
				p.Close()
			}
			if size > 1 && args[0] != "LRANGE" {
				continue
			}
			if _, got := s.request(t, "POST", "/", `["`+strings.Join(args, `","`)+`"]`); len(got) < size*mb || !strings.HasSuffix(got, "}") {
				t.Errorf("%v over REST: %d bytes of %d MB", args, len(got), size)
			}
		}
	}
}

// weightOf is how many bytes the strings of a reply have.
func weightOf(v resp.Value) int {
	n := len(v.Str)
	for _, e := range v.Elems {
		n += weightOf(e)
	}
	return n
}
