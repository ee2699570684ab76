package inspect

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/meowdis/meowdis/catalog"
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
		fmt.Fprintf(&b, "%s%q %v\n", spaces(r.depth), r.Name, r.Folder)
	}
	return b.String()
}

// expected is the rows of a level and of the open folders in it, from the names
// alone.
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

// TestWalks compares the tree, both ways and from both kinds of keyspace, with one
// that is made of the names alone.
func TestWalks(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	f := newFile(t)
	parts := []string{"a", "b", "", "user", "x\xff"}
	for range 120 {
		var name []string
		for range 1 + r.IntN(4) {
			name = append(name, parts[r.IntN(len(parts))])
		}
		if _, err := f.session.Do(context.Background(), []byte("SET"), []byte(strings.Join(name, ":")), []byte("1")); err != nil {
			t.Fatal(err)
		}
	}
	all, err := f.index.Page(context.Background(), catalog.Query{}, catalog.Mark{}, false, 1000)
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
		for _, keys := range []keyspace{f.index, scanned} {
			for _, back := range []bool{false, true} {
				w := &walker{keys: keys, tree: true, delimiter: ":", open: open}
				if got := outline(collect(t, w, back, 1+r.IntN(9))); got != want {
					t.Fatalf("%T back %v open %q:\n%s\nwant\n%s", keys, back, open, got, want)
				}
			}
		}
	}
}

// TestScrollingMeetsEveryRow goes down and up through more rows than the window
// holds, and sees each once.
func TestScrollingMeetsEveryRow(t *testing.T) {
	f := newFile(t)
	for i := range 3000 {
		f.do(fmt.Sprintf("SET user:%d:%04d x", i%3, i))
	}
	s := browseOn(t, f, f.fake, 80, 24)
	s.press("j", "enter") // user: is open already
	walk := func(key string) (seen []string) {
		for {
			at := s.model.keys.selected().Name
			seen = append(seen, at)
			s.send(namedKeys[key])
			if s.model.keys.selected().Name == at {
				return seen
			}
			if n := len(s.model.keys.rows); n > 1000 {
				t.Fatalf("%d rows are in memory", n)
			}
		}
	}
	s.press("home")
	down := walk("down")
	up := walk("up")
	slices.Reverse(up)
	if len(down) != 1004 || !slices.Equal(down, up) {
		t.Errorf("%d rows downwards, %d upwards", len(down), len(up))
	}
	s.press("end")
	up = walk("up")
	slices.Reverse(up)
	if !slices.Equal(down, up) {
		t.Errorf("from the end: %d rows", len(up))
	}
	s.press("G", "k", "k", "k", "h", "h")
	s.shows("▌   ▸ 0:", "1,000 keys", "▸ 1:")
}

// TestFollowing sees what another client writes.
func TestFollowing(t *testing.T) {
	f := newFile(t).shop()
	s := browseOn(t, f, f.fake, 120, 24)
	s.choose("board")
	s.wait(second)
	f.do("ZADD board 99 dan")
	f.do("SET aardvark 1")
	f.do("DEL tags")
	s.wait(2 * second)
	s.shows("▌ board", "dan", "101 keys", "zset · 4 members", "2 of 101")
	s.press("home")
	s.shows("aardvark")
	s.press("end")
	s.hides("tags")
	s.press("f")
	s.shows("Changes are not followed")
	f.do("SET zebra 1")
	s.wait(3 * second)
	s.hides("zebra")
	s.press("r", "end")
	s.shows("102 keys", "zebra")
}

func TestPasteIsNoCommand(t *testing.T) {
	s := browse(t, newFake().zoo(), 80, 24)
	before := s.screen()
	s.send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("vq"), Paste: true})
	if s.screen() != before {
		t.Error("what was pasted was taken for keys")
	}
}
