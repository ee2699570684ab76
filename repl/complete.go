package repl

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
)

// candidate is one way to complete a word.
type candidate struct {
	text  string // as it is typed
	about string
}

// completion holds the candidates for the word at the cursor.
type completion struct {
	from  int    // start of the word, in bytes of the line
	typed string // the word so far, as it is written
	items []candidate
	more  bool // there may be more candidates
	fuzzy bool // the candidates contain the typed text, but do not begin with it
	// searching means that the search for candidates continues.
	searching bool
	// ask queries for more candidates; nil if items is complete.
	ask *question
	why string // why the target found nothing

	// Candidates for the end of a query, which is a part of its word:
	open  bool                // the word continues after a candidate
	head  string              // the value of the word before from
	write func(string) string // returns a found item as it is typed
}

// complete returns the candidates for the end of text. o provides the arguments of the
// prompt's own commands.
func complete(text string, o *Options) completion {
	commands, _ := scan(text)
	var words []word
	if len(commands) > 0 {
		words = commands[len(commands)-1]
	}
	typed := word{from: len(text), to: len(text)}
	if n := len(words); n > 0 && words[n-1].to == len(text) {
		typed, words = words[n-1], words[:n-1]
	} else if strings.HasSuffix(strings.TrimRight(text, " "), "\n") {
		words = nil
	}
	c := completion{from: typed.from, typed: text[typed.from:]}
	if len(words) == 0 {
		c.items = firstWords(o.Target.table(), typed.value)
		return c
	}
	cmd := parseCommand(text, append(slices.Clone(words), typed), true)
	switch {
	case cmd.op == "|":
	case cmd.op != "":
		c.items = files(typed.value)
	case len(cmd.words) == 1: // after a repeat count
		c.items = firstWords(o.Target.table(), typed.value)
	case cmd.isColon():
		c.completeColon(cmd, typed, o)
	case cmd.asksHelp():
		c.items = topics(o.Target.table(), values(cmd.words[1:len(cmd.words)-1]), typed.value)
	default:
		c.completeCall(o.Target.table(), values(cmd.words[:len(cmd.words)-1]), typed)
	}
	return c
}

// completeColon completes an argument of one of the prompt's own commands.
func (c *completion) completeColon(cmd command, typed word, o *Options) {
	own := colonNamed(cmd.words[0].value)
	if own == nil {
		return
	}
	args := values(cmd.words[1 : len(cmd.words)-1])
	switch own.takes {
	case takesCommand:
		if len(args) == 0 {
			c.items = firstWords(o.Target.table(), typed.value)
			return
		}
		c.completeCall(o.Target.table(), args, typed)
	case takesKey:
		if len(args) == 0 {
			c.ask = &question{about: askKeys, prefix: typed.value}
		}
	case takesFile:
		c.items = files(typed.value)
	case takesTopic:
		c.items = topics(o.Target.table(), args, typed.value)
	case takesWords:
		for _, w := range own.words(o, args) {
			if strings.HasPrefix(w, typed.value) {
				c.items = append(c.items, candidate{text: w})
			}
		}
	}
}

// completeCall completes an argument of a command.
func (c *completion) completeCall(t *commands.Table, words []string, typed word) {
	if len(words) == 1 {
		if subs := subcommandsOf(t, words[0]); len(subs) > 0 {
			c.items = withPrefix(subs, typed.value, func(sub string) string {
				return t.Lookup(words[0] + " " + sub).Summary
			})
			return
		}
	}
	f := fit(t, words, false)
	if f.cmd == nil {
		return
	}
	if ref, ok := keyAt(f.cmd, append(slices.Clone(words), typed.value)); ok && ref.Access != commands.NotKey {
		c.ask = &question{about: askKeys, kind: kindOfKey(f.cmd, ref), prefix: typed.value}
		return
	}
	tokens, args := expected(sortByUse(f.rest))
	if !typed.quoted {
		c.items = withPrefix(tokens, typed.value, func(token string) string { return operandsOf(f.cmd.SyntaxTree(), token) })
	}
	if c.completeSearch(f, words, args, typed) {
		return
	}
	c.ask = elementQuestion(f, words, args, typed.value)
	if f.cmd.Name == "CONFIG SET" && len(args) > 0 && args[0].Name == "value" {
		c.ask = &question{about: askListed, list: valuesOf(words[len(words)-1]), prefix: typed.value}
	}
	if c.ask == nil && len(args) > 0 && strings.HasPrefix(args[0].Name, "command") {
		c.items = append(c.items, withPrefix(commandNames(t), typed.value, func(string) string { return "" })...)
	}
}

func values(words []word) []string {
	all := make([]string, len(words))
	for i, w := range words {
		all[i] = w.value
	}
	return all
}

