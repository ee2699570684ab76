package edit

import (
	tea "github.com/charmbracelet/bubbletea"

	"github.com/meowdis/meowdis/decode"
	"github.com/meowdis/meowdis/inspect/room"
	"github.com/meowdis/meowdis/inspect/screen"
)

// JSON that is stored in one line is edited in lines, and stored in one line again, written
// as it was. A line that the person has made themselves is stored as it is, and so is what
// they edit while they look at the text (x).

// oneLine makes d a draft in lines of JSON that is in one line; false when it is none.
func (e editable) oneLine(d *draft) bool {
	if e.raw {
		return false
	}
	w, text, ok := decode.InLine([]byte(e.text), decode.Options{})
	if ok {
		d.original, d.oneLine = text, true
		d.encode = func(text string) ([]byte, error) {
			line, err := w.Line(text)
			return []byte(line), err
		}
	}
	return ok
}

// isLongJSON reports whether an editor shows more of a text than a line does.
func (e editable) isLongJSON() bool {
	const short = 60
	var d draft
	return len(e.text) > short && e.oneLine(&d)
}

// askLayout is the question what to store where the editor left lines that are laid out in
// another way than it was given, or no JSON; nil where there is none. line is the text in
// one line, and bad why there is no such.
func (r *Room) askLayout(d draft, left, line string, bad error) room.Dialog {
	asIs := room.Item{Label: "store it as it is in the editor", Value: "as is"}
	p := &room.Picker{Title: "It is laid out in another way now", Items: []room.Item{{Label: "store it in one line, as it was", Value: "line"}, asIs}}
	switch {
	case bad != nil:
		p.Title = screen.VisibleText([]byte(bad.Error()))
		p.Items = []room.Item{{Label: "edit it again", Value: "again"}, asIs}
	case left == decode.Lines(left):
		return nil
	}
	p.Choose = func(choice string) tea.Cmd {
		switch choice {
		case "again":
			return r.openEditor(d)
		case "line":
			return r.saveDraft(d, line)
		}
		return r.saveDraft(d, left)
	}
	p.Refused = func() { r.showNotSaved("You did not want it.", d.path) }
	return p
}

// editedIn says which editor it was, where the person has named none.
func (r *Room) editedIn() string {
	if r.StandIn == "" {
		return ""
	}
	return " It was edited in " + r.StandIn + ", since EDITOR is not set."
}
