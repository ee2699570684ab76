package inspect

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"strings"
	"unicode/utf8"

	tea "github.com/charmbracelet/bubbletea"
)

// draft is a text in the file that an editor is given.
type draft struct {
	editable editable
	path     string
	shown    string // what the file held at first
	hex      bool   // it is the bytes of the text, since the text is none
	err      error  // the editor's
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
	db := m.db
	return m.start(drafting, func(ctx context.Context) (tea.Msg, error) {
		if e.far {
			v, err := m.conn.one(ctx, db, command(e.read...))
			if err != nil {
				return nil, err
			}
			e.text, e.far = string(v.Str), false
		}
		d, err := newDraft(e)
		return toEdit(d), err
	})
}

// toEdit is a draft that the editor is to be given.
type toEdit draft

// newDraft writes a text to a file. What is no text is written as bytes, so that
// an editor cannot spoil it.
func newDraft(e editable) (draft, error) {
	d := draft{editable: e, shown: e.text}
	pattern := "meowdis-*.txt"
	switch {
	case e.laidOut != "":
		d.shown, pattern = e.laidOut, "meowdis-*.json"
	case !utf8.ValidString(e.text) || strings.ContainsRune(e.text, 0):
		d.shown, d.hex = hexDraft(e.text), true
	}
	file, err := os.CreateTemp("", pattern)
	if err != nil {
		return d, err
	}
	d.path = file.Name()
	_, err = file.WriteString(d.shown)
	if err = errors.Join(err, file.Close()); err != nil {
		return d, errors.Join(err, os.Remove(d.path))
	}
	return d, nil
}

// drafted hands the draft to the editor.
func (m *Model) drafted(d draft) tea.Cmd {
	return tea.Exec(borrower{m.options.Editor(d.path), &m.lent}, func(err error) tea.Msg {
		d.err = err
		return d
	})
}

// edits saves what the editor left. The file stays until that is done.
func (m *Model) edits(d draft) tea.Cmd {
	read, err := os.ReadFile(d.path)
	if err != nil {
		m.fail(errors.Join(d.err, err))
		return nil
	}
	text, err := d.text(string(read))
	switch unchanged := string(read) == d.shown || text == d.editable.text && err == nil; {
	case unchanged && d.err == nil:
		m.notice = "Nothing was changed."
		m.dropDraft(d.path)
		return nil
	case unchanged:
		m.dropDraft(d.path)
		err = fmt.Errorf("the editor failed, and nothing was changed: %w", d.err)
	case d.err != nil || err != nil:
		m.notSaved(errors.Join(d.err, err).Error(), d.path)
		return nil
	}
	if err != nil {
		m.fail(err)
		return nil
	}
	c := d.editable.change(text)
	c.draft = d.path
	return m.write(c)
}

// notSaved says why a text was not written, and where it is now.
func (m *Model) notSaved(why, path string) {
	m.overlay = &page{title: "Nothing was changed", laid: wrapped(
		" "+textLine([]byte(why)), " Your text is in", " "+m.styles.accent.Render(path),
	)}
}

func (m *Model) dropDraft(path string) {
	if err := os.Remove(path); err != nil {
		m.fail(err)
	}
}

// text is what a file means that the editor left. Editors end the last line; a
// text that had no such end keeps none.
func (d draft) text(read string) (string, error) {
	if d.hex {
		return parseHexDraft(read)
	}
	if !strings.HasSuffix(d.shown, "\n") {
		read = strings.TrimSuffix(read, "\n")
	}
	return read, nil
}

const hexHelp = "# These bytes are no text. Change the pairs of digits; what follows a # is not read.\n"

// hexDraft is bytes as an editor shows them: sixteen in a line, with what of them
// can be read.
func hexDraft(data string) string {
	var b strings.Builder
	b.WriteString(hexHelp)
	for len(data) > 0 {
		line := data[:min(len(data), 16)]
		data = data[len(line):]
		fmt.Fprintf(&b, "%-48s# ", fmt.Sprintf("% x", line))
		for _, c := range []byte(line) {
			if c < ' ' || c > '~' {
				c = '.'
			}
			b.WriteByte(c)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// parseHexDraft reads bytes back.
func parseHexDraft(text string) (string, error) {
	var out []byte
	n := 0
	for line := range strings.Lines(text) {
		n++
		digits, _, _ := strings.Cut(line, "#")
		bytes, err := hex.DecodeString(strings.Join(strings.Fields(digits), ""))
		if err != nil {
			return "", fmt.Errorf("line %d holds what is no pair of hexadecimal digits", n)
		}
		out = append(out, bytes...)
	}
	return string(out), nil
}
