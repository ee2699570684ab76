package value

import (
	"strconv"
	"strings"

	"github.com/meowdis/meowdis/inspect/ui"
	"github.com/meowdis/meowdis/keyspace/decode"
)

// nodeLine holds the value that a line of a JSON document begins.
type nodeLine struct {
	line int
	node *ui.Node
}

// currentNode returns the value that the selected line begins, in the JSON text that the lines lay out; nil for a line
// that only closes a bracket.
func (d *document) currentNode(text string) *ui.Node {
	if d.cursor >= len(d.rows) {
		return nil
	}
	line := d.rows[d.cursor].line
	if d.node == nil || d.node.line != line {
		d.node = &nodeLine{line, d.nodeOf(text, line)}
	}
	return d.node.node
}

// nodeOf walks to the value along the containers around it. It returns nil if the lines differ from the text.
func (d *document) nodeOf(text string, line int) *ui.Node {
	v, err := decode.FindJSON(text, 0)
	if err != nil {
		return nil
	}
	path, at := "$", 0
	for at != line {
		end, opens := d.closing[at]
		if !opens || line >= end {
			return nil
		}
		n, next, last := 0, at+1, 0
		at = -1
		decode.EachJSON(text, v, v.Start, func(m decode.JSONValue) bool {
			if last = next; d.closing[next] > 0 {
				last = d.closing[next]
			}
			if line <= last {
				v, path, at = m, memberPath(path, m, n), next
				return false
			}
			n, next = n+1, last+1
			return true
		})
		if at < 0 {
			return nil
		}
	}
	if !beginsValue(strings.TrimLeft(d.lines[line], " "), text, v) {
		return nil
	}
	return &ui.Node{Path: path, Text: text[v.Start:v.End]}
}

// memberPath returns the path of member n of a container.
func memberPath(container string, m decode.JSONValue, n int) string {
	if m.Name == "" {
		return container + "[" + strconv.Itoa(n) + "]"
	}
	return container + "[" + m.Name + "]"
}

// beginsValue reports whether an indented line begins a value.
func beginsValue(line, text string, v decode.JSONValue) bool {
	if v.Name != "" {
		var named bool
		if line, named = strings.CutPrefix(line, v.Name+": "); !named {
			return false
		}
	}
	if v.Count > 0 {
		return line == text[v.Start:v.Start+1]
	}
	return strings.HasPrefix(line, text[v.Start:v.Start+1])
}
