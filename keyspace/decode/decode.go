package decode

import (
	"strings"

	"github.com/meowdis/meowdis/keyspace/display"
)

// Options bound the work. The zero Options are good for a screen.
type Options struct {
	// Partial says that the bytes are only the beginning of a value, so that
	// an early end is no damage.
	Partial bool
	// MaxBytes is the most that a layer is opened to; 0 is 4 MiB.
	MaxBytes int
	// MaxLayers is how many layers are opened; 0 is 6.
	MaxLayers int
	// DumpBytes is the most that a hex dump shows; 0 is 512.
	DumpBytes int
}

// Layer is one of the forms that a value was found to have.
type Layer struct {
	Name string // "gzip", "base64", "JSON", …
	Size int    // in bytes, as far as it was opened
	Cut  bool   // there is more than Size
}

// Shown is a value as people read it.
type Shown struct {
	Layers []Layer // from the outside in; the last is what Text shows
	Text   string  // lines without control characters; the last has no newline
	// Note says what else there is to know, "" for nothing: of a number that
	// may be a time, which one.
	Note string
}

// Value recognises and shows b.
func Value(b []byte, o Options) Shown {
	o = o.withDefaults()
	var s Shown
	cut := o.Partial
	for range o.MaxLayers {
		name, inner, more := open(b, cut, o.MaxBytes)
		if name == "" {
			break
		}
		s.Layers = append(s.Layers, Layer{name, len(b), cut})
		b, cut = inner, more
	}
	name := ""
	name, s.Text, s.Note = show(b, cut, o)
	s.Layers = append(s.Layers, Layer{name, len(b), cut})
	return s
}

func (o Options) withDefaults() Options {
	for _, d := range []struct {
		option *int
		usual  int
	}{{&o.MaxBytes, 4 << 20}, {&o.MaxLayers, 6}, {&o.DumpBytes, 512}} {
		if *d.option <= 0 {
			*d.option = d.usual
		}
	}
	return o
}

// Chain names the layers with their sizes: "gzip 1.2 KB → JSON 5.3 KB".
func (s Shown) Chain() string {
	parts := make([]string, len(s.Layers))
	for i, l := range s.Layers {
		parts[i] = l.Name + " " + display.Bytes(int64(l.Size))
		if l.Cut {
			parts[i] += "+"
		}
	}
	return strings.Join(parts, " → ")
}

// Names is Chain without the sizes: "gzip → JSON".
func (s Shown) Names() string {
	names := make([]string, len(s.Layers))
	for i, l := range s.Layers {
		names[i] = l.Name
	}
	return strings.Join(names, " → ")
}

// IsPlain reports whether the value is text as it stands, and nothing else.
func (s Shown) IsPlain() bool {
	return len(s.Layers) == 1 && s.Layers[0].Name == textName && s.Note == ""
}

// show lays out what has no further layer.
func show(b []byte, cut bool, o Options) (name, text, note string) {
	if facts, ok := picture(b); ok {
		return facts.format, facts.String(), ""
	}
	if text, ok := prettyJSON(b, o.MaxBytes); ok {
		return "JSON", text, ""
	}
	if !cut {
		if text, note, ok := jwt(b, o.MaxBytes); ok {
			return "JWT", text, note
		}
		if text, ok := php(b, o.MaxBytes); ok {
			return "PHP", text, ""
		}
	}
	if isText(b, cut) {
		return textName, printable(b), meaning(b)
	}
	if !cut {
		for _, f := range binaries {
			if text, ok := f.show(b, o.MaxBytes); ok {
				return f.name, text, f.note
			}
		}
	}
	return "binary", dump(b, o.DumpBytes), format(b)
}

// binaries are the forms of bytes that are no text.
var binaries = []struct {
	name string
	show func(b []byte, most int) (string, bool)
	note string
}{
	{"MessagePack", messagePack, ""},
	{"pickle", pickle, "pickled by Python; nothing of it was run"},
	{"Java", java, "serialized by Java"},
	{"Protobuf", protobuf, "by its wire format: fields by their numbers"},
}
