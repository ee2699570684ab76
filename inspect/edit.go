package inspect

import (
	"errors"
	"os"
	"strings"

	tea "github.com/charmbracelet/bubbletea"
)

// editable is a text that can be changed, and the commands that change it.
type editable struct {
	title   string
	text    string
	lines   bool   // it is better edited in an editor
	laidOut string // the text as an editor shows it; "" as it is
	save    func(text string) [][][]byte
}

// editLimit is the longest text that is edited.
const editLimit = 16 << 20

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
		if !ok || s.src != sources[v.kind] {
			return e, false
		}
		e = m.editElement(row, body)
		return e, e.save != nil
	}
	key := v.key
	e = editable{title: shown(key, 40), text: s.whole, save: func(text string) [][][]byte {
		return [][][]byte{command("SET", key, text, "KEEPTTL")}
	}}
	switch {
	case v.kind == "ReJSON-RL":
		e.save = func(text string) [][][]byte { return [][][]byte{command("JSON.SET", key, "$", text)} }
		if s.doc != nil {
			e.laidOut = strings.Join(s.doc.lines, "\n")
		}
	case s.pager.count > 1:
		return e, false // only a part is in memory
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
	e := editable{title: shown(row[0], 30) + " of " + shown(key, 30), text: body}
	switch m.value.kind {
	case "hash":
		e.save = func(text string) [][][]byte {
			calls := [][][]byte{command("HSET", key, row[0], text)}
			if row[1] != "" {
				calls = append(calls, command("HPEXPIREAT", key, row[1], "FIELDS", "1", row[0])) // HSET took it away
			}
			return calls
		}
	case "list":
		e.save = func(text string) [][][]byte { return [][][]byte{command("LSET", key, row[0], text)} }
	case "array":
		e.save = func(text string) [][][]byte { return [][][]byte{command("ARSET", key, row[0], text)} }
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
	if m.locked() {
		return e, false
	}
	if e, ok = m.current(); !ok {
		m.notice = "This cannot be edited here. Press : to write a command."
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
	m.overlay = &form{title: "Edit " + e.title, fields: []field{newField("value", typed, "")}, submit: func(m *Model, v []string) tea.Cmd {
		text, err := read(v[0])
		if err != nil {
			m.fail(err)
			return nil
		}
		return m.save(e, text)
	}}
	return nil
}

func (m *Model) save(e editable, text string) tea.Cmd {
	if text == e.text {
		m.notice = "Nothing was changed."
		return nil
	}
	return m.write(change{title: "Changed " + e.title, calls: e.save(text)})
}

// edited is the end of an editor.
type edited struct {
	editable editable
	path     string
	err      error
}

// editOutside changes what the person looks at in the editor of their choice.
func (m *Model) editOutside() tea.Cmd {
	e, ok := m.editing()
	switch {
	case !ok:
		return nil
	case m.options.Editor == nil:
		m.notice = "There is no editor: set EDITOR."
		return nil
	}
	if e.laidOut != "" {
		e.text = e.laidOut
	}
	file, err := os.CreateTemp("", "meowdis-*.txt")
	if err == nil {
		_, err = file.WriteString(e.text)
		err = errors.Join(err, file.Close())
	}
	if err != nil {
		m.fail(err)
		return nil
	}
	path := file.Name()
	return tea.ExecProcess(m.options.Editor(path), func(err error) tea.Msg { return edited{e, path, err} })
}

// edits saves what the editor left.
func (m *Model) edits(e edited) tea.Cmd {
	text, err := os.ReadFile(e.path)
	err = errors.Join(e.err, err, os.Remove(e.path))
	if err != nil {
		m.fail(err)
		return nil
	}
	// Editors end the last line; a value that had no such end keeps none.
	s := string(text)
	if !strings.HasSuffix(e.editable.text, "\n") {
		s = strings.TrimSuffix(s, "\n")
	}
	return m.save(e.editable, s)
}
