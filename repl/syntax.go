package repl

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/meowdis/meowdis/redis/commands"
)

// param describes a part of a command's syntax that a call can still fill.
type param struct {
	commands.Argument
	repeated bool  // it has been filled once already
	times    int64 // how often it must be filled, given by a number before it; 0 if none does
}

// call matches the words of a command to its syntax.
type call struct {
	cmd   *commands.Command // nil if the table does not have it
	name  int               // number of words in the name
	kinds []kind            // of each word
	args  []string          // the parameter that each word fills
	rest  []param           // the parameters after the words
	// wrong describes the mistake in word at; "" for none.
	wrong     string
	at        int
	ambiguous bool              // the words cannot be assigned to parameters any more
	excluded  map[string]string // options that may not follow an option that was given, with that option
}

// kind names the role of a word, for its colour.
type kind byte

const (
	kindValue kind = iota
	kindCommand
	kindToken // an option of the command
	kindKey
	kindNumber
	kindWrong
)

// fit parses words as a call of a command in the table. typing means that the last word may be incomplete.
func fit(t *commands.Table, words []string, typing bool) call {
	c := call{kinds: make([]kind, len(words)), args: make([]string, len(words))}
	if len(words) == 0 {
		return c
	}
	c.kinds[0] = kindCommand
	if subs := subcommandsOf(t, words[0]); len(subs) > 0 && (len(words) > 1 || t.Lookup(words[0]) == nil) {
		if len(words) == 1 {
			return c
		}
		c.kinds[1] = kindCommand
		if c.cmd = t.Lookup(words[0] + " " + words[1]); c.cmd == nil {
			undocumented := strings.EqualFold(words[0], "DEBUG")
			if !undocumented && (!typing || len(words) > 2 || !anyBegins(subs, words[1])) {
				c.reportWrong(1, "unknown subcommand"+didYouMean(words[1], subs))
			}
			return c
		}
		c.name = 2
	}
	if c.cmd == nil {
		if c.cmd, c.name = t.Lookup(words[0]), 1; c.cmd == nil {
			c.name = 0
			return c
		}
	}
	for _, a := range c.cmd.SyntaxTree() {
		c.rest = append(c.rest, param{Argument: a})
	}
	for i := c.name; i < len(words); i++ {
		c.fill(i, words[i], typing && i == len(words)-1)
	}
	c.markKeys(words)
	return c
}

func (c *call) reportWrong(at int, text string) {
	if c.wrong == "" {
		c.wrong, c.at = text, at
	}
	c.kinds[at] = kindWrong
}

func anyBegins(words []string, prefix string) bool {
	return slices.ContainsFunc(words, func(w string) bool {
		return len(w) >= len(prefix) && strings.EqualFold(w[:len(prefix)], prefix)
	})
}

// fill assigns the word at i to a parameter.
func (c *call) fill(i int, word string, typing bool) {
	taken, rest, ok := take(c.rest, word)
	if !ok {
		c.rejectWord(i, word, typing)
		return
	}
	c.rest = rest
	c.args[i] = taken.Name
	switch {
	case taken.Type == "pure-token":
		c.kinds[i] = kindToken
		if by := c.excluded[taken.Token]; slices.Contains(neverWith[by], taken.Token) {
			c.reportWrong(i, "not with "+by)
		}
		c.reject(taken.Token, neverWith[taken.Token]...)
		c.exclude(c.cmd.SyntaxTree(), taken.Token)
	case c.isInteger(taken):
		c.kinds[i] = kindNumber
		if n, err := strconv.ParseInt(word, 10, 64); err == nil {
			c.count(taken.Name, n)
		} else if !(typing && (word == "-" || word == "")) {
			c.reportWrong(i, cmp.Or(c.exclusion(word), taken.Name+": not an integer"))
		}
	case c.isDouble(taken):
		c.kinds[i] = kindNumber
		if !isDouble(word) && !typing {
			c.reportWrong(i, cmp.Or(c.exclusion(word), taken.Name+": not a number"))
		}
	}
}

// rejectWord handles a word that fits no parameter. It leaves an option that is repeated or
// at an unusual place to the target, and everything after it.
func (c *call) rejectWord(i int, word string, typing bool) {
	tokens, _ := expected(c.rest)
	switch {
	case c.ambiguous || typing && anyBegins(tokens, word):
	case c.exclusion(word) != "":
		c.reportWrong(i, c.exclusion(word))
	case hasToken(c.cmd.SyntaxTree(), word):
		c.ambiguous, c.rest = true, nil
	default:
		c.reportWrong(i, notExpected(word, tokens, len(c.rest)))
	}
}

// exclusion names the option that excludes a word; "" if none does.
func (c *call) exclusion(word string) string {
	if by := c.excluded[strings.ToUpper(word)]; by != "" {
		return "not with " + by
	}
	return ""
}

// lastWins lists alternatives that may be combined: Redis uses the last one.
var lastWins = []string{"ASC", "DESC", "STORE", "STOREDIST"}

