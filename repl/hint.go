package repl

import (
	"slices"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/meowdis/meowdis/resp"
	"github.com/meowdis/meowdis/translator"
)

// hinter paints the arguments that a command still takes, dimmed, to the right
// of the cursor. It is a readline.Painter.
type hinter struct {
	colour bool
	width  func() int
	prompt string
}

// Paint appends the hint, and the way back to where the line ends.
func (h *hinter) Paint(line []rune, pos int) []rune {
	if !h.colour || pos != len(line) || pos == 0 || line[pos-1] == '\n' {
		return line
	}
	text := string(line)
	width := h.width()
	if width <= 0 {
		return line
	}
	hint := argumentHint(text)
	if room := width - (ansi.StringWidth(h.prompt)+ansi.StringWidth(text))%width - 1; ansi.StringWidth(hint) > room {
		hint = ansi.Truncate(hint, room, "…")
	}
	if strings.TrimSpace(hint) == "" {
		return line
	}
	back := "\x1b[" + strconv.Itoa(ansi.StringWidth(hint)) + "D"
	return []rune(text + "\x1b[2m" + hint + "\x1b[0m" + back)
}

// argumentHint is what can follow the text of a line, "" when that is not known.
// It begins with the space that is still missing.
func argumentHint(text string) string {
	split, err := resp.SplitLine(text)
	if err != nil || len(split) == 0 {
		return ""
	}
	words := make([]string, len(split))
	for i, w := range split {
		words[i] = string(w)
	}
	if _, err := strconv.Atoi(words[0]); err == nil {
		words = words[1:] // "5 INCR k" repeats
	}
	ended := strings.HasSuffix(text, " ")
	rest := ""
	switch cmd, args := commandOf(words); {
	case len(words) == 0:
	case cmd == nil && len(words) == 1:
		rest = strings.Join(subcommandsOf(words[0]), "|")
	case cmd == nil:
	default:
		rest = strings.Join(remaining(parameters(cmd.Syntax), args), " ")
	}
	if rest == "" || ended {
		return rest
	}
	return " " + rest
}

// commandOf finds the command that words begin with, and the words behind it. A
// container without its subcommand is none.
func commandOf(words []string) (*translator.Command, []string) {
	if len(words) > 1 {
		if c := translator.Lookup(words[0] + " " + words[1]); c != nil {
			return c, words[2:]
		}
	}
	if len(words) == 0 || len(subcommandsOf(words[0])) > 0 {
		return nil, nil
	}
	return translator.Lookup(words[0]), words[1:]
}

// subcommandsOf lists the second words of a container.
func subcommandsOf(container string) []string {
	var subs []string
	for _, c := range translator.Commands() {
		if name, sub, ok := strings.Cut(c.Name, " "); ok && strings.EqualFold(name, container) {
			subs = append(subs, sub)
		}
	}
	return subs
}

// parameters splits a syntax at the spaces outside of brackets.
func parameters(syntax string) []string {
	var list []string
	depth, from := 0, 0
	for i, c := range syntax {
		switch {
		case c == '[' || c == '<':
			depth++
		case c == ']' || c == '>':
			depth--
		case c == ' ' && depth == 0:
			list = append(list, syntax[from:i])
			from = i + 1
		}
	}
	if from < len(syntax) {
		list = append(list, syntax[from:])
	}
	return list
}

// remaining drops the parameters that args have filled. An option is found by
// its word, wherever it stands; anything else fills the next parameter, and one
// that repeats is full only when what follows it has begun.
func remaining(params, args []string) []string {
	for len(args) > 0 && len(params) > 0 {
		i, n := findOption(params, args[0])
		if i >= 0 {
			before := slices.DeleteFunc(slices.Clone(params[:i]), func(p string) bool { return repeats(p) && !isWord(firstWord(p)) })
			params = append(before, params[i+1:]...)
			args = args[min(n, len(args)):]
			continue
		}
		args = args[1:]
		if i = firstPositional(params); i >= 0 && !repeats(params[i]) {
			params = append(params[:i:i], params[i+1:]...)
		}
	}
	return params
}

// findOption finds the parameter that begins with word, as one of its
// alternatives, and the number of words of that alternative. What stands behind a
// parameter that is required and still missing is not looked at.
func findOption(params []string, word string) (i, words int) {
	for i, p := range params {
		for _, alternative := range strings.Split(strings.Trim(p, "[]<>"), "|") {
			parts := strings.Fields(alternative)
			if len(parts) > 0 && isWord(parts[0]) && strings.EqualFold(parts[0], word) {
				return i, len(parts)
			}
		}
		if p[0] != '[' {
			break
		}
	}
	return -1, 0
}

// firstPositional is the first parameter that any value can fill, -1 without
// one: not an option, but a choice that has to be made.
func firstPositional(params []string) int {
	return slices.IndexFunc(params, func(p string) bool { return p[0] == '<' || !isWord(firstWord(p)) })
}

func firstWord(param string) string {
	word, _, _ := strings.Cut(strings.Trim(param, "[]<>"), " ")
	return word
}

func repeats(param string) bool { return strings.Contains(param, "...") }

// isWord tells a word of the command's language, such as EX, from the name of a
// value, such as seconds.
func isWord(s string) bool {
	return s != "" && strings.ToUpper(s) == s && strings.ToLower(s) != s
}
