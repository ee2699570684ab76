package recents

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// ticking is a clock that advances with each reading.
func ticking() func() int64 {
	now := int64(1000)
	return func() int64 { now++; return now }
}

func TestMemory(t *testing.T) {
	dir, clock := filepath.Join(t.TempDir(), "keys"), ticking()
	m := New(dir, "/data/a.db", clock)
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	said := func(m *Store) string {
		t.Helper()
		k, err := m.Keys()
		check(err)
		var b strings.Builder
		for _, each := range k.Bookmarks {
			fmt.Fprintf(&b, "*%d:%s ", each.DB, each.Name)
		}
		for _, each := range k.Recent {
			fmt.Fprintf(&b, "%d:%q ", each.DB, each.Name)
		}
		return b.String()
	}
	if got := said(m); got != "" {
		t.Errorf("a new one has %s", got)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("looking makes a directory")
	}
	check(m.Visit(0, "user:1"))
	check(m.Visit(3, "user:1"))
	check(m.Visit(0, "\xff\x00"))
	check(m.Visit(0, "user:1"))
	other := New(dir, "/data/a.db", clock) // another process
	marked, err := other.ToggleBookmark(0, "b")
	check(err)
	again, err := m.ToggleBookmark(0, "c")
	check(err)
	if !marked || !again {
		t.Error("not bookmarked")
	}
	const want = `*0:b *0:c 0:"user:1" 0:"\xff\x00" 3:"user:1" `
	if got := said(m); got != want || said(other) != want {
		t.Errorf("got %s and %s\nwant %s", got, said(other), want)
	}
	if marked, err := m.ToggleBookmark(0, "b"); marked || err != nil {
		t.Errorf("bookmarked twice: %v, %v", marked, err)
	}
	check(m.Forget(3, "user:1"))
	if got := said(other); got != `*0:c 0:"user:1" 0:"\xff\x00" ` {
		t.Errorf("got %s", got)
	}
	if got := said(New(dir, "/data/b.db", clock)); got != "" {
		t.Errorf("another target has %s", got)
	}
	files, err := os.ReadDir(dir)
	check(err)
	if len(files) != 2 || files[0].Name() != lockName {
		t.Fatalf("there are %v", files)
	}
	info, err := files[1].Info()
	check(err)
	if at, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o600 || at.Mode().Perm() != 0o700 {
		t.Errorf("%v, mode %v in %v, %v", files, info.Mode(), at.Mode(), err)
	}
}

func TestBounds(t *testing.T) {
	m := New(t.TempDir(), "a", ticking())
	for i := range MostRecent + 20 {
		if err := m.Visit(0, fmt.Sprint(i)); err != nil {
			t.Fatal(err)
		}
	}
	long := strings.Repeat("x", LongestName+1)
	if err := m.Visit(0, long); err != nil {
		t.Error(err)
	}
	for i := range MostBookmarks {
		m.keys.Bookmarks = append(m.keys.Bookmarks, Key{0, []byte(strings.Repeat(fmt.Sprint(i%10), LongestName)), int64(i)})
	}
	if err := m.write(); err != nil {
		t.Fatal(err)
	}
	if _, err := m.ToggleBookmark(0, "more"); err == nil || !strings.Contains(err.Error(), "the limit") {
		t.Errorf("one bookmark more: %v", err)
	}
	if _, err := m.ToggleBookmark(0, long); err == nil {
		t.Error("a long name is bookmarked")
	}
	k, err := m.Keys()
	if err != nil || len(k.Recent) != MostRecent || string(k.Recent[0].Name) != fmt.Sprint(MostRecent+19) || len(k.Bookmarks) != MostBookmarks {
		t.Errorf("%d recent, %d bookmarks, %v", len(k.Recent), len(k.Bookmarks), err)
	}
}

// TestTroubles checks that a damaged file is named and left unchanged, and that without a
// directory the keys last for the session.
func TestTroubles(t *testing.T) {
	m := New(t.TempDir(), "a", ticking())
	if err := os.WriteFile(m.path, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{m.Visit(0, "k"), m.Forget(0, "k")} {
		if err == nil || !strings.Contains(err.Error(), "is damaged: remove it") {
			t.Errorf("got %v", err)
		}
	}
	if text, err := os.ReadFile(m.path); err != nil || string(text) != "{" {
		t.Errorf("the damaged file is %q, %v", text, err)
	}
	none := New("", "a", ticking())
	if err := none.Visit(0, "k"); err != nil {
		t.Error(err)
	}
	if k, err := none.Keys(); err != nil || len(k.Recent) != 1 {
		t.Errorf("%v, %v", k, err)
	}
}

// TestAtOnce checks that concurrent writes of several inspectors lose nothing.
func TestAtOnce(t *testing.T) {
	const inspectors, each = 6, 10
	dir, clock := t.TempDir(), func() int64 { return 1000 }
	var at sync.WaitGroup
	for i := range inspectors {
		at.Go(func() {
			m := New(dir, "a", clock)
			for j := range each {
				name := fmt.Sprintf("%d:%d", i, j)
				if _, err := m.ToggleBookmark(0, name); err != nil {
					t.Error(err)
				}
				if err := m.Visit(0, name); err != nil {
					t.Error(err)
				}
			}
		})
	}
	at.Wait()
	k, err := New(dir, "a", clock).Keys()
	if len(k.Bookmarks) != inspectors*each || len(k.Recent) != inspectors*each || err != nil {
		t.Errorf("%d bookmarks and %d recent keys of %d, %v", len(k.Bookmarks), len(k.Recent), inspectors*each, err)
	}
}
