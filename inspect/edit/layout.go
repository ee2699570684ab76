package edit

import (
	tea "github.com/charmbracelet/bubbletea"

	"github.com/meowdis/meowdis/inspect/screen"
	"github.com/meowdis/meowdis/inspect/ui"
	"github.com/meowdis/meowdis/keyspace/decode"
)

// JSON that is stored on one line is edited over several lines, and stored on one line in
// its original style. A line that the person wrote is stored as it is, and so is a text
// edited in the raw view (x).

// oneLine fills d with formatted JSON if the text is JSON on one line, else returns false.
func (e editable) oneLine(d *draft) bool {
	if e.raw {
		return false
	}
	w, text, ok := decode.CompactJSON([]byte(e.text), decode.Options{})
	if ok {
		d.original, d.oneLine = text, true
		d.encode = func(text string) ([]byte, error) {
			line, err := w.Line(text)
			return []byte(line), err
		}
	}
	return ok
}

// isLongJSON reports whether an editor shows the text better than a form.
func (e editable) isLongJSON() bool {
	const short = 60
	var d draft
	return len(e.text) > short && e.oneLine(&d)
}

// askLayout asks what to store if the edited text is no longer JSON, or is formatted
// differently from the original; it returns nil in all other cases. line is the text on one
// line; bad is the error if that fails.
func (r *Pane) askLayout(d draft, left, line string, bad error) ui.Dialog {
	asIs := ui.Item{Label: "store the text as edited", Value: "as is"}
	p := &ui.Picker{Title: "The layout changed", Items: []ui.Item{{Label: "store it on one line, as before", Value: "line"}, asIs}}
	switch {
	case bad != nil:
		p.Title = screen.VisibleText([]byte(bad.Error()))
		p.Items = []ui.Item{{Label: "edit again", Value: "again"}, asIs}
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
	p.Cancelled = func() { r.showNotSaved("You cancelled it.", d.path) }
	return p
}

// editedIn names the editor that was used if the person has set none.
func (r *Pane) editedIn() string {
	if r.FallbackEditor == "" {
		return ""
	}
	return " Edited with " + r.FallbackEditor + ", because EDITOR is not set."
}
