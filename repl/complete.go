package repl

import (
	"context"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/meowdis/meowdis/resp"
	"github.com/meowdis/meowdis/translator"
)

// completer completes commands, subcommands, options and key names. It is a
// readline.AutoCompleter.
type completer struct {
	ctx     context.Context
	session Session
}

// The most candidates that are listed.
const maxListed = 60

// Do returns what can follow the word before the cursor, and that word's length.
func (c *completer) Do(line []rune, pos int) ([][]rune, int) {
	before, typed := lastWord(string(line[:pos]))
	found := c.candidates(before, typed)
	if len(found) > maxListed {
		if common := commonPrefix(found); common != "" {
			found = []string{common}
		}
		found = found[:min(len(found), maxListed)]
	}
	suffixes := make([][]rune, len(found))
	for i, f := range found {
		suffixes[i] = []rune(f)
	}
	return suffixes, len([]rune(typed))
}

// lastWord splits text into the words that are complete and the one that is
// being typed, as it stands there.
func lastWord(text string) (before []string, typed string) {
	from, quote := 0, byte(0)
	for i := 0; i < len(text); i++ {
		switch ch := text[i]; {
		case quote != 0 && ch == '\\':
			i++
		case quote != 0 && ch == quote:
			quote = 0
		case quote != 0:
		case ch == '"' || ch == '\'':
			quote = ch
		case ch == ' ':
			from = i + 1
		}
	}
	words, err := resp.SplitLine(text[:from])
	if err != nil {
		return nil, text[from:]
	}
	for _, w := range words {
		before = append(before, string(w))
	}
	return before, text[from:]
}

// candidates are the endings of the typed word.
func (c *completer) candidates(before []string, typed string) []string {
	if len(before) > 0 && strings.Trim(before[0], "0123456789") == "" {
		before = before[1:] // "5 INCR k" repeats
	}
	if len(before) == 0 {
		words := append(commandNames(), "CLEAR", "EXIT", "HELP", "QUIT")
		slices.Sort(words)
		return endings(slices.Compact(words), typed)
	}
	if strings.EqualFold(before[0], "help") || before[0] == "?" {
		return helpTopics(before[1:], typed)
	}
	if len(before) == 1 {
		if subs := subcommandsOf(before[0]); len(subs) > 0 {
			return endings(subs, typed)
		}
	}
	cmd, args := commandOf(before)
	if cmd == nil {
		return nil
	}
	if isKey(cmd, append(before, typed)) {
		return c.keys(typed)
	}
	return endings(optionWords(remaining(parameters(cmd.Syntax), args)), typed)
}

func helpTopics(before []string, typed string) []string {
	if len(before) > 0 {
		return endings(subcommandsOf(before[0]), typed)
	}
	topics := commandNames()
	for _, g := range groups() {
		topics = append(topics, "@"+g)
	}
	return endings(topics, typed)
}

// commandNames lists the first words of the commands.
func commandNames() []string {
	var names []string
	for _, c := range translator.Commands() {
		name, _, _ := strings.Cut(c.Name, " ")
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// endings are what is missing of the words that begin with typed, in its case.
func endings(words []string, typed string) []string {
	var found []string
	for _, w := range words {
		if len(w) < len(typed) || !strings.EqualFold(w[:len(typed)], typed) {
			continue
		}
		end := w[len(typed):]
		if typed != "" && typed == strings.ToLower(typed) {
			end = strings.ToLower(end)
		}
		found = append(found, end+" ")
	}
	return found
}

// optionWords are the words of the language that the parameters can begin with.
func optionWords(params []string) []string {
	var words []string
	for _, p := range params {
		for _, alternative := range strings.Split(strings.Trim(p, "[]<>"), "|") {
			first, _, _ := strings.Cut(strings.TrimLeft(alternative, "[<"), " ")
			if isWord(first) && !slices.Contains(words, first) {
				words = append(words, first)
			}
		}
	}
	return words
}

// isKey tells whether the last of words is a key of the call.
func isKey(cmd *translator.Command, words []string) bool {
	args := make([][]byte, len(words))
	for i, w := range words {
		args[i] = []byte(w)
	}
	for _, ref := range cmd.KeysOf(args) {
		if ref.Pos == len(args)-1 {
			return true
		}
	}
	return false
}

// The target looks at so many keys, a page at a time, and no new page begins
// when a person has waited for keyPatience. A page that takes keyTimeout is given
// up, which can cost the connection.
const (
	keyPatience = 200 * time.Millisecond
	keyTimeout  = 3 * time.Second
	keyPages    = 20
	keyPage     = "1000"
)

// keys are the endings of the keys that begin with typed, which may be an open
// quoted string. In a transaction nothing can be asked.
func (c *completer) keys(typed string) []string {
	if c.session.InMulti() {
		return nil
	}
	prefix := typed
	quoted := strings.HasPrefix(typed, `"`)
	if quoted {
		words, err := resp.SplitLine(typed + `"`)
		if err != nil || len(words) != 1 {
			return nil
		}
		prefix = string(words[0])
	}
	var found []string
	for _, key := range c.scan(prefix) {
		written := writtenKey(key, quoted)
		if strings.HasPrefix(written, typed) {
			found = append(found, written[len(typed):]+" ")
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// writtenKey is the key as it is typed: bare where that can be.
func writtenKey(key []byte, quoted bool) string {
	text := string(resp.AppendQuoted(nil, key, true))
	bare := text[1 : len(text)-1]
	if quoted || bare == "" || bare != string(key) || strings.ContainsAny(bare, ` '`) || !utf8.Valid(key) {
		return text
	}
	return bare
}

// scan asks for the keys that begin with prefix, within its bounds.
func (c *completer) scan(prefix string) [][]byte {
	ctx, cancel := context.WithTimeout(c.ctx, keyTimeout)
	defer cancel()
	pattern := strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`, `]`, `\]`).Replace(prefix) + "*"
	var keys [][]byte
	cursor := []byte("0")
	for began, page := time.Now(), 0; page < keyPages && time.Since(began) < keyPatience; page++ {
		v, err := c.session.Do(ctx, []byte("SCAN"), cursor, []byte("MATCH"), []byte(pattern), []byte("COUNT"), []byte(keyPage))
		if err != nil || v.Kind != resp.Array || len(v.Elems) != 2 {
			break
		}
		for _, k := range v.Elems[1].Elems {
			keys = append(keys, k.Str)
		}
		if cursor = v.Elems[0].Str; string(cursor) == "0" {
			break
		}
	}
	return keys
}

func commonPrefix(words []string) string {
	common := words[0]
	for _, w := range words[1:] {
		for !strings.HasPrefix(w, common) {
			_, n := utf8.DecodeLastRuneInString(common)
			common = common[:len(common)-n]
		}
	}
	return common
}
