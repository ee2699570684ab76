package resp

// Format is one of the forms that people and scripts read.
type Format byte

const (
	Typed Format = iota // for eyes: the type of each value, quoted strings
	Raw                 // for pipes: bytes as they are
	CSV
	JSON
)

// Printer prints replies in one form. The zero Printer is redis-cli's typed form
// with printable UTF-8 shown as it is.
type Printer struct {
	Format Format
	// RESP3 shows maps, sets and doubles as such. Without it they take the
	// shapes of RESP2, which is what redis-cli shows without -3.
	RESP3 bool
	// Escape shows every byte beyond ASCII as \xhh, and makes CSV redis-cli's.
	Escape bool
	// Quoted quotes strings in the raw form, too, so that each is one line.
	Quoted bool
	// Visible keeps what the values hold from acting on a terminal; the typed form
	// and JSON do in any case.
	Visible bool
	// Colour is for a terminal, and the typed form.
	Colour bool
	// Between stands between the elements of an array in the raw form, and
	// After follows each reply; a newline when nil.
	Between, After *string
}

// Append appends v and the end of its line.
func (p Printer) Append(out []byte, v Value) []byte {
	if p.RESP3 {
		v = Upgrade(v)
	} else {
		v = Downgrade(v)
	}
	switch p.Format {
	case Raw:
		r := raw{between: orNewline(p.Between), quoted: p.Quoted, utf8: !p.Escape}
		return append(p.Shown(out, r.append(nil, v)), orNewline(p.After)...)
	case CSV:
		out = p.Shown(out, AppendCSV(nil, v, p.Escape))
	case JSON:
		out = AppendJSON(out, v)
	default:
		out = typed{utf8: !p.Escape, colour: p.Colour}.reply(out, v)
	}
	return append(out, '\n')
}

// Shown appends text, the bytes of a value or several, so that it is Visible if that
// is wanted.
func (p Printer) Shown(out, text []byte) []byte {
	switch {
	case p.Visible:
		return AppendVisible(out, text)
	case len(out) == 0:
		return text
	}
	return append(out, text...)
}

func orNewline(s *string) string {
	if s == nil {
		return "\n"
	}
	return *s
}
