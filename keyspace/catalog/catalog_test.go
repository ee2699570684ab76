package catalog_test

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/internal/test/storetest"
	"github.com/meowdis/meowdis/keyspace/catalog"
	"github.com/meowdis/meowdis/local"
)

const now = 1_700_000_000_000

// fixture holds a store with keys and the expected content of its catalog.
type fixture struct {
	t       *testing.T
	catalog *catalog.Catalog
	session *engine.Session
	clock   int64
	keys    []key
}

type key struct {
	name    string
	kind    string
	size    int64
	bytes   int64
	expires int64
	updated int64
}

func newFixture(t *testing.T) *fixture {
	f := &fixture{t: t, clock: now}
	clock := func() int64 { return f.clock }
	s, err := local.Open(local.Memory, local.Options{Now: clock, SweepEvery: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	storetest.CheckAtEnd(t, s)
	f.session = engine.New(s, engine.WithClock(clock)).Session()
	f.catalog = catalog.New(s, clock)
	return f
}

func (f *fixture) do(words ...string) {
	f.t.Helper()
	args := make([][]byte, len(words))
	for i, w := range words {
		args[i] = []byte(w)
	}
	v, err := f.session.Do(context.Background(), args...)
	if err != nil || v.IsError() {
		f.t.Fatalf("%q: %v %s", words, err, v.Str)
	}
}

// add creates a key of n elements or bytes that expires in ttl ms, 0 for never.
func (f *fixture) add(name, kind string, n int, ttl int64) {
	k := key{name: name, kind: kind, size: int64(n), bytes: int64(len(name)), updated: f.clock}
	switch kind {
	case "string":
		f.do("SET", name, strings.Repeat("x", n))
		k.bytes += int64(n)
	case "set":
		for i := range n {
			f.do("SADD", name, fmt.Sprintf("m%03d", i))
			k.bytes += 4
		}
	}
	if ttl > 0 {
		k.expires = f.clock + ttl
		f.do("PEXPIRE", name, fmt.Sprint(ttl))
	}
	f.keys = append(f.keys, k)
}

// random adds n keys with difficult names: empty parts, the delimiter at the ends, boundary
// bytes, prefixes of each other.
func (f *fixture) random(n int) *fixture {
	r := rand.New(rand.NewPCG(1, 2))
	parts := []string{"", "a", "b", "user", "\x00", "\xff", "é", "::", "a\xff", "1"}
	seen := map[string]bool{}
	for range n {
		name := ""
		for i := range 1 + r.IntN(4) {
			if i > 0 {
				name += ":"
			}
			name += parts[r.IntN(len(parts))]
			if r.IntN(2) == 0 {
				name += fmt.Sprint(r.IntN(6))
			}
		}
		if seen[name] {
			continue
		}
		seen[name] = true
		f.clock += int64(r.IntN(3))
		f.add(name, []string{"string", "set"}[r.IntN(2)], 1+r.IntN(4), []int64{0, 0, 5_000_000, 60_000, 60_000, 7_000}[r.IntN(6)])
	}
	f.add("user:long", "string", 140_000, 0) // which is kept in parts
	f.add("user:longer", "string", 200_000, 60_000)
	f.do("SELECT", "3")
	f.do("SET", "user:elsewhere", "x", "PX", "60000")
	f.do("SELECT", "0")
	return f
}

func (f *fixture) live() []key {
	return slices.DeleteFunc(slices.Clone(f.keys), func(k key) bool { return k.expires != 0 && k.expires <= f.clock })
}

// walk pages through all, n at a time, and returns the entries in order.
func walk(t *testing.T, back bool, page func(from catalog.Mark) (catalog.Page, error)) (all []catalog.Entry) {
	t.Helper()
	var from catalog.Mark
	for range 10_000 {
		p, err := page(from)
		if err != nil {
			t.Fatal(err)
		}
		if back {
			all = append(slices.Clone(p.Entries), all...)
		} else {
			all = append(all, p.Entries...)
		}
		if p.End {
			return all
		}
		from = p.Next
	}
	t.Fatal("the pages do not end")
	return nil
}

func names(entries []catalog.Entry) (names []string) {
	for _, e := range entries {
		names = append(names, e.Name)
	}
	return names
}

type paging func(ctx context.Context, q catalog.Query, from catalog.Mark, back bool, n int) (catalog.Page, error)

// pages returns the pages of q.
func (f *fixture) pages(q catalog.Query) paging {
	f.t.Helper()
	if q.Indexed() {
		return f.catalog.Page
	}
	s := f.catalog.Sort(q)
	f.t.Cleanup(s.Close)
	f.look(s)
	return s.Page
}

// look calls ReadSlice until s has read all keys.
func (f *fixture) look(s interface {
	ReadSlice(context.Context) error
	Progress() (int64, bool)
}) {
	f.t.Helper()
	for range 1000 {
		if err := s.ReadSlice(context.Background()); err != nil {
			f.t.Fatal(err)
		}
		if _, done := s.Progress(); done {
			return
		}
	}
	f.t.Fatal("there is no end of keys")
}

func TestOrders(t *testing.T) {
	f := newFixture(t).random(400)
	f.clock += 10_000 // some keys expire
	less := map[catalog.Order]func(a, b key) int{
		catalog.ByName: func(a, b key) int { return strings.Compare(a.name, b.name) },
		catalog.ByTTL: func(a, b key) int {
			never := func(k key) int64 { return cmp.Or(k.expires, 1<<62) }
			return cmp.Compare(never(a), never(b))
		},
		catalog.BySize:    func(a, b key) int { return cmp.Compare(b.size, a.size) },
		catalog.ByBytes:   func(a, b key) int { return cmp.Compare(b.bytes, a.bytes) },
		catalog.ByType:    func(a, b key) int { return strings.Compare(a.kind, b.kind) },
		catalog.ByUpdated: func(a, b key) int { return cmp.Compare(b.updated, a.updated) },
	}
	byName := map[string]key{}
	for _, k := range f.keys {
		byName[k.name] = k
	}
	filters := []catalog.Query{
		{}, {Type: "set"}, {Lifetime: catalog.Expiring}, {Lifetime: catalog.Soon}, {Lifetime: catalog.Persistent, Type: "string"},
	}
	for order, compare := range less {
		for _, q := range filters {
			for _, reverse := range []bool{false, true} {
				q.Order, q.Reverse = order, reverse
				var want []string
				for _, k := range f.live() {
					if q.Accepts(catalog.Facts{Type: k.kind, Expires: k.expires}, f.clock) {
						want = append(want, k.name)
					}
				}
				slices.Sort(want)
				var forward []string
				for _, back := range []bool{false, true} {
					got := walk(t, back, func(from catalog.Mark) (catalog.Page, error) {
						return f.pages(q)(context.Background(), q, from, back, 7)
					})
					ordered := slices.IsSortedFunc(got, func(a, b catalog.Entry) int {
						c := compare(byName[a.Name], byName[b.Name])
						if reverse {
							return -c
						}
						return c
					})
					if !ordered {
						t.Errorf("%+v back %v: out of order: %q", q, back, names(got))
					}
					if back && !slices.Equal(names(got), forward) {
						t.Errorf("%+v: backwards it is another list", q)
					}
					forward = names(got)
					sorted := slices.Sorted(slices.Values(forward))
					if !slices.Equal(sorted, want) {
						t.Errorf("%+v back %v: got %q, want %q", q, back, sorted, want)
					}
				}
			}
		}
	}
}

func TestFactsAreRight(t *testing.T) {
	f := newFixture(t).random(100)
	for _, k := range f.keys {
		found, err := f.catalog.Facts(context.Background(), 0, []string{k.name})
		if err != nil {
			t.Fatal(err)
		}
		got := found[0].Facts
		if got.Type != k.kind || got.Size != k.size || got.Expires != k.expires || got.Updated != k.updated || got.Version == 0 {
			t.Errorf("%q: %+v, want %+v", k.name, got, k)
		}
	}
}

func TestMatchesAndPrefixes(t *testing.T) {
	f := newFixture(t).random(300)
	for _, q := range []catalog.Query{
		{Prefix: "user"}, {Prefix: "a\xff"}, {Prefix: "\xff"}, {Match: func(s string) bool { return strings.Contains(s, "é") }},
		{Prefix: "a", Type: "set", Match: func(s string) bool { return strings.HasSuffix(s, "1") }},
	} {
		var want []string
		for _, k := range f.live() {
			if strings.HasPrefix(k.name, q.Prefix) && (q.Match == nil || q.Match(k.name)) && (q.Type == "" || q.Type == k.kind) {
				want = append(want, k.name)
			}
		}
		slices.Sort(want)
		for _, back := range []bool{false, true} {
			got := names(walk(t, back, func(from catalog.Mark) (catalog.Page, error) {
				return f.catalog.Page(context.Background(), q, from, back, 3)
			}))
			if !slices.Equal(got, want) {
				t.Errorf("%q back %v: got %q, want %q", q.Prefix, back, got, want)
			}
		}
	}
}

func TestLevels(t *testing.T) {
	f := newFixture(t).random(400)
	for _, delimiter := range []string{":", "::", "é"} {
		for _, prefix := range []string{"", "a:", "user:", "::", ":", "\xff", "nothing:"} {
			want := levelOf(f.live(), prefix, delimiter)
			for _, back := range []bool{false, true} {
				got := walk(t, back, func(from catalog.Mark) (catalog.Page, error) {
					return f.catalog.Level(context.Background(), 0, prefix, delimiter, from, back, 3)
				})
				if !slices.Equal(names(got), want) {
					t.Errorf("%q by %q back %v: got %q, want %q", prefix, delimiter, back, names(got), want)
				}
				for _, e := range got {
					if e.Folder == (e.Facts.Type != "") {
						t.Errorf("%q: %+v", e.Name, e)
					}
				}
			}
		}
	}
}

func levelOf(keys []key, prefix, delimiter string) (level []string) {
	for _, k := range keys {
		name, ok := strings.CutPrefix(k.name, prefix)
		if !ok {
			continue
		}
		if head, _, folder := strings.Cut(name, delimiter); folder {
			name = head + delimiter
		}
		level = append(level, prefix+name)
	}
	slices.Sort(level)
	return slices.Compact(level)
}

func TestTallies(t *testing.T) {
	f := newFixture(t).random(400)
	f.clock += 10_000
	for _, prefix := range []string{"", "a", "user:", "\xff", "nothing"} {
		var keys, bytes int64
		for _, k := range f.live() {
			if strings.HasPrefix(k.name, prefix) {
				keys++
				bytes += k.bytes
			}
		}
		gotKeys, err1 := f.catalog.Count(context.Background(), 0, prefix)
		gotBytes, err2 := f.catalog.Bytes(context.Background(), 0, prefix)
		if err1 != nil || err2 != nil || gotKeys != keys || gotBytes != bytes {
			t.Errorf("%q: %d keys, %d bytes, %v %v; want %d and %d", prefix, gotKeys, gotBytes, err1, err2, keys, bytes)
		}
	}
}

func TestRowsBehindKeys(t *testing.T) {
	f := newFixture(t)
	f.do("SET", "s", "v'1")
	f.do("HSET", "h", "f", "v")
	f.do("RPUSH", "l", "e")
	f.do("ZADD", "z", "1.5", "m")
	f.do("XADD", "x", "1-1", "a", "b")
	f.do("XGROUP", "CREATE", "x", "g", "0")
	f.do("JSON.SET", "j", "$", `{"a":1}`)
	f.add("many", "set", 25, 0)
	for name, want := range map[string]string{
		"s": `, "v'1"`, "h": `hashes: "f", "v"`, "l": `lists: "e"`, "z": `zsets: "m", 1.5`,
		"x": `stream_groups: "g"`, "j": `documents: "{\"a\":1}"`, "many": "sets:",
	} {
		tables, err := f.catalog.Rows(context.Background(), 0, name)
		if err != nil {
			t.Fatal(err)
		}
		var text strings.Builder
		for _, table := range tables {
			fmt.Fprintf(&text, "%s: ", table.Name)
			for _, row := range table.Rows {
				if len(row) != len(table.Columns) {
					t.Errorf("%s: %d columns, %d names", table.Name, len(row), len(table.Columns))
				}
				text.WriteString(strings.Join(row, ", "))
			}
			if table.More != (name == "many" && table.Name == "sets") {
				t.Errorf("%s: more is %v", table.Name, table.More)
			}
		}
		table, cells, _ := strings.Cut(want, ": ")
		if !strings.Contains(text.String(), table) || !strings.Contains(text.String(), cells) {
			t.Errorf("%s: %s", name, text.String())
		}
	}
	if tables, err := f.catalog.Rows(context.Background(), 0, "none"); err != nil || tables != nil {
		t.Errorf("a missing key: %v %v", tables, err)
	}
}

func TestSum(t *testing.T) {
	f := newFixture(t)
	f.add("a", "string", 1, 1000)
	f.add("b", "string", 1, 70_000)
	f.add("c", "set", 3, 0)
	f.add("d", "string", 200_000, 80_000) // which is kept in parts
	f.add("x:a", "string", 7, 0)
	f.add("x:y:", "set", 1, 0)
	for prefix, folders := range map[string]string{"": "[{x: 2 1 18}]", "x:": "[{x:y: 1 1 8}]", "y:": "[]", "x:y": "[{x:y: 1 1 8}]"} {
		sums := f.catalog.Sum(0, prefix, ":")
		f.look(sums)
		if got := fmt.Sprint(sums.Types()); got != "[{string 4 0 200015} {set 2 4 21}]" {
			t.Errorf("kinds: %s", got)
		}
		if got := fmt.Sprint(sums.Folders()); got != folders {
			t.Errorf("folders in %q: %s, want %s", prefix, got, folders)
		}
		if keys, done := sums.Progress(); keys != 6 || !done {
			t.Errorf("looked at %d keys, done %v", keys, done)
		}
	}
	deaths, err := f.catalog.ExpiryCounts(context.Background(), 0, []int64{60_000, 3600_000})
	if err != nil || fmt.Sprint(deaths) != "[1 2]" {
		t.Errorf("deaths: %v %v", deaths, err)
	}
	file, err := f.catalog.File(context.Background())
	if err != nil || file.PageSize == 0 || file.Pages == 0 || file.Journal != "memory" || file.Schema == 0 {
		t.Errorf("file: %+v %v", file, err)
	}
}
