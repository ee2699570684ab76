package edit

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"strings"
	"unicode/utf8"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/meowdis/meowdis/inspect/job"
	"github.com/meowdis/meowdis/inspect/screen"
	"github.com/meowdis/meowdis/inspect/ui"
)

// draft holds a text in a temporary file for an editor.
type draft struct {
	editable editable
	path     string
	original string // initial content of the file
	oneLine  bool   // JSON that is stored on one line
	hex      bool   // a hex dump, since the text is not valid UTF-8
	// encode converts the edited text to its stored form; nil: the text is stored as it is.
	encode func(text string) ([]byte, error)
}

// EditOutside opens the selection in the user's editor.
func (r *Pane) EditOutside(s Subject) tea.Cmd {
	e, ok := r.editableOf(s.Value)
	switch {
	case !ok:
		return nil
	case r.Editor == nil:
		r.Notice = "No editor found: set EDITOR, or install nano or vi."
		return nil
	}
	conn, db := r.Conn, r.DB
	return r.Start(job.Drafting, func(ctx context.Context) (tea.Msg, error) {
		if e.unfetched {
			v, err := conn.One(ctx, db, e.read)
			if err != nil {
				return nil, err
			}
			e.text, e.unfetched = string(v.Str), false
		}
		d, err := newDraft(e)
		return draftedMsg(d), err
	})
}

// draftedMsg carries a draft to open in the editor.
type draftedMsg draft

// newDraft writes a text to a temporary file. Binary data is written as a hex dump, so that
// an editor cannot damage it.
func newDraft(e editable) (draft, error) {
	d := draft{editable: e, original: e.text}
	pattern := "meowdis-*.txt"
	in, layered := e.decoded()
	switch {
	case layered:
		d.original, d.encode = in.Text, in.Encode
		if in.JSON {
			pattern = "meowdis-*.json"
		}
	case e.oneLine(&d):
		pattern = "meowdis-*.json"
	case e.formatted != "":
		d.original, pattern = e.formatted, "meowdis-*.json"
	case !utf8.ValidString(e.text) || strings.ContainsRune(e.text, 0):
		d.original, d.hex = hexDraft(e.text), true
	}
	file, err := os.CreateTemp("", pattern)
	if err != nil {
		return d, err
	}
	d.path = file.Name()
	_, err = file.WriteString(d.original)
	if err = errors.Join(err, file.Close()); err != nil {
		return d, errors.Join(err, os.Remove(d.path))
	}
	return d, nil
}

// openEditor runs the editor on a draft.
func (r *Pane) openEditor(d draft) tea.Cmd {
	r.drafts[d.path] = d
	command := r.Editor(d.path)
	if command.Stdout == nil && r.Out != nil {
		command.Stdout = r.Out // the terminal itself, not a writer that draws on it
	}
	return tea.Exec(terminalCmd{command, r.TerminalInUse}, func(err error) tea.Msg { return Edited{d.path, err} })
}

// Edited reports that the editor of the file at Path has ended.
type Edited struct {
	Path string
	Err  error
}

// IsDraft reports whether the file at path is a draft of this pane.
func (r *Pane) IsDraft(path string) bool { _, ok := r.drafts[path]; return ok }

// onEdited saves the edited text. The file is removed only after that.
func (r *Pane) onEdited(e Edited) tea.Cmd {
	d := r.drafts[e.Path]
	read, err := os.ReadFile(e.Path)
	if err != nil {
		r.Fail(errors.Join(e.Err, err))
		return nil
	}
	text, err := d.text(string(read))
	if d.oneLine && e.Err == nil && text != d.editable.text {
		left := strings.TrimSuffix(string(read), "\n")
		if !strings.Contains(left, "\n") && err == nil {
			text = left
		} else if p := r.askLayout(d, left, text, err); p != nil {
			r.Dialog = p
			return nil
		}
	}
	switch unchanged := string(read) == d.original || text == d.editable.text && err == nil; {
	case unchanged && e.Err == nil:
		r.Notice = "Nothing was changed." + r.editedIn()
		r.dropDraft(d.path)
		return nil
	case unchanged:
		r.dropDraft(d.path)
		err = fmt.Errorf("the editor failed, and nothing was changed: %w", e.Err)
	case e.Err != nil || err != nil:
		r.showNotSaved(errors.Join(e.Err, err).Error(), d.path)
		return nil
	}
	if err != nil {
		r.Fail(err)
		return nil
	}
	return r.saveDraft(d, text)
}

// saveDraft stores an edited text.
func (r *Pane) saveDraft(d draft, text string) tea.Cmd {
	c := d.editable.change(text)
	c.Origin = origin{draft: d.path}
	return r.write(c)
}

// showNotSaved says why a text was not stored, and where the file is.
func (r *Pane) showNotSaved(why, path string) {
	r.Dialog = &ui.Page{Title: "Nothing was changed", Layout: ui.Wrapped(
		" "+screen.VisibleText([]byte(why)), " Your text is in", " "+r.Styles.Accent.Render(path),
	)}
}

func (r *Pane) dropDraft(path string) {
	delete(r.drafts, path)
	if err := os.Remove(path); err != nil {
		r.Fail(err)
	}
}

// text decodes the content of an edited file. Editors add a final newline; it is removed
// if the text had none.
func (d draft) text(read string) (string, error) {
	if d.hex {
		return parseHexDraft(read)
	}
	if !strings.HasSuffix(d.original, "\n") {
		read = strings.TrimSuffix(read, "\n")
	}
	if d.encode != nil {
		stored, err := d.encode(read)
		return string(stored), err
	}
	return read, nil
}

const hexHelp = "# Binary data in hexadecimal. Edit the pairs of digits; text after # is ignored.\n"

// hexDraft returns a hex dump: sixteen bytes on a line, with the printable ones as a
// comment.
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

// parseHexDraft parses a hex dump.
func parseHexDraft(text string) (string, error) {
	var out []byte
	n := 0
	for line := range strings.Lines(text) {
		n++
		digits, _, _ := strings.Cut(line, "#")
		bytes, err := hex.DecodeString(strings.Join(strings.Fields(digits), ""))
		if err != nil {
			return "", fmt.Errorf("line %d is not pairs of hexadecimal digits", n)
		}
		out = append(out, bytes...)
	}
	return string(out), nil
}
