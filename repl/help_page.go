package repl

import (
	_ "embed"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/meowdis/meowdis/keyspace/display"
	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
)

// helpText holds the meanings of options and the examples of HELP. A line "option NAME text" or "option
// COMMAND NAME text" describes an option; COMMAND is a glob pattern. After a line "example COMMAND"
// come calls, each after "> ", and their replies, which TestExamples checks and writes with -update.
//
//go:embed help.txt
var helpText string

type helpTexts struct {
	options  []optionText
	examples map[string][]string // by command, as lines
}

type optionText struct{ command, name, text string }

var allHelp = sync.OnceValue(func() helpTexts { return readHelp(helpText) })

func readHelp(text string) helpTexts {
	h := helpTexts{examples: map[string][]string{}}
	example := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		kind, rest, _ := strings.Cut(line, " ")
		switch {
		case kind == "example":
			example = rest
			h.examples[example] = nil
		case example != "":
			h.examples[example] = append(h.examples[example], line)
		case kind == "option":
			o := optionText{command: "*"}
			if o.name, o.text, _ = strings.Cut(rest, " "); strings.ToUpper(o.text[:2]) == o.text[:2] {
				o.command = o.name
				o.name, o.text, _ = strings.Cut(o.text, " ")
			}
			h.options = append(h.options, o)
		}
	}
	return h
}

// optionMeaning returns the text for an option of a command; "" if it has none.
func optionMeaning(command, token string) string {
	meaning := ""
	for _, o := range allHelp().options {
		switch matches, _ := path.Match(o.command, command); {
		case o.name != token || !matches:
		case o.command == command:
			return o.text
		case meaning == "" || o.command != "*":
			meaning = o.text
		}
	}
	return meaning
}

// commandPage returns the page of a command: its syntax, options, facts and examples.
func commandPage(t *commands.Table, c *commands.Command, columns int) string {
	var b strings.Builder
	b.WriteString(paragraph(columns, usage(c), c.Summary))
	var rows [][2]string
	addOptions(&rows, c.Name, c.SyntaxTree())
	if len(rows) > 0 {
		b.WriteString("\n" + table(rows, columns))
	}
	docs := c.Docs()
	rows = nil
	for _, row := range [][2]string{
		{"complexity", string(member(docs, "complexity").Str)}, {"since", c.Since}, {"group", c.Group}, {"deprecated", deprecation(docs)},
		{"related", strings.Join(related(t, c), ", ")},
	} {
		if row[1] != "" {
			rows = append(rows, row)
		}
	}
	name := "history"
	for _, change := range member(docs, "history").Elems {
		rows = append(rows, [2]string{name, string(change.Elems[0].Str) + "  " + unquoteCode(change.Elems[1].Str)})
		name = ""
	}
	b.WriteString("\n" + table(rows, columns))
	if lines := allHelp().examples[c.Name]; len(lines) > 0 {
		b.WriteString("\n")
		for _, line := range lines {
			b.WriteString(strings.TrimRight("  "+folded(line, 2, 6, columns), " ") + "\n")
		}
	}
	return b.String() + "\n"
}

// deprecation returns the version that deprecated a command, and its replacement.
func deprecation(docs resp.Value) string {
	since, by := string(member(docs, "deprecated_since").Str), unquoteCode(member(docs, "replaced_by").Str)
	switch {
	case since == "":
		return ""
	case by == "":
		return "since " + since
	}
	return "since " + since + ": use " + by
}

// unquoteCode removes the marks around code.
func unquoteCode(text []byte) string { return strings.ReplaceAll(string(text), "`", "") }

// addOptions adds a row for each option of a syntax that has a meaning.
func addOptions(rows *[][2]string, command string, args []commands.Argument) {
	for _, a := range args {
		if meaning := optionMeaning(command, a.Token); a.Token != "" && meaning != "" {
			row := [2]string{strings.TrimSuffix(a.Once(), " "), meaning}
			if a.Type == "oneof" || a.Type == "block" && a.Multiple && !a.MultipleToken {
				row[0] = a.Token
			}
			if !slices.Contains(*rows, row) {
				*rows = append(*rows, row)
			}
		}
		addOptions(rows, command, a.Arguments)
	}
}

// table lays out rows of two columns.
func table(rows [][2]string, columns int) string {
	const least, most = 10, 28
	width := least
	for _, row := range rows {
		if n := len(row[0]); n <= most {
			width = max(width, n)
		}
	}
	var b strings.Builder
	for _, row := range rows {
		at := 2 + width + 2
		b.WriteString("  " + row[0])
		if len(row[0]) > width {
			b.WriteString("\n" + display.Spaces(at))
		} else {
			b.WriteString(display.Spaces(at - 2 - len(row[0])))
		}
		b.WriteString(folded(row[1], at, at, columns) + "\n")
	}
	return b.String()
}

// maxRelated limits the related commands of a page.
const maxRelated = 6

// related returns commands of the same group: first commands with a similar name, then the
// neighbours in the table, which is in the order of subjects.
func related(t *commands.Table, c *commands.Command) (names []string) {
	var group []string
	at := 0
	for _, other := range t.All() {
		if other.Group != c.Group || len(other.Subcommands()) > 0 {
			continue
		}
		if other.Name == c.Name {
			at = len(group)
		}
		group = append(group, other.Name)
	}
	add := func(i int) {
		if i >= 0 && i < len(group) && group[i] != c.Name && len(names) < maxRelated && !slices.Contains(names, group[i]) {
			names = append(names, group[i])
		}
	}
	for i, name := range group {
		if len(names) < maxRelated/2 && sharesWord(name, c.Name) {
			add(i)
		}
	}
	for d := 1; d < len(group); d++ {
		add(at + d)
		add(at - d)
	}
	return names
}

// sharesWord reports whether one name contains the other without its first letter, as HSET and
// HSETNX do.
func sharesWord(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	return len(a) > 3 && strings.Contains(b, a[1:])
}
