package edit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/meowdis/meowdis/inspect/change"
	"github.com/meowdis/meowdis/inspect/client"
	"github.com/meowdis/meowdis/inspect/ui"
	"github.com/meowdis/meowdis/keyspace/decode"
	"github.com/meowdis/meowdis/keyspace/display"
)

// Values inside a JSON document are added and deleted by path. In a large document, undo saves these values, not the
// document.

// nodeTitle names a value of a document.
func nodeTitle(key, path string) string {
	return display.Text(strings.TrimPrefix(path, "$"), 40) + " of " + display.Text(key, 30)
}

// innerNode returns the selected value inside a JSON document; nil for the whole document, and elsewhere.
func innerNode(v ui.Selection) *ui.Node {
	if v.Text == nil || v.Text.Node == nil || v.Text.Node.Path == "$" {
		return nil
	}
	return v.Text.Node
}

// deleteNode asks before it deletes a value of a JSON document.
func (r *Pane) deleteNode(key string, node ui.Node) tea.Cmd {
	if !r.mayWrite() {
		return nil
	}
	back := client.Command("JSON.SET", key, node.Path, node.Text)
	if parent, index, ok := elementPath(node.Path); ok {
		back = client.Command("JSON.ARRINSERT", key, parent, strconv.Itoa(index), node.Text)
	}
	c := change.Change{
		Title: "Deleted " + nodeTitle(key, node.Path), Calls: [][][]byte{client.Command("JSON.DEL", key, node.Path)},
		Undo: change.Undo{Calls: [][][]byte{back}, Checks: []change.Check{{Call: client.Command("JSON.GET", key, node.Path)}}},
	}.Expecting(node.Text, client.Command("JSON.GET", key, strings.TrimPrefix(node.Path, "$")))
	return r.confirm(Confirmation{title: "Delete " + nodeTitle(key, node.Path) + "?", change: undoable(node, c)})
}

// undoable returns a change of a value in a document. Undo restores the whole of a small document, with
// the order of its members.
func undoable(node ui.Node, c change.Change) change.Change {
	if !node.Large {
		c.Undo = change.Undo{}
	}
	return c
}

// elementPath splits the path of an element of an array; ok is false for a member of an object.
func elementPath(path string) (parent string, index int, ok bool) {
	at := strings.LastIndexByte(path, '[')
	if at < 0 || strings.HasSuffix(path, `"]`) {
		return "", 0, false
	}
	index, err := strconv.Atoi(strings.TrimSuffix(path[at+1:], "]"))
	return path[:at], index, err == nil
}

// jsonNote says what a JSON value looks like.
const jsonNote = `JSON, such as "text", 3, true, [1] or {"a":1}`

// addNode asks for a further member of an object, or element of an array.
func (r *Pane) addNode(key string, node ui.Node) {
	value := newField("value", "", jsonNote)
	title := "Add to " + nodeTitle(key, node.Path)
	if node.Path == "$" {
		title = "Add to " + display.Text(key, 30)
	}
	switch {
	case strings.HasPrefix(node.Text, "{"):
		r.Dialog = &form{r: r, title: title, fields: []field{newField("name", "", ""), value}, make: func(v []string) (change.Change, error) {
			c, err := addMember(key, node, v[0], v[1])
			return undoable(node, c), err
		}}
	case strings.HasPrefix(node.Text, "["):
		r.Dialog = &form{r: r, title: title, fields: []field{value}, make: func(v []string) (change.Change, error) {
			c, err := appendElement(key, node.Path, v[0])
			return undoable(node, c), err
		}}
	default:
		r.Notice = "Select an object or an array to add to it."
	}
}

// addMember returns the change that adds a member to an object.
func addMember(key string, object ui.Node, name, value string) (change.Change, error) {
	if err := checkJSON(value); err != nil {
		return change.Change{}, err
	}
	if hasMember(object.Text, name) {
		return change.Change{}, fmt.Errorf("%s exists: select it to edit it", display.Text(name, 30))
	}
	var quoted bytes.Buffer
	out := json.NewEncoder(&quoted)
	out.SetEscapeHTML(false)
	if err := out.Encode(name); err != nil {
		return change.Change{}, err
	}
	path := object.Path + "[" + strings.TrimSpace(quoted.String()) + "]"
	return change.Change{
		Title: "Added " + nodeTitle(key, path), Calls: [][][]byte{client.Command("JSON.SET", key, path, value, "NX")},
		Undo: change.Undo{Calls: [][][]byte{client.Command("JSON.DEL", key, path)}, Checks: []change.Check{{Call: client.Command("JSON.GET", key, path)}}},
	}, nil
}

// appendElement returns the change that appends to an array.
func appendElement(key, path, value string) (change.Change, error) {
	if err := checkJSON(value); err != nil {
		return change.Change{}, err
	}
	return change.Change{
		Title: "Added to " + nodeTitle(key, path), Calls: [][][]byte{client.Command("JSON.ARRAPPEND", key, path, value)},
		Undo: change.Undo{Calls: [][][]byte{client.Command("JSON.ARRPOP", key, path)}, Checks: []change.Check{{Call: client.Command("JSON.ARRLEN", key, path)}}},
	}, nil
}

func checkJSON(value string) error {
	if !json.Valid([]byte(value)) {
		return errors.New("not JSON: " + strings.TrimPrefix(jsonNote, "JSON, ") + "; text needs quotes")
	}
	return nil
}

// hasMember reports whether an object has a member of a name.
func hasMember(object, name string) (found bool) {
	root, err := decode.FindJSON(object, 0)
	if err != nil {
		return false
	}
	decode.EachJSON(object, root, root.Start, func(m decode.JSONValue) bool {
		var other string
		found = json.Unmarshal([]byte(m.Name), &other) == nil && other == name
		return !found
	})
	return found
}
