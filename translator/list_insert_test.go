package translator_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/resp"
)

// client is a session on a store in memory.
type client struct {
	tb      testing.TB
	session *engine.Session
}

func newClient(tb testing.TB) client {
	tb.Helper()
	s, err := local.Open(local.Memory, local.Options{SweepEvery: -1})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { s.Close() })
	return client{tb, engine.New(s).Session()}
}

// do runs one command; neither the store nor the command may fail.
func (c client) do(words ...string) resp.Value {
	c.tb.Helper()
	args := make([][]byte, len(words))
	for i, w := range words {
		args[i] = []byte(w)
	}
	v, err := c.session.Do(context.Background(), args...)
	if err != nil {
		c.tb.Fatal(err)
	}
	if v.IsError() {
		c.tb.Fatalf("%q: %s", words, v.Str)
	}
	return v
}

// list returns all elements of the key.
func (c client) list(key string) []string {
	c.tb.Helper()
	var list []string
	for _, e := range c.do("LRANGE", key, "0", "-1").Elems {
		list = append(list, string(e.Str))
	}
	return list
}

// insertions is a way of inserting: it says where the i-th of the elements
// n0, n1, … goes in a list that began with "first" and "last".
var insertions = map[string]func(i int) (side, pivot string){
	"before one pivot":  func(int) (string, string) { return "BEFORE", "last" },
	"after one pivot":   func(int) (string, string) { return "AFTER", "first" },
	"before the head":   func(int) (string, string) { return "BEFORE", "first" },
	"after the tail":    func(int) (string, string) { return "AFTER", "last" },
	"before the newest": func(i int) (string, string) { return "BEFORE", newest(i, "last") },
	"after the newest":  func(i int) (string, string) { return "AFTER", newest(i, "first") },
	"around the newest": func(i int) (string, string) {
		if i%2 == 0 {
			return "BEFORE", newest(i, "last")
		}
		return "AFTER", newest(i, "first")
	},
}

func newest(i int, first string) string {
	if i == 0 {
		return first
	}
	return "n" + strconv.Itoa(i-1)
}

// TestInsertManyAtOneSpot inserts in every pattern and compares with a slice.
// The list is longer on both sides, so that the spot is inside.
func TestInsertManyAtOneSpot(t *testing.T) {
	const n = 20_000
	for name, where := range insertions {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newClient(t)
			c.do("RPUSH", "l", "a", "first", "last", "z")
			want := []string{"a", "first", "last", "z"}
			at := map[string]int{} // where the pivot of the run was last
			for i := range n {
				side, pivot := where(i)
				elem := "n" + strconv.Itoa(i)
				if got := c.do("LINSERT", "l", side, pivot, elem).Int; got != int64(len(want)+1) {
					t.Fatalf("insertion %d answered %d", i, got)
				}
				from := at[pivot]
				if from >= len(want) || want[from] != pivot {
					from = slices.Index(want, pivot)
				}
				if side == "AFTER" {
					from++
				}
				want = slices.Insert(want, from, elem)
				at[elem] = from
			}
			if got := c.list("l"); !slices.Equal(got, want) {
				t.Fatal("the order is not the order of insertion")
			}
			c.do("LPOP", "l", strconv.Itoa(n+4))
			if c.do("EXISTS", "l").Int != 0 {
				t.Fatal("the length was wrong")
			}
		})
	}
}

// TestInsertAnywhere mixes insertions at random elements with pushes and
// removals.
func TestInsertAnywhere(t *testing.T) {
	c := newClient(t)
	random := rand.New(rand.NewPCG(1, 2))
	c.do("RPUSH", "l", "x")
	want := []string{"x"}
	for i := range 3000 {
		elem := strconv.Itoa(i)
		at := random.IntN(len(want))
		switch random.IntN(8) {
		case 0:
			c.do("LPUSH", "l", elem)
			want = slices.Insert(want, 0, elem)
		case 1:
			c.do("RPUSH", "l", elem)
			want = append(want, elem)
		case 2:
			if len(want) > 1 {
				c.do("LREM", "l", "0", want[at])
				want = slices.Delete(want, at, at+1)
			}
		case 3, 4:
			at = min(at, 3) // crowd the head
			c.do("LINSERT", "l", "AFTER", want[at], elem)
			want = slices.Insert(want, at+1, elem)
		default:
			c.do("LINSERT", "l", "BEFORE", want[at], elem)
			want = slices.Insert(want, at, elem)
		}
	}
	if got := c.list("l"); !slices.Equal(got, want) {
		t.Fatal("the lists differ")
	}
}

// BenchmarkInsertAtOneSpot inserts behind the second element of a list that
// grows with it; run it with -benchtime=100000x. The pivot is found at once, so
// that the time is that of making room.
func BenchmarkInsertAtOneSpot(b *testing.B) {
	for _, spot := range []struct{ side, pivot string }{{"AFTER", "first"}, {"BEFORE", "second"}} {
		b.Run(fmt.Sprintf("%s %s", spot.side, spot.pivot), func(b *testing.B) {
			c := newClient(b)
			if spot.side == "AFTER" {
				c.do("RPUSH", "l", "first", "second", "z")
			} else {
				c.do("RPUSH", "l", "z", "first", "second", "z")
			}
			for b.Loop() {
				c.do("LINSERT", "l", spot.side, spot.pivot, "x")
			}
		})
	}
}
