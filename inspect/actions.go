package inspect

import (
	"context"
	"fmt"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/meowdis/meowdis/keytype"
)

// rename asks for another name of the selected key. A name that is taken is asked
// about once more.
func (m *Model) rename() tea.Cmd {
	key, ok := m.currentKey()
	if !ok {
		m.notice = "Choose a key to rename."
	}
	if !ok || !m.mayWrite() {
		return nil
	}
	typed, read := typeable(key)
	m.overlay = &form{title: "Rename " + shown(key, 40), fields: []field{newField("name", typed, "")}, make: func(m *Model, v []string) (change, error) {
		name, err := read(v[0])
		if err != nil || name == key {
			return change{}, err
		}
		c := change{title: "Renamed to " + shown(name, 40), reveal: name}
		onto := c
		onto.calls = [][][]byte{command("RENAME", key, name)}
		c.calls, c.insist = [][][]byte{command("RENAMENX", key, name)}, &onto
		c.back = [][][]byte{command("RENAME", name, key)}
		c.checks = []check{{call: command("EXISTS", key)}, {call: command("EXISTS", name)}}
		return c, nil
	}}
	return nil
}

// lifeNote is how a time to live is written.
const lifeNote = "90s, 12h, 2d, 1w, never, 2030-01-31"

// expire asks how long the selected keys should live, or in a hash the selected
// field.
func (m *Model) expire() tea.Cmd {
	name, set, ok := m.mortal()
	if !ok || !m.mayWrite() {
		return nil
	}
	m.overlay = &form{title: "Time to live of " + name, fields: []field{newField("TTL", "", lifeNote)}, make: func(m *Model, v []string) (change, error) {
		if strings.TrimSpace(v[0]) == "" {
			return change{}, nil
		}
		at, err := parseLife(v[0], m.now)
		return set(at), err
	}}
	return nil
}

// persist takes the time to live away.
func (m *Model) persist() tea.Cmd {
	_, set, ok := m.mortal()
	if !ok || !m.mayWrite() {
		return nil
	}
	m.keys.marked = map[string]bool{}
	return m.write(set(0))
}

// mortal is what the person chose whose time to live may be set: its name, and the
// change that makes it end at a time, or never for 0.
func (m *Model) mortal() (name string, set func(at int64) change, ok bool) {
	if row, _, ok := m.field(); ok {
		return m.mortalField(row[0])
	}
	s := m.selected()
	if len(s.folders) > 0 {
		m.notice = "Choose keys, not folders, to set their time to live."
	}
	return s.String(), func(at int64) change {
		c := change{title: lived(s.String(), len(s.names), at, m.now), lives: true}
		for _, name := range s.names {
			call := command("PERSIST", name)
			if at != 0 {
				call = command("PEXPIREAT", name, decimal(at))
			}
			c.calls = append(c.calls, call)
		}
		return c
	}, len(s.folders) == 0 && len(s.names) > 0
}

// field is the row of a hash that is chosen in its table.
func (m *Model) field() (row record, body string, ok bool) {
	s := m.value.sheet()
	if !m.inValue || m.value.kind != "hash" || !s.tabular() || m.value.gone {
		return nil, "", false
	}
	return s.element()
}

func (m *Model) mortalField(field string) (name string, set func(at int64) change, ok bool) {
	key := m.value.key
	name = shown(field, 30) + " of " + shown(key, 30)
	return name, func(at int64) change {
		call := command("HPERSIST", key, "FIELDS", "1", field)
		if at != 0 {
			call = command("HPEXPIREAT", key, decimal(at), "FIELDS", "1", field)
		}
		return change{
			title: lived(name, 1, at, m.now), calls: [][][]byte{call}, lives: true, backOf: fieldLife(key, field),
			checks: []check{{call: command(lifeOnly, key, field)}},
		}
	}, true
}

// fieldLife is what gives a field the time to live back that it has.
func fieldLife(key, field string) backOf {
	return func(ctx context.Context, c *conn, db int) ([][][]byte, error) {
		v, err := c.one(ctx, db, command("HPEXPIRETIME", key, "FIELDS", "1", field))
		switch {
		case err != nil:
			return nil, err
		case len(v.Elems) == 1 && number(v.Elems[0]) > 0:
			return [][][]byte{lasting(key, field, text(v.Elems[0]))}, nil
		}
		return [][][]byte{command("HPERSIST", key, "FIELDS", "1", field)}, nil
	}
}

// lived says what the time to live of n things became.
func lived(name string, n int, at, now int64) string {
	ends := " expire"
	if n == 1 {
		ends = " expires"
	}
	if at == 0 {
		return name + " never" + ends + " now"
	}
	return name + ends + " in " + remaining(at-now)
}

