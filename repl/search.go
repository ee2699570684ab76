package repl

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/chzyer/readline"
)

// search holds an incremental search of the history.
type search struct {
	query     string
	at        int // the entry found; the history's length before the first match
	failed    bool
	before    string // the text to restore on cancel
	cursor    int
	keepsText bool // Enter ends the search without running the entry
}

func (e *editor) beginSearch() {
	if e.answering {
		return
	}
	e.menu = nil
	e.search = &search{at: len(e.history.entries), before: string(e.text), cursor: e.cursor}
}

// line returns the row that shows the query.
func (s *search) line() string {
	note := ""
	if s.failed {
		note = "  (nothing older)"
	}
	return fmt.Sprintf("search: %s_%s", s.query, note)
}

// mark highlights the match in the text.
func (s *search) mark(styles []string, text []rune, colour bool) {
	if s.query == "" || !colour {
		return
	}
	lower := strings.ToLower(string(text))
	i := strings.Index(lower, strings.ToLower(s.query))
	if i < 0 {
		return
	}
	from := len([]rune(lower[:i]))
	for j := from; j < min(len(styles), from+len([]rune(s.query))); j++ {
		styles[j] = styleFound
	}
}

// searchFrom finds the next match from position at.
func (e *editor) searchFrom(at, by int) {
	s := e.search
	e.lastQuery = s.query
	found := e.history.find(s.query, at, by)
	if s.failed = found < 0; s.failed {
		return
	}
	s.at = found
	e.history.at = found
	e.setEnd(e.history.entries[found])
}

// searchKey handles a key during a search. Any other key ends the search and has its usual
// effect.
func (e *editor) searchKey(r rune) rune {
	s := e.search
	switch r {
	case readline.CharEnter, readline.CharCtrlJ:
		if s.keepsText {
			return e.continueWith(func() { e.search = nil })
		}
	case readline.CharBckSearch:
		return e.do(func() {
			if s.query != "" {
				e.searchFrom(s.at-1, -1)
			}
		})
	case readline.CharFwdSearch:
		return e.do(func() { e.searchFrom(s.at+1, 1) })
	case readline.CharBackspace, readline.CharCtrlH:
		return e.do(func() {
			if query := []rune(s.query); len(query) > 0 {
				s.query = string(query[:len(query)-1])
				e.searchFrom(len(e.history.entries)-1, -1)
			}
		})
	case readline.CharBell, keyEscape:
		return e.do(e.cancelSearch)
	}
	if unicode.IsPrint(r) && !isKey(r) {
		return e.do(func() {
			s.query += string(r)
			e.searchFrom(min(s.at, len(e.history.entries)-1), -1)
		})
	}
	e.search = nil
	return e.textKey(r)
}

// searchNext repeats the last search towards older or newer entries.
func (e *editor) searchNext(older bool) {
	by := 1
	if older {
		by = -1
	}
	found := -1
	if e.lastQuery != "" {
		found = e.history.find(e.lastQuery, e.history.at+by, by)
	}
	if found < 0 {
		e.bell()
		return
	}
	e.history.at = found
	e.setEnd(e.history.entries[found])
}

func (e *editor) cancelSearch() {
	s := e.search
	e.search = nil
	e.set(s.before, s.cursor)
	e.history.rewind(s.before)
}
