package commands

import (
	"slices"
	"strings"
)

// Argument is one part of a command's syntax, as COMMAND DOCS describes it.
type Argument struct {
	Name string
	// Type is one of Redis's types: "key", "string", "integer", "double", "pattern", "unix-time",
	// "pure-token", or "oneof" and "block", which have Arguments.
	Type          string
	Token         string // the word before it; for a pure-token, the word itself
	Optional      bool
	Multiple      bool // may be repeated
	MultipleToken bool // the token is repeated, too
	KeySpec       int  // of a key: the index of its spec, -1 if not a key
	Arguments     []Argument

	Display                string // name shown in help; "" means Name
	Since, DeprecatedSince string // Redis versions; "" means the command's own, and never
}

// SyntaxTree parses the command's Syntax.
//
// The notation is redis.io's: words in upper case are tokens, and other words are
// placeholders. [ ] is optional, < > groups, | separates alternatives inside both, and "x [x
// ...]" repeats x.
func (c *Command) SyntaxTree() []Argument {
	if c.args != nil {
		return c.args
	}
	p := syntax{words: splitSyntax(c.Syntax)}
	args := p.sequence()
	if p.peek() == "|" {
		p.at++
		args = []Argument{oneOf(append([]Argument{block(args)}, p.alternatives()...))}
	}
	position := strings.Count(c.Name, " ") + 1
	c.findKeys(args, &position)
	return args
}

// splitSyntax splits at spaces and around brackets and bars.
func splitSyntax(s string) []string {
	for _, mark := range []string{"[", "]", "<", ">", "|"} {
		s = strings.ReplaceAll(s, mark, " "+mark+" ")
	}
	return strings.Fields(s)
}

type syntax struct {
	words []string
	at    int
}

// peek returns the next word, or "" at the end.
func (p *syntax) peek() string {
	if p.at < len(p.words) {
		return p.words[p.at]
	}
	return ""
}

func (p *syntax) ends() bool {
	w := p.peek()
	return w == "" || w == "]" || w == ">" || w == "|" || w == "..."
}

// sequence parses up to the end, a closing bracket or a bar. A token's operands extend to the
// next token or optional part.
func (p *syntax) sequence() []Argument {
	var args []Argument
	for !p.ends() {
		if p.peek() == "[" {
			args = p.optional(args)
			continue
		}
		a := p.element()
		if a.Type == "pure-token" {
			a = p.operands(a)
		}
		args = append(args, a)
	}
	return args
}

// element parses one word or one group in angle brackets.
func (p *syntax) element() Argument {
	if p.peek() == "<" {
		p.at++
		a := oneOf(p.alternatives())
		p.at++ // ">"
		return a
	}
	word := p.peek()
	p.at++
	if isToken(word) {
		return Argument{Name: strings.ToLower(word), Type: "pure-token", Token: word, KeySpec: -1}
	}
	return Argument{Name: word, Type: typeNamed(word), KeySpec: -1}
}

// operands parses the operands of a token.
func (p *syntax) operands(token Argument) Argument {
	var args []Argument
	for !p.ends() && !isToken(p.peek()) {
		if n := p.repeatedWithOptions(); n > 0 {
			inside := syntax{words: p.words[p.at : p.at+n]}
			a := block(inside.sequence())
			a.Multiple = true
			args = append(args, a)
			p.at += 2*n + 3 // the brackets and "..."
			continue
		}
		if p.peek() != "[" {
			args = append(args, p.element())
			continue
		}
		if !p.repeats() || isToken(p.words[p.at+1]) {
			break // an optional part, or the whole repeated
		}
		args = p.optional(args)
	}
	switch len(args) {
	case 0:
		return token
	case 1:
		args[0].Token = token.Token
		return args[0]
	}
	return Argument{Name: token.Name, Type: "block", Token: token.Token, Arguments: args, KeySpec: -1}
}

// repeatedWithOptions returns the number of the next words that have optional parts and are
// repeated after them, as in "x [Y] [x [Y] ...]"; 0 if none are.
func (p *syntax) repeatedWithOptions() int {
	words := p.words[p.at:]
	for n := 2; 2*n+3 <= len(words); n++ {
		if words[n] == "[" && words[n-1] == "]" && words[2*n+1] == "..." && slices.Equal(words[:n], words[n+1:2*n+1]) {
			return n
		}
	}
	return 0
}

// repeats reports whether the next bracket repeats the arguments before it: its last word is
// "...".
func (p *syntax) repeats() bool {
	depth := 0
	for i := p.at; i < len(p.words); i++ {
		switch p.words[i] {
		case "[":
			depth++
		case "]":
			if depth--; depth == 0 {
				return p.words[i-1] == "..."
			}
		}
	}
	return false
}