// neverWith lists options that a command refuses together although they are separate choices,
// as in ZADD.
var neverWith = map[string][]string{"NX": {"GT", "LT"}, "GT": {"NX"}, "LT": {"NX"}}

// exclude records the options that a choice excludes after it was made with token. XX may come
// with GT or LT.
func (c *call) exclude(args []commands.Argument, token string) {
	for _, a := range args {
		c.exclude(a.Arguments, token)
		if a.Type != "oneof" || !a.Optional || a.Multiple || !slices.ContainsFunc(a.Arguments, func(b commands.Argument) bool { return b.Token == token }) {
			continue
		}
		for _, b := range a.Arguments {
			if b.Token == "" || b.Token == token || slices.Contains(lastWins, token) || token == "XX" && b.Token != "NX" || b.Token == "XX" && token != "NX" {
				continue
			}
			c.reject(token, b.Token)
		}
	}
}

// reject records that token excludes the options.
func (c *call) reject(token string, options ...string) {
	if c.excluded == nil {
		c.excluded = map[string]string{}
	}
	for _, option := range options {
		c.excluded[option] = token
	}
}

func hasToken(args []commands.Argument, word string) bool {
	return slices.ContainsFunc(args, func(a commands.Argument) bool {
		return a.Token != "" && strings.EqualFold(a.Token, word) || hasToken(a.Arguments, word)
	})
}

func notExpected(word string, tokens []string, rest int) string {
	switch {
	case rest == 0:
		return "too many arguments"
	case len(tokens) == 0:
		return "unknown option"
	case len(tokens) > 6:
		return "not one of its options" + didYouMean(word, tokens)
	}
	return "expects " + strings.Join(tokens, ", ")
}

// isInteger reports whether the parameter takes only integers. IDs, bounds and bitfield
// offsets share parameter names with integers, and indexes of arrays are larger than
// integers.
func (c *call) isInteger(a commands.Argument) bool {
	switch a.Name {
	case "index":
		return a.Type == "integer" && c.cmd.Group != "array"
	case "numfields":
		return true
	case "cursor":
		return false
	case "start", "stop", "end", "min", "max":
		if c.cmd.Name == "VRANGE" {
			return false
		}
		return a.Type == "integer" && c.cmd.Group != "stream" && c.cmd.Group != "sorted-set" && c.cmd.Group != "array"
	case "offset":
		return a.Type == "integer" && !strings.HasPrefix(c.cmd.Name, "BITFIELD")
	case "timeout":
		return a.Type == "integer" && c.cmd.Name == "WAIT"
	case "count":
		return a.Type == "integer" && c.cmd.Group != "server"
	}
	return a.Type == "integer" || a.Type == "unix-time"
}

func (c *call) isDouble(a commands.Argument) bool { return a.Type == "double" }

func isDouble(word string) bool {
	if strings.Contains(strings.ToLower(word), "0x") && !strings.ContainsAny(word, "pP") {
		word += "p0" // C accepts hexadecimal numbers without an exponent
	}
	_, err := strconv.ParseFloat(word, 64)
	return err == nil
}

// count sets how often the parameter after a number of keys, fields or components must be
// filled.
func (c *call) count(name string, n int64) {
	if name != "numkeys" && name != "numfields" && name != "num" || n < 1 {
		return
	}
	for i, p := range c.rest {
		if p.Multiple {
			p.Multiple, p.Optional, p.times = false, false, n
			c.rest = slices.Clone(c.rest)
			c.rest[i] = p
			return
		}
	}
}

// markKeys marks the keys, which the table knows more precisely than the syntax.
func (c *call) markKeys(words []string) {
	args := make([][]byte, len(words))
	for i, w := range words {
		args[i] = []byte(w)
	}
	for _, ref := range c.cmd.KeysSoFar(args) {
		if ref.Pos < len(words) && c.kinds[ref.Pos] == kindValue {
			c.kinds[ref.Pos] = kindKey
		}
	}
}

// take returns the parameter that a word fills, and the next ones. It tries options first,
// since they may come in any order.
func take(params []param, word string) (taken commands.Argument, rest []param, ok bool) {
	for _, tokens := range []bool{true, false} {
		for i, p := range params[:candidateCount(params, tokens)] {
			a, after, ok := begin(p, word, tokens)
			if !ok {
				continue
			}
			ordered := !p.Optional && !leadsWithToken(p.Argument)
			kept := slices.DeleteFunc(slices.Clone(params[:i]), func(q param) bool {
				return ordered || !leadsWithToken(q.Argument) || q.Optional && !p.Optional
			})
			n := required(after)
			return a, slices.Concat(after[:n], kept, after[n:], params[i+1:]), true
		}
	}
	return taken, nil, false
}

// candidateCount returns how many of params the next word can fill: those up to the first
// required one. Required choices may be swapped.
func candidateCount(params []param, tokens bool) (n int) {
	for n < len(params) && params[n].Optional {
		n++
	}
	for tokens && n < len(params) && !params[n].Optional && leadsWithToken(params[n].Argument) {
		n++
	}
	if n < len(params) && !params[n].Optional {
		n++
	}
	return n
}

