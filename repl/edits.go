package repl

import (
	"slices"
	"unicode"
)

// ownKey does what a key of the editor's own does.
func (e *editor) ownKey(r rune) {
	switch r {
	case keyUndo:
		e.undo()
	case keyRevert:
		e.revert()
	case keyKillLine:
		from, to := lineAround(e.text, e.cursor)
		e.vi.killed = string(e.text[from:to])
		e.cut(from, to)
		e.updateMenu()
	case keyLastArg:
		e.insertLastArg()
	case keyUpper:
		e.recase(unicode.ToUpper, unicode.ToUpper)
	case keyLower:
		e.recase(unicode.ToLower, unicode.ToLower)
	case keyCapital:
		e.recase(unicode.ToUpper, unicode.ToLower)
	case keyOldest:
		e.showEntry(0)
	case keyNewest:
		if !e.answering && e.history.browsing() {
			e.setEnd(e.history.draft)
			e.history.rewind(e.history.draft)
		}
	case keyViMode:
		e.options.Vi = true
		e.insertFrom(e.cursor)
	case keyEmacsMode:
		e.options.Vi, e.vi.command, e.vi.replace = false, false, false
	}
}

// transpose swaps the letters around the cursor, or the last two, and goes on to the next.
func (e *editor) transpose() {
	from, end := lineAround(e.text, e.cursor)
	at := e.cursor
	if at == end {
		at, _ = adjacent(e.text, at)
	}
	before, after := adjacent(e.text, at)
	if at <= from || at == end {
		e.bell()
		return
	}
	e.text = slices.Concat(e.text[:before], e.text[at:after], e.text[before:at], e.text[after:])
	e.cursor = after
	e.updateMenu()
}

// showEntry shows the text of the history with a number.
func (e *editor) showEntry(at int) {
	h := e.history
	if e.answering || len(h.entries) == 0 {
		e.bell()
		return
	}
	if !h.browsing() {
		h.draft = string(e.text)
	}
	h.at = max(0, min(at, len(h.entries)-1))
	e.setEnd(h.entries[h.at])
}

// undo is a text as it was before a change.
type undo struct {
	text   string
	cursor int
}

// undos are the changes of the text, oldest first. What is typed in one go is one.
type undos struct {
	before  []undo
	typing  bool // the last change was typing
	undoing bool // this one only takes others back
}

const maxUndos = 1000

// record remembers what was there before a key.
func (u *undos) record(before undo, changed, typing bool) {
	if changed && !u.undoing && !(typing && u.typing) {
		u.before = append(u.before, before)
		u.before = u.before[max(0, len(u.before)-maxUndos):]
	}
	u.typing = changed && typing && !u.undoing
}

// isTyping reports whether a key types text: by itself, or while letters are text with vi's keys,
// where all up to Escape is one change.
func (e *editor) isTyping(itself bool) bool {
	if e.options.Vi {
		return !e.vi.command
	}
	return itself
}

// undo takes the last change back.
func (e *editor) undo() {
	u := &e.undos
	if u.undoing = true; len(u.before) == 0 {
		e.bell()
		return
	}
	last := u.before[len(u.before)-1]
	u.before = u.before[:len(u.before)-1]
	e.set(last.text, last.cursor)
	e.updateMenu()
}

// revert takes all changes back.
func (e *editor) revert() {
	if before := e.undos.before; len(before) > 0 {
		e.undos.before = before[:1]
	}
	e.undo()
}

// lastArgs is what insertLastArg inserted, so that pressed again it goes on to an older text.
type lastArgs struct {
	at, from, to int
	again        bool // the last key was this one, too
	wasLast      bool
}

// insertLastArg inserts the last argument of the newest text of the history.
func (e *editor) insertLastArg() {
	a := &e.args
	if !a.wasLast {
		a.at, a.from, a.to = len(e.history.entries), e.cursor, e.cursor
	}
	for at := a.at - 1; at >= 0 && !e.answering; at-- {
		arg := lastArg(e.history.entries[at])
		if arg == "" {
			continue
		}
		a.at, a.again = at, true
		e.text = slices.Delete(slices.Clone(e.text), a.from, a.to)
		e.cursor = a.from
		e.insert(arg)
		a.to = e.cursor
		e.updateMenu()
		return
	}
	a.again = a.wasLast
	e.bell()
}

// lastArg is the last word of a text as it was typed, "" where it may be a secret.
func lastArg(entry string) string {
	commands, _ := scan(entry)
	if len(commands) == 0 || holdsSecret(entry) {
		return ""
	}
	words := commands[len(commands)-1]
	w := words[len(words)-1]
	return entry[w.from:w.to]
}
