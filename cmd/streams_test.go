package cmd

import (
	"strings"
	"testing"
)

// Text reaches a terminal in whatever pieces, and always the same.
func TestPlainText(t *testing.T) {
	const text = "a\tüü\r\n\x1b[1m\r👩\u200d👧\u00ad\x9b\u009b\u202e\u200f\xff\xc3"
	const want = "a\tüü\r\n" + `\x1b[1m\x0d` + "👩\u200d👧\u00ad" + `\x9b\xc2\x9b\xe2\x80\xae\xe2\x80\x8f\xff\xc3`
	for size := 1; size <= len(text); size++ {
		var out strings.Builder
		w := &plainText{Writer: &out}
		for at := 0; at < len(text); at += size {
			piece := text[at:min(at+size, len(text))]
			if n, err := w.Write([]byte(piece)); n != len(piece) || err != nil {
				t.Fatal(n, err)
			}
		}
		if err := w.Close(); err != nil || out.String() != want {
			t.Errorf("in pieces of %d: %q, %v", size, out.String(), err)
		}
	}
}
