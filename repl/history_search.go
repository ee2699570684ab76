package repl

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/charmbracelet/x/ansi"
	"github.com/chzyer/readline"
)

// search holds a search of the history: a list of entries that narrows with the query. The
// selected entry is the text of the line.
type search struct {
	query     string
	found     []int // matching entries, best first
	selected  int   // index in found
	top       int   // first visible row of the list
	before    string
	cursor    int
	keepsText bool // Enter ends the search without running the entry
}

// maxSearchRows limits the visible entries.
const maxSearchRows = 10

// beginSearch opens the list of the entries that match query.
func (e *editor) beginSearch(query string) {
	if e.answering {
		return
	}
	e.menu = nil
	e.search = &search{before: string(e.text), cursor: e.cursor}
	e.narrow(query)
}

// search returns the entries that contain every word of query, newest first, and then the
// entries that only contain the letters of each word in order.
func (h *history) search(query string) []int {
	words := strings.Fields(query)
	var near, far []int
	for i, entry := range slices.Backward(h.entries) {
		worst := contains
		for _, word := range words {
			worst = max(worst, likeness(entry, word))
		}
		switch worst {
		case contains:
			near = append(near, i)
		case scatters:
			far = append(far, i)
		}
	}
	return append(near, far...)
}

// narrow searches for another query and selects the best entry.
func (e *editor) narrow(query string) {
	s := e.search
	s.query, s.found, s.top = query, e.history.search(query), 0
	e.lastQuery = query
	e.set(s.before, s.cursor)
	e.selectFound(0)
}

// selectFound selects an entry of the list. It stops at the ends of the list.
func (e *editor) selectFound(n int) {
	s := e.search
	if len(s.found) == 0 {
		return
	}
	s.selected = min(max(n, 0), len(s.found)-1)
	e.history.at = s.found[s.selected]
	e.setEnd(e.history.entries[e.history.at])
}

// lines renders the query and the list below it.
func (s *search) lines(h *history, columns, rows int, colour bool) []string {
	height := min(maxSearchRows, max(rows-3, 1), len(s.found))
	s.top = max(min(s.top, s.selected, len(s.found)-height), s.selected-height+1, 0)
	lines := []string{"search: " + s.query + "_" + faint(fmt.Sprintf("  %d of %d", len(s.found), len(h.entries)), colour)}
	for i := s.top; i < s.top+height; i++ {
		lines = append(lines, s.row(h.entries[s.found[i]], i == s.selected, columns, colour))
	}
	return lines
}

// row renders an entry with its matches highlighted.
func (s *search) row(entry string, selected bool, columns int, colour bool) string {
	text := []rune(visible(strings.ReplaceAll(entry, "\n", "↵")))
	mark := "  "
	if selected {
		mark = "> "
	}
	if !colour {
		return ansi.Truncate(mark+string(text), columns-1, "…")
	}
	matched := matchedRunes(text, s.query)
	plain := ""
	if selected {
		mark, plain = sgr(mark, styleOperator), "1"
	}
	var b strings.Builder
	b.WriteString(mark)
	for from := 0; from < len(text); {
		to := from
		for to < len(text) && matched[to] == matched[from] {
			to++
		}
		style := plain
		if matched[from] {
			style = styleMatch
		}
		b.WriteString(sgr(string(text[from:to]), style))
		from = to
	}
	return ansi.Truncate(b.String(), columns-1, "…")
}

// matchedRunes reports which runes of a text the words of query match.
func matchedRunes(text []rune, query string) []bool {
	matched := make([]bool, len(text))
	lower := make([]rune, len(text))
	for i, r := range text {
		lower[i] = unicode.ToLower(r)
	}
	for _, word := range strings.Fields(strings.ToLower(query)) {
		letters := []rune(word)
		if from := indexRunes(lower, letters); from >= 0 {
			for i := range letters {
				matched[from+i] = true
			}
			continue
		}
		for i, r := range lower {
			if len(letters) > 0 && r == letters[0] {
				matched[i], letters = true, letters[1:]
			}
		}
	}
	return matched
}

// indexRunes returns the index of the first part in text, -1 if it is missing.
func indexRunes(text, part []rune) int {
	for i := 0; i+len(part) <= len(text); i++ {
		if slices.Equal(text[i:i+len(part)], part) {
			return i
		}
	}
	return -1
}

// searchKey handles a key during a search. Any other key ends the search and has its usual
// effect on the selected entry.
func (e *editor) searchKey(r rune) rune {
	s := e.search
	move := func(by int) rune { return e.do(func() { e.selectFound(s.selected + by) }) }
	switch r {
	case readline.CharEnter, readline.CharCtrlJ:
		switch {
		case len(s.found) == 0:
			return e.continueWith(e.bell)
		case s.keepsText:
			return e.continueWith(func() { e.search = nil })
		}
	case readline.CharTab:
		return e.do(func() { e.search = nil })
	case readline.CharBckSearch, readline.CharNext:
		return move(1)
	case readline.CharFwdSearch, readline.CharPrev:
		return move(-1)
	case keyPageDown:
		return move(maxSearchRows)
	case keyPageUp:
		return move(-maxSearchRows)
	case readline.CharBackspace, readline.CharCtrlH:
		return e.do(func() {
			if query := []rune(s.query); len(query) > 0 {
				e.narrow(string(query[:len(query)-1]))
			}
		})
	case readline.CharCtrlU:
		return e.do(func() { e.narrow("") })
	case readline.CharBell, keyEscape:
		return e.do(e.cancelSearch)
	}
	if unicode.IsPrint(r) && !isKey(r) {
		return e.do(func() { e.narrow(s.query + string(r)) })
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
