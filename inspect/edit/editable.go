package edit

import (
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/meowdis/meowdis/decode"
	"github.com/meowdis/meowdis/display"
	"github.com/meowdis/meowdis/inspect/change"
	"github.com/meowdis/meowdis/inspect/room"
	"github.com/meowdis/meowdis/inspect/screen"
	"github.com/meowdis/meowdis/inspect/target"
	"github.com/meowdis/meowdis/keytype"
)

// editable is a text that can be changed, and the commands that change it.
type editable struct {
	title     string
	text      string
	lines     bool   // it is better edited in an editor
	formatted string // the text as an editor shows it; "" as it is
	save      func(text string) [][][]byte
	read      [][]byte // the command that answers the text; nil where it does not change behind one's back
	large     bool     // the key has many elements, and saving the old text again undoes it
	expires   int64    // of the key; Unix ms, 0 for never
	raw       bool     // the text is edited as it is, whatever it holds
	unfetched bool     // the text is still to be fetched, by read
	field     string   // of a hash: saving takes its time to live away, and gives it back; "" for none
}

// editLimit is the longest text that is edited.
const editLimit = 64 << 20

// manyElements is from how many elements on a key is not kept as a whole when one
// of them is edited.
const manyElements = 10_000

// editableOf is what the person looks at as a text to edit; ok is false where there
// is none.
func editableOf(v room.Sight) (e editable, ok bool) {
	el := v.Subject() // an element by itself is edited as the row it was opened from
	switch {
	case !v.Shown || v.Gone || el == nil && v.Text == nil:
		return e, false
	case el != nil && !el.Own:
		return e, false
	case el != nil:
		e = editElement(v, el.Row, el.Body)
		e.raw = v.Type == keytype.ZSet || v.Text != nil && v.Text.Bare
		e.lines = e.lines || e.layered()
		return e, e.save != nil && len(e.text) <= editLimit
	case v.Text.Size > editLimit:
		return e, false
	}
	key := v.Key
	e = editable{title: display.Text(key, 40), text: v.Text.Data, read: target.Command("GET", key), save: func(text string) [][][]byte {
		return [][][]byte{target.Command("SET", key, text, "KEEPTTL")}
	}}
	switch {
	case v.Type == keytype.JSON:
		e.read = target.Command("JSON.GET", key)
		e.save = func(text string) [][][]byte { return [][][]byte{target.Command("JSON.SET", key, "$", text)} }
		e.formatted = v.Text.LaidOut
	case v.Text.Partial:
		e.unfetched, e.lines, e.raw = true, true, v.Text.Bare
		return e, true
	case v.Text.Missing:
		return e, v.Text.Size == 0
	}
	e.raw = e.raw || v.Text.Bare || v.Type == keytype.JSON
	e.lines = strings.Contains(e.text, "\n") || len(e.text) > 2000 || e.layered()
	return e, true
}

// layered reports whether what is edited is inside layers, or MessagePack.
func (e editable) layered() bool {
	_, ok := e.decoded()
	return ok
}

// decoded is what is edited in place of the text.
func (e editable) decoded() (decode.Inside, bool) {
	if e.raw {
		return decode.Inside{}, false
	}
	return decode.Edit([]byte(e.text), decode.Options{})
}

// editElement is an element as a text to edit; save is nil where it cannot be.
func editElement(v room.Sight, row []string, body string) editable {
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
	e.read = t.Getting(key, name)
	e.large = e.read != nil && v.Type != keytype.VectorSet && v.Size > manyElements
	switch {
	case v.Type == keytype.Hash && row[1] != "":
		e.save = func(text string) [][][]byte {
			return [][][]byte{t.Putting(key, name, text), change.ExpireField(key, name, row[1])}
		}
	case t.Put != "":
		e.save = func(text string) [][][]byte { return [][][]byte{t.Putting(key, name, text)} }
	case len(t.Parts) == 1 && len(t.Given) == 1 && t.Drop != "": // the element is its name
		e.save = func(text string) [][][]byte {
			return [][][]byte{t.Dropping(key, name), t.Adding(key, []string{text})}
		}
	}
	e.lines = strings.Contains(e.text, "\n") || len(e.text) > 2000
	return e
}

// editableOf is what is to be edited, or says why nothing can be.
func (r *Room) editableOf(v room.Sight) (e editable, ok bool) {
	if !r.mayWrite() {
		return e, false
	}
	if e, ok = editableOf(v); !ok {
		r.Notice = "This cannot be edited here. Press " + r.KeyFor("command") + " to write a command."
		if v.Gone {
			r.Notice = "This key is not there any more."
		} else if v.Text != nil && v.Text.Size > editLimit {
			r.Notice = "This is more than an editor should be given: " + display.Bytes(editLimit) + " at most."
		}
	}
	return e, ok
}

// Edit changes what the person looks at: in place where it is a short line, else in
// the editor.
func (r *Room) Edit(s Subject) tea.Cmd {
	if s.Value.Part == room.Groups && s.Value.Element != nil {
		if r.mayWrite() {
			r.editGroup(s.Value)
		}
		return nil
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

// change is what saves a text. It is in doubt when the text was changed meanwhile.
func (e editable) change(text string) change.Change {
	c := change.Change{Title: "Changed " + e.title, Calls: e.save(text), Field: e.field}
	if e.read != nil {
		c = c.Expecting(e.text, e.read)
	}
	if e.large {
		c.Back = e.save(e.text)
		c.Checks = []change.Check{{Call: e.read}}
		if e.expires != 0 {
			c.Checks = append(c.Checks, change.Check{Call: target.Command(change.OnlyTTL, string(e.read[1]))})
			// When the key has ended by then, HSET would make another one.
			c.Back = append(c.Back, target.Command("PEXPIREAT", string(e.read[1]), target.Decimal(e.expires)))
		}
	}
	return c
}
