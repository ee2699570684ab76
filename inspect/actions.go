package inspect

import (
	"fmt"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"
)

// locked says so, when it is, and tells whether it is.
func (m *Model) locked() bool {
	if !m.unlocked {
		m.notice = lockedNotice
	}
	return !m.unlocked
}

// rename asks for another name of the selected key. A name that is taken is
// refused.
func (m *Model) rename() tea.Cmd {
	key, ok := m.currentKey()
	if m.locked() || !ok {
		return nil
	}
	typed, read := typeable(key)
	m.overlay = &question{title: "Rename " + shown(key, 40), prompt: newPrompt(typed), answer: func(m *Model, answer string) tea.Cmd {
		name, err := read(answer)
		if err != nil {
			m.fail(err)
		}
		if err != nil || name == key {
			return nil
		}
		return m.write(change{title: "Renamed to " + shown(name, 40), reveal: name, taken: true, calls: [][][]byte{command("RENAMENX", key, name)}})
	}}
	return nil
}

// expire asks how long the selected keys should live.
func (m *Model) expire() tea.Cmd {
	s := m.selected()
	if m.locked() || s.empty() {
		return nil
	}
	if len(s.folders) > 0 {
		m.notice = "Choose keys, not folders, to set their time to live."
		return nil
	}
	m.overlay = &question{title: "Time to live of " + s.String(), note: "90s, 5m, 12h, 7d, a date, or never", prompt: newPrompt(""),
		answer: func(m *Model, text string) tea.Cmd {
			ms, err := parseLife(text, m.now)
			if err != nil {
				m.failure = err.Error()
				return nil
			}
			return m.setLife(s, ms)
		}}
	return nil
}

// persist takes the time to live of the selected keys away.
func (m *Model) persist() tea.Cmd {
	s := m.selected()
	if m.locked() || s.empty() || len(s.folders) > 0 {
		return nil
	}
	return m.setLife(s, 0)
}

// setLife makes the keys end at a time, 0 for never.
func (m *Model) setLife(s selection, at int64) tea.Cmd {
	c := change{title: s.String() + " never expires now"}
	if at != 0 {
		c.title = s.String() + " expires in " + remaining(at-m.now)
	}
	for _, name := range s.names {
		if at == 0 {
			c.calls = append(c.calls, command("PERSIST", name))
		} else {
			c.calls = append(c.calls, command("PEXPIREAT", name, decimal(at)))
		}
	}
	m.keys.marked = map[string]bool{}
	return m.write(c)
}

// parseLife reads a time to live as people write it, and returns when it ends: 0
// for never.
func parseLife(text string, now int64) (int64, error) {
	text = strings.TrimSpace(text)
	if text == "never" || text == "" {
		return 0, nil
	}
	for _, layout := range []string{"2006-01-02", "2006-01-02 15:04", "2006-01-02 15:04:05", time.RFC3339} {
		if t, err := time.ParseInLocation(layout, text, time.Local); err == nil {
			return t.UnixMilli(), nil
		}
	}
	var total time.Duration
	rest := strings.ReplaceAll(text, " ", "")
	if days, after, ok := strings.Cut(rest, "d"); ok {
		n := atoi64(days)
		if n <= 0 || n > 36500 {
			return 0, badLife(text)
		}
		total, rest = time.Duration(n)*24*time.Hour, after
	}
	if rest != "" {
		if strings.Trim(rest, "0123456789") == "" {
			rest += "s"
		}
		d, err := time.ParseDuration(rest)
		if err != nil {
			return 0, badLife(text)
		}
		total += d
	}
	if total <= 0 {
		return 0, badLife(text)
	}
	return now + total.Milliseconds(), nil
}

func badLife(text string) error {
	return fmt.Errorf("%s is no time to live: give 90s, 5m, 12h, 7d, a date or never", shown(text, 20))
}

// remove deletes what is selected: keys in the list, an element in a value.
func (m *Model) remove() tea.Cmd {
	s := m.value.sheet()
	if !m.inValue || s == nil || !s.tabular() {
		return m.askDelete()
	}
	row, _, ok := s.element()
	if m.locked() || !ok {
		return nil
	}
	calls := m.elementGone(s, row)
	if calls == nil {
		m.notice = "What stands here is not deleted by itself."
		return nil
	}
	name := shown(row[0], 30)
	return m.confirm(confirmation{title: "Delete " + name + " of " + shown(m.value.key, 30) + "?", change: change{title: "Deleted " + name, calls: calls}})
}

