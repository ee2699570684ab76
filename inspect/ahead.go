package inspect

import (
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/meowdis/meowdis/inspect/edit"
	"github.com/meowdis/meowdis/inspect/job"
)

// A key means what the person will see, not what is still on the screen: what is typed
// ahead of rows, of a value or of a question waits until that is there.

// maxPendingKeys is how many keys wait. What is typed beyond that is dropped: somebody leans
// on a key.
const maxPendingKeys = 32

// writeWait is how long keys wait for a change that is being made. Who waits for longer
// may look around meanwhile.
const writeWait = time.Second

// pendingKey is a key that waits, or an action of the palette.
type pendingKey struct {
	key    tea.KeyMsg
	action *binding // nil: the key
}

// waiting reports whether what the person asked for is still to come.
func (m *Model) waiting() bool {
	switch {
	case m.Dialog != nil || m.keys.IsTyping() || m.tooSmall():
		return false
	case m.Running(job.Weighing) || m.Running(job.Marking) || m.Running(job.Drafting) || m.Running(job.Unlocking):
		return true
	case m.Running(job.Writing) && m.Took(job.Writing) < writeWait.Milliseconds():
		return true
	case m.InValue:
		return m.Running(job.Searching) || m.value.Awaits()
	}
	return m.keys.IsWaited()
}

// queueKey reports whether a key has to wait, and then keeps it. Esc never does, and takes
// back what waits.
func (m *Model) queueKey(k tea.KeyMsg) bool {
	key := k.String()
	b := m.binding(key)
	switch {
	case key == "esc":
		m.dropPending()
		return false
	case len(m.pendingKeys) == 0 && (b != nil && b.immediate || !m.waiting()):
		return false
	}
	if len(m.pendingKeys) < maxPendingKeys {
		m.pendingKeys = append(m.pendingKeys, pendingKey{key: k})
	}
	return true
}

// pressPending presses the keys that waited, as far as what they are about is there. A
// question that they lead to is not answered by what was typed before it was seen.
func (m *Model) pressPending() tea.Cmd {
	var cmds []tea.Cmd
	for len(m.pendingKeys) > 0 && !m.waiting() {
		next := m.pendingKeys[0]
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

// dropPending takes back what was typed ahead.
func (m *Model) dropPending() {
	m.pendingKeys = nil
	m.keys.ForgetAhead()
	m.value.ForgetAhead()
}
