package decode

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// JSONStyle is the whitespace style of a one-line JSON document, for writing another document in
// the same style.
type JSONStyle struct{ comma, colon string }

// jsonStyles lists the common styles of one-line JSON, from no spaces to Python's.
var jsonStyles = []JSONStyle{{",", ":"}, {", ", ": "}, {",", ": "}, {", ", ":"}}

// CompactJSON parses b if it is an object or array on one line in a common style. text is the
// indented document.
func CompactJSON(b []byte, o Options) (w JSONStyle, text string, ok bool) {
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
	for _, w := range jsonStyles {
		if bytes.Equal(w.spread(least.Bytes()), b) {
			return w, indented(b), true
		}
	}
	return w, "", false
}

// Line writes the document text on one line. It returns an error if text is invalid.
func (w JSONStyle) Line(text string) (string, error) {
	var least bytes.Buffer
	if err := json.Compact(&least, []byte(text)); err != nil {
		return "", fmt.Errorf("this is no JSON: %w", err)
	}
	return string(w.spread(least.Bytes())), nil
}

// Lines indents the document text like CompactJSON. It returns text unchanged if it is not JSON.
func Lines(text string) string {
	out, ok := indentedJSON([]byte(text))
	if !ok {
		return text
	}
	return string(out)
}

// spread inserts the separators of w into a document without spaces.
func (w JSONStyle) spread(b []byte) []byte {
	out := make([]byte, 0, len(b)+len(b)/8)
	inside := false // in a string
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
