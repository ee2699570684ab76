package inspect

import (
	"cmp"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/meowdis/meowdis/inspect/edit"
	"github.com/meowdis/meowdis/inspect/job"
)

// A key acts on the next screen, not on the one still shown: keys typed while rows, a
// value or a question load wait until it is shown.

// maxPendingKeys limits the waiting keys. Further keys are dropped: the user is probably holding a key
// down.
const maxPendingKeys = 32

// writeWait limits how long keys wait for a change to finish. After that they act at once, so the user
// can move around during a long change.
const writeWait = time.Second

// pendingKey holds a waiting key, or an action chosen in the palette.
type pendingKey struct {
	key    tea.KeyMsg
	action *binding // nil: the key
}

// waiting reports whether the result of an earlier key is still loading.
func (m *Model) waiting() bool {
	switch {
	case m.Dialog != nil || m.keys.IsTyping() || m.tooSmall():
		return false
	case m.Running(job.CountingAffected) || m.Running(job.Marking) || m.Running(job.Drafting) || m.Running(job.Unlocking):
		return true
	case m.Running(job.Writing) && m.Elapsed(job.Writing) < writeWait.Milliseconds():
		return true
	case m.InValue:
		return m.Running(job.Searching) || m.value.IsAwaited()
	}
	return m.keys.IsWaited()
}

// mustWait reports whether an action waits: b is nil for a key without one. While the rest of a document is read, the
// cursor moves and lines fold.
func (m *Model) mustWait(b *binding) bool {
	reads := m.InValue && m.Dialog == nil && m.value.IsReadingRest()
	return m.waiting() || reads && (b == nil || !b.moves && b.name != "open_element")
}

// queueKey queues a key that has to wait, and reports whether it did. Esc never waits and drops the
// queue.
func (m *Model) queueKey(k tea.KeyMsg) bool {
	key := k.String()
	b := m.binding(key)
	switch {
	case key == "esc":
		m.dropPending()
		return false
	case len(m.pendingKeys) == 0 && (b != nil && b.immediate || !m.mustWait(b)):
		return false
	}
	if len(m.pendingKeys) < maxPendingKeys {
		m.pendingKeys = append(m.pendingKeys, pendingKey{key: k})
	}
	return true
}

// pressPending presses the queued keys until one has to wait again. A question that they open is not
// answered by keys typed before the user saw it.
func (m *Model) pressPending() tea.Cmd {
	var cmds []tea.Cmd
	for len(m.pendingKeys) > 0 {
		next := m.pendingKeys[0]
		if m.mustWait(cmp.Or(next.action, m.binding(next.key.String()))) {
			break
		}
		m.pendingKeys = m.pendingKeys[1:]
		m.Failure, m.Notice = "", ""
		if next.action != nil {
			m.keys.Touch()
			cmds = append(cmds, m.do(next.action))
		} else {
			cmds = append(cmds, m.pressNow(next.key))
		}
		if _, asks := m.Dialog.(*edit.Confirmation); asks || m.hidden {
			m.pendingKeys = nil
		}
	}
	return tea.Batch(cmds...)
}

// dropPending drops the queued keys and the moves that wait for unloaded lines.
func (m *Model) dropPending() {
	m.pendingKeys = nil
	m.keys.ForgetAhead()
	m.value.ForgetAhead()
}
