package keys

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/inspect/client"
	"github.com/meowdis/meowdis/keyspace/catalog"
	"github.com/meowdis/meowdis/keyspace/display"
)

// collect walks to the end, n rows at a time.
func collect(t *testing.T, w *walker, back bool, n int) (rows []row) {
	t.Helper()
	var at anchor
	for range 10_000 {
		s, err := w.walk(context.Background(), at, back, n)
		if err != nil {
			t.Fatal(err)
		}
		if back {
			rows = append(slices.Clone(s.rows), rows...)
		} else {
			rows = append(rows, s.rows...)
		}
		if s.end {
			return rows
		}
		at = s.next
	}
	t.Fatal("the walk does not end")
	return nil
}

func outline(rows []row) string {
	var b strings.Builder
	for _, r := range rows {
		fmt.Fprintf(&b, "%s%q %v\n", display.Spaces(r.depth), r.Name, r.Folder)
	}
	return b.String()
}

// expected returns the rows of a level and of its open folders, computed from the names alone.
func expected(names []string, level string, depth int, open map[string]string) (rows []row) {
	last := ""
	for _, name := range names {
		if !strings.HasPrefix(name, level) {
			continue
		}
		folder := catalog.FolderOf(name, level, ":")
		switch {
		case folder == "":
			rows = append(rows, row{Entry: catalog.Entry{Name: name}, depth: depth})
		case folder != last:
			last = folder
			rows = append(rows, row{Entry: folderEntry(folder), depth: depth})
			if _, ok := open[folder]; ok {
				rows = append(rows, expected(names, folder, depth+1, open)...)
			}
		}
	}
	return rows
}

// TestWalks compares the tree in both directions, from both kinds of keyspace, with one computed from
// the names alone.
func TestWalks(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	index, session := newIndex(t)
	parts := []string{"a", "b", "", "user", "x\xff"}
	for range 120 {
		var name []string
		for range 1 + r.IntN(4) {
			name = append(name, parts[r.IntN(len(parts))])
		}
		if _, err := session.Do(context.Background(), []byte("SET"), []byte(strings.Join(name, ":")), []byte("1")); err != nil {
			t.Fatal(err)
		}
	}
	all, err := index.Page(context.Background(), catalog.Query{}, catalog.Mark{}, false, 1000)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range all.Entries {
		names = append(names, e.Name)
	}
	scanned := newGathered(catalog.Query{})
	scanned.add(all.Entries)
	for round := range 30 {
		open := map[string]string{}
		for _, name := range names {
			level := ""
			for folder := catalog.FolderOf(name, level, ":"); folder != "" && r.IntN(30) < round; folder = catalog.FolderOf(name, level, ":") {
				open[folder] = level
				level = folder
			}
		}
		want := outline(expected(names, "", 0, open))
		for _, keys := range []client.Keyspace{index, scanned} {
			for _, back := range []bool{false, true} {
				w := &walker{keys: keys, tree: true, delimiter: ":", open: open}
				if got := outline(collect(t, w, back, 1+r.IntN(9))); got != want {
					t.Fatalf("%T back %v open %q:\n%s\nwant\n%s", keys, back, open, got, want)
				}
			}
		}
	}
}

// TestWalksInOrder walks the tree in orders other than by name, from both kinds of keyspace.
func TestWalksInOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	index, session := newIndex(t)
	parts := []string{"a", "b", "", "user", "x\xff"}
	for range 120 {
		var name []string
		for range 1 + r.IntN(4) {
			name = append(name, parts[r.IntN(len(parts))])
		}
		if _, err := session.Do(context.Background(), []byte("SET"), []byte(strings.Join(name, ":")), []byte(strings.Repeat("x", r.IntN(9))), []byte("PX"), []byte(strconv.Itoa(1000+r.IntN(1000)))); err != nil {
			t.Fatal(err)
		}
	}
	all, err := index.Page(context.Background(), catalog.Query{}, catalog.Mark{}, false, 1000)
	if err != nil {
		t.Fatal(err)
	}
	for i := range all.Entries {
		all.Entries[i].Facts.Bytes = all.Entries[i].Facts.Size + int64(len(all.Entries[i].Name))
	}
	for _, q := range []catalog.Query{{Order: catalog.ByBytes}, {Order: catalog.BySize}, {Order: catalog.ByTTL}, {Order: catalog.ByTTL, Reverse: true}} {
		tree, scanned := index.SortTree(q, ":"), newGathered(q)
		if err := tree.ReadSlice(context.Background()); err != nil {
			t.Fatal(err)
		}
		scanned.add(all.Entries)
		for round := range 10 {
			open := map[string]string{}
			for _, e := range all.Entries {
				level := ""
				for folder := catalog.FolderOf(e.Name, level, ":"); folder != "" && r.IntN(10) < round; folder = catalog.FolderOf(e.Name, level, ":") {
					open[folder] = level
					level = folder
				}
			}
			want := outline(collect(t, &walker{keys: tree, tree: true, delimiter: ":", open: open}, false, 1000))
			for _, keys := range []client.Keyspace{tree, scanned} {
				for _, back := range []bool{false, true} {
					w := &walker{keys: keys, tree: true, delimiter: ":", open: open}
					if got := outline(collect(t, w, back, 1+r.IntN(9))); got != want {
						t.Fatalf("%T order %d back %v open %q:\n%s\nwant\n%s", keys, q.Order, back, open, got, want)
					}
				}
			}
		}
	}
}
