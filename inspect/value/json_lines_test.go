package value

import (
	"slices"
	"testing"
)

// TestNodesOfLines looks up the value of each line of a document.
func TestNodesOfLines(t *testing.T) {
	for text, want := range map[string][]string{
		`{"a":1,"b {":["x {",{"c":{}},[]],"d":{"e":{"f":null}},"g":"{"}`: {
			`$`, `$["a"]`, `$["b {"]`, `$["b {"][0]`, `$["b {"][1]`, `$["b {"][1]["c"]`, "", `$["b {"][2]`, "",
			`$["d"]`, `$["d"]["e"]`, `$["d"]["e"]["f"]`, "", "", `$["g"]`, "",
		},
		`[]`:           {`$`},
		` [ 1 , [ ] ]`: {`$`, `$[0]`, `$[1]`, ""},
	} {
		d := newDocument(text)
		d.layout(80, 24)
		var got []string
		for i := range d.lines {
			d.show(i)
			path := ""
			if n := d.currentNode(text); n != nil {
				path = n.Path
			}
			got = append(got, path)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
	d := newDocument(`{"a":1,"b":2}`)
	d.layout(80, 24)
	d.show(1)
	if n := d.currentNode(`{"other":1,"b":2}`); n != nil {
		t.Errorf("a line of another text: %v", n)
	}
}
