package inspect

import (
	"bytes"
	"io"
	"os"
	"regexp"
	"strconv"

	tea "github.com/charmbracelet/bubbletea"
)

// backgroundQuery asks a terminal for the colour of its background. The answer comes
// on the keyboard, if ever: over a slow line behind the first keys.
const backgroundQuery = "\x1b]11;?\x1b\\"

var (
	answerBegins = []byte("\x1b]11;")
	answer       = regexp.MustCompile(`\x1b\]11;rgba?:([0-9a-fA-F]{2})[0-9a-fA-F]*/([0-9a-fA-F]{2})[0-9a-fA-F]*/([0-9a-fA-F]{2})[^\x07\x1b]*(?:\x07|\x1b\\)`)
)

// longestAnswer is more bytes than any answer has.
const longestAnswer = 64

// keyboard is a terminal's input without the answer to backgroundQuery, which it
// passes on: nobody waits for it, and it is never taken for keys.
type keyboard struct {
	*os.File
	told func(dark bool) // nil once there was an answer
	held []byte          // what may be the beginning of the answer
}

func (k *keyboard) Read(p []byte) (int, error) {
	for {
		n := copy(p, k.held)
		k.held = nil
		got, err := k.File.Read(p[n:])
		n += got
		if err != nil || k.told == nil {
			return n, err
		}
		if n = k.listen(p[:n]); n > 0 {
			return n, nil
		}
	}
}

// listen takes the answer out of b, and returns how many bytes are left in it.
func (k *keyboard) listen(b []byte) int {
	if at := answer.FindSubmatchIndex(b); at != nil {
		k.told(isDark(b[at[2]:at[3]], b[at[4]:at[5]], b[at[6]:at[7]]))
		k.told = nil
		return at[0] + copy(b[at[0]:], b[at[1]:])
	}
	if i := bytes.Index(b, answerBegins); i >= 0 && len(b)-i < longestAnswer {
		k.held = bytes.Clone(b[i:])
		return i
	}
	return len(b)
}

// isDark tells whether a colour, in two hexadecimal digits for each part, is darker
// than it is light.
func isDark(red, green, blue []byte) bool {
	least, most := uint64(255), uint64(0)
	for _, digits := range [][]byte{red, green, blue} {
		n, _ := strconv.ParseUint(string(digits), 16, 8)
		least, most = min(least, n), max(most, n)
	}
	return least+most < 256
}

// backgroundMsg comes when the terminal has answered: all is drawn anew.
type backgroundMsg struct{}

// askBackground asks, for when the program reads the keyboard: before that the
// terminal would show the answer.
func askBackground(out io.Writer) tea.Cmd {
	return func() tea.Msg {
		io.WriteString(out, backgroundQuery)
		return nil
	}
}
