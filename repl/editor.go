package repl

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/chzyer/readline"
	"golang.org/x/term"
)

// errInterrupted is returned when Ctrl-C cleared the line, errEdit when the text is to be
// edited in $EDITOR.
var (
	errInterrupted = readline.ErrInterrupt
	errEdit        = errors.New("edit the text elsewhere")
)

// editor reads lines from the terminal. readline edits the text; the editor draws
// everything itself and discards readline's output.
type editor struct {
	lineState
	assistance

	rl      *readline.Instance
	in      *input
	history *history
	options *Options
	asker   *asker
	ctx     context.Context

	mu          sync.Mutex // guards the following fields: readline calls from its own goroutines
	screen      screen
	vi          vi
	undos       undos
	args        lastArgs
	resizeTimer *time.Timer
	action      func() // runs instead of readline's action for the key
}

// lineState holds the line being edited.
type lineState struct {
	text      []rune
	cursor    int
	prompt    string
	answering bool            // a question is being answered: no help, no history
	closed    bool            // no line is being read
	endErr    error           // error to return with the text
	above     strings.Builder // printed before the next line is read
}

// assistance is shown below the line.
type assistance struct {
	menu      *menu
	search    *search
	pending   *pendingCompletion
	note      string // a row below the text, until the next key
	lastQuery string // the last search query
}

func newEditor(ctx context.Context, o *Options, a *asker) (*editor, error) {
	h, err := openHistory(o.History)
	if err != nil {
		return nil, err
	}
	in := &input{from: o.In}
	if o.In == os.Stdin {
		in = &input{from: readline.Stdin, ready: typedAhead} // readline's reader decodes the keys of Windows
	}
	in.rc = readInputrc(o.Inputrc, o.Getenv)
	in.handled = sync.NewCond(&in.mu)
	o.Vi = o.Vi || in.rc.vi
	e := &editor{in: in, history: h, options: o, asker: a, ctx: ctx, lineState: lineState{closed: true}}
	e.screen = screen{out: o.Out, size: terminalSize}
	e.rl, err = readline.NewEx(&readline.Config{
		HistoryLimit:           -1,
		DisableAutoSaveHistory: true,
		Listener:               e,
		FuncFilterInputRune:    e.key,
		Stdin:                  e.in,
		Stdout:                 io.Discard,
		Stderr:                 io.Discard,
		FuncIsTerminal:         func() bool { return false },
		FuncGetWidth:           func() int { return 0 },
		FuncOnWidthChanged:     func(func()) { readline.DefaultOnWidthChanged(e.resized) },
	})
	return e, err
}

func (e *editor) Close() error { return e.rl.Close() }

// terminalSize returns the size of the terminal, or 80x24 if it is unknown.
func terminalSize() (columns, rows int) {
	columns, rows, err := term.GetSize(readline.GetStdin())
	if err != nil || columns <= 0 || rows <= 0 {
		return 80, 24
	}
	return columns, rows
}

// read reads a line that starts with begin. It returns errInterrupted for Ctrl-C, io.EOF for
// Ctrl-D on an empty line, and errEdit with the text for Ctrl-X Ctrl-E.
func (e *editor) read(prompt, begin string) (string, error) {
	e.history.rewind("")
	return e.readLine(prompt, begin, false)
}

// ask reads the answer to a question.
func (e *editor) ask(question string) (string, error) { return e.readLine(question, "", true) }

func (e *editor) readLine(prompt, begin string, plain bool) (string, error) {
	e.mu.Lock()
	e.prompt, e.text, e.answering, e.endErr, e.closed = prompt, []rune(begin), plain, nil, false
	e.cursor = len(e.text)
	e.menu, e.search, e.note = nil, nil, ""
	e.setPending(nil)
	e.undos, e.args = undos{}, lastArgs{}
	e.insertFrom(e.cursor)
	e.vi.insertCommand, e.vi.replace, e.vi.keys = viCommand{}, false, nil
	e.in.setKeymap(e.keymap())
	e.screen.reset()
	io.WriteString(e.screen.out, e.above.String()+enableBracketedPaste)
	e.above.Reset()
	e.mu.Unlock()
	e.rl.Operation.SetBuffer(begin)
	text, err := e.rl.Readline()
	e.mu.Lock()
	defer e.mu.Unlock()
	e.closed = true
	io.WriteString(e.screen.out, disableBracketedPaste)
	if err == nil {
		err = e.endErr
	}
	return text, err
}

