package edit

import (
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/meowdis/meowdis/inspect/change"
	"github.com/meowdis/meowdis/inspect/client"
	"github.com/meowdis/meowdis/inspect/screen"
	"github.com/meowdis/meowdis/inspect/ui"
	"github.com/meowdis/meowdis/keyspace/decode"
	"github.com/meowdis/meowdis/keyspace/display"
	"github.com/meowdis/meowdis/store/keytype"
)

// editable holds a text that can be edited, and the commands that save it.
type editable struct {
	title     string
	text      string
	lines     bool   // better edited in an editor
	formatted string // the text as an editor shows it; "" for the text itself
	save      func(text string) [][][]byte
	read      [][]byte // the command that reads the text; nil if other clients cannot change it
	large     bool     // the key has many elements; undo saves the old text instead of the key
	expires   int64    // of the key; Unix ms, 0 for never
	raw       bool     // the text is edited without decoding
	unfetched bool     // the text must still be read with read
	field     string   // hash field whose TTL must be restored after saving; "" for none
}

// editLimit caps the length of an edited text, in bytes.
const editLimit = 64 << 20

// manyElements limits the elements of a key that is saved whole for the undo of an edit of
// one element.
const manyElements = 10_000

// editableOf returns the selected text; ok is false without one.
func editableOf(v ui.Selection) (e editable, ok bool) {
	el := v.Subject() // an element opened by itself is edited as part of its row
	switch {
	case !v.Shown || v.Missing || el == nil && v.Text == nil:
		return e, false
	case el != nil && !el.Own:
		return e, false
	case el != nil:
		e = editElement(v, el.Row, el.Body)
		e.raw = v.Type == keytype.ZSet || v.Text != nil && v.Text.AsStored
		e.lines = e.lines || e.layered()
		return e, e.save != nil && len(e.text) <= editLimit
	case innerNode(v) != nil:
		e = editNode(v.Key, *v.Text.Node)
		return e, len(e.text) <= editLimit
	case v.Text.Size > editLimit, keytype.Of(v.Type).Form == keytype.Summary:
		return e, false
	}
	key := v.Key
	e = editable{title: display.Text(key, 40), text: v.Text.Data, read: client.Command("GET", key), save: func(text string) [][][]byte {
		return [][][]byte{client.Command("SET", key, text, "KEEPTTL")}
	}}
	switch {
	case v.Type == keytype.JSON:
		e.read = client.Command("JSON.GET", key)
		e.save = func(text string) [][][]byte { return [][][]byte{client.Command("JSON.SET", key, "$", text)} }
		e.formatted, e.unfetched = v.Text.Formatted, v.Text.Partial
	case v.Text.Partial:
		e.unfetched, e.lines, e.raw = true, true, v.Text.AsStored
		return e, true
	case v.Text.Missing:
		return e, v.Text.Size == 0
	}
	e.raw = e.raw || v.Text.AsStored || v.Type == keytype.JSON
	e.lines = e.unfetched || strings.Contains(e.text, "\n") || len(e.text) > 2000 || e.layered()
	return e, true
}

// editNode returns a value of a JSON document as an editable. In a large document, undo saves its old text instead of
// the document.
func editNode(key string, node ui.Node) editable {
	return editable{
		title: nodeTitle(key, node.Path), text: node.Text,
		read:  client.Command("JSON.GET", key, strings.TrimPrefix(node.Path, "$")),
		save:  func(text string) [][][]byte { return [][][]byte{client.Command("JSON.SET", key, node.Path, text)} },
		large: node.Large, lines: len(node.Text) > 2000,
	}
}

// layered reports whether the editor gets the decoded text.
func (e editable) layered() bool {
	_, ok := e.decoded()
	return ok
}

// decoded returns the decoded text for the editor.
func (e editable) decoded() (decode.Editable, bool) {
	if e.raw {
		return decode.Editable{}, false
	}
	return decode.Edit([]byte(e.text), decode.Options{})
}

