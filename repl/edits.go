package repl

import (
	"slices"
	"unicode"
)

// ownKey runs the action of a key that readline does not have.
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

// transpose swaps the characters around the cursor, or the last two, and moves the cursor forward.
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

// showEntry shows history entry at.
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

// undo holds a text before a change.
type undo struct {
	text   string
	cursor int
}

// undos lists a line's changes, oldest first. Consecutive typing is one change.
type undos struct {
	before  []undo
	typing  bool // the last change was typing
	undoing bool // the current key is an undo
}

const maxUndos = 1000

// record records the text before a key.
func (u *undos) record(before undo, changed, typing bool) {
	if changed && !u.undoing && !(typing && u.typing) {
		u.before = append(u.before, before)
		u.before = u.before[max(0, len(u.before)-maxUndos):]
	}
	u.typing = changed && typing && !u.undoing
}

// isTyping reports whether a key types text. In vi's insert mode, everything up to Escape
// is one change.
func (e *editor) isTyping(itself bool) bool {
	if e.options.Vi {
		return !e.vi.command
	}
	return itself
}

// undo undoes the last change.
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

// revert undoes all changes.
func (e *editor) revert() {
	if before := e.undos.before; len(before) > 0 {
		e.undos.before = before[:1]
	}
	e.undo()
}

// lastArgs remembers the text that insertLastArg inserted, so that pressing it again moves to an older entry.
type lastArgs struct {
	at, from, to int
	again        bool // the current key is this one
	wasLast      bool
}

// insertLastArg inserts the last argument of the latest history entry.
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

// lastArg returns the last word of an entry as it was typed, "" if it may be a secret.
func lastArg(entry string) string {
	commands, _ := scan(entry)
	if len(commands) == 0 || holdsSecret(entry) {
		return ""
	}
	words := commands[len(commands)-1]
	w := words[len(words)-1]
	return entry[w.from:w.to]
}
