package repl

import (
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

func TestHistorySearch(t *testing.T) {
	h := &history{entries: []string{"GET user:1", "SET k \"a\nb\"", "DEL user:1 user:2", "get User:3", "PING"}}
	for query, want := range map[string][]string{
		"":         {"PING", "get User:3", "DEL user:1 user:2", "SET k \"a\nb\"", "GET user:1"},
		"user":     {"get User:3", "DEL user:1 user:2", "GET user:1"},
		"user get": {"get User:3", "GET user:1"},
		"gus":      {"get User:3", "GET user:1"},
		"sk":       {"SET k \"a\nb\""},
		"nope":     nil,
	} {
		var got []string
		for _, i := range h.search(query) {
			got = append(got, h.entries[i])
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: got %q, want %q", query, got, want)
		}
	}
}

func TestSearchKeys(t *testing.T) {
	earlier := "GET user:1\rGET user:2\rDEL user:1\r"
	for keys, want := range map[string]string{
		"\x12get\r":                      "GET user:2",
		"\x12get\x12\r":                  "GET user:1",
		"\x12get\x12\x13\r":              "GET user:2",
		"\x12get\x1b[B\x1b[B\x1b[A\r":    "GET user:2",
		"\x12\r":                         "DEL user:1",
		"\x12user 1\t!\r":                "DEL user:1!",
		"\x12gex\x7f\x7f 1\r":            "GET user:1",
		"\x12none\r\x15user 2\r":         "GET user:2", // nothing runs while nothing matches
		"PING\x12\x1b\r":                 "PING",
		"get\x12\r":                      "GET user:2", // begins with the text
		"\x12get\x1b[6~\x1b[5~\x1b[6~\r": "GET user:1",
	} {
		got := edited(t, Options{Target: Target{Session: newSession(t)}}, "", earlier+keys)
		if len(got) != 4 || got[3] != want {
			t.Errorf("%q: got %q, want %q", keys, got, want)
		}
	}
}

// TestSearchList checks the list at two sizes: a row for each entry, and a count.
func TestSearchList(t *testing.T) {
	h := &history{}
	for range 20 {
		h.entries = append(h.entries, "SET key:"+strings.Repeat("x", len(h.entries))+" 'a\nb'")
	}
	s := &search{query: "key x", found: h.search("key x"), selected: 12}
	for _, rows := range []int{24, 8} {
		lines := s.lines(h, 30, rows, true)
		if want := min(maxSearchRows, rows-3); len(lines) != 1+want {
			t.Errorf("%d rows: %d lines", rows, len(lines))
		}
		text := ansi.Strip(strings.Join(lines, "\n"))
		mustShow(t, text, "search: key x_  19 of 20", "\n  SET key:xxxxxxxx", "\n> SET key:xxxxxxx 'a↵b'")
		for _, line := range lines {
			if ansi.StringWidth(line) > 30 {
				t.Errorf("too wide: %q", line)
			}
		}
	}
	if got := s.row("GET key:x", false, 30, true); got != "  "+sgr("GET ", "")+sgr("key", styleMatch)+sgr(":", "")+sgr("x", styleMatch) {
		t.Errorf("%q", got)
	}
}
