package decode

import (
	"strings"

	"github.com/meowdis/meowdis/keyspace/display"
)

// Options limits the work. The zero Options suit a screen.
type Options struct {
	// Partial marks the bytes as a prefix of a value, so truncated layers are accepted.
	Partial bool
	// MaxBytes limits the decoded size of a layer; 0 is 4 MiB.
	MaxBytes int
	// MaxLayers limits the layers opened; 0 is 6.
	MaxLayers int
	// DumpBytes limits the bytes of a hex dump; 0 is 512.
	DumpBytes int
}

// Layer is an encoding recognised in a value.
type Layer struct {
	Name string // "gzip", "base64", "JSON", …
	Size int    // bytes decoded
	Cut  bool   // the layer is longer than Size
}

// Shown holds a value formatted for display.
type Shown struct {
	Layers []Layer // outermost first; Text shows the last
	Text   string  // lines without control characters; the last has no newline
	// Note adds a hint, such as the time that a number may stand for; "" for none.
	Note string
}

// Value recognises and formats b.
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

// Names returns Chain without the sizes: "gzip → JSON".
func (s Shown) Names() string {
	names := make([]string, len(s.Layers))
	for i, l := range s.Layers {
		names[i] = l.Name
	}
	return strings.Join(names, " → ")
}

// IsPlain reports whether the value is plain text.
func (s Shown) IsPlain() bool {
	return len(s.Layers) == 1 && s.Layers[0].Name == textName && s.Note == ""
}

// show formats the innermost layer.
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
		return textName, printable(b), hint(b)
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

// binaries lists the binary formats.
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
