package inspect

import (
	"context"
	"errors"
	"fmt"
	"slices"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/meowdis/meowdis/catalog"
	"github.com/meowdis/meowdis/resp"
)

// change is something to write: some commands, or the end of all keys of some
// selections.
type change struct {
	title  string     // what was done, for the notice and for undo
	calls  [][][]byte // of keys that are deleted those that show what happens
	gone   []scope    // what is deleted
	many   int64      // how many keys that is; 0 while nobody counted
	keys   []string   // what the calls change beside the keys that they are known to
	back   [][][]byte // what undoes the calls; nil: the keys as they were
	backOf backOf     // likewise, asked for at the moment of the change
	checks []check    // what must be as the change left it for an undo to be unasked; nil: the keys
	lives  bool       // the calls set no more than times to live
	final  bool       // no undo is kept: it cannot be
	reveal string     // the key to go to then; "" stays
	fresh  string     // the key that must not be there yet; "" for none
	insist *change    // what to do where a RENAMENX finds that the name is taken
	holds  holds      // what must hold still; nil: nothing
	field  string     // whose time to live stays as it is; "" for none
	draft  string     // a file with the text that is written; "" for none
	form   *form      // where it was typed, to mend it there; nil for nowhere
	shows  bool       // the reply is to be seen
}

// holds reports whether what the person saw before a change is still so.
type holds func(ctx context.Context, c *conn, db int) (bool, error)

// backOf finds out what undoes a change, before it is made.
type backOf func(ctx context.Context, c *conn, db int) ([][][]byte, error)

// scope is keys of a database.
type scope struct {
	db int
	selection
}

// written is a change that was made.
type written struct {
	change
	step  *step // how to undo it; nil where nothing was done, or that cannot be
	reply resp.Value
	err   error // what ended it; what was done before is in step
}

// doubtful is a change that was not made, since something speaks against it: the
// person decides.
type doubtful struct {
	change
	title, note string
}

func (doubtful) Error() string { return "the change is in doubt" }

const (
	lockedNotice   = "Nothing is written while the browser is read-only. Press U to unlock it."
	readOnlyNotice = "This target is read-only."
)

// mayWrite reports whether a change can begin, and says why not.
func (m *Model) mayWrite() bool {
	switch {
	case m.options.Unlock == nil:
		m.notice = readOnlyNotice
	case !m.unlocked:
		m.notice = lockedNotice
	case m.running(writing):
		m.notice = "The last change is still being made; esc stops it."
	default:
		return true
	}
	return false
}

// write makes a change, when writing is unlocked.
func (m *Model) write(c change) tea.Cmd {
	if !m.mayWrite() {
		m.refused(c, m.notice)
		return nil
	}
	db := m.db
	m.making = c.title
	return m.start(writing, func(ctx context.Context) (tea.Msg, error) {
		w := written{change: c}
		switch {
		case c.final:
			var values []resp.Value
			if values, w.err = m.conn.do(ctx, db, c.calls...); w.err == nil {
				w.reply, w.err = settled(values)
			}
		case c.gone != nil:
			w.step, w.err = m.deleteAll(ctx, c)
			w.reply = resp.OK
		default:
			w.step, w.reply, w.err = m.runAll(ctx, db, c)
		}
		var doubt doubtful
		if errors.As(w.err, &doubt) {
			return doubt, nil
		}
		return w, nil
	})
}

// runAll keeps what the calls will change, and runs them. An error reply ends it;
// what was done before it can still be undone.
func (m *Model) runAll(ctx context.Context, db int, c change) (*step, resp.Value, error) {
	s, err := m.journal.begin(c.title)
	if err != nil {
		return nil, resp.Nil, err
	}
	t := transaction{db: db, places: changedBy(db, c.calls), absent: true, back: c.back, backOf: c.backOf, lives: c.lives}
	if len(c.keys) > 0 {
		t.places = append(t.places, keysIn{db, c.keys})
	}
	t.checks = c.leaves(db, t.places)
	t.calls = func(there []string) ([][][]byte, error) {
		if c.fresh != "" && len(there) > 0 {
			return nil, errNameTaken
		}
		if err := m.conn.still(ctx, db, c); err != nil {
			return nil, err
		}
		return m.conn.renewed(ctx, db, c.calls, c.field)
	}
	values, sent, err := m.transact(ctx, t)
	s.to = m.journal.end
	var no errNoImage
	if errors.As(err, &no) {
		final := c
		final.final = true
		err = doubtful{final, c.title + "?", no.Error() + ": this cannot be undone."}
	}
	if !sent {
		return nil, resp.Nil, errors.Join(err, m.journal.cut(s))
	}
	if err != nil {
		return &s, resp.Nil, err // nobody knows what took effect
	}
	last, err := settled(values)
	if c.insist != nil && err == nil && number(last) == 0 {
		err = doubtful{*c.insist, "Overwrite " + shown(c.reveal, 30) + "?", "There is a key of that name already."}
	} else if !nothingDone(values) {
		return &s, last, err
	}
	return nil, last, errors.Join(err, m.journal.cut(s))
}

