package inspect

import (
	"errors"
	"strings"
	"unicode/utf8"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"

	"github.com/meowdis/meowdis/resp"
)

// typeable is s as it can be typed, and what reads that back: text as it is, and
// other bytes in double quotes with escapes.
func typeable(s string) (text string, read func(string) (string, error)) {
	for _, r := range s {
		if !resp.Visible(r) || r == utf8.RuneError {
			return string(resp.AppendQuoted(nil, []byte(s), true)), unquote
		}
	}
	return s, func(text string) (string, error) { return text, nil }
}

var errQuotes = errors.New(`what holds bytes that are no text stands in double quotes, as "a\x00b"`)

// unquote reads a text in double quotes.
func unquote(text string) (string, error) {
	words, err := resp.SplitLine(text)
	if err != nil || len(words) != 1 || !strings.HasPrefix(text, `"`) {
		return "", errQuotes
	}
	return string(words[0]), nil
}

// question is an overlay with one line to type.
type question struct {
	title  string
	note   string
	prompt *prompt
	answer func(m *Model, text string) tea.Cmd
}

func (q *question) press(m *Model, k tea.KeyMsg) tea.Cmd {
	switch k.String() {
	case "enter":
		m.overlay = nil
		cmd := q.answer(m, q.prompt.String())
		if m.failure != "" && m.overlay == nil {
			m.overlay = q // it says what is wrong, and what was typed stays
		}
		return cmd
	case "esc":
		m.overlay = nil
	default:
		q.prompt.key(k)
	}
	return nil
}

func (q *question) view(m *Model, width, height int) []string {
	inner := min(width, 60)
	lines := []string{m.styles.title.Render(fit(" "+q.title, inner))}
	if height > 3 && q.note != "" {
		for part := range strings.SplitSeq(ansi.Wordwrap(q.note, inner-2, ""), "\n") {
			lines = append(lines, m.styles.dim.Render(fit(" "+part, inner)))
		}
	}
	return append(lines, fit(" "+m.promptLine(q.prompt, inner-2), inner))
}

func (q *question) footer() [][2]string { return [][2]string{{"⏎", "ok"}, {"esc", "cancel"}} }

// promptLine is a prompt with its cursor.
func (m *Model) promptLine(p *prompt, width int) string {
	before, after := p.window(width - 1)
	return before + m.styles.accent.Render("▏") + after
}

// openByName shows a key that the person names: the only way in where the target
// does not let its keys be scanned.
func (m *Model) openByName() tea.Cmd {
	m.overlay = &question{title: "Open a key", note: `its whole name; "in quotes" with escapes`, prompt: newPrompt(""), answer: func(m *Model, name string) tea.Cmd {
		if strings.HasPrefix(name, `"`) {
			if raw, err := unquote(name); err == nil {
				name = raw
			}
		}
		m.inValue = true
		return m.open(name)
	}}
	return nil
}
