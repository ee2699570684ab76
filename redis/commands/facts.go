//go:build !wasip1

package commands

import (
	_ "embed"
	"strconv"
	"strings"
	"sync"
)

// factsText is COMMAND DOCS of redis-server 8.0.2 without the summaries, for our commands. TestCommandDocs
// in internal/test/corpus writes it with -update. A command begins with its name. Its arguments follow, one a
// line after "arg", indented by one space for each level of nesting.
//
//go:embed facts.txt
var factsText string

// allFacts returns the decoded factsText, by wire name.
var allFacts = sync.OnceValue(func() map[string]*facts {
	all := map[string]*facts{}
	var f *facts
	for line := range strings.Lines(factsText) {
		line = strings.TrimSuffix(line, "\n")
		bare := strings.TrimLeft(line, " ")
		field, value, _ := strings.Cut(bare, " ")
		switch field {
		case "complexity":
			f.complexity = value
		case "deprecated_since":
			f.deprecatedSince = value
		case "replaced_by":
			f.replacedBy = value
		case "doc_flags":
			f.flags = strings.Fields(value)
		case "history":
			version, change, _ := strings.Cut(value, " ")
			f.history = append(f.history, [2]string{version, change})
		case "arg":
			into := &f.args
			for range len(line) - len(bare) {
				into = &(*into)[len(*into)-1].Arguments
			}
			*into = append(*into, readArgument(strings.Fields(value)))
		case "command":
			f = &facts{}
			all[value] = f
		}
	}
	return all
})

// readArgument decodes an argument's name, type and attributes.
func readArgument(words []string) Argument {
	a := Argument{Name: words[0], Type: words[1], KeySpec: -1}
	for _, word := range words[2:] {
		name, value, _ := strings.Cut(word, "=")
		switch name {
		case "display":
			a.Display = value
		case "spec":
			a.KeySpec, _ = strconv.Atoi(value)
		case "token":
			a.Token = value
		case "since":
			a.Since = value
		case "deprecated_since":
			a.DeprecatedSince = value
		case "optional":
			a.Optional = true
		case "multiple":
			a.Multiple = true
		case "multiple_token":
			a.MultipleToken = true
		}
	}
	return a
}

// facts returns the facts of the command. For a command that 8.0.2 lacks, the arguments come
// from its Syntax.
func (c *Command) facts() *facts {
	if f := allFacts()[c.WireName()]; f != nil {
		return f
	}
	return &facts{args: c.SyntaxTree()}
}
