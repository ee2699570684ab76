package repl

import (
	"slices"

	"github.com/chzyer/readline"
)

// keyHelp describes a key.
type keyHelp struct{ keys, does string }

var keyHelps = []keyHelp{
	{"TAB", "Completes; again and arrows choose, Enter takes, Escape leaves"},
	{"Ctrl-R", "Lists the history; typing narrows it, arrows choose, Enter runs, TAB edits"},
	{"Right, End, Ctrl-F", "Take the dimmed suggestion; Alt-Right takes a word of it"},
	{"Up, Down", "Older and newer entries that begin with the text; lines of a text"},
	{"\\ at the end", "Continues on the next line, as an open quote does"},
	{"Alt-.", "Inserts the last argument of the previous entry; again, of older entries"},
	{"Ctrl-_", "Undoes"},
	{"Ctrl-X Ctrl-E", "Edits the text in $EDITOR"},
	{"Ctrl-C", "Clears the line, or interrupts a command"},
	{"Ctrl-Z", "Suspends the prompt; fg resumes it"},
	{"Ctrl-D", "Ends"},
}

// readline ignores ignoredKey. It replaces keys that the editor handles.
const ignoredKey = readline.CharBell

// key handles every key before readline does, and returns the key for readline.
func (e *editor) key(r rune) (rune, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return r, true
	}
	switch {
	case e.search != nil:
		r = e.searchKey(r)
	case e.menu != nil:
		r = e.menuKey(r)
	default:
		r = e.textKey(r)
	}
	return r, true
}

// textKey handles a key outside of searches and menus.
func (e *editor) textKey(r rune) rune {
	switch {
	case e.options.Vi && e.vi.command:
		return e.viKey(r)
	case e.options.Vi && e.vi.replace && r >= ' ' && r != readline.CharBackspace && !isKey(r):
		return e.do(func() { e.overwrite(r) })
	}
	return e.plainKey(r)
}

// do sets the action for a key.
func (e *editor) do(f func()) rune {
	e.action = f
	return ignoredKey
}

// continueWith is do for a key that would end readline's reading.
func (e *editor) continueWith(f func()) rune {
	e.rl.Terminal.KickRead()
	return e.do(f)
}

func (e *editor) plainKey(r rune) rune {
	switch r {
	case readline.CharEnter, readline.CharCtrlJ:
		return e.enter()
	case readline.CharInterrupt:
		e.finish("^C")
	case readline.CharDelete: // Ctrl-D
		if len(e.text) > 0 {
			return e.continueWith(func() { e.erase(1) })
		}
		e.finish("")
	case keyDelete:
		return e.do(func() { e.erase(1) })
	case readline.CharBackspace, readline.CharCtrlH:
		return e.do(func() { e.erase(-1) })
	case readline.CharBackward:
		return e.do(func() { e.step(-1) })
	case readline.CharForward:
		return e.do(func() {
			if !e.takeSuggestion(true) {
				e.step(1)
			}
		})
	case readline.CharLineEnd:
		if e.suggestion() != "" {
			return e.do(func() { e.takeSuggestion(true) })
		}
	case readline.MetaForward:
		if e.suggestion() != "" {
			return e.do(func() { e.takeSuggestion(false) })
		}
	case keyPaste:
		text := []rune(e.in.paste())
		return e.do(func() {
			e.text = slices.Insert(slices.Clone(e.text), e.cursor, text...)
			e.cursor += len(text)
		})
	case readline.CharCtrlL:
		return e.do(e.screen.clear)
	case readline.CharTab:
		if e.answering {
			return e.do(func() {})
		}
		return e.do(e.tab)
	case readline.CharTranspose: // readline's own function crashes on a single character
		return e.do(e.transpose)
	case readline.CharPrev:
		return e.do(func() { e.vertical(-1) })
	case readline.CharNext:
		return e.do(func() { e.vertical(1) })
	case readline.CharBckSearch, readline.CharFwdSearch:
		return e.do(func() { e.beginSearch(string(e.text)) })
	case readline.CharCtrlZ:
		return e.do(e.suspend)
	case keyEscape:
		if e.options.Vi {
			return e.do(e.leaveInsert)
		}
		return e.do(func() {})
	case readline.CharBell:
		return e.do(func() {})
	}
	if isKey(r) {
		return e.do(func() { e.ownKey(r) })
	}
	return r
}

// enter ends the line, unless it continues on the next one.
func (e *editor) enter() rune {
	if e.in.wantsEdit() {
		if e.answering {
			return e.continueWith(func() {})
		}
		e.finish("")
		e.endErr = errEdit
		return readline.CharEnter
	}
	if _, continued := scan(string(e.text)); continued && !e.answering {
		return e.continueWith(func() {
			e.text = append(slices.Clone(e.text), '\n')
			e.cursor = len(e.text)
		})
	}
	e.finish("")
	return readline.CharEnter
}

// vertical moves to the next or previous line of the text, or beyond its ends through the
// history.
func (e *editor) vertical(by int) {
	if e.answering {
		return
	}
	from, to := lineAround(e.text, e.cursor)
	column := e.cursor - from
	switch {
	case by < 0 && from > 0:
		from, to = lineAround(e.text, from-1)
		e.cursor = min(from+column, to)
		return
	case by > 0 && to < len(e.text):
		from, to = lineAround(e.text, to+1)
		e.cursor = min(from+column, to)
		return
	}
	walk := e.history.newer
	if by < 0 {
		walk = func() (string, bool) { return e.history.older(string(e.text)) }
	}
	if text, ok := walk(); ok {
		e.setEnd(text)
	} else {
		e.bell()
	}
}

// lineAround returns the bounds of the cursor's line.
func lineAround(text []rune, cursor int) (from, to int) {
	for from = cursor; from > 0 && text[from-1] != '\n'; from-- {
	}
	for to = cursor; to < len(text) && text[to] != '\n'; to++ {
	}
	return from, to
}
