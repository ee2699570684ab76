package catalog_test

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/keyspace/catalog"
)

// TestTree compares each level of the sorted tree, in both directions, with totals computed from the keys.
func TestTree(t *testing.T) {
	f := newFixture(t).random(300)
	for _, q := range []catalog.Query{{Order: catalog.ByBytes}, {Order: catalog.ByBytes, Reverse: true}, {Order: catalog.BySize}, {Order: catalog.ByTTL}} {
		tree := f.catalog.SortTree(q, ":")
		f.look(tree)
		var levels func(prefix string)
		levels = func(prefix string) {
			want := f.level(q, prefix)
			for back, n := range map[bool]int{false: 7, true: 5} {
				got := walk(t, back, func(from catalog.Mark) (catalog.Page, error) {
					return tree.Level(context.Background(), 0, prefix, ":", from, back, n)
				})
				var shown []string
				for _, e := range got {
					shown = append(shown, describeRow(e.Name, e.Folder, e.Facts.Size, e.Facts.Bytes, e.Facts.Expires))
				}
				if !slices.Equal(shown, want) {
					t.Fatalf("order %d reverse %v, level %q, back %v:\n%s\nwant\n%s", q.Order, q.Reverse, prefix, back, strings.Join(shown, "\n"), strings.Join(want, "\n"))
				}
				if shares := sumShares(got); q.Order == catalog.ByBytes && (shares < 0.999 || shares > 1.001) {
					t.Errorf("the shares of level %q add up to %v", prefix, shares)
				}
			}
			if tree.IsPartial(prefix) {
				t.Errorf("keys of level %q were left out", prefix)
			}
			for _, e := range f.folders(prefix) {
				levels(e)
			}
		}
		levels("")
	}
}

func describeRow(name string, folder bool, size, bytes, expires int64) string {
	return fmt.Sprintf("%q folder %v size %d bytes %d expires %d", name, folder, size, bytes, expires)
}

func sumShares(entries []catalog.Entry) (sum float64) {
	for _, e := range entries {
		sum += e.Share
	}
	return sum
}

// folders returns the folders of a level.
func (f *fixture) folders(prefix string) (found []string) {
	for _, k := range f.live() {
		if strings.HasPrefix(k.name, prefix) {
			if folder := catalog.FolderOf(k.name, prefix, ":"); folder != "" && !slices.Contains(found, folder) {
				found = append(found, folder)
			}
		}
	}
	return found
}

// level describes the entries of a level in order.
func (f *fixture) level(q catalog.Query, prefix string) (rows []string) {
	type line struct {
		key
		folder bool
	}
	var all []line
	for _, k := range f.live() {
		if strings.HasPrefix(k.name, prefix) && catalog.FolderOf(k.name, prefix, ":") == "" {
			all = append(all, line{k, false})
		}
	}
	for _, name := range f.folders(prefix) {
		sum := line{key{name: name}, true}
		for _, k := range f.live() {
			if strings.HasPrefix(k.name, name) {
				sum.size, sum.bytes = sum.size+1, sum.bytes+k.bytes
				if k.expires != 0 && (sum.expires == 0 || k.expires < sum.expires) {
					sum.expires = k.expires
				}
			}
		}
		all = append(all, sum)
	}
	never := func(at int64) int64 { return (at - 1) & (1<<63 - 1) }
	slices.SortFunc(all, func(a, b line) int {
		c := 0
		switch q.Order {
		case catalog.ByBytes:
			c = cmp.Compare(b.bytes, a.bytes)
		case catalog.BySize:
			if a.folder != b.folder {
				return map[bool]int{true: -1, false: 1}[a.folder]
			}
			c = cmp.Compare(b.size, a.size)
		case catalog.ByTTL:
			c = cmp.Compare(never(a.expires), never(b.expires))
		}
		if c = cmp.Or(c, strings.Compare(a.name, b.name)); q.Reverse {
			return -c
		}
		return c
	})
	for _, l := range all {
		rows = append(rows, describeRow(l.name, l.folder, l.size, l.bytes, l.expires))
	}
	return rows
}

// TestTreeOfLargeFolders lists the first keys of a folder that has too many, and counts all.
func TestTreeOfLargeFolders(t *testing.T) {
	levels := catalog.NewLevels(catalog.Query{Order: catalog.ByBytes}, ":")
	const keys = 12_345
	for i := range int64(keys) {
		levels.Add(fmt.Sprintf("big:%d", i), catalog.Facts{Bytes: i * 7919 % keys})
	}
	got := walk(t, false, func(from catalog.Mark) (catalog.Page, error) { return levels.Entries("big:", from, false, 100), nil })
	if len(got) != 1000 || !levels.IsPartial("big:") || levels.IsPartial("") {
		t.Fatalf("%d keys, partial %v, root %v", len(got), levels.IsPartial("big:"), levels.IsPartial(""))
	}
	for i, e := range got {
		if want := int64(keys - 1 - i); e.Facts.Bytes != want {
			t.Fatalf("key %d has %d bytes, want %d", i, e.Facts.Bytes, want)
		}
	}
	if root := levels.Entries("", catalog.Mark{}, false, 10).Entries; len(root) != 1 || root[0].Facts.Size != keys || root[0].Facts.Bytes != keys*(keys-1)/2 || root[0].Share != 1 {
		t.Errorf("the folder is %+v", root)
	}
}

// TestTreeOfManyFolders bounds the keys of all folders together.
func TestTreeOfManyFolders(t *testing.T) {
	levels := catalog.NewLevels(catalog.Query{Order: catalog.BySize}, ":")
	const folders, each = 1000, 700
	for i := range folders * each {
		levels.Add(fmt.Sprintf("f%d:%d", i%folders, i), catalog.Facts{Size: int64(i)})
	}
	shown := 0
	for i := range folders {
		level := levels.Entries(fmt.Sprintf("f%d:", i), catalog.Mark{}, false, each).Entries
		if shown += len(level); len(level) == 0 || level[0].Facts.Size != int64(folders*(each-1)+i) {
			t.Fatalf("folder %d begins with %+v", i, level[:min(len(level), 1)])
		}
	}
	if shown > 500_000 || !levels.IsPartial("f0:") {
		t.Errorf("%d keys are kept", shown)
	}
	if root := levels.Entries("", catalog.Mark{}, false, 1).Entries[0]; root.Facts.Size != each {
		t.Errorf("the first folder has %d keys", root.Facts.Size)
	}
}
