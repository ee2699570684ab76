package inspect

import (
	"time"

	tea "github.com/charmbracelet/bubbletea"
)

// A key means what the person will see, not what is still on the screen: what is typed
// ahead of rows, of a value or of a question waits until that is there.

// mostAhead is how many keys wait. What is typed beyond that is dropped: somebody leans
// on a key.
const mostAhead = 32

// soonDone is how long keys wait for a change that is being made. Who waits for longer
// may look around meanwhile.
const soonDone = time.Second

// awaits reports whether what the person asked for is still to come.
func (m *Model) awaits() bool {
	switch {
	case m.overlay != nil || m.filtering != nil || m.tiny():
		return false
	case m.running(weighing) || m.running(drafting) || m.running(unlocking):
		return true
	case m.running(writing) && m.now-m.jobs[writing].since < soonDone.Milliseconds():
		return true
	case m.inValue:
		return m.running(searching) || m.value.awaits()
	case m.conn.refusals.has("SCAN") && m.scan != nil:
		return false
	}
	return m.keys.awaits() && (m.keys.stale || m.keys.owed != 0 || m.canList(m.keys.jump))
}

// waits reports whether a key has to wait, and then keeps it. Esc never does, and takes
// back what waits.
func (m *Model) waits(k tea.KeyMsg) bool {
	key := k.String()
	b := m.binding(key)
	switch {
	case key == "esc":
		m.forgetAhead()
		return false
	case len(m.ahead) == 0 && (b != nil && b.atOnce || !m.awaits()):
		return false
	}
	if len(m.ahead) < mostAhead {
		m.ahead = append(m.ahead, k)
	}
	return true
}

// catchUp presses the keys that waited, as far as what they are about is there. A
// question that they lead to is not answered by what was typed before it was seen.
func (m *Model) catchUp() tea.Cmd {
	var cmds []tea.Cmd
	for len(m.ahead) > 0 && !m.awaits() {
		k := m.ahead[0]
		m.ahead = m.ahead[1:]
		m.failure, m.notice = "", ""
		cmds = append(cmds, m.pressNow(k))
		if _, asks := m.overlay.(*confirmation); asks {
			m.ahead = nil
		}
	}
	return tea.Batch(cmds...)
}

// forgetAhead takes back what was typed ahead.
func (m *Model) forgetAhead() {
	m.ahead, m.keys.owed = nil, 0
	if s := m.value.sheet(); s != nil {
		s.pager.owed = 0
	}
}

// awaits reports whether the rows are not those that the person asked for.
func (l *keyList) awaits() bool { return !l.halted && (l.stale || l.asked || l.owed != 0) }

// awaits reports whether the value, or the part of it that the person asked for, is not
// there yet.
func (v *valuePane) awaits() bool {
	if v.halted || !v.any {
		return false
	}
	if !v.loaded || v.key != v.wanted || v.renewed {
		return true
	}
	s := v.sheet()
	return s != nil && !v.gone && (s.seeking || s.pager.awaits())
}

// awaits reports whether the person has to wait for the line they went to. The end of a
// chain may be far: who moves on the way there stays there.
func (p *pager) awaits() bool { return p.owed != 0 || p.chase == ending && !p.endless() }
