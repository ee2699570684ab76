package decode

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Written is a document of JSON in one line: how it is written, to write another one in the
// same way.
type Written struct{ comma, colon string }

// writings are the ways in which programs write JSON in one line: with no space, as Python
// does, and what is between.
var writings = []Written{{",", ":"}, {", ", ": "}, {",", ": "}, {", ", ":"}}

// InLine reads b if it is one object or array in one line, written in a usual way; text is
// the document in lines.
func InLine(b []byte, o Options) (w Written, text string, ok bool) {
	o = o.withDefaults()
	if bytes.ContainsAny(b, "\r\n") {
		return w, "", false
	}
	if _, is := prettyJSON(b, o.MaxBytes); !is {
		return w, "", false
	}
	var least bytes.Buffer
	if json.Compact(&least, b) != nil {
		return w, "", false
	}
	for _, w := range writings {
		if bytes.Equal(w.spread(least.Bytes()), b) {
			return w, indented(b), true
		}
	}
	return w, "", false
}

// Line is the document text in one line. An error says what is wrong with it.
func (w Written) Line(text string) (string, error) {
	var least bytes.Buffer
	if err := json.Compact(&least, []byte(text)); err != nil {
		return "", fmt.Errorf("this is no JSON: %w", err)
	}
	return string(w.spread(least.Bytes())), nil
}

// Lines is the document text as InLine lays it out; text itself when it is no JSON.
func Lines(text string) string {
	out, ok := inLines([]byte(text))
	if !ok {
		return text
	}
	return string(out)
}

// spread puts the separators of w into a document that has no spaces.
func (w Written) spread(b []byte) []byte {
	out := make([]byte, 0, len(b)+len(b)/8)
	inside := false // a string
	for i := 0; i < len(b); i++ {
		switch c := b[i]; {
		case inside && c == '\\' && i+1 < len(b):
			out = append(out, c, b[i+1])
			i++
		case c == '"':
			inside = !inside
			out = append(out, c)
		case c == ',' && !inside:
			out = append(out, w.comma...)
		case c == ':' && !inside:
			out = append(out, w.colon...)
		default:
			out = append(out, c)
		}
	}
	return out
}
