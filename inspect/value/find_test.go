package value

import "testing"

func TestNeedles(t *testing.T) {
	for _, c := range []struct {
		text, needle string
		first, last  int
	}{
		{"abcabc", "bc", 1, 4},
		{"ABCabc", "bc", 1, 4},
		{"ABCabc", "Bc", -1, -1},
		{"ABCabc", "BC", 1, 1},
		{"\xff\xfeDÄ äpfel\x80ÄPFEL", "äpfel", 6, 13},
		{"\xff\x00\xff\x00", "\xff\x00", 0, 2},
		{"aaa", "aa", 0, 1},
		{"", "a", -1, -1},
		{"Straße", "ß", 4, 4},
	} {
		first, end := find(c.text, c.needle)
		last, _ := findLast(c.text, c.needle)
		if first != c.first || last != c.last || first >= 0 && end <= first {
			t.Errorf("%q in %q: %d to %d, last %d; want %d and %d", c.needle, c.text, first, end, last, c.first, c.last)
		}
	}
	for _, c := range []struct {
		typed string
		form  shape
		want  string
	}{
		{"text", asText, "text"},
		{`"\x00\xff"`, asText, "\x00\xff"},
		{`"`, asText, `"`},
		{"de ad", asText, "de ad"},
		{"de ad", asHex, "\xde\xad"},
		{"0xDEAD", asHex, "\xde\xad"},
		{"dead", asHex, "dead"},
		{"0xyz", asHex, "0xyz"},
	} {
		if got := needleOf(c.typed, c.form); got != c.want {
			t.Errorf("%s means %q, not %q", c.typed, got, c.want)
		}
	}
}
