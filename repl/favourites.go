package repl

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Kept is the part of the configuration that the prompt changes.
type Kept struct {
	Settings   map[string]string // by the names of :set
	Favourites map[string]string // commands, by name
	Variables  map[string]string
	// Write stores a value in a table: "", "favourites" or "variables"; "" removes the name. It
	// is nil if nothing can be stored.
	Write func(table, name, value string) error
}

// applySettings applies the stored settings, and reports invalid ones.
func (l *loop) applySettings() {
	for _, s := range settings {
		if value, ok := l.Kept.Settings[s.name]; ok {
			if err := s.set(l, value); err != nil {
				l.printError(fmt.Sprintf("config.toml: repl.%s: %v", s.name, err))
			}
		}
	}
}

// keep stores a value in the configuration, if there is one.
func (l *loop) keep(table, name, value string) error {
	if l.Kept.Write == nil {
		return nil
	}
	return l.Kept.Write(table, name, value)
}

func validName(name string) error {
	if strings.Trim(strings.ToLower(name), "abcdefghijklmnopqrstuvwxyz0123456789_-") != "" || name == "" {
		return fmt.Errorf("invalid name %q: use letters, digits, _ and -", name)
	}
	return nil
}

// runSave stores a command under a name, or lists the stored commands.
func runSave(_ context.Context, l *loop, c command, out *output) error {
	if len(c.words) == 1 {
		return out.text(listOf(l.Kept.Favourites))
	}
	name := c.words[1].value
	if err := validName(name); err != nil {
		return err
	}
	text := strings.TrimSpace(c.textFrom(2))
	if text == "" && l.Kept.Favourites[name] == "" {
		return fmt.Errorf("unknown favourite %q: :save lists the favourites", name)
	}
	if holdsSecret(text) {
		return errors.New("a command with a password is not stored")
	}
	if shellArg.MatchString(text) {
		l.note("arguments are written with braces: ${1}")
	}
	return l.change(&l.Kept.Favourites, "favourites", name, text)
}

// runVar sets a variable, or lists the variables.
func runVar(_ context.Context, l *loop, c command, out *output) error {
	if len(c.words) == 1 {
		return out.text(listOf(l.Kept.Variables))
	}
	if len(c.words) > 3 {
		return colonNamed(":var").usage()
	}
	name, value := c.words[1].value, ""
	if err := validName(name); err != nil {
		return err
	}
	if len(c.words) == 3 {
		value = c.words[2].value
	}
	return l.change(&l.Kept.Variables, "variables", name, value)
}

// change sets a name in a table, here and in the configuration; "" removes it.
func (l *loop) change(table *map[string]string, tableName, name, value string) error {
	if err := l.keep(tableName, name, value); err != nil {
		return err
	}
	next := maps.Clone(*table)
	if next == nil {
		next = map[string]string{}
	}
	if next[name] = value; value == "" {
		delete(next, name)
	}
	*table = next
	return nil
}

func listOf(table map[string]string) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(table)) {
		fmt.Fprintf(&b, "%-16s %s\n", name, strings.ReplaceAll(table[name], "\n", "\\n"))
	}
	if b.Len() == 0 {
		return "(none)\n"
	}
	return b.String()
}

// textFrom returns the typed text from a word on, with its redirection.
func (c command) textFrom(word int) string {
	if word >= len(c.words) {
		return ""
	}
	return c.text[c.words[word].from:]
}

// placeholder matches a variable or an argument of a favourite.
var placeholder = regexp.MustCompile(`\$\{([A-Za-z0-9_-]+)\}`)

// shellArg matches an argument as a shell writes it, which is plain text here.
var shellArg = regexp.MustCompile(`\$[1-9]`)

// favourite returns the text of a favourite with its arguments in place of ${1}, ${2}, and so on.
// Further arguments follow the text.
func (l *loop) favourite(c command) (string, error) {
	if len(c.words) < 2 {
		return "", colonNamed(":run").usage()
	}
	text, ok := l.Kept.Favourites[c.words[1].value]
	if !ok {
		return "", fmt.Errorf("unknown favourite %q: :save lists the favourites", c.words[1].value)
	}
	args, used := c.args()[2:], 0
	missing := 0
	text = placeholder.ReplaceAllStringFunc(text, func(match string) string {
		n, err := strconv.Atoi(match[2 : len(match)-1])
		switch {
		case err != nil || n < 1:
			return match
		case n > len(args):
			missing = n
			return match
		}
		used = max(used, n)
		return quoteWord(args[n-1], false)
	})
	if missing > 0 {
		return "", fmt.Errorf("%s takes %d arguments: %s", c.words[1].value, missing, text)
	}
	if rest := args[used:]; len(rest) > 0 {
		text += " " + quoteCall(rest)
	}
	return text, nil
}

// runFavourite runs a favourite.
func (l *loop) runFavourite(ctx context.Context, c command) (next string, err error) {
	text, err := l.favourite(c)
	if err != nil {
		l.printError(err.Error())
		return "", nil
	}
	if l.running++; l.running > maxNestedRuns {
		l.printError("favourites run each other endlessly")
		return "", nil
	}
	defer func() { l.running-- }()
	l.note(text)
	return l.runText(ctx, text, true)
}

// maxNestedRuns limits how deep favourites run each other.
const maxNestedRuns = 10

// withVariables replaces ${name} in the words of a command by the variable's value. Unknown names
// stay, as they may belong to a script.
func (l *loop) withVariables(c command) command {
	if len(l.Kept.Variables) == 0 || c.isColon() {
		return c
	}
	words := slices.Clone(c.words)
	for i, w := range words {
		words[i].value = placeholder.ReplaceAllStringFunc(w.value, func(match string) string {
			if value, ok := l.Kept.Variables[match[2:len(match)-1]]; ok {
				return value
			}
			return match
		})
	}
	c.words = words
	return c
}

func favouriteNames(o *Options, args []string) []string {
	if len(args) > 0 {
		return nil
	}
	return slices.Sorted(maps.Keys(o.Kept.Favourites))
}

func variableNames(o *Options, args []string) []string {
	if len(args) > 0 {
		return nil
	}
	return slices.Sorted(maps.Keys(o.Kept.Variables))
}
