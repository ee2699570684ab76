package catalog_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/keyspace/catalog"
)

// TestPagesWhileKeysGo reads all pages of all orders in both directions while keys are deleted.
// The remaining keys must appear once and in order.
func TestPagesWhileKeysGo(t *testing.T) {
	long := func(name string) bool { return len(name) > 3 }
	for _, q := range []catalog.Query{
		{}, {Reverse: true}, {Type: "set"}, {Lifetime: catalog.Expiring}, {Match: long}, {Order: catalog.ByTTL}, {Order: catalog.ByTTL, Match: long},
		{Order: catalog.ByTTL, Reverse: true}, {Order: catalog.BySize}, {Order: catalog.BySize, Reverse: true, Lifetime: catalog.Persistent},
		{Order: catalog.ByBytes, Match: long}, {Order: catalog.ByType}, {Order: catalog.ByUpdated, Type: "string"},
	} {
		for seed := range uint64(4) {
			q, back := q, seed%2 == 1
			f, r := newFixture(t).random(300), rand.New(rand.NewPCG(seed, 3))
			page := f.catalog.Page
			if !q.Indexed() {
				s := f.catalog.Sort(q).InParts(29, 40)
				t.Cleanup(s.Close)
				f.look(s)
				page = s.Page
			}
			whole := names(walk(t, back, func(from catalog.Mark) (catalog.Page, error) { return page(context.Background(), q, from, back, 50) }))
			gone := map[string]bool{}
			got := names(walk(t, back, func(from catalog.Mark) (catalog.Page, error) {
				for range r.IntN(6) {
					name := f.keys[r.IntN(len(f.keys))].name
					f.do("DEL", name)
					gone[name] = true
				}
				return page(context.Background(), q, from, back, 1+r.IntN(9))
			}))
			stayed := func(all []string) []string {
				return slices.DeleteFunc(slices.Clone(all), func(name string) bool { return gone[name] })
			}
			if !slices.Equal(stayed(got), stayed(whole)) || len(stayed(whole)) == 0 {
				t.Errorf("order %d, back %v: got %q, want %q", q.Order, back, stayed(got), stayed(whole))
			}
			if slices.ContainsFunc(got, func(name string) bool { return !slices.Contains(whole, name) }) {
				t.Errorf("order %d, back %v: %q was never there", q.Order, back, got)
			}
		}
	}
}

// TestSortingInParts continues after a cancelled ReadSlice and a new key, and reads the first keys
// before sorting ends.
func TestSortingInParts(t *testing.T) {
	f := newFixture(t)
	for i := range 700 {
		f.add("k"+strings.Repeat("x", i%7)+string(rune('a'+i%26))+string(rune('a'+i/26)), "string", 1+i*37%701, 0)
	}
	f.do("SELECT", "2")
	f.do("SET", "elsewhere", strings.Repeat("x", 5000))
	f.do("SELECT", "0")
	q := catalog.Query{Order: catalog.BySize}
	s := f.catalog.Sort(q).InParts(100, 150)
	defer s.Close()
	ctx, cancel := context.WithCancel(context.Background())
	page := func(n int) (sizes []int64) {
		t.Helper()
		p, err := s.Page(context.Background(), q, catalog.Mark{}, false, n)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range p.Entries {
			sizes = append(sizes, e.Facts.Size)
		}
		return sizes
	}
	if got := page(10); len(got) != 0 {
		t.Errorf("before any key was looked at the page has %d", got)
	}
	for range 3 {
		if err := s.ReadSlice(ctx); err != nil {
			t.Fatal(err)
		}
	}
	var first []int64
	for i := range 300 {
		first = append(first, f.keys[i].size)
	}
	slices.Sort(first)
	slices.Reverse(first)
	if got := page(10); !slices.Equal(got, first[:10]) {
		t.Errorf("the first keys so far have %d, want %d", got, first[:10])
	}
	cancel()
	if err := s.ReadSlice(ctx); !errors.Is(err, context.Canceled) {
		t.Fatalf("a cancelled look ends with %v", err)
	}
	f.add("late", "string", 9999, 0)
	f.look(s)
	if looked, _ := s.Progress(); looked != 702 || s.Len() != 701 {
		t.Errorf("looked at %d keys, %d are in the order", looked, s.Len())
	}
	if got := page(1000); len(got) != 701 || got[0] != 9999 || !slices.IsSortedFunc(got, func(a, b int64) int { return int(b - a) }) {
		t.Errorf("the order is %d", got)
	}
}

// TestSortingByBytesBounds filters by bytes in every order.
func TestSortingByBytesBounds(t *testing.T) {
	f := newFixture(t).random(300)
	for _, order := range []catalog.Order{catalog.ByBytes, catalog.BySize, catalog.ByTTL, catalog.ByType, catalog.ByUpdated} {
		for _, q := range []catalog.Query{{Above: 14}, {Below: 10}, {Above: 9, Below: 12}, {Above: 100_000, Type: "string"}} {
			q.Order = order
			var want []string
			for _, k := range f.live() {
				if k.bytes > q.Above && (q.Below == 0 || k.bytes < q.Below) && (q.Type == "" || q.Type == k.kind) {
					want = append(want, k.name)
				}
			}
			slices.Sort(want)
			unbounded := catalog.Query{Order: order}
			all := f.pages(unbounded)
			shown := names(walk(t, false, func(from catalog.Mark) (catalog.Page, error) {
				return all(context.Background(), unbounded, from, false, 30)
			}))
			page := f.pages(q)
			got := names(walk(t, false, func(from catalog.Mark) (catalog.Page, error) {
				return page(context.Background(), q, from, false, 7)
			}))
			inOrder := slices.DeleteFunc(shown, func(name string) bool { return !slices.Contains(want, name) })
			if order == catalog.ByTTL { // the index orders keys without an expiry by name
				slices.Sort(inOrder)
				slices.Sort(got)
			}
			if !slices.Equal(got, inOrder) || len(got) != len(want) || len(want) == 0 {
				t.Errorf("order %d, %d to %d bytes: %q, want %q", order, q.Above, q.Below, got, inOrder)
			}
		}
	}
	bytes, err := f.catalog.KeyBytes(context.Background(), 0, []string{"user:long", "missing"})
	if err != nil || !slices.Equal(bytes, []int64{140_009, -1}) {
		t.Errorf("the bytes are %d %v", bytes, err)
	}
}