// alternatives parses sequences separated by bars.
func (p *syntax) alternatives() []Argument {
	var all []Argument
	for {
		all = append(all, block(p.sequence()))
		if p.peek() != "|" {
			return all
		}
		p.at++
	}
}

// optional parses "[…]" and adds it to args: as an optional argument, or as the repetition of
// the last arguments.
func (p *syntax) optional(args []Argument) []Argument {
	again := p.repeats()
	p.at++ // "["
	inside := p.alternatives()
	if again {
		p.at++ // "..."
	}
	p.at++ // "]"
	if again && len(inside) == 1 {
		return repeat(args, inside[0])
	}
	a := oneOf(inside)
	a.Optional = true
	return append(args, a)
}

// repeat marks the end of args as repeated by again. If again does not match it, again itself
// may be repeated.
func repeat(args []Argument, again Argument) []Argument {
	n := 1
	if again.Type == "block" && again.Token == "" {
		n = len(again.Arguments)
	}
	if n > len(args) || names(args[len(args)-n:], "_") != again.Name {
		again.Optional, again.Multiple = true, true
		return append(args, again)
	}
	last := block(slices.Clone(args[len(args)-n:]))
	last.Multiple = true
	last.MultipleToken = last.Token != "" && last.Token == again.Token
	return append(args[:len(args)-n], last)
}

// block combines a sequence into one argument.
func block(args []Argument) Argument {
	if len(args) == 1 {
		return args[0]
	}
	return Argument{Name: names(args, "_"), Type: "block", Arguments: args, KeySpec: -1}
}

func oneOf(alternatives []Argument) Argument {
	if len(alternatives) == 1 {
		return alternatives[0]
	}
	return Argument{Name: names(alternatives, "|"), Type: "oneof", Arguments: alternatives, KeySpec: -1}
}

func names(args []Argument, between string) string {
	all := make([]string, len(args))
	for i, a := range args {
		all[i] = a.Name
	}
	return strings.Join(all, between)
}

// isToken reports whether the word is literal: it has no lower-case letter.
func isToken(word string) bool {
	return word == strings.ToUpper(word) && !strings.ContainsAny(word, "[]<>|")
}

// typeNamed guesses the type from the name, which Redis chooses consistently.
func typeNamed(name string) string {
	switch name {
	case "pattern":
		return "pattern"
	case "unix-time-seconds", "unix-time-milliseconds":
		return "unix-time"
	case "count", "cursor", "seconds", "milliseconds", "num", "numkeys", "index", "offset", "start", "stop", "end", "bit", "db",
		"destination-db", "index1", "index2", "timeout", "decrement", "version", "rank", "num-matches", "len", "min-match-len":
		return "integer"
	case "score", "longitude", "latitude", "radius", "width", "height", "component":
		return "double"
	}
	return "string"
}

// findKeys sets the specs of the keys among args. position is the position of the next
// argument in the call, or 0 once it varies between calls.
func (c *Command) findKeys(args []Argument, position *int) {
	for i := range args {
		a := &args[i]
		if a.Token != "" && *position > 0 {
			*position++
		}
		switch a.Type {
		case "pure-token":
		case "oneof":
			for j := range a.Arguments {
				nowhere := 0
				c.findKeys(a.Arguments[j:j+1], &nowhere)
			}
			*position = 0
		case "block":
			c.findKeys(a.Arguments, position)
			if spec := c.keywordSpec(a.Token); spec >= 0 {
				a.Arguments[0].Type, a.Arguments[0].KeySpec = "key", spec
			}
		default:
			if spec := c.specAt(*position, a.Token); spec >= 0 {
				a.Type, a.KeySpec = "key", spec
			}
			if *position > 0 {
				*position++
			}
		}
		if a.Optional || a.Multiple {
			*position = 0
		}
	}
}

// specAt returns the index of an argument's key spec, given its position in the call or the
// token before it, or -1 if it is not a key.
func (c *Command) specAt(position int, token string) int {
	for i, s := range c.Keys {
		offset := position - s.Index
		switch {
		case position == 0 || s.Keyword != "" || s.Unknown || s.Access == NotKey:
		case s.KeyNum && offset == 1, !s.KeyNum && offset >= 0 && offset <= max(0, s.Last) && offset%max(1, s.Step) == 0:
			return i
		}
	}
	return c.keywordSpec(token)
}

func (c *Command) keywordSpec(token string) int {
	return slices.IndexFunc(c.Keys, func(s KeySpec) bool { return token != "" && s.Keyword == token })
}
