package repl

import (
	"slices"
	"strings"

	"github.com/chzyer/readline"
)

// vi holds the state of vi mode.
type vi struct {
	command       bool      // command mode; else insert mode
	replace       bool      // typed characters overwrite the text
	keys          []rune    // keys of the command so far
	find          viCommand // the last f, F, t or T
	insertStart   int       // where inserting began
	insertCommand viCommand // the command that began it
	last          viCommand // the last change, for .
	typed         string    // text inserted by it
	killed        string    // text that p inserts
}

// viCommand holds a command: 3dw has a count, an operator and a motion.
type viCommand struct {
	count    int // 0 for none
	operator rune
	name     rune // a motion, or a command without operator
	object   rune // i or a of a text object, whose name follows
	arg      rune // the argument of f, F, t, T and r
}

func (c viCommand) times() int { return max(c.count, 1) }

type parsed byte

const (
	viWhole parsed = iota
	viBegun
	viWrong
)

// multiplyCount multiplies the count by the number that keys begin with, and returns the keys after it.
func (c *viCommand) multiplyCount(keys []rune) []rune {
	const most = 10000 // repetitions
	n := 0
	for len(keys) > 0 && keys[0] <= '9' && (keys[0] >= '1' || n > 0 && keys[0] == '0') {
		n = min(n*10+int(keys[0]-'0'), most)
		keys = keys[1:]
	}
	if n > 0 {
		c.count = min(c.times()*n, most)
	}
	return keys
}

// parseVi parses the keys of a command.
func parseVi(keys []rune) (c viCommand, state parsed) {
	keys = c.multiplyCount(keys)
	if len(keys) > 0 && strings.ContainsRune("dcy", keys[0]) {
		c.operator, keys = keys[0], keys[1:]
		keys = c.multiplyCount(keys)
		if len(keys) > 1 && (keys[0] == 'i' || keys[0] == 'a') {
			c.object, keys = keys[0], keys[1:]
		} else if len(keys) == 1 && (keys[0] == 'i' || keys[0] == 'a') {
			return c, viBegun
		}
	}
	if len(keys) == 0 {
		return c, viBegun
	}
	c.name = keys[0]
	switch {
	case c.operator != 0 && c.object == 0 && c.name != c.operator && !strings.ContainsRune("hl 0^$wWbBeEfFtT;,|%", c.name):
		return c, viWrong
	case c.object == 0 && (strings.ContainsRune("fFtT", c.name) || c.operator == 0 && c.name == 'r'):
		if len(keys) == 1 {
			return c, viBegun
		}
		c.arg = keys[1]
	}
	return c, viWhole
}

// keymap returns the keymap for the next key.
func (e *editor) keymap() keymap {
	switch {
	case !e.options.Vi:
		return emacsKeys
	case !e.vi.command:
		return viInsertKeys
	case len(e.vi.keys) > 0 || e.search != nil:
		return viArgumentKeys
	}
	return viCommandKeys
}

// viKey handles a key in command mode.
func (e *editor) viKey(r rune) rune {
	switch r {
	case readline.CharEnter, readline.CharCtrlJ:
		e.vi.command = false
		return e.enter()
	case readline.CharTab:
		return e.do(func() {
			e.insertFrom(e.afterCursor())
			if !e.answering {
				e.tab()
			}
		})
	case keyPaste:
		e.cursor = e.afterCursor()
		return e.plainKey(r)
	case keyEscape:
		e.vi.keys = nil
		return e.do(func() {})
	case readline.CharForward:
		r = 'l'
	case readline.CharBackward, readline.CharBackspace, readline.CharCtrlH:
		r = 'h'
	case readline.CharLineStart:
		r = '0'
	case readline.CharLineEnd:
		r = '$'
	case keyDelete:
		r = 'x'
	}
	if r < ' ' || isKey(r) {
		e.vi.keys = nil
		return e.plainKey(r)
	}
	return e.do(func() {
		keys := append(slices.Clone(e.vi.keys), r)
		c, state := parseVi(keys)
		switch e.vi.keys = nil; state {
		case viBegun:
			e.vi.keys = keys
		case viWrong:
			e.bell()
		default:
			e.execute(c)
		}
	})
}

