package repl

import (
	"strconv"
	"strings"

	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
)

// word holds a word of a text, with its position in bytes.
type word struct {
	from, to int
	value    string // without quotes and escapes
	quoted   bool   // it has quotes
	open     byte   // the open quote, 0 for none
	bad      bool   // text follows a closing quote directly
}

// scan splits text into commands, which end at a newline outside of quotes, and commands
// into words. A backslash at the end of a line joins it with the next. continued reports
// that the last command is incomplete: a quote is open, or a backslash ends the text.
func scan(text string) (commands [][]word, continued bool) {
	var words []word
	for i := 0; i < len(text); {
		switch {
		case strings.HasPrefix(text[i:], "\\\n"):
			i += 2
			continued = i == len(text)
		case text[i:] == `\`:
			i++
			continued = true
		case text[i] == '\n':
			if len(words) > 0 {
				commands = append(commands, words)
			}
			words = nil
			i++
		case isSpace(text[i]):
			i++
		default:
			w := scanWord(text, i)
			words = append(words, w)
			i = w.to
			continued = w.open != 0
		}
	}
	if len(words) > 0 {
		commands = append(commands, words)
	}
	return commands, continued
}

func isSpace(c byte) bool { return c == ' ' || '\t' <= c && c <= '\r' }

// scanWord reads the word at from by the rules of resp.SplitLine.
func scanWord(text string, from int) word {
	w := word{from: from, to: from}
	for ; w.to < len(text); w.to++ {
		c := text[w.to]
		switch {
		case w.open != 0:
			if c == '\\' && w.to+1 < len(text) && (w.open == '"' || text[w.to+1] == '\'') {
				w.to++
			} else if c == w.open {
				w.open = 0
				w.bad = w.bad || w.to+1 < len(text) && !isSpace(text[w.to+1])
			}
		case c == '"' || c == '\'':
			w.open, w.quoted = c, true
		case isSpace(c) || text[w.to:] == `\` || strings.HasPrefix(text[w.to:], "\\\n"):
			w.value = unquoted(text[from:w.to], 0)
			return w
		}
	}
	w.value = unquoted(text[from:w.to], w.open)
	return w
}

// unquoted returns the value of a written word, whose last quote or escape may be
// incomplete.
func unquoted(written string, open byte) string {
	closed := written
	if open != 0 {
		closed += string(open)
	}
	words, err := resp.SplitLine(closed)
	switch body, halved := strings.CutSuffix(written, `\`); {
	case err == nil && len(words) == 1:
		return string(words[0])
	case halved && open != 0:
		return unquoted(body, open)
	}
	return written
}

// command is one command of a text, ready to run.
type command struct {
	text  string // the whole text that contains it
	words []word // of the command, without repetition and redirection
	times int    // "5 INCR k" repeats
	// op holds the redirection: "|", ">", ">|" or ">>", "" for none, at opWord. target is the
	// shell command or file name after it.
	op     string
	opWord word
	target string
}

// args returns the words as command arguments.
func (c command) args() [][]byte {
	args := make([][]byte, len(c.words))
	for i, w := range c.words {
		args[i] = []byte(w.value)
	}
	return args
}

// isColon reports whether the command is one of the prompt's own, such as :help.
func (c command) isColon() bool {
	return len(c.words) > 0 && !c.words[0].quoted && strings.HasPrefix(c.words[0].value, ":")
}

// asksHelp reports whether the command is HELP, which the prompt runs itself.
func (c command) asksHelp() bool {
	return strings.EqualFold(c.words[0].value, "help") || c.words[0].value == "?"
}

// parseCommand parses the repetition and, with shell set, the redirection of a command.
func parseCommand(text string, words []word, shell bool) command {
	c := command{text: text, words: words, times: 1}
	if n, err := strconv.Atoi(words[0].value); err == nil && n > 0 && len(words) > 1 {
		c.times, c.words = n, words[1:]
	}
	if !shell {
		return c
	}
	for i, w := range c.words[1:] {
		i++
		if w.quoted || i+1 == len(c.words) {
			continue
		}
		before := command{words: c.words[:i]}
		switch next := c.words[i+1]; {
		case w.value == "|" && before.isComplete():
			c.op, c.opWord, c.target, c.words = w.value, w, text[next.from:c.words[len(c.words)-1].to], before.words
			return c
		case (w.value == ">" || w.value == ">|" || w.value == ">>") && i+2 == len(c.words) && before.isComplete() && !c.endsWithStreamIDs():
			c.op, c.opWord, c.target, c.words = w.value, w, next.value, before.words
			return c
		}
	}
	return c
}

// isComplete reports whether the words are a complete command. If not, a word such as >
// after them is an argument.
func (c command) isComplete() bool {
	if c.isColon() {
		return true
	}
	cmd, bad := commands.Find(c.args())
	return cmd != nil || !strings.HasPrefix(string(bad.Str), "ERR wrong number")
}

// endsWithStreamIDs reports whether the command is an XREADGROUP that ends with IDs, among
// which > means new entries.
func (c command) endsWithStreamIDs() bool {
	if !strings.EqualFold(c.words[0].value, "XREADGROUP") {
		return false
	}
	for i, w := range c.words {
		if !strings.EqualFold(w.value, "STREAMS") {
			continue
		}
		rest := c.words[i+1:]
		if len(rest) == 0 || len(rest)%2 != 0 {
			return false
		}
		for _, id := range rest[len(rest)/2:] {
			if id.value != ">" && strings.Trim(id.value, "0123456789-") != "" {
				return false
			}
		}
		return true
	}
	return false
}

// check returns why the words cannot be sent, "" if they can.
func (c command) check() string {
	for _, w := range c.words {
		if w.open != 0 || w.bad {
			return "Invalid argument(s): " + resp.ErrUnbalanced.Error()
		}
	}
	return ""
}
