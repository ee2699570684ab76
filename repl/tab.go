package repl

import (
	"cmp"
	"strings"
	"sync/atomic"
	"time"

	"github.com/chzyer/readline"

	"github.com/meowdis/meowdis/internal/smallsort"
)

// pendingCompletion waits for the answers to its query.
type pendingCompletion struct {
	completion
	before string      // the text before the cursor
	ended  atomic.Bool // no more answers are wanted
}

// tab completes the word at the cursor. A late answer opens a menu, or adds to it, if the text is unchanged.
func (e *editor) tab() {
	before := string(e.text[:e.cursor])
	if e.pending != nil && e.pending.before == before {
		e.note = "looking …"
		return
	}
	c := complete(before, e.options)
	if c.ask == nil {
		e.offer(c)
		return
	}
	w, answers := e.query(c, before)
	for _, wait := range []time.Duration{noticeDelay, e.options.Target.lookupTime() - noticeDelay} {
		select {
		case a := <-answers:
			e.note = ""
			if !a.searching {
				e.setPending(nil)
				e.offer(c.withAnswer(a))
				return
			}
			e.show(c.withAnswer(a))
			go e.onLateAnswers(w, answers)
			return
		case <-time.After(wait):
			e.note = "looking …"
			e.draw()
		}
	}
	go e.onLateAnswers(w, answers)
}

// query begins to look for candidates of the text before the cursor, and ends another search.
func (e *editor) query(c completion, before string) (*pendingCompletion, <-chan answer) {
	w := &pendingCompletion{completion: c, before: before}
	e.setPending(w)
	return w, e.asker.search(e.ctx, *c.ask, func() bool { return !w.ended.Load() })
}

// setPending ends the completion that waits, and waits for w, nil for none.
func (e *editor) setPending(w *pendingCompletion) {
	if e.pending != nil {
		e.pending.ended.Store(true)
	}
	e.pending = w
}

// The prompt shows after noticeDelay that a completion is loading.
const noticeDelay = 50 * time.Millisecond

// onLateAnswers shows the answers that arrive after TAB has returned.
func (e *editor) onLateAnswers(w *pendingCompletion, answers <-chan answer) {
	for a := range answers {
		e.mu.Lock()
		if e.pending == w && !e.closed {
			if !a.searching {
				e.setPending(nil)
			}
			e.show(w.withAnswer(a))
			e.draw()
		}
		e.mu.Unlock()
	}
}

// show shows the candidates of an answer. More answers may follow.
func (e *editor) show(c completion) {
	if e.menu != nil && c.searching && len(c.items) < len(e.menu.items) {
		e.menu.searching = true
		return
	}
	switch e.menu, e.note = nil, ""; {
	case len(c.items) > 0:
		e.menu = &menu{completion: c, selected: -1}
	case c.searching:
		e.note = "looking …"
	default:
		e.note = c.why
	}
}

// offer inserts the only candidate, or the common prefix, and lists the candidates. If there
// may be more candidates, it only lists them.
func (e *editor) offer(c completion) {
	switch {
	case len(c.items) == 0:
		e.note = cmp.Or(c.why, "nothing to complete here")
		e.bell()
		return
	case len(c.items) == 1 && !c.more && !c.fuzzy:
		e.replace(c, c.items[0].text+c.ending(c.items[0].text))
		return
	}
	if common := commonPrefix(c.items); !c.more && !c.fuzzy && len(common) > len(c.typed) && strings.HasPrefix(common, c.typed) {
		e.replace(c, common)
		c.typed = common
	}
	e.menu = &menu{completion: c, selected: -1}
}

// ending returns the text after a complete candidate.
func (c completion) ending(text string) string {
	if c.open || strings.HasSuffix(text, "/") {
		return ""
	}
	return " "
}

// replace replaces the word at the cursor.
func (e *editor) replace(c completion, text string) {
	rest := string(e.text[e.cursor:])
	if strings.HasPrefix(rest, " ") {
		text = strings.TrimSuffix(text, " ")
	}
	before := string(e.text[:e.cursor])[:c.from] + text
	e.set(before+rest, len([]rune(before)))
}

// updateMenu filters the menu by the text typed since it opened. If the menu lacks keys of a file, it searches again.
func (e *editor) updateMenu() {
	if e.menu == nil {
		return
	}
	before := string(e.text[:e.cursor])
	m := e.menu
	if len(before) < m.from || e.search != nil {
		e.menu = nil
		return
	}
	c := complete(before, e.options)
	if c.from != m.from || c.typed == "" || !strings.HasPrefix(c.typed, m.typed) {
		e.menu = nil
		return
	}
	var kept []candidate
	for _, item := range m.items {
		if len(item.text) >= len(c.typed) && strings.EqualFold(item.text[:len(c.typed)], c.typed) || m.fuzzy && likeness(item.text, c.typed) != unlike {
			kept = append(kept, item)
		}
	}
	e.menu = nil
	if len(kept) == 0 {
		return
	}
	if m.fuzzy {
		smallsort.Sort(kept, func(a, b candidate) int { return likeness(a.text, c.typed) - likeness(b.text, c.typed) })
	}
	if m.more && c.ask != nil && c.ask.about == askKeys && e.options.Target.Keys != nil {
		w, answers := e.query(c, before)
		go e.onLateAnswers(w, answers)
	}
	c.items, c.ask, c.fuzzy, c.more = kept, nil, m.fuzzy, m.more
	e.menu = &menu{completion: c, selected: -1}
}

// menuKey handles a key while a menu is open.
func (e *editor) menuKey(r rune) rune {
	m := e.menu
	switch r {
	case readline.CharTab:
		if len(m.items) == 1 {
			m.selected = 0
			return e.do(e.takeSelected)
		}
		return e.do(func() { e.choose(1) })
	case readline.CharNext:
		return e.do(func() { e.choose(1) })
	case keyBackTab, readline.CharPrev:
		return e.do(func() { e.choose(-1) })
	case keyPageDown:
		return e.do(func() { m.page(1); e.choose(0) })
	case keyPageUp:
		return e.do(func() { m.page(-1); e.choose(0) })
	case readline.CharEnter, readline.CharCtrlJ:
		if m.selected >= 0 {
			return e.continueWith(e.takeSelected)
		}
	case keyEscape, readline.CharBell:
		return e.do(e.leaveMenu)
	}
	if m.selected >= 0 || r < ' ' && r != readline.CharCtrlH {
		e.menu = nil
		e.setPending(nil)
	}
	return e.textKey(r)
}

// choose selects another candidate and inserts it into the line.
func (e *editor) choose(by int) {
	m := e.menu
	m.move(by)
	e.replace(m.completion, m.items[m.selected].text)
}

func (e *editor) takeSelected() {
	m := e.menu
	e.menu = nil
	e.replace(m.completion, m.items[m.selected].text+m.ending(m.items[m.selected].text))
}

// leaveMenu closes the menu and restores the typed text.
func (e *editor) leaveMenu() {
	m := e.menu
	e.menu = nil
	e.setPending(nil)
	if m.selected >= 0 {
		e.replace(m.completion, m.typed)
	}
}
