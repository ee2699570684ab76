package repl

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestHistory(t *testing.T) {
	file := filepath.Join(t.TempDir(), "state", "history")
	open := func() *history {
		h, err := openHistory(file)
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	h := open()
	for _, text := range []string{"GET a", "SET k \"x\ny\"", " ", "AUTH secret", "GET a\nAUTH secret", "PING", "GET a", ":connect redis://user:secret@host"} {
		h.add(text)
	}
	want := []string{"SET k \"x\ny\"", "PING", "GET a"}
	if !slices.Equal(h.entries, want) {
		t.Errorf("in memory %q", h.entries)
	}
	if again := open(); !slices.Equal(again.entries, want) {
		t.Errorf("from the file %q", again.entries)
	}
	text, err := os.ReadFile(file)
	if err != nil || strings.Contains(string(text), "secret") {
		t.Errorf("the file holds %q, %v", text, err)
	}
	info, err := os.Stat(file)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	for i := range maxEntries + 10 {
		h.add(fmt.Sprintf("GET %d", i))
	}
	if again := open(); len(again.entries) != maxEntries || again.entries[0] != "GET 10" {
		t.Errorf("%d entries from %q", len(again.entries), again.entries[0])
	}
	if text, _ := os.ReadFile(file); strings.Count(string(text), "\n") != maxEntries {
		t.Errorf("%d lines in the file", strings.Count(string(text), "\n"))
	}
}

func TestHistoryWalk(t *testing.T) {
	h := &history{entries: []string{"one", "two", "TWO three"}}
	h.rewind("")
	step := func(walk func() (string, bool), want string, ok bool) {
		t.Helper()
		if got, is := walk(); got != want || is != ok {
			t.Errorf("got %q %v, want %q %v", got, is, want, ok)
		}
	}
	older := func() (string, bool) { return h.older("") }
	step(h.newer, "", false)
	step(older, "TWO three", true)
	step(older, "two", true)
	step(older, "one", true)
	step(older, "", false)
	step(h.newer, "two", true)
	step(h.newer, "TWO three", true)
	step(h.newer, "", true)
	step(h.newer, "", false)
	older = func() (string, bool) { return h.older("tw") }
	step(older, "TWO three", true)
	step(older, "two", true)
	step(older, "", false)
	step(h.newer, "TWO three", true)
	step(h.newer, "tw", true)
	if got := h.find("two", 2, -1); got != 2 {
		t.Errorf("found %d", got)
	}
	if got := h.find("two", 1, -1); got != 1 {
		t.Errorf("found %d", got)
	}
	if got := h.find("two", 0, -1); got != -1 {
		t.Errorf("found %d", got)
	}
}