// editElement returns an element as an editable; save is nil if it cannot be edited.
func editElement(v ui.Selection, row []string, body string) editable {
	key, name, t := v.Key, row[0], keytype.Of(v.Type)
	e := editable{title: display.Text(name, 30) + " of " + display.Text(key, 30), text: body, expires: v.Expires}
	switch v.Type {
	case keytype.ZSet:
		name = row[2]
		e.title, e.text = "score of "+display.Text(name, 40), row[1]
	case keytype.VectorSet:
		e.title = "attributes of " + display.Text(name, 40)
	case keytype.Hash:
		e.field = name
	}
	e.read = t.GetCall(key, name)
	e.large = e.read != nil && v.Type != keytype.VectorSet && v.Size > manyElements
	switch {
	case v.Type == keytype.Hash && row[1] != "":
		e.save = func(text string) [][][]byte {
			return [][][]byte{t.PutCall(key, name, text), change.ExpireField(key, name, row[1])}
		}
	case t.Put != "":
		e.save = func(text string) [][][]byte { return [][][]byte{t.PutCall(key, name, text)} }
	case len(t.Parts) == 1 && len(t.Inputs) == 1 && t.Drop != "": // the element is its own name
		e.save = func(text string) [][][]byte {
			return [][][]byte{t.DropCall(key, name), t.AddCall(key, []string{text})}
		}
	}
	e.lines = strings.Contains(e.text, "\n") || len(e.text) > 2000
	return e
}

// editableOf returns the editable text of the selection, or shows why it cannot be edited.
func (r *Pane) editableOf(v ui.Selection) (e editable, ok bool) {
	if !r.mayWrite() {
		return e, false
	}
	if e, ok = editableOf(v); !ok {
		r.Notice = "This cannot be edited here. Press " + r.KeyFor("command") + " to run a command."
		if v.Missing {
			r.Notice = "This key no longer exists."
		} else if v.Text != nil && v.Text.Size > editLimit {
			r.Notice = "Too large for an editor: the limit is " + display.Bytes(editLimit) + "."
		}
	}
	return e, ok
}

// Edit edits the selection: in a form if it is a short line, else in the editor.
func (r *Pane) Edit(s Subject) tea.Cmd {
	if s.Value.Part == ui.Groups && s.Value.Element != nil {
		if r.mayWrite() {
			r.editGroup(s.Value)
		}
		return nil
	}
	if s.Value.Part == ui.Pending {
		return r.Claim(s)
	}
	e, ok := r.editableOf(s.Value)
	switch {
	case !ok:
		return nil
	case e.lines || r.Editor != nil && e.isLongJSON():
		return r.EditOutside(s)
	}
	typed, read := screen.Typeable(e.text)
	r.Dialog = &form{r: r, title: "Edit " + e.title, fields: []field{newField("value", typed, "")}, make: func(v []string) (change.Change, error) {
		text, err := read(v[0])
		if err != nil || text == e.text {
			return change.Change{}, err
		}
		return e.change(text), nil
	}}
	return nil
}

// change returns the change that saves text. It is doubtful if another client has changed the old text.
func (e editable) change(text string) change.Change {
	c := change.Change{Title: "Changed " + e.title, Calls: e.save(text), Field: e.field}
	if e.read != nil {
		c = c.Expecting(e.text, e.read)
	}
	if e.large {
		c.Undo.Calls = e.save(e.text)
		c.Undo.Checks = []change.Check{{Call: e.read}}
		if e.expires != 0 {
			c.Undo.Checks = append(c.Undo.Checks, change.Check{Call: client.Command(change.OnlyTTL, string(e.read[1]))})
			// HSET would create a new key if the key has expired by then
			c.Undo.Calls = append(c.Undo.Calls, client.Command("PEXPIREAT", string(e.read[1]), client.Decimal(e.expires)))
		}
	}
	return c
}
