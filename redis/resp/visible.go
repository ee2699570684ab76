package resp

import "unicode/utf8"

// Visible reports whether a letter is shown as it is: any but control characters,
// which act on a terminal, and those that turn the direction of writing, by which a
// text can pass for another. Joiners and soft hyphens belong to words and emoji.
func Visible(r rune) bool {
	switch {
	case r < ' ', r >= 0x7f && r < 0xa0:
		return false
	case r < 0x61c:
		return true
	}
	return r != 0x61c && r != 0x200e && r != 0x200f && (r < 0x202a || r > 0x202e) && (r < 0x2066 || r > 0x2069)
}

// AppendVisible appends text as a terminal may have it: what is not Visible, and
// bytes that are not UTF-8, as \xhh. Tabs and ends of lines, with or without a
// carriage return, stay.
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