// execute runs a command.
func (e *editor) execute(c viCommand) {
	before, mode := string(e.text), e.vi.command
	known := e.executeCommand(c)
	switch {
	case c.operator != 0:
		e.operate(c)
	case !known:
		e.move(c)
	}
	if c.name != '.' && c.name != 'u' && c.name != 'U' && c.operator != 'y' && (string(e.text) != before || e.vi.command != mode) {
		if e.vi.last, e.vi.typed = c, ""; !e.vi.command {
			e.vi.insertCommand = c
		}
	}
}

// executeCommand runs a command other than a motion. It returns false for motions.
func (e *editor) executeCommand(c viCommand) bool {
	if c.operator != 0 {
		return true
	}
	from, to := lineAround(e.text, e.cursor)
	switch c.name {
	case 'i':
		e.insertFrom(e.cursor)
	case 'a':
		e.insertFrom(e.afterCursor())
	case 'I':
		e.insertFrom(from)
	case 'A':
		e.insertFrom(to)
	case 'R':
		e.insertFrom(e.cursor)
		e.vi.replace = true
	case 'C', 'D', 'Y', 'S', 's', 'x', 'X':
		e.operate(expandShort(c))
	case 'r':
		e.replaceLetters(c)
	case '~':
		e.toggleCase(c.times())
	case 'p':
		e.put(c.times(), true)
	case 'P':
		e.put(c.times(), false)
	case 'u':
		for range c.times() {
			e.undo()
		}
	case 'U':
		e.revert()
	case '.':
		e.again(c.count)
	case 'j', '+':
		e.repeat(c.times(), func() { e.vertical(1) })
	case 'k', '-':
		e.repeat(c.times(), func() { e.vertical(-1) })
	case 'G':
		e.showEntry(c.count - 1)
	case '/', '?':
		if e.beginSearch(""); e.search != nil {
			e.search.keepsText = true
		}
	case 'n', 'N':
		e.searchNext(c.name == 'n')
	case '_':
		e.insertFrom(e.afterCursor())
		e.insert(" ")
		e.insertLastArg()
	default:
		return false
	}
	return true
}

func (e *editor) repeat(times int, f func()) {
	for range times {
		f()
	}
}

// expandShort returns the operator and motion of a one-letter command.
func expandShort(c viCommand) viCommand {
	switch c.name {
	case 'D':
		return viCommand{operator: 'd', name: '$'}
	case 'C':
		return viCommand{operator: 'c', name: '$'}
	case 'Y':
		return viCommand{operator: 'y', name: 'y'}
	case 'S':
		return viCommand{operator: 'c', name: 'c'}
	case 's':
		return viCommand{count: c.count, operator: 'c', name: 'l'}
	case 'X':
		return viCommand{count: c.count, operator: 'd', name: 'h'}
	}
	return viCommand{count: c.count, operator: 'd', name: 'l'}
}

// move moves the cursor. At the end of the text, Right and $ take the suggestion of the
// history, w and e a word of it.
func (e *editor) move(c viCommand) {
	if e.atEnd() && strings.ContainsRune("l$we", c.name) && e.takeSuggestion(c.name == 'l' || c.name == '$') {
		return
	}
	to, _, ok := e.motion(c)
	if !ok {
		e.bell()
		return
	}
	e.cursor = to
}

// operate deletes, changes or yanks the text of a motion.
func (e *editor) operate(c viCommand) {
	from, to, ok := e.operatorRange(c)
	if !ok {
		e.bell()
		return
	}
	e.vi.killed = string(e.text[from:to])
	switch c.operator {
	case 'y':
		e.cursor = from
	case 'd':
		e.cut(from, to)
	case 'c':
		e.cut(from, to)
		e.insertFrom(from)
	}
}

// cut deletes a part of the text.
func (e *editor) cut(from, to int) {
	e.text = slices.Delete(slices.Clone(e.text), from, to)
	e.cursor = from
}

