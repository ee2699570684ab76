package resp

import (
	"io"
	"strconv"
)

// Write writes what Append appends. It writes a packed list in pieces.
func (p Printer) Write(to io.Writer, v Value) error {
	l := packedList{Printer: p, kind: Array, n: v.Len()}
	if p.RESP3 {
		l.kind = v.Kind
	}
	if v.Packed == nil || l.n == 0 || l.kind == Scored || l.kind == Map && p.Format == Typed {
		_, err := to.Write(p.Append(nil, v))
		return err
	}
	return l.write(to, v.Packed)
}

// packedList prints the elements of a packed list, each with the text that follows it.
type packedList struct {
	Printer
	kind Kind // Array, Set or Map
	n    int
}

func (l packedList) write(to io.Writer, p *Packed) error {
	var out, text []byte
	if l.Format == JSON {
		out = append(out, l.bracket("[", "{")...)
	}
	i := 0
	for e := range p.All() {
		if !l.RESP3 {
			e = Downgrade(e)
		}
		text = append(l.element(text[:0], e, i), l.after(i)...)
		if l.Visible && (l.Format == Raw || l.Format == CSV) {
			out = AppendVisible(out, text)
		} else {
			out = append(out, text...)
		}
		if len(out) >= Piece {
			if _, err := to.Write(out); err != nil {
				return err
			}
			out = out[:0]
		}
		i++
	}
	_, err := to.Write(append(out, l.end()...))
	return err
}

func (l packedList) bracket(list, object string) string {
	if l.kind == Map {
		return object
	}
	return list
}

func (l packedList) element(out []byte, e Value, i int) []byte {
	switch l.Format {
	case Raw:
		return raw{between: orNewline(l.Between), quoted: l.Quoted, utf8: !l.Escape}.append(out, e)
	case CSV:
		return AppendCSV(out, e, l.Escape)
	case JSON:
		if l.kind == Map && i%2 == 0 {
			return appendJSONKey(out, e)
		}
		return AppendJSON(out, e)
	}
	t := typed{utf8: !l.Escape, colour: l.Colour}
	return t.append(t.index(out, i, len(strconv.Itoa(l.n)), l.sep()), e, "")
}

func (l packedList) sep() string {
	if l.kind == Set {
		return "~"
	}
	return ")"
}

// after returns the text between element i and the next one.
func (l packedList) after(i int) string {
	key := l.kind == Map && i%2 == 0
	switch {
	case l.Format == Typed || i == l.n-1:
		return "" // typed elements end with a newline
	case l.Format == Raw && key:
		return " "
	case l.Format == Raw:
		return orNewline(l.Between)
	case l.Format == JSON && key:
		return ":"
	}
	return ","
}

// end returns the text after the last element.
func (l packedList) end() string {
	switch l.Format {
	case Raw:
		return orNewline(l.After)
	case JSON:
		return l.bracket("]", "}") + "\n"
	case Typed:
		return ""
	}
	return "\n"
}
