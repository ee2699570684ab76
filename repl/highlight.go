package repl

import (
	"strings"
	"unicode/utf8"

	"github.com/meowdis/meowdis/internal/spelling"
	"github.com/meowdis/meowdis/redis/commands"
)

// styles maps the kinds of words to SGR parameters.
var styles = map[kind]string{
	kindCommand: "1;36", kindToken: "34", kindKey: "33", kindNumber: "35", kindWrong: "31;4",
}

const (
	styleText     = "32" // a quoted value
	styleOperator = "1;35"
	styleMatch    = "1;33" // a search match
	dim           = "2"
	warning       = "2;31"
)

// paint returns the style of each byte of a text, and the hint to show when the cursor is at
// its end. strict means that the target has only the commands of the table.
func paint(text string, t *commands.Table, strict bool) (styleAt []string, after hint) {
	styleAt = make([]string, len(text)+1)
	commands, _ := scan(text)
	for i, words := range commands {
		last := i == len(commands)-1
		after = paintCommand(styleAt, text, words, last, t, strict)
	}
	if len(commands) > 0 && strings.HasSuffix(text, "\n") {
		after = hint{} // another command begins
	}
	return styleAt, after
}

func paintCommand(styleAt []string, text string, words []word, last bool, t *commands.Table, strict bool) hint {
	fill := func(from, to int, style string) {
		for i := from; i < to; i++ {
			styleAt[i] = style
		}
	}
	c := parseCommand(text, words, true)
	for _, w := range words[:len(words)-len(c.words)] {
		if c.times > 1 && w == words[0] {
			fill(w.from, w.to, styles[kindNumber])
		}
	}
	if c.op != "" {
		fill(c.opWord.from, c.opWord.to, styleOperator)
	}
	ended := c.op != "" || isSpace(text[len(text)-1])
	kinds, after := describe(c, last && !ended, t, strict)
	for i, w := range c.words {
		style := styles[kinds[i]]
		if kinds[i] == kindValue && w.quoted {
			style = styleText
		}
		if w.bad {
			style = styles[kindWrong]
		}
		fill(w.from, w.to, style)
	}
	after.ended = ended
	return after
}

// describe returns the kinds of a command's words, and a hint about a missing or
// wrong word.
func describe(c command, typing bool, t *commands.Table, strict bool) (kinds []kind, after hint) {
	words := values(c.words)
	if c.isColon() {
		return describeColon(c, words, typing, t)
	}
	if _, own := builtinWords[strings.ToUpper(words[0])]; own {
		return append([]kind{kindCommand}, make([]kind, len(words)-1)...), hint{}
	}
	f := fit(t, words, typing)
	if f.cmd == nil && f.wrong == "" {
		subs := subcommandsOf(t, words[0])
		switch {
		case len(subs) > 0 && len(words) == 1:
			return f.kinds, hint{text: strings.Join(subs, "|")}
		case len(subs) == 0 && strict && (!typing || len(words) > 1):
			f.reportWrong(0, "unknown command"+didYouMean(words[0], commandNames(t)))
		case len(subs) == 0:
			f.kinds[0] = kindValue
		}
	}
	switch {
	case f.wrong != "":
		return f.kinds, hint{text: f.wrong, wrong: true}
	case c.op != "":
		return f.kinds, hint{}
	case len(f.rest) == 0 && len(words) == 1:
		return f.kinds, hint{text: strings.Join(subcommandsOf(t, words[0]), "|")}
	}
	return f.kinds, hint{params: f.rest}
}

func sgr(text, style string) string { return "\x1b[" + style + "m" + text + "\x1b[0m" }

func describeColon(c command, words []string, typing bool, t *commands.Table) (kinds []kind, after hint) {
	kinds = make([]kind, len(words))
	kinds[0] = kindCommand
	own := colonNamed(words[0])
	if own == nil {
		if !typing || len(words) > 1 {
			kinds[0] = kindWrong
			return kinds, hint{text: "unknown command" + didYouMean(words[0], colonNames()) + "; :help lists the commands", wrong: true}
		}
		return kinds, hint{}
	}
	if own.takes == takesCommand && len(words) > 1 {
		inner, after := describe(command{words: c.words[1:], op: c.op}, typing, t, false)
		copy(kinds[1:], inner)
		return kinds, after
	}
	if len(words) > 1 {
		return kinds, hint{}
	}
	return kinds, hint{text: own.syntax}
}

// didYouMean returns likely corrections of a misspelt word, after a comma.
func didYouMean(word string, words []string) string {
	near := spelling.Nearest(word, words)
	if len(near) == 0 {
		return ""
	}
	return ", maybe " + strings.Join(near, " or ")
}

// runeStyles converts styleAt from bytes to runes.
func runeStyles(text string, styleAt []string) []string {
	styles := make([]string, 0, utf8.RuneCountInString(text))
	for i := range text {
		styles = append(styles, styleAt[i])
	}
	return styles
}