// elementGone is the commands that delete an element, nil where it cannot be.
func (m *Model) elementGone(s *sheet, row record) [][][]byte {
	key := m.value.key
	if s.src != sources[m.value.kind] {
		return nil
	}
	switch m.value.kind {
	case "hash":
		return [][][]byte{command("HDEL", key, row[0])}
	case "set":
		return [][][]byte{command("SREM", key, row[0])}
	case "zset":
		return [][][]byte{command("ZREM", key, row[2])}
	case "stream":
		return [][][]byte{command("XDEL", key, row[0])}
	case "array":
		return [][][]byte{command("ARDEL", key, row[0])}
	case "list":
		// A list deletes by value only: the element is made one that is found
		// nowhere else.
		mark := fmt.Sprintf("\x00deleted at %d by the inspector\x00", m.now)
		return [][][]byte{command("LSET", key, row[0], mark), command("LREM", key, "1", mark)}
	}
	return nil
}

// add asks for a new key, or for a new element of the open value.
func (m *Model) add() tea.Cmd {
	if m.locked() {
		return nil
	}
	if m.inValue && m.value.loaded && !m.value.gone {
		return m.addElement()
	}
	p := &picker{title: "Add a key of type", choose: func(m *Model, kind string) tea.Cmd {
		m.addKey(kind)
		return nil
	}}
	for _, t := range types {
		p.items = append(p.items, item{label: shownKind(t), value: t})
	}
	m.overlay = p
	return nil
}

// parts is what an element of a type consists of.
var parts = map[string][]string{
	"string": {"value"}, "hash": {"field", "value"}, "list": {"value"}, "set": {"member"},
	"zset": {"score", "member"}, "stream": {"field", "value"}, "array": {"value"}, "ReJSON-RL": {"JSON"},
}

func (m *Model) addKey(kind string) {
	prefix := ""
	if r := m.keys.selected(); r != nil && m.keys.tree() {
		if prefix = r.level; r.Folder {
			prefix = r.Name
		}
	}
	if typed, _ := typeable(prefix); typed != prefix {
		prefix = ""
	}
	fields := []field{newField("name", prefix, "")}
	for _, part := range parts[kind] {
		fields = append(fields, newField(part, "", ""))
	}
	fields = append(fields, newField("TTL", "", "never; or 90s, 5m, 12h, 7d"))
	m.overlay = &form{title: "New " + shownKind(kind), fields: fields, submit: func(m *Model, values []string) tea.Cmd {
		name, ttl := values[0], values[len(values)-1]
		at, err := parseLife(ttl, m.now)
		if err != nil {
			m.failure = err.Error()
			return nil
		}
		calls := [][][]byte{elementMade(kind, name, values[1:len(values)-1], true)}
		if at != 0 {
			calls = append(calls, command("PEXPIREAT", name, decimal(at)))
		}
		return m.write(change{title: "Added " + shown(name, 40), calls: calls, fresh: name, reveal: name})
	}}
}

func (m *Model) addElement() tea.Cmd {
	kind, key := m.value.kind, m.value.key
	if parts[kind] == nil || kind == "string" || kind == "ReJSON-RL" {
		m.notice = "Press e to edit the value."
		return nil
	}
	var fields []field
	for _, part := range parts[kind] {
		fields = append(fields, newField(part, "", ""))
	}
	m.overlay = &form{title: "Add to " + shown(key, 40), fields: fields, submit: func(m *Model, values []string) tea.Cmd {
		return m.write(change{title: "Added to " + shown(key, 40), calls: [][][]byte{elementMade(kind, key, values, false)}})
	}}
	return nil
}

// elementMade is the command that adds an element, and with it a new key.
func elementMade(kind, key string, v []string, fresh bool) [][]byte {
	switch kind {
	case "hash":
		return command("HSET", key, v[0], v[1])
	case "list":
		return command("RPUSH", key, v[0])
	case "set":
		return command("SADD", key, v[0])
	case "zset":
		return command("ZADD", key, v[0], v[1])
	case "stream":
		return command("XADD", key, "*", v[0], v[1])
	case "array":
		return command("ARINSERT", key, v[0])
	case "ReJSON-RL":
		return command("JSON.SET", key, "$", v[0])
	}
	return command("SET", key, v[0])
}
