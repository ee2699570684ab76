package resp

import (
	"bufio"
	"bytes"
	"errors"
	"reflect"
	"strings"
	"testing"
)

// checkLine reads lines in both ways, the long way with beginnings of every length.
func checkLine(t *testing.T, text string) {
	t.Helper()
	for beginning := range min(len(text), 20) + 1 {
		rest := text
		in := bufio.NewReaderSize(strings.NewReader(text[beginning:]), 16)
		for head := text[:beginning]; rest != ""; head = "" {
			line, after, more := strings.Cut(rest, "\n")
			if more && len(line) < len(head) {
				break // the beginning is one of a line
			}
			want, wrong := SplitLine(line)
			if strings.Contains(line, "\x00") {
				wrong = ErrNUL
			}
			got, err := LongLine([]byte(head), in, 1<<20)
			unbalanced := errors.Is(err, ErrUnbalanced) && errors.Is(wrong, ErrNUL) // either is right
			if !errors.Is(err, wrong) && !unbalanced || err == nil && (len(got) > 0 || len(want) > 0) && !reflect.DeepEqual(got, want) {
				t.Fatalf("%q after %q: %q and %v, not %q and %v", line, head, got, err, want, wrong)
			}
			rest = after
		}
	}
}

var someLines = []string{
	"", "\n", "  \r\n", "SET k v", "SET k v\r\nGET k\n\n  DEL\tk ", `a"b"`, `a"b"c`, `"a"'b'`, "'it\\'s'", `'a\b'`, `"\n\r\t\b\a\"\\\x41\x4\xg1\q"`, `"\x4`, `"\x`, `"\`,
	"\"a\nb\"", "a\x00b c\nd", "\"a\"\x00", "\v\fa\vb\fc", "'", `"" ''`, "\"\\\n\"", strings.Repeat("x", 100), `"` + strings.Repeat(`\xff`, 100) + `"`, "a\"b\"\"c\"\nd",
}

func TestLongLine(t *testing.T) {
	for _, line := range someLines {
		checkLine(t, line)
	}
	in := bufio.NewReader(strings.NewReader("too long\nnext"))
	if words, err := LongLine(nil, in, 5); !errors.Is(err, ErrLongLine) {
		t.Errorf("%q, %v", words, err)
	}
	if words, err := LongLine(nil, in, 5); err != nil || len(words) != 1 || string(words[0]) != "next" {
		t.Errorf("after a long line: %q, %v", words, err)
	}
}

func FuzzLongLine(f *testing.F) {
	for _, line := range someLines {
		f.Add(line)
	}
	f.Fuzz(checkLine)
}

// TestQuotedInPieces quotes text in pieces as in one.
func TestQuotedInPieces(t *testing.T) {
	text := []byte("a\"\\\n\x00\xff\xc3\xe9é\u202e😀 b")
	whole := AppendQuoted(nil, text, false)
	var pieces []byte
	for _, c := range text {
		pieces = AppendQuotedText(pieces, []byte{c}, false)
	}
	if !bytes.Equal(whole[1:len(whole)-1], pieces) {
		t.Errorf("%s and %s", whole, pieces)
	}
}