// insert inserts text at the cursor.
func (e *editor) insert(text string) {
	runes := []rune(text)
	e.text = slices.Insert(slices.Clone(e.text), e.cursor, runes...)
	e.cursor += len(runes)
}

// put inserts the text deleted or yanked last, before or after the cursor.
func (e *editor) put(times int, after bool) {
	const most = 1 << 20
	text := strings.Repeat(e.vi.killed, min(times, most/max(1, len(e.vi.killed))))
	if text == "" {
		e.bell()
		return
	}
	if after {
		e.cursor = e.afterCursor()
	}
	e.insert(text)
	e.step(-1)
}

// replaceLetters runs r.
func (e *editor) replaceLetters(c viCommand) {
	_, end := lineAround(e.text, e.cursor)
	to := e.cursor
	for range c.times() {
		if to >= end {
			e.bell()
			return
		}
		_, to = adjacent(e.text, to)
	}
	from := e.cursor
	e.cut(from, to)
	e.insert(strings.Repeat(string(c.arg), c.times()))
	e.step(-1)
}

func (e *editor) toggleCase(times int) {
	_, end := lineAround(e.text, e.cursor)
	e.text = slices.Clone(e.text)
	for ; times > 0 && e.cursor < end; times-- {
		e.text[e.cursor] = toggleLetter(e.text[e.cursor])
		e.step(1)
	}
}

// insertFrom starts insert mode at a position.
func (e *editor) insertFrom(at int) {
	e.cursor, e.vi.insertStart, e.vi.command = at, at, false
}

// overwrite replaces the character at the cursor, for R.
func (e *editor) overwrite(r rune) {
	if _, end := lineAround(e.text, e.cursor); e.cursor < end {
		e.erase(1)
	}
	e.insert(string(r))
	e.updateMenu()
}

// leaveInsert starts command mode. A count before i, a, I or A repeats the inserted text.
func (e *editor) leaveInsert() {
	v := &e.vi
	if c := v.insertCommand; c.name != 0 && v.insertStart <= e.cursor {
		v.typed = string(e.text[v.insertStart:e.cursor])
		if c.operator == 0 && strings.ContainsRune("iaIA", c.name) && len(v.typed)*c.times() < 1<<20 {
			e.insert(strings.Repeat(v.typed, c.times()-1))
		}
	}
	v.command, v.replace, v.keys, v.insertCommand, e.menu = true, false, nil, viCommand{}, nil
	if from, _ := lineAround(e.text, e.cursor); e.cursor > from {
		e.step(-1)
	}
}

// again runs the dot command: it repeats the last change, with its own count unless count is given.
func (e *editor) again(count int) {
	last, typed := e.vi.last, e.vi.typed
	if last.name == 0 {
		e.bell()
		return
	}
	if count > 0 {
		last.count = count
	}
	e.execute(last)
	if e.vi.command {
		return
	}
	for _, r := range typed {
		if e.vi.replace {
			e.overwrite(r)
		} else {
			e.insert(string(r))
		}
	}
	e.leaveInsert()
}

// clampCursor keeps the cursor on a character in command mode.
func (e *editor) clampCursor() {
	if from, to := lineAround(e.text, e.cursor); e.cursor == to && to > from {
		e.cursor, _ = adjacent(e.text, e.cursor)
	}
}

// afterCursor returns the position after the cursor's character, within its line.
func (e *editor) afterCursor() int {
	if _, to := lineAround(e.text, e.cursor); e.cursor == to {
		return to
	}
	_, after := adjacent(e.text, e.cursor)
	return after
}

// atEnd reports whether the cursor is at the end of the text, or on its last character in
// command mode.
func (e *editor) atEnd() bool {
	return e.cursor == len(e.text) || e.vi.command && e.afterCursor() == len(e.text)
}

// modeText returns the text before the prompt in vi mode.
func (e *editor) modeText() string {
	rc := &e.in.rc
	shown := ""
	switch {
	case !e.options.Vi || rc.hideMode:
	case e.vi.command:
		shown = rc.command
	default:
		shown = rc.insert
	}
	return shown
}
