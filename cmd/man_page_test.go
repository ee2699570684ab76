package cmd

import "testing"

// TestRoff keeps text from being requests and escapes.
func TestRoff(t *testing.T) {
	for text, want := range map[string]string{
		"plain":            "plain",
		"--pipe":           `\-\-pipe`,
		`\n and \xhh`:      `\en and \exhh`,
		".env":             `\&.env`,
		"'quoted'":         `\&'quoted'`,
		"a.b\n.c\n'd' 'e'": "a.b\n\\&.c\n\\&'d' 'e'",
	} {
		if got := roff(text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}
