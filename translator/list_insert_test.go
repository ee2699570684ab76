package translator_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
)

// pattern describes where to insert the i-th of the elements n0, n1, … in a list that begins with "first" and "last".
type pattern struct {
	n     int // fewer if the pivot moves away from the head, since it is searched for
	where func(i int) (side, pivot string)
}

var patterns = map[string]pattern{
	"after one pivot":     {2000, func(int) (string, string) { return "AFTER", "first" }},
	"before the newest":   {2000, func(i int) (string, string) { return "BEFORE", newest(i, "last") }},
	"before the old head": {1000, func(int) (string, string) { return "BEFORE", "a" }},
	"before one pivot":    {1000, func(int) (string, string) { return "BEFORE", "last" }},
	"after the newest":    {1000, func(i int) (string, string) { return "AFTER", newest(i, "first") }},
	"after the old tail":  {1000, func(int) (string, string) { return "AFTER", "z" }},
	"around the newest": {1000, func(i int) (string, string) {
		if i%2 == 0 {
			return "BEFORE", newest(i, "last")
		}
		return "AFTER", newest(i, "first")
	}},
}

func newest(i int, first string) string {
	if i == 0 {
		return first
	}
	return "n" + strconv.Itoa(i-1)
}

// TestInsertManyAtOneSpot inserts in every pattern and compares with a slice.
func TestInsertManyAtOneSpot(t *testing.T) {
	for name, p := range patterns {
		t.Run(name, func(t *testing.T) {
			c := newClient(t)
			want := []string{"a", "first", "last", "z"}
			c.do(append([]string{"RPUSH", "l"}, want...)...)
			for i := range p.n {
				side, pivot := p.where(i)
				elem := "n" + strconv.Itoa(i)
				at := slices.Index(want, pivot)
				if side == "AFTER" {
					at++
				}
				want = slices.Insert(want, at, elem)
				if got := c.do("LINSERT", "l", side, pivot, elem).Int; got != int64(len(want)) {
					t.Fatalf("insertion %d answered %d", i, got)
				}
			}
			if got := c.list("l"); !slices.Equal(got, want) {
				t.Fatal("the order is not the order of insertion")
			}
			c.do("LPOP", "l", strconv.Itoa(len(want)))
			if c.do("LPUSHX", "l", "x").Int != 0 {
				t.Fatal("the length was wrong: the key is still there")
			}
		})
	}
}

// TestInsertAnywhere mixes insertions at random elements with pushes and removals.
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
			at = min(at, 3) // insert mostly near the head
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

// BenchmarkInsertAtOneSpot inserts after the second element of a growing list; run it with -benchtime=100000x. The
// pivot is found at once, so it measures the time to make space.
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
