package resp

import "unicode/utf8"

// Visible reports whether r is printed unescaped. Control characters act on a terminal, and
// bidirectional controls can make one text look like another: neither is Visible. Joiners and
// soft hyphens are: they are part of words and emoji.
func Visible(r rune) bool {
	switch {
	case r < ' ', r >= 0x7f && r < 0xa0:
		return false
	case r < 0x61c:
		return true
	}
	return r != 0x61c && r != 0x200e && r != 0x200f && (r < 0x202a || r > 0x202e) && (r < 0x2066 || r > 0x2069)
}

// AppendVisible appends text safely for a terminal: runes that are not Visible, and bytes that
// are not UTF-8, become \xhh. Tabs and line endings, with or without a carriage return, are
// kept.
func AppendVisible(out, text []byte) []byte {
	const digits = "0123456789abcdef"
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRune(text[i:])
		switch {
		case r == utf8.RuneError && n == 1:
		case Visible(r), r == '\n', r == '\t', r == '\r' && i+1 < len(text) && text[i+1] == '\n':
			out = append(out, text[i:i+n]...)
			i += n
			continue
		}
		for _, c := range text[i : i+n] {
			out = append(out, '\\', 'x', digits[c>>4], digits[c&15])
		}
		i += n
	}
	return out
}