// required returns the length of params up to the last required one.
func required(params []param) (n int) {
	for i, p := range params {
		if !p.Optional {
			n = i + 1
		}
	}
	return n
}

// leadsWithToken reports whether a can begin only with an option.
func leadsWithToken(a commands.Argument) bool {
	switch {
	case a.Token != "":
		return true
	case a.Type == "oneof":
		return !slices.ContainsFunc(a.Arguments, func(b commands.Argument) bool { return !leadsWithToken(b) })
	case a.Type == "block":
		return leadsWithToken(a.Arguments[0])
	}
	return false
}

// begin reports whether word begins p, as an option if tokens is set, else as a value. after
// is the rest of p, and p again if it can be repeated.
func begin(p param, word string, tokens bool) (taken commands.Argument, after []param, ok bool) {
	switch {
	case p.Token != "":
		taken, after, ok = beginToken(p.Argument, word)
		ok = ok && tokens
	case p.Type == "oneof":
		for _, a := range p.Arguments {
			if taken, after, ok = begin(param{Argument: a}, word, tokens); ok {
				break
			}
		}
	case p.Type == "block":
		parts := make([]param, len(p.Arguments))
		for i, a := range p.Arguments {
			parts[i] = param{Argument: a}
		}
		taken, after, ok = beginBlock(parts, word, tokens)
	default:
		taken, ok = p.Argument, !tokens
	}
	if ok && p.times > 1 {
		p.times--
		after = append(after, p)
	}
	if ok && p.Multiple && (p.Token == "" || p.MultipleToken || p.Type == "pure-token") {
		p.Optional, p.repeated = true, true
		after = append(after, p)
	}
	return taken, after, ok
}

func beginToken(a commands.Argument, word string) (taken commands.Argument, after []param, ok bool) {
	if !strings.EqualFold(a.Token, word) {
		return taken, nil, false
	}
	taken = commands.Argument{Name: a.Token, Type: "pure-token", Token: a.Token}
	switch a.Type {
	case "pure-token":
	case "block":
		for _, part := range a.Arguments {
			after = append(after, param{Argument: part})
		}
		if a.Multiple && !a.MultipleToken {
			again := a
			again.Token, again.Optional = "", true
			after = append(after, param{Argument: again, repeated: true})
		}
	default:
		value := a
		value.Token, value.Optional, value.Multiple = "", false, a.Multiple && !a.MultipleToken
		after = []param{{Argument: value}}
	}
	return taken, after, true
}

func beginBlock(parts []param, word string, tokens bool) (taken commands.Argument, after []param, ok bool) {
	for i, p := range parts {
		if taken, after, ok = begin(p, word, tokens); ok {
			return taken, append(after, parts[i+1:]...), true
		}
		if !p.Optional {
			break
		}
	}
	return taken, nil, false
}

// expected returns the options and values that the next word can be.
func expected(params []param) (tokens []string, values []commands.Argument) {
	for i, p := range params[:candidateCount(params, true)] {
		t, v := first(p.Argument)
		for _, token := range t {
			if !slices.Contains(tokens, token) {
				tokens = append(tokens, token)
			}
		}
		if i < candidateCount(params, false) {
			values = append(values, v...)
		}
	}
	return tokens, values
}

// first returns the tokens and values that can begin a.
func first(a commands.Argument) (tokens []string, values []commands.Argument) {
	switch {
	case a.Token != "":
		return []string{a.Token}, nil
	case a.Type == "oneof":
		for _, b := range a.Arguments {
			t, v := first(b)
			tokens, values = append(tokens, t...), append(values, v...)
		}
	case a.Type == "block":
		for _, b := range a.Arguments {
			t, v := first(b)
			tokens, values = append(tokens, t...), append(values, v...)
			if !b.Optional {
				break
			}
		}
	default:
		values = []commands.Argument{a}
	}
	return tokens, values
}

// syntaxText returns the parameters in the notation of the documentation.
func syntaxText(params []param) string {
	parts := make([]string, len(params))
	for i, p := range params {
		parts[i] = paramText(p)
	}
	return strings.Join(parts, " ")
}

func paramText(p param) string {
	const most = 16 // repetitions spelled out
	switch {
	case p.repeated:
		return "[" + p.Once() + " ...]"
	case p.times > most:
		return p.Once() + " [" + p.Once() + " ...]"
	case p.times > 1:
		return strings.TrimSuffix(strings.Repeat(p.Written()+" ", int(p.times)), " ")
	}
	return p.Written()
}

// subcommandsOf returns the subcommands of a container command.
func subcommandsOf(t *commands.Table, container string) []string {
	var subs []string
	if c := t.Lookup(container); c != nil {
		for _, sub := range c.Subcommands() {
			subs = append(subs, sub.Name[len(c.Name)+1:])
		}
	}
	return subs
}