// leaves is what to look at before the change is undone: what it names, or else the keys
// that it changes.
func (c change) leaves(db int, places []keysIn) (all []checksIn) {
	if c.checks != nil {
		return []checksIn{{db: db, checks: slices.Clone(c.checks)}}
	}
	name := wholeKey
	if c.lives {
		name = lifeOnly
	}
	for _, p := range places {
		all = append(all, checksIn{db: p.db, checks: asked(name, p.keys)})
	}
	return all
}

var errNameTaken = errors.New("there is a key of that name already")

// still makes a change doubtful when what it expects does not hold any more.
func (c *conn) still(ctx context.Context, db int, ch change) error {
	if ch.holds == nil {
		return nil
	}
	ok, err := ch.holds(ctx, c, db)
	if err == nil && !ok {
		ch.holds, ch.back = nil, nil
		err = doubtful{ch, "Overwrite it?", "Somebody else changed it since you looked."}
	}
	return err
}

// answering is c, which holds while a command has the reply that it had.
func (c change) answering(want string, words ...string) change {
	c.holds = func(ctx context.Context, c *conn, db int) (bool, error) {
		v, err := c.one(ctx, db, command(words...))
		var no refusal
		if errors.As(err, &no) {
			return false, nil
		}
		return err == nil && text(v) == want, err
	}
	return c
}

// settled is the reply to the last of some commands, or the first that is an error.
func settled(values []resp.Value) (resp.Value, error) {
	for _, v := range values {
		if err := replyError(v); err != nil {
			return v, err
		}
	}
	if len(values) == 0 {
		return resp.Nil, nil
	}
	return values[len(values)-1], nil
}

// nothingDone reports whether no command took effect.
func nothingDone(values []resp.Value) bool {
	for _, v := range values {
		if !v.IsError() {
			return false
		}
	}
	return true
}

// wrote takes a change in: it can be undone, and the screen looks again.
func (m *Model) wrote(w written) tea.Cmd {
	if w.step != nil {
		m.steps = append(m.steps, *w.step)
	}
	switch {
	case w.err != nil && w.step != nil:
		m.fail(w.err)
		m.failure += " (u undoes what was done)"
	case w.err != nil:
		m.fail(w.err)
	case w.shows:
		m.answers(answered{call: w.calls[0], reply: w.reply})
	default:
		m.notice = w.title + "."
		if w.step != nil {
			m.notice += " Press u to undo it."
		}
	}
	if w.err != nil {
		m.refused(w.change, w.err.Error())
		m.tellUnkept(w.err)
	} else if w.draft != "" {
		m.dropDraft(w.draft)
	}
	if w.err != nil && w.step == nil {
		return nil
	}
	return m.lookAgain(w.reveal)
}

// lookAgain shows what a change left, and goes to a key if reveal is not "".
func (m *Model) lookAgain(reveal string) tea.Cmd {
	if m.scan != nil {
		m.cancel(scanning) // its page may be of before
		m.scan.again()
	}
	m.keys.refresh(m.running(listing))
	m.keys.asked = true
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
		m.value.renewed = true
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
	m.cancel(listing)
	l.seek(m.walker(), r)
	l.rows[0].stale = true
}

// refused keeps what the person typed for a change that was not made, or not as a
// whole.
func (m *Model) refused(c change, why string) {
	switch {
	case c.draft != "":
		m.notSaved(why, c.draft)
	case c.form != nil:
		m.overlay = c.form
	}
}

// tellUnkept says all about a journal that cannot be written, which is more than
// fits into the status line.
func (m *Model) tellUnkept(err error) {
	var why unkept
	if !errors.As(err, &why) {
		return
	}
	m.failure = ""
	m.overlay = &page{title: "Nothing was changed", behind: m.overlay, laid: wrapped(
		" Its undo cannot be kept:", m.styles.failure.Render(" "+textLine([]byte(why.err.Error()))), " Make room there, or make it writable.",
	)}
}

// doubts asks whether to make a change nevertheless.
func (m *Model) doubts(d doubtful) tea.Cmd {
	return m.confirm(confirmation{title: d.title, notes: []string{d.note}, change: d.change, always: true})
}

// unlock lets the browser write, or locks it again.
func (m *Model) unlock() tea.Cmd {
	switch {
	case m.unlocked:
		m.unlocked = false
		m.notice = "Read-only again."
		return nil
	case m.options.Unlock == nil:
		m.notice = readOnlyNotice
		return nil
	case m.writable:
		m.unlocked = true
		m.notice = "Writing is unlocked. Press U to lock it."
		if n := len(m.steps); n > 0 {
			m.notice = "Writing is unlocked. Press u to undo: " + m.steps[n-1].title + "."
		}
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