// firstWords completes a command name, of the table or of the prompt.
func firstWords(t *commands.Table, typed string) []candidate {
	if strings.HasPrefix(typed, ":") {
		var items []candidate
		for _, c := range colonCommands {
			if strings.HasPrefix(":"+c.name, typed) {
				items = append(items, candidate{":" + c.name, c.summary})
			}
		}
		return items
	}
	return withPrefix(commandNames(t), typed, func(name string) string {
		if c := t.Lookup(name); c != nil {
			return c.Summary
		}
		return builtinWords[name]
	})
}

// builtinWords are prompt commands without a colon, known from other programs.
var builtinWords = map[string]string{
	"CLEAR": "Clears the screen", "EXIT": "Ends", "HELP": "Describes commands", "QUIT": "Ends",
}

// commandNames returns the first words of all commands, sorted.
func commandNames(t *commands.Table) []string {
	var names []string
	for _, c := range t.All() {
		name, _, _ := strings.Cut(c.Name, " ")
		names = append(names, name)
	}
	for name := range builtinWords {
		names = append(names, name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// topics completes an argument of HELP.
func topics(t *commands.Table, before []string, typed string) []candidate {
	if len(before) > 0 {
		return withPrefix(subcommandsOf(t, before[0]), typed, func(sub string) string {
			return t.Lookup(before[0] + " " + sub).Summary
		})
	}
	if strings.HasPrefix(typed, "@") {
		var items []candidate
		for _, g := range groups(t) {
			if strings.HasPrefix("@"+g, strings.ToLower(typed)) {
				items = append(items, candidate{text: "@" + g})
			}
		}
		return items
	}
	return firstWords(t, typed)
}

// withPrefix returns the words that begin with typed, in its case.
func withPrefix(words []string, typed string, about func(string) string) []candidate {
	var items []candidate
	for _, w := range words {
		if len(w) < len(typed) || !strings.EqualFold(w[:len(typed)], typed) {
			continue
		}
		text := w
		if typed != "" && typed == strings.ToLower(typed) {
			text = strings.ToLower(w)
		}
		items = append(items, candidate{text, about(w)})
	}
	return items
}

// operandsOf returns the syntax that follows an option.
func operandsOf(args []commands.Argument, token string) string {
	for _, a := range args {
		if a.Token == token {
			return strings.TrimSpace(strings.TrimPrefix(a.Once(), token))
		}
		if found := operandsOf(a.Arguments, token); found != "" {
			return found
		}
	}
	return ""
}

// keyAt reports whether the last of words is a key of the call. In commands such as XREAD,
// where an ID follows for each key, words count as keys until an ID is typed.
func keyAt(cmd *commands.Command, words []string) (commands.KeyRef, bool) {
	args := make([][]byte, len(words), 2*len(words))
	for i, w := range words {
		args[i] = []byte(w)
	}
	last := len(args) - 1
	if slices.ContainsFunc(cmd.Keys, func(s commands.KeySpec) bool { return s.Limit > 1 }) {
		args = args[:cap(args)]
	}
	for _, ref := range cmd.KeysSoFar(args) {
		if ref.Pos == last {
			return ref, true
		}
	}
	return commands.KeyRef{}, false
}

// files completes a file name.
func files(typed string) []candidate {
	dir, base := filepath.Split(typed)
	entries, err := os.ReadDir(filepath.Clean("./" + dir))
	if filepath.IsAbs(dir) {
		entries, err = os.ReadDir(dir)
	}
	if err != nil {
		return nil
	}
	var items []candidate
	for _, e := range entries {
		name := e.Name()
		if !strings.HasPrefix(name, base) || base == "" && strings.HasPrefix(name, ".") {
			continue
		}
		if e.IsDir() {
			name += "/"
		}
		items = append(items, candidate{text: quoteWord([]byte(dir+name), false)})
	}
	return items
}

// quoteWord returns a word as it is typed, with quotes only if it needs them.
func quoteWord(value []byte, quoted bool) string {
	text := string(resp.AppendQuoted(nil, value, true))
	bare := text[1 : len(text)-1]
	if quoted || bare == "" || bare != string(value) || strings.ContainsAny(bare, " '") || bare == "|" || bare[0] == '>' || !utf8.Valid(value) {
		return text
	}
	return bare
}

// commonPrefix returns the common prefix of all candidates.
func commonPrefix(items []candidate) string {
	common := items[0].text
	for _, c := range items[1:] {
		for !strings.HasPrefix(c.text, common) {
			_, n := utf8.DecodeLastRuneInString(common)
			common = common[:len(common)-n]
		}
	}
	return common
}
