package inspect

import (
	"context"
	"errors"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/meowdis/meowdis/resp"
)

// undo takes the last change back.
func (m *Model) undo() tea.Cmd {
	if !m.mayWrite() {
		return nil
	}
	if len(m.steps) == 0 {
		m.notice = "There is nothing to undo."
		return nil
	}
	return m.undoLast(false)
}

// undoLast takes the last change back: when others changed what it left only if the
// person wants that.
func (m *Model) undoLast(wanted bool) tea.Cmd {
	n := len(m.steps)
	u := undone{step: m.steps[n-1]}
	m.steps = m.steps[:n-1]
	m.making = u.step.title
	return m.start(writing, func(ctx context.Context) (tea.Msg, error) {
		u.err = errRaced
		for range tries {
			if u.doubts, u.gone, u.err = m.review(ctx, u.step, wanted); len(u.doubts) > 0 || u.err != nil {
				return u, nil
			}
			u.step.done, u.err = m.takeBack(ctx, u.step)
			if !errors.Is(u.err, errRaced) {
				break
			}
		}
		return u, nil
	})
}

// undone is an undo that came to its end, or did not; then it can be tried again.
type undone struct {
	step   step
	doubts []string // why it was not begun
	gone   []string // keys whose time to live was to come back, and that are not there
	err    error
}

func (m *Model) undid(u undone) tea.Cmd {
	if len(u.doubts) > 0 {
		m.steps = append(m.steps, u.step)
		return m.confirm(confirmation{
			title: "Undo nevertheless?", notes: append([]string{u.step.title}, u.doubts...), always: true,
			agreed: func(m *Model) tea.Cmd { return m.undoLast(true) },
		})
	}
	if u.err != nil {
		m.steps = append(m.steps, u.step)
		m.fail(u.err)
		m.failure += " (u tries again)"
		return m.lookAgain("")
	}
	m.notice = "Undone: " + u.step.title + "."
	if n := len(u.gone); n > 0 {
		m.notice = u.gone[0] + " is not there any more: its time to live is not undone."
		if n > 1 {
			m.notice = "Undone: " + u.step.title + ", but of " + counted(int64(n), "key that is", "keys that are") + " not there any more."
		}
	}
	return m.lookAgain("")
}

// takeBack undoes a step, the last one of the journal, and cuts it off. When that breaks
// off, done is how far it came, as in the step.
func (m *Model) takeBack(ctx context.Context, s step) (done int64, err error) {
	plain := m.conn.refusals.has("WATCH")
	err = m.journal.replay(s, func(at int64, db int, calls [][][]byte) error {
		costOf(ctx).far(at, s.to-s.from)
		done = max(at, s.done)
		values, err := m.conn.commit(ctx, db, !plain, calls)
		if err != nil {
			return err
		}
		for i, v := range values {
			if err := replyError(v); err != nil && !endedMeanwhile(calls, i, v) {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return done, err
	}
	return 0, m.journal.cut(s)
}

// endedMeanwhile reports whether an error of a command that brings a key back means
// that all of the key would have ended by now.
func endedMeanwhile(calls [][][]byte, i int, v resp.Value) bool {
	if i >= len(calls) {
		return false
	}
	name := string(calls[i][0])
	return (name == "RENAME" || name == "LSET") && strings.HasPrefix(string(v.Str), "ERR no such key")
}

// leftBehind is the changes of an earlier session.
type leftBehind []step

// lookBack looks for the journal that an earlier session on the same target left.
func (m *Model) lookBack() tea.Cmd {
	if m.options.Unlock == nil {
		return nil
	}
	m.making = "" // it takes the turn of a change, which needs the journal
	return m.start(writing, func(context.Context) (tea.Msg, error) {
		steps, err := m.journal.adopt()
		if err != nil {
			return nil, err
		}
		return leftBehind(steps), nil
	})
}

// finds asks what to do with changes that were left behind.
func (m *Model) finds(l leftBehind) {
	if len(l) == 0 {
		return
	}
	m.steps = l
	many := counted(int64(len(l)), "change", "changes")
	m.overlay = &picker{
		title: "Changes of an earlier session",
		items: []item{{label: "keep its " + many + " for undo", value: "keep"}, {label: "drop them", value: "drop"}},
		choose: func(m *Model, choice string) tea.Cmd {
			if choice == "keep" {
				m.notice = "Press U to unlock, then u to undo: " + l[len(l)-1].title + "."
				return nil
			}
			m.steps = nil
			m.notice = "They stay as they are."
			if err := m.journal.close(true); err != nil {
				m.fail(err)
			}
			return nil
		},
	}
}

// endJournal ends the session's use of the journal, and returns how many changes that
// keeps. What can be undone stays until it is undone or dropped, and so does a change
// that is still being made.
func (m *Model) endJournal() (kept int, err error) {
	if m.options.Fleeting {
		return 0, m.journal.close(true)
	}
	if kept = len(m.steps); m.changing() {
		kept++
	}
	return kept, m.journal.close(kept == 0)
}