// OnChange implements readline.Listener: it receives the text after a key. It draws unless
// more keys are pending.
func (e *editor) OnChange(line []rune, pos int, key rune) ([]rune, int, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if key != 0 {
		defer func() { e.in.setKeymap(e.keymap()) }()
	}
	switch key {
	case readline.CharEnter, readline.CharCtrlJ, readline.CharInterrupt:
		return nil, 0, false
	case 0: // the start of a line
		e.draw()
		return nil, 0, false
	}
	if e.closed {
		return nil, 0, false
	}
	e.note = ""
	before, cursor, at := string(e.text), e.cursor, e.history.at
	act := e.action
	e.undos.undoing = false
	e.args.wasLast, e.args.again = e.args.again, false
	if e.action = nil; act != nil {
		act()
	} else {
		e.text, e.cursor = line, pos
		if string(line) != before {
			e.updateMenu()
		}
	}
	if e.pending != nil && (e.search != nil || string(e.text[:e.cursor]) != e.pending.before) {
		e.setPending(nil)
	}
	if e.options.Vi && e.vi.command {
		e.clampCursor()
	}
	e.undos.record(undo{before, cursor}, string(e.text) != before, e.isTyping(act == nil && key >= ' ' && key != readline.CharBackspace))
	if string(e.text) != before && e.history.at == at {
		e.history.rewind(string(e.text)) // browsing starts from a new text
	}
	if !e.in.more() {
		e.draw()
	}
	return append([]rune(nil), e.text...), e.cursor, true
}

// picture returns the content of the screen.
func (e *editor) picture() picture {
	text := string(e.text)
	p := picture{prompt: faint(e.modeText(), e.options.Colour) + e.prompt, cursor: e.cursor}
	styles := make([]string, len(e.text))
	var after hint
	if !e.answering {
		var styleAt []string
		styleAt, after = paint(text, e.options.Target.table(), e.options.Target.Strict)
		if e.options.Colour {
			styles = runeStyles(text, styleAt)
		}
		if e.cursor < len(e.text) || e.options.NoHints {
			after = hint{}
		}
	}
	columns, rows := e.screen.size()
	p.text = glyphsOf(e.text, func(i int) string { return styles[i] })
	if s := e.suggestion(); s != "" && !after.wrong {
		after.ended = true
		at := ansi.StringWidth(p.prompt)
		if below := after.render(columns - 1 - at); below != "" {
			p.below = []string{strings.Repeat(" ", at) + below}
		}
		p.hint = suggested(s)
	} else {
		_, _, end := p.layout(max(columns, 4), rows)
		p.hint = after.render(columns - 1 - end.column)
	}
	switch {
	case e.search != nil:
		p.hint, p.below = "", e.search.lines(e.history, columns, rows, e.options.Colour)
	case e.menu != nil:
		p.below = e.menu.lines(columns, e.options.Colour)
	case e.note != "":
		p.below = append(p.below, faint(visible(e.note), e.options.Colour))
	}
	p.text = glyphsOf(e.text, func(i int) string { return styles[i] })
	return p
}

func (e *editor) draw() { e.screen.draw(e.picture()) }

// finish ends the drawing of a line that has been entered.
func (e *editor) finish(appended string) {
	e.menu, e.search, e.note = nil, nil, ""
	e.setPending(nil)
	e.screen.finish(e.picture(), appended)
	e.closed = true
}

// A terminal may take resizeDelay to reflow its content to a new width.
const resizeDelay = 50 * time.Millisecond

func (e *editor) resized() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.resizeTimer != nil {
		e.resizeTimer.Stop()
	}
	e.resizeTimer = time.AfterFunc(resizeDelay, func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		if !e.closed {
			e.screen.resized()
			e.draw()
		}
	})
}

// set replaces the text.
func (e *editor) set(text string, cursor int) {
	e.text, e.cursor = []rune(text), cursor
}

func (e *editor) setEnd(text string) { e.set(text, len([]rune(text))) }

func (e *editor) bell() {
	if !e.in.rc.silent {
		io.WriteString(e.screen.out, "\a")
	}
}
