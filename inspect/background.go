package inspect

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"

	tea "github.com/charmbracelet/bubbletea"
	"golang.org/x/term"
)

// The query for the terminal's background colour, and the prefix and the two possible terminators of
// its answer.
const (
	backgroundQuestion = "\x1b]11;?\x1b\\"
	answerPrefix       = "\x1b]11;"
	answerBell         = "\a"
	answerST           = "\x1b\\"
	maxAnswer          = 64
)

// backgroundMsg carries the terminal's answer.
type backgroundMsg struct{ light bool }

// keyboard reads the terminal's input and removes the answer to the background query. The answer arrives
// among the typed keys, early, late or never, so the program does not wait for it.
type keyboard struct {
	*os.File
	partial  []byte           // the start of an incomplete answer
	onAnswer func(light bool) // nil once an answer arrived
}

// newKeyboard wraps in. It returns nil if the terminal cannot be queried.
func newKeyboard(in io.Reader) *keyboard {
	file, ok := in.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) || runtime.GOOS == "windows" {
		return nil
	}
	return &keyboard{File: file}
}

// wrapEditor makes editor commands read from the terminal itself. They would get a pipe for any input that is
// not a file.
func (k *keyboard) wrapEditor(editor func(path string) *exec.Cmd) func(path string) *exec.Cmd {
	return func(path string) *exec.Cmd {
		command := editor(path)
		command.Stdin = k.File
		return command
	}
}

// toggleBackground switches between the colours for dark and for light backgrounds.
func (m *Model) toggleBackground() tea.Cmd {
	m.renderer.SetHasDarkBackground(!m.renderer.HasDarkBackground())
	return nil
}

// askBackground sends the query. It runs once the program controls the terminal, so the answer is not
// echoed.
func askBackground(out io.Writer) tea.Cmd {
	return func() tea.Msg {
		io.WriteString(out, backgroundQuestion)
		return nil
	}
}

// Read reads typed input. It may return no bytes.
func (k *keyboard) Read(p []byte) (int, error) {
	if k.onAnswer == nil {
		return k.File.Read(p)
	}
	n := copy(p, k.partial)
	k.partial = nil
	read, err := k.File.Read(p[n:])
	data := p[:n+read]
	if err != nil {
		return len(data), err
	}
	start, end := findAnswer(data)
	switch {
	case start < 0:
	case end < 0:
		k.partial = bytes.Clone(data[start:])
		data = data[:start]
	default:
		if light, ok := isLight(string(data[start:end])); ok {
			k.onAnswer(light)
		}
		k.onAnswer = nil
		data = append(data[:start], data[end:]...)
	}
	return len(data), nil
}

// findAnswer returns the position of the answer in data. start is -1 without an answer; end is -1 if it
// is incomplete. A lone escape at the end is the Esc key.
func findAnswer(data []byte) (start, end int) {
	start = bytes.Index(data, []byte(answerPrefix))
	if start < 0 {
		for n := len(answerPrefix) - 1; n > 1; n-- {
			if bytes.HasSuffix(data, []byte(answerPrefix[:n])) {
				return len(data) - n, -1
			}
		}
		return -1, -1
	}
	body := data[start+len(answerPrefix):]
	for _, last := range []string{answerBell, answerST} {
		if i := bytes.Index(body, []byte(last)); i >= 0 {
			return start, start + len(answerPrefix) + i + len(last)
		}
	}
	if len(body) > maxAnswer {
		return -1, -1
	}
	return start, -1
}

// isLight parses an answer such as "\x1b]11;rgb:ffff/ffff/ffff\a".
func isLight(answer string) (light, ok bool) {
	_, colour, _ := strings.Cut(answer, "rgb:")
	parts := strings.Split(strings.TrimRight(colour, answerBell+answerST), "/")
	if len(parts) != 3 {
		return false, false
	}
	brightness := 0.0
	for i, weight := range []float64{0.299, 0.587, 0.114} { // the perceived brightness of red, green and blue
		n, err := strconv.ParseUint(parts[i], 16, 16)
		if err != nil {
			return false, false
		}
		brightness += weight * float64(n) / float64(uint(1)<<(4*len(parts[i]))-1)
	}
	return brightness > 0.5, true
}
