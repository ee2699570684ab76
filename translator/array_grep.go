package translator

import (
	"bytes"
	"errors"
	"regexp"
	resyntax "regexp/syntax"

	"github.com/meowdis/meowdis/redis/glob"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
)

// These are the limits of ARGREP.
const (
	maxPredicates = 250
	maxRegexp     = 2048 // bytes
)

// grepQuery holds the arguments of ARGREP.
type grepQuery struct {
	start, end grepBound
	predicates [][2][]byte // kind and pattern
	and        bool
	nocase     bool
	withValues bool
	limit      int64 // 0 for none
}

// parseGrep parses the arguments of ARGREP; msg is the error.
func (c *Call) parseGrep() (g grepQuery, msg string) {
	var ok1, ok2 bool
	g.start, ok1 = parseGrepBound(c.Args[2])
	g.end, ok2 = parseGrepBound(c.Args[3])
	if !ok1 || !ok2 {
		return g, errArrayIndex
	}
	for i := 4; i < len(c.Args); i++ {
		more := i+1 < len(c.Args)
		switch word := upper(c.Args[i]); {
		case (word == "EXACT" || word == "MATCH" || word == "GLOB" || word == "RE") && more:
			i++
			switch {
			case len(g.predicates) == maxPredicates:
				return g, "ERR too many predicates, maximum is 250"
			case word == "RE" && len(c.Args[i]) > maxRegexp:
				return g, "ERR regular expression is too long, maximum is 2048 bytes"
			}
			g.predicates = append(g.predicates, [2][]byte{[]byte(word), c.Args[i]})
		case word == "AND" || word == "OR":
			g.and = word == "AND"
		case word == "NOCASE":
			g.nocase = true
		case word == "WITHVALUES":
			g.withValues = true
		case word == "LIMIT" && more:
			i++
			if g.limit, msg = parseLimit(c.Args[i]); msg != "" {
				return g, msg
			}
		default:
			return g, errSyntax
		}
	}
	if len(g.predicates) == 0 {
		return g, errSyntax
	}
	return g, ""
}

// grepBound names an index, or the last index of the array.
type grepBound struct {
	index uint64
	last  bool
}

// parseGrepBound parses an index, or - for the first and + for the last.
func parseGrepBound(b []byte) (grepBound, bool) {
	switch string(b) {
	case "-":
		return grepBound{}, true
	case "+":
		return grepBound{maxIndex, true}, true
	}
	index, ok := parseIndex(b)
	return grepBound{index, false}, ok
}

// matcher reports whether a value matches, and counts its steps.
type matcher func(value []byte, w *store.Work) bool

// stepsPerSlot counts the steps of examining a value, besides its bytes.
const stepsPerSlot = 8

// predicate compiles a kind and a pattern. NOCASE ignores the case of ASCII letters, and with RE of all letters.
func predicate(kind string, pattern []byte, nocase bool) (matches matcher, msg string) {
	folded := func(b []byte) []byte { return b }
	if nocase {
		folded = lowered
	}
	switch kind {
	case "GLOB":
		all := len(pattern) == 1 && pattern[0] == '*'
		return func(value []byte, w *store.Work) bool {
			return all || glob.MatchCounted(pattern, value, nocase, w.Step)
		}, ""
	case "EXACT":
		pattern = folded(pattern)
		return func(value []byte, _ *store.Work) bool {
			return len(value) == len(pattern) && bytes.Equal(folded(value), pattern)
		}, ""
	case "MATCH":
		pattern = folded(pattern)
		return func(value []byte, _ *store.Work) bool { return bytes.Contains(folded(value), pattern) }, ""
	}
	if len(pattern) == 0 {
		return nil, "ERR regular expression is empty"
	}
	flags := "(?s)"
	if nocase {
		flags = "(?si)"
	}
	// Matching takes linear time, whatever the pattern.
	re, err := regexp.Compile(flags + string(pattern))
	if err != nil {
		return nil, badRegexp(err)
	}
	return func(value []byte, w *store.Work) bool {
		each := 1 + len(pattern)/4
		if len(value) <= counted/each {
			w.Step(each * len(value))
			return re.Match(value)
		}
		return re.MatchReader(&runes{*bytes.NewReader(value), each, w})
	}, ""
}

// A value of up to counted steps is matched without counting each step, which is faster.
const counted = 1 << 16

// runes reads the characters of a value. Each one counts as several steps.
type runes struct {
	bytes.Reader
	each int
	work *store.Work
}

func (r *runes) ReadRune() (rune, int, error) {
	r.work.Step(r.each)
	return r.Reader.ReadRune()
}

// badRegexp converts the error of regexp.Compile to an error reply.
func badRegexp(err error) string {
	var bad *resyntax.Error
	if !errors.As(err, &bad) {
		return "ERR invalid regular expression"
	}
	if escaped := bad.Expr; bad.Code == resyntax.ErrInvalidEscape && len(escaped) == 2 && escaped[1] >= '1' && escaped[1] <= '9' {
		return "ERR regular expression backreferences are not supported"
	}
	return "ERR invalid regular expression: " + bad.Code.String()
}

// lowered returns b with its ASCII letters in lower case.
func lowered(b []byte) []byte {
	out := make([]byte, len(b))
	for i, ch := range b {
		if out[i] = ch; 'A' <= ch && ch <= 'Z' {
			out[i] += 'a' - 'A'
		}
	}
	return out
}

// matcher returns a function that reports whether a value matches all predicates, or any.
func (g grepQuery) matcher() (matches matcher, msg string) {
	all := make([]matcher, len(g.predicates))
	for i, p := range g.predicates {
		if all[i], msg = predicate(string(p[0]), p[1], g.nocase); msg != "" {
			return nil, msg
		}
	}
	return func(value []byte, w *store.Work) bool {
		for _, matches := range all {
			w.Step(stepsPerSlot + len(value)/8)
			if matches(value, w) != g.and {
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
	if !g.start.last && (!g.end.last || g.start.index == 0) {
		return g.walk(c, makeSlotRange(g.start.index, g.end.index), matches)
	}
	// The last index may be below the other end; the range is then read backwards.
	return readThen(func(r *store.Result) Plan {
		a, bad := arrayOf(r.Rows[0])
		switch {
		case bad.IsError():
			return answer(bad)
		case a.length == 0:
			return answer(resp.EmptyArray)
		}
		for _, bound := range []*grepBound{&g.start, &g.end} {
			if bound.last {
				bound.index = a.length - 1
			}
		}
		return g.walk(c, makeSlotRange(g.start.index, g.end.index), matches)
	}, c.stmt(sqlArray, c.Args[1]))
}

// walk replies with the matches in the range.
func (g grepQuery) walk(c *Call, s slotRange, matches matcher) Plan {
	found := resp.EmptyArray
	return c.walk(s, func(index uint64, value []byte, w *store.Work) bool {
		if !matches(value, w) {
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
