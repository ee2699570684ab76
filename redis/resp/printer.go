package resp

// Format is an output format for users or scripts.
type Format byte

const (
	Typed Format = iota // for users: the type of each value, quoted strings
	Raw                 // for pipes: unchanged bytes
	CSV
	JSON
)

// Printer prints replies in one format. The zero Printer prints redis-cli's typed format with
// printable UTF-8 unescaped.
type Printer struct {
	Format Format
	// RESP3 prints maps, sets and doubles as such. Otherwise they have the shapes of RESP2, like
	// redis-cli without -3.
	RESP3 bool
	// Escape shows every byte beyond ASCII as \xhh, and makes CSV redis-cli's.
	Escape bool
	// Quoted quotes strings in the raw format, too, so each is one line.
	Quoted bool
	// Visible escapes control characters in values, so they cannot act on a terminal. The typed
	// format and JSON always do.
	Visible bool
	// Colour is for the typed format on a terminal.
	Colour bool
	// Between separates the elements of an array in the raw format, and After follows each reply.
	// The default of both is a newline.
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

// Shown appends text, which is bytes of values, and escapes it if p.Visible is set.
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
