package translator

import (
	"bytes"
	"regexp"

	"github.com/meowdis/meowdis/resp"
)

// The limits of ARGREP.
const (
	maxPredicates = 250
	maxRegexp     = 2048 // bytes
)

// grep is what ARGREP asks for.
type grep struct {
	slots      slotRange
	predicates [][2][]byte // kind and pattern
	and        bool
	nocase     bool
	withValues bool
	limit      int64 // 0 for none
}

// parseGrep reads the arguments of ARGREP; msg is the error.
func (c *Call) parseGrep() (g grep, msg string) {
	start, ok1 := grepBound(c.Args[2])
	end, ok2 := grepBound(c.Args[3])
	if !ok1 || !ok2 {
		return g, errArrayIndex
	}
	g.slots = makeSlotRange(start, end)
	for i := 4; i < len(c.Args); i++ {
		more := i+1 < len(c.Args)
		switch word := upper(c.Args[i]); {
		case (word == "EXACT" || word == "MATCH" || word == "GLOB" || word == "RE") && more:
			i++
			g.predicates = append(g.predicates, [2][]byte{[]byte(word), c.Args[i]})
		case word == "AND" || word == "OR":
			g.and = word == "AND"
		case word == "NOCASE":
			g.nocase = true
		case word == "WITHVALUES":
			g.withValues = true
		case word == "LIMIT" && more:
			i++
			var ok bool
			if g.limit, ok = parseLimit(c.Args[i]); !ok {
				return g, errMustBePositive
			}
		default:
			return g, errSyntax
		}
	}
	switch {
	case len(g.predicates) == 0:
		return g, errSyntax
	case len(g.predicates) > maxPredicates:
		return g, "ERR too many predicates"
	}
	return g, ""
}

// grepBound is an index, or - for the first and + for the last.
func grepBound(b []byte) (uint64, bool) {
	switch string(b) {
	case "-":
		return 0, true
	case "+":
		return maxIndex, true
	}
	return parseIndex(b)
}

// predicate makes a function of a kind and a pattern. NOCASE is about ASCII
// letters, and for RE about all.
func predicate(kind string, pattern []byte, nocase bool) (matches func(value []byte) bool, msg string) {
	folded := func(b []byte) []byte { return b }
	if nocase {
		folded = lowered
	}
	switch kind {
	case "GLOB":
		all := len(pattern) == 1 && pattern[0] == '*'
		return func(value []byte) bool { return all || matchGlob(pattern, value, nocase) }, ""
	case "EXACT":
		pattern = folded(pattern)
		return func(value []byte) bool { return len(value) == len(pattern) && bytes.Equal(folded(value), pattern) }, ""
	case "MATCH":
		pattern = folded(pattern)
		return func(value []byte) bool { return bytes.Contains(folded(value), pattern) }, ""
	}
	if len(pattern) > maxRegexp {
		return nil, "ERR regular expression is too long"
	}
	flags := "(?s)"
	if nocase {
		flags = "(?si)"
	}
	// It takes time in proportion to the value, whatever the pattern.
	re, err := regexp.Compile(flags + string(pattern))
	if err != nil {
		return nil, "ERR invalid regular expression"
	}
	return re.Match, ""
}

// lowered is b with its ASCII letters in lower case.
func lowered(b []byte) []byte {
	out := make([]byte, len(b))
	for i, ch := range b {
		out[i] = lower(ch)
	}
	return out
}

// matcher tells whether a value matches all predicates, or any.
func (g grep) matcher() (matches func(value []byte) bool, msg string) {
	all := make([]func([]byte) bool, len(g.predicates))
	for i, p := range g.predicates {
		if all[i], msg = predicate(string(p[0]), p[1], g.nocase); msg != "" {
			return nil, msg
		}
	}
	return func(value []byte) bool {
		for _, matches := range all {
			if matches(value) != g.and {
				return !g.and
			}
		}
		return g.and
	}, ""
}

func argrep(c *Call) Plan {
	g, msg := c.parseGrep()
	if msg != "" {
		return fail(msg)
	}
	matches, msg := g.matcher()
	if msg != "" {
		return fail(msg)
	}
	found := resp.EmptyArray
	return c.walk(g.slots, func(index uint64, value []byte) bool {
		if !matches(value) {
			return true
		}
		reply := indexReply(index)
		if g.withValues {
			reply = resp.MakeArray(reply, resp.MakeBulk(value))
		}
		found.Elems = append(found.Elems, reply)
		return int64(len(found.Elems)) != g.limit
	}, func() resp.Value { return found })
}
