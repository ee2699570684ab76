package inspect

import (
	"io"
	"os"
	"testing"

	"github.com/meowdis/meowdis/internal/test/race"
)

// TestAnswerIsTakenOutOfWhatIsTyped reads an answer split at each position.
func TestAnswerIsTakenOutOfWhatIsTyped(t *testing.T) {
	race.Skip(t)
	for _, c := range []struct {
		answer string
		light  string
	}{
		{"\x1b]11;rgb:ffff/ffff/ffff\x1b\\", "light"},
		{"\x1b]11;rgb:ff/f0/e0\a", "light"},
		{"\x1b]11;rgb:1e1e/1e1e/2e2e\a", "dark"},
		{"\x1b]11;rgba:0000/0000/0000/ffff\a", ""},
		{"\x1b]11;nonsense\a", ""},
	} {
		all := "j" + c.answer + "k\x1b"
		for cut := range all {
			if cut == 2 {
				continue // a lone escape is the Esc key
			}
			typed, light := readKeyboard(t, all[:cut], all[cut:])
			if typed != "jk\x1b" || light != c.light {
				t.Errorf("%q %q: typed %q, heard %q", all[:cut], all[cut:], typed, light)
			}
		}
	}
}

// TestKeysThatBeginLikeAnAnswer checks that keys that look like the start of an answer are not lost.
func TestKeysThatBeginLikeAnAnswer(t *testing.T) {
	race.Skip(t)
	for _, typed := range []string{"\x1b", "\x1b]", "\x1b]1", "]11;", "\x1b[A", "\x1b]11;" + string(make([]byte, 100))} {
		if got, light := readKeyboard(t, typed, "x"); got != typed+"x" || light != "" {
			t.Errorf("typed %q, got %q %q", typed, got, light)
		}
	}
}

// readKeyboard writes parts to a keyboard and returns what it reads.
func readKeyboard(t *testing.T, parts ...string) (typed, light string) {
	t.Helper()
	out, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	k := &keyboard{File: out, onAnswer: func(l bool) { light = map[bool]string{true: "light", false: "dark"}[l] }}
	buf := make([]byte, 256)
	for _, part := range parts {
		if part == "" {
			continue
		}
		if _, err := io.WriteString(in, part); err != nil {
			t.Fatal(err)
		}
		n, err := k.Read(buf)
		if err != nil {
			t.Fatal(err)
		}
		typed += string(buf[:n])
	}
	return typed, light
}