// parseLife reads a time to live as people write it, and returns when it ends: 0
// for never.
func parseLife(text string, now int64) (int64, error) {
	text = strings.TrimSpace(text)
	if text == "never" || text == "" {
		return 0, nil
	}
	for _, layout := range []string{"2006-01-02", "2006-01-02 15:04", "2006-01-02T15:04", "2006-01-02 15:04:05", "2006-01-02T15:04:05", time.RFC3339} {
		t, err := time.ParseInLocation(layout, text, time.Local)
		switch {
		case err == nil && t.UnixMilli() <= now:
			return 0, fmt.Errorf("%s is over", text)
		case err == nil:
			return t.UnixMilli(), nil
		}
	}
	var total time.Duration
	rest := strings.ReplaceAll(text, " ", "")
	for _, unit := range []struct {
		letter string
		days   int64
	}{{"w", 7}, {"d", 1}} {
		count, after, ok := strings.Cut(rest, unit.letter)
		if !ok {
			continue
		}
		n := atoi64(count)
		if n <= 0 || n > 36500/unit.days {
			return 0, badLife(text)
		}
		total, rest = total+time.Duration(n*unit.days)*24*time.Hour, after
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
	return fmt.Errorf("%s is no time to live: give 90s, 10m, 12h, 2d, 1w, a date or never", shown(text, 20))
}

// remove deletes what is selected: keys in the list, an element in a value.
func (m *Model) remove() tea.Cmd {
	s := m.value.sheet()
	if !m.inValue || s == nil || !s.tabular() {
		return m.askDelete()
	}
	row, body, ok := s.element()
	if !ok || !m.mayWrite() {
		return nil
	}
	c := change{title: "Deleted " + shown(row[0], 30), calls: m.elementGone(s, row)}
	if c.calls == nil {
		m.notice = "What stands here is not deleted by itself."
		return nil
	}
	if m.value.kind == "list" {
		c = c.answering(body, "LINDEX", m.value.key, row[0]) // others may have moved it
	}
	return m.confirm(confirmation{title: "Delete " + shown(row[0], 30) + " of " + shown(m.value.key, 30) + "?", change: c})
}

// elementGone is the commands that delete an element, nil where it cannot be.
func (m *Model) elementGone(s *sheet, row record) [][][]byte {
	key := m.value.key
	if s.src != sourceOf(m.value.kind) {
		return nil
	}
	if m.value.kind == keytype.List {
		// A list deletes by value only: the element is made one that is found
		// nowhere else.
		mark := fmt.Sprintf("\x00deleted at %d by the inspector\x00", m.now)
		return [][][]byte{command("LSET", key, row[0], mark), command("LREM", key, "1", mark)}
	}
	if t := keytype.Of(m.value.kind); t.Drop != "" {
		return [][][]byte{t.Dropping(key, row[s.src.name])}
	}
	return nil
}

// add asks for a new key, or for a new element of the open value.
func (m *Model) add() tea.Cmd {
	if !m.mayWrite() {
		return nil
	}
	if m.inValue && m.value.loaded && !m.value.gone {
		return m.addElement()
	}
	p := &picker{title: "Add a key of type", choose: func(m *Model, kind string) tea.Cmd {
		m.addKey(kind)
		return nil
	}}
	for _, t := range keytype.Types {
		p.items = append(p.items, item{label: t.Said(), value: t.Name})
	}
	m.overlay = p
	return nil
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
	for _, part := range keytype.Of(kind).Given {
		fields = append(fields, newField(part, "", ""))
	}
	fields = append(fields, newField("TTL", "", lifeNote))
	m.overlay = &form{title: "New " + shownKind(kind), fields: fields, make: func(m *Model, values []string) (change, error) {
		name, ttl := values[0], values[len(values)-1]
		at, err := parseLife(ttl, m.now)
		calls := [][][]byte{keytype.Of(kind).Adding(name, values[1:len(values)-1])}
		if at != 0 {
			calls = append(calls, command("PEXPIREAT", name, decimal(at)))
		}
		return change{title: "Added " + shown(name, 40), calls: calls, fresh: name, reveal: name}, err
	}}
}

func (m *Model) addElement() tea.Cmd {
	kind, key := m.value.kind, m.value.key
	if keytype.Of(kind).Parts == nil {
		m.notice = "Press e to edit the value."
		return nil
	}
	var fields []field
	for _, part := range keytype.Of(kind).Given {
		fields = append(fields, newField(part, "", ""))
	}
	m.overlay = &form{title: "Add to " + shown(key, 40), fields: fields, make: func(m *Model, values []string) (change, error) {
		return change{title: "Added to " + shown(key, 40), calls: [][][]byte{keytype.Of(kind).Adding(key, values)}}, nil
	}}
	return nil
}
