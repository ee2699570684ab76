package inspect

import (
	"context"
	"errors"
	"fmt"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/meowdis/meowdis/catalog"
	"github.com/meowdis/meowdis/resp"
	"github.com/meowdis/meowdis/translator"
)

// change is something to write: some commands, or the end of all keys of a
// selection.
type change struct {
	title  string     // what was done, for the notice and for undo
	calls  [][][]byte // nil where keys are deleted
	gone   *selection // what is deleted
	final  bool       // no undo is kept: it cannot be, or the person gave it up
	reveal string     // the key to go to then; "" stays
	fresh  string     // the key that must not be there yet; "" for none
	taken  bool       // an answer of 0 means that the name is taken
	shows  bool       // the reply is to be seen
}

// written is a change that was made.
type written struct {
	change
	step  *step // how to undo it; nil where that cannot be
	reply resp.Value
	err   error // what ended it; what was done before is in step
}

// tooMuch is why a change was not made: what it would overwrite is too much to
// keep for undo.
type tooMuch struct{ change }

func (tooMuch) Error() string { return "too much to keep for undo" }

// write makes a change, when writing is unlocked.
func (m *Model) write(c change) tea.Cmd {
	if !m.unlocked {
		m.notice = lockedNotice
		return nil
	}
	if m.running(writing) {
		m.notice = "The last change is still being made."
		return nil
	}
	db := m.db
	return m.start(writing, func(ctx context.Context) (tea.Msg, error) {
		w := written{change: c}
		var err error
		if c.gone != nil {
			w.step, err = m.deleteAll(ctx, db, c)
		} else {
			w.step, w.reply, err = m.runAll(ctx, db, c)
		}
		var much tooMuch
		if errors.As(err, &much) {
			return much, nil
		}
		w.err = err
		return w, nil
	})
}

const lockedNotice = "Nothing is written while the browser is read-only. Press U to unlock it."

// runAll keeps what the calls will change, and runs them. An error reply ends it;
// what was done before it can still be undone.
func (m *Model) runAll(ctx context.Context, db int, c change) (*step, resp.Value, error) {
	s := &step{title: c.title, db: db}
	if !c.final {
		if err := m.keep(ctx, s, changedKeys(c.calls)); err != nil {
			return nil, resp.Nil, either(err, c)
		}
	}
	if c.fresh != "" && len(s.images) > 0 && s.images[0].there {
		return nil, resp.Nil, errNameTaken
	}
	values, err := m.conn.do(ctx, db, c.calls...)
	if err != nil {
		return s, resp.Nil, err // nobody knows what took effect
	}
	last := values[len(values)-1]
	for i, v := range values {
		err := replyError(v)
		if err != nil && i == 0 && len(values) == 1 {
			return nil, v, err // nothing was done
		}
		if err != nil {
			return s, v, err
		}
	}
	if c.taken && number(last) == 0 {
		return nil, last, errNameTaken
	}
	return s, last, nil
}

var errNameTaken = errors.New("there is a key of that name already")

// either makes the refusal to keep so much one that names the change.
func either(err error, c change) error {
	if errors.Is(err, errTooMuch) {
		return tooMuch{c}
	}
	return err
}

// changedKeys is the keys that calls may change.
func changedKeys(calls [][][]byte) []string {
	seen := map[string]bool{}
	var keys []string
	for _, call := range calls {
		cmd, _ := translator.Find(call)
		if cmd == nil {
			continue
		}
		for _, ref := range cmd.KeysOf(call) {
			key := string(call[ref.Pos])
			if ref.Access&7 != translator.RO && !seen[key] {
				seen[key] = true
				keys = append(keys, key)
			}
		}
	}
	return keys
}

// kindOf tells how dangerous a command is.
func kindOf(call [][]byte) danger {
	cmd, _ := translator.Find(call)
	switch {
	case cmd == nil:
		return unknownCall
	case cmd.Name == "FLUSHALL" || cmd.Name == "FLUSHDB" || cmd.Name == "SWAPDB" || cmd.Name == "MOVE":
		return sweeping
	case cmd.Flags&translator.Write != 0:
		return changing
	}
	return reading
}

// danger is what a command may do.
type danger int

const (
	reading danger = iota
	changing
	sweeping    // more than can be kept for undo
	unknownCall // nobody knows
)

// wrote takes a change in: it can be undone, and the screen looks again.
func (m *Model) wrote(w written) tea.Cmd {
	kept := w.step != nil && len(w.step.images) > 0
	if kept {
		m.journal.push(*w.step)
	}
	switch {
	case w.err != nil && kept:
		m.fail(fmt.Errorf("%w (u undoes what was done)", w.err))
	case w.err != nil:
		m.fail(w.err)
		return nil
	case w.shows:
		m.answers(answered{call: w.calls[0], reply: w.reply})
	default:
		m.notice = w.title + "."
		if kept {
			m.notice += " Press u to undo it."
		}
	}
	return m.lookAgain(w.reveal)
}

// lookAgain shows what a change left, and goes to a key if reveal is not "".
func (m *Model) lookAgain(reveal string) tea.Cmd {
	if m.scan != nil {
		m.scan.again()
	}
	m.keys.refresh(m.running(listing))
	for i := range m.keys.rows {
		m.keys.rows[i].stale = true
	}
	cmds := []tea.Cmd{m.count()}
	if reveal != "" {
		m.reveal(reveal)
		if m.inValue {
			m.value.wanted = reveal
		}
	}
	if m.value.any && (m.inValue || reveal == "") {
		cmds = append(cmds, m.open(m.value.wanted))
	}
	return tea.Batch(cmds...)
}

// reveal goes to a key in the list, and opens the folders that it is in.
func (m *Model) reveal(name string) {
	l := &m.keys
	if l.chooses() || l.order != catalog.ByName {
		return // it may not be in the list at all
	}
	r := row{Entry: catalog.Entry{Name: name, Mark: catalog.Mark{Set: true, Name: name}}}
	if l.tree() {
		for folder := catalog.FolderOf(name, "", m.options.Delimiter); folder != ""; folder = catalog.FolderOf(name, r.level, m.options.Delimiter) {
			l.open[folder] = r.level
			r.level = folder
			r.depth++
		}
	}
	l.rows = nil
	l.seek(m.walker(), r)
	l.rows[0].stale = true
}

// giveUpUndo asks whether a change should be made that cannot be undone.
func (m *Model) giveUpUndo(t tooMuch) tea.Cmd {
	c := t.change
	c.final = true
	return m.confirm(confirmation{
		title: c.title + "?", notes: []string{"Its values are more than " + bytesize(mostUndo) + ": this cannot be undone."}, change: c, always: true,
	})
}

// unlock lets the browser write, or locks it again.
func (m *Model) unlock() tea.Cmd {
	switch {
	case m.unlocked:
		m.unlocked = false
		m.notice = "Read-only again."
		return nil
	case m.options.Unlock == nil:
		m.notice = "This target is read-only."
		return nil
	case m.writable:
		m.unlocked = true
		m.notice = "Writing is unlocked. Press U to lock it."
		return nil
	}
	return m.start(unlocking, func(ctx context.Context) (tea.Msg, error) {
		c, err := m.options.Unlock(ctx)
		if err != nil {
			return nil, fmt.Errorf("unlocking: %w", err)
		}
		return unlocked{c}, nil
	})
}

// unlocked is a client that writes.
type unlocked struct{ client Client }

func (m *Model) unlocks(u unlocked) {
	m.conn.use(u.client)
	m.writable = true
	m.unlock()
}
