package inspect

import (
	"context"
	"strings"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/meowdis/meowdis/keytype"
)

// editable is a text that can be changed, and the commands that change it.
type editable struct {
	title   string
	text    string
	lines   bool   // it is better edited in an editor
	laidOut string // the text as an editor shows it; "" as it is
	save    func(text string) [][][]byte
	read    []string // the command that answers the text; nil where it does not change behind one's back
	large   bool     // the key has many elements, and saving the old text again undoes it
	expires int64    // of the key; Unix ms, 0 for never
	far     bool     // the text is still to be fetched, by read
	field   string   // of a hash: saving takes its time to live away, and gives it back; "" for none
}

// editLimit is the longest text that is edited.
const editLimit = 64 << 20

// manyElements is from how many elements on a key is not kept as a whole when one
// of them is edited.
const manyElements = 10_000

// current is what the person looks at as a text to edit; ok is false where there
// is none.
func (m *Model) current() (e editable, ok bool) {
	v := &m.value
	s := v.sheet()
	if s == nil || v.gone || s.size > editLimit {
		return e, false
	}
	if len(v.sheets) > 1 && s.src == nil {
		// An element by itself is edited as the row it was opened from.
		s = v.sheets[len(v.sheets)-2]
	}
	if s.tabular() {
		row, body, ok := s.element()
		if !ok || s.src != sourceOf(v.kind) {
			return e, false
		}
		e = m.editElement(row, body)
		return e, e.save != nil
	}
	key := v.key
	e = editable{title: shown(key, 40), text: s.whole, read: []string{"GET", key}, save: func(text string) [][][]byte {
		return [][][]byte{command("SET", key, text, "KEEPTTL")}
	}}
	switch {
	case v.kind == keytype.JSON:
		e.read = []string{"JSON.GET", key}
		e.save = func(text string) [][][]byte { return [][][]byte{command("JSON.SET", key, "$", text)} }
		if s.doc != nil {
			e.laidOut = strings.Join(s.doc.lines, "\n")
		}
	case s.pager.count > 1:
		e.far, e.lines = true, true // only a part is in memory
		return e, true
	default:
		c := s.pager.chunks[0]
		if c == nil {
			return e, s.size == 0
		}
		e.text = string(c.data)
	}
	e.lines = strings.Contains(e.text, "\n") || len(e.text) > 2000
	return e, true
}

// editElement is an element as a text to edit; save is nil where it cannot be.
func (m *Model) editElement(row record, body string) editable {
	key := m.value.key
	e := editable{title: shown(row[0], 30) + " of " + shown(key, 30), text: body, expires: m.value.expires}
	switch m.value.kind {
	case "hash":
		e.read, e.large = []string{"HGET", key, row[0]}, m.value.size > manyElements
		e.field = row[0]
		e.save = func(text string) [][][]byte {
			calls := [][][]byte{command("HSET", key, row[0], text)}
			if row[1] != "" {
				calls = append(calls, lasting(key, row[0], row[1]))
			}
			return calls
		}
	case "list":
		e.read, e.large = []string{"LINDEX", key, row[0]}, m.value.size > manyElements
		e.save = func(text string) [][][]byte { return [][][]byte{command("LSET", key, row[0], text)} }
	case "array":
		e.read, e.large = []string{"ARGET", key, row[0]}, m.value.size > manyElements
		e.save = func(text string) [][][]byte { return [][][]byte{command("ARSET", key, row[0], text)} }
	case "vectorset":
		e.title, e.read = "attributes of "+shown(row[0], 40), []string{"VGETATTR", key, row[0]}
		e.save = func(text string) [][][]byte { return [][][]byte{command("VSETATTR", key, row[0], text)} }
	case "set":
		e.save = func(text string) [][][]byte {
			return [][][]byte{command("SREM", key, row[0]), command("SADD", key, text)}
		}
	case "zset":
		e.title, e.text = "score of "+shown(row[2], 40), row[1]
		e.save = func(text string) [][][]byte { return [][][]byte{command("ZADD", key, "XX", text, row[2])} }
	}
	e.lines = strings.Contains(e.text, "\n") || len(e.text) > 2000
	return e
}

// editing is what is to be edited, or says why nothing can be.
func (m *Model) editing() (e editable, ok bool) {
	if !m.mayWrite() {
		return e, false
	}
	if e, ok = m.current(); !ok {
		m.notice = "This cannot be edited here. Press : to write a command."
		if m.value.gone {
			m.notice = "This key is not there any more."
		} else if s := m.value.sheet(); s != nil && s.size > editLimit {
			m.notice = "This is more than an editor should be given: " + bytesize(editLimit) + " at most."
		}
	}
	return e, ok
}

// edit changes what the person looks at: in place where it is a short line, else in
// the editor.
func (m *Model) edit() tea.Cmd {
	if !m.inValue {
		return m.enterValue()
	}
	e, ok := m.editing()
	switch {
	case !ok:
		return nil
	case e.lines:
		return m.editOutside()
	}
	typed, read := typeable(e.text)
	m.overlay = &form{title: "Edit " + e.title, fields: []field{newField("value", typed, "")}, make: func(m *Model, v []string) (change, error) {
		text, err := read(v[0])
		if err != nil || text == e.text {
			return change{}, err
		}
		return e.change(text), nil
	}}
	return nil
}

// change is what saves a text. It is in doubt when the text was changed meanwhile.
func (e editable) change(text string) change {
	c := change{title: "Changed " + e.title, calls: e.save(text), field: e.field}
	if e.read != nil {
		c = c.answering(e.text, e.read...)
	}
	if e.large {
		c.back = e.save(e.text)
		c.checks = []check{{call: command(e.read...)}}
		if e.expires != 0 {
			c.checks = append(c.checks, check{call: command(lifeOnly, e.read[1])})
			// When the key has ended by then, HSET would make another one.
			c.back = append(c.back, command("PEXPIREAT", e.read[1], decimal(e.expires)))
		}
	}
	return c
}

// lasting gives a field the end back that HSET takes away.
func lasting(key, field, until string) [][]byte {
	return command("HPEXPIREAT", key, until, "FIELDS", "1", field)
}

// renewed is the calls that save a field, with the time to live that it has now, when
// its key is watched: what was read before may be old.
func (c *conn) renewed(ctx context.Context, db int, calls [][][]byte, field string) ([][][]byte, error) {
	if field == "" || c.refusals.has("HPEXPIRETIME") {
		return calls, nil
	}
	key := string(calls[0][1])
	ask := command("HPEXPIRETIME", key, "FIELDS", "1", field)
	v, err := c.one(ctx, db, ask)
	if c.refusals.has("HPEXPIRETIME") {
		return calls, nil
	}
	if err != nil {
		return nil, err
	}
	calls = calls[:1:1]
	if len(v.Elems) == 1 && number(v.Elems[0]) > 0 {
		calls = append(calls, lasting(key, field, text(v.Elems[0])))
	}
	return calls, nil
}
