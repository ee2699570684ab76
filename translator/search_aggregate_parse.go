//go:build !wasip1 || search

package translator

import (
	"fmt"
	"strings"

	"github.com/meowdis/meowdis/redis/search/expr"
)

// aggregateCall holds the arguments of FT.AGGREGATE.
type aggregateCall struct {
	searchOptions
	addScores bool
	loadAll   bool
	load      []returnedField
	steps     []aggregateStep
	yielded   []string   // names of scores that every row may have
	cursor    *rowCursor // of WITHCURSOR, or nil
}

// maxAggregateResults limits LIMIT in FT.AGGREGATE.
const maxAggregateResults = 1 << 31

func parseAggregate(text []byte, words [][]byte, ix *searchIndex, s *searchSettings, seed uint64) (q *aggregateCall, bad string) {
	q = &aggregateCall{searchOptions: newSearchOptions(text, s)}
	d := &definition{words: words}
	for d.more() {
		at := d.at
		word := strings.ToUpper(string(d.next()))
		switch word {
		case "ADDSCORES":
			q.addScores = true
		case "WITHCURSOR":
			bad = q.parseCursor(d, s)
		case "LOAD":
			bad = q.parseLoad(d)
		case "GROUPBY":
			bad = q.parseGroup(d, s.maxGroups, seed)
		case "SORTBY":
			bad = q.parseSort(d)
		case "APPLY":
			bad = q.parseApply(d)
		case "FILTER":
			bad = q.parseFilter(d)
		case "LIMIT":
			var offset, n int64
			offset, n, bad = parseSearchLimit(d, s.maxRows)
			q.limitStep().offset, q.limitStep().count = offset, n
		case "RETURN", "SUMMARIZE", "HIGHLIGHT":
			bad = word + " is not supported on FT.AGGREGATE"
		default:
			d.at = at
			taken := false
			if taken, bad = q.option(d, ix.schema); !taken && bad == "" {
				bad = fmt.Sprintf("Unknown argument `%s` at position %d for <main>", words[at], at+1)
			}
		}
		if bad != "" {
			return nil, bad
		}
	}
	return q, ""
}

func (q *aggregateCall) parseLoad(d *definition) string {
	if d.is("*") {
		q.loadAll = true
		return ""
	}
	list, bad := d.counted("LOAD")
	if bad != "" {
		return bad
	}
	for i := 0; i < len(list); i++ {
		f := returnedField{name: strings.TrimPrefix(string(list[i]), "@")}
		f.as = f.name
		if i+2 < len(list) && wordIs(list[i+1], "AS") {
			f.as = string(list[i+2])
			i += 2
		}
		q.load = append(q.load, f)
	}
	return ""
}

// properties parses a counted list of names that begin with @.
func properties(d *definition, option string) (names []string, bad string) {
	list, bad := d.counted(option)
	for _, name := range list {
		if len(name) == 0 || name[0] != '@' {
			return nil, fmt.Sprintf("Bad arguments for %s: Unknown property `%s`. Did you mean `@%s`?", option, name, name)
		}
		names = append(names, string(name[1:]))
	}
	return names, bad
}

func (q *aggregateCall) parseGroup(d *definition, most int64, seed uint64) string {
	names, bad := properties(d, "GROUPBY")
	if bad != "" {
		return bad
	}
	g := &groupStep{by: names, most: int(most)}
	for d.is("REDUCE") {
		name := string(d.next())
		list, bad := d.counted("REDUCE")
		if bad != "" {
			return bad
		}
		args := make([]string, len(list))
		for i, arg := range list {
			args[i] = string(arg)
		}
		r, err := expr.ParseReduction(name, args, seed)
		if err != nil {
			return err.Error()
		}
		as := r.Name
		if d.is("AS") {
			if !d.more() {
				return badArgument("AS", noArgument)
			}
			as = string(d.next())
		}
		g.reductions, g.as = append(g.reductions, r), append(g.as, as)
	}
	q.steps = append(q.steps, g)
	return ""
}

// maxSortKeys limits the properties of SORTBY.
const maxSortKeys = 8

func (q *aggregateCall) parseSort(d *definition) string {
	list, bad := d.counted("SORTBY")
	if bad != "" {
		return bad
	}
	s := &sortStep{max: 10}
	for _, word := range list {
		switch last := len(s.keys) - 1; {
		case len(word) > 0 && word[0] == '@':
			s.keys = append(s.keys, expr.SortKey{Name: string(word[1:])})
		case last >= 0 && wordIs(word, "ASC"):
		case last >= 0 && wordIs(word, "DESC"):
			s.keys[last].Descending = true
		default:
			return fmt.Sprintf("MISSING ASC or DESC after sort field (%s)", word)
		}
	}
	if len(s.keys) > maxSortKeys {
		return fmt.Sprintf("Cannot sort by more than %d fields", maxSortKeys)
	}
	if d.is("MAX") {
		n, ok := parseInt(d.next())
		if !ok || n < 0 {
			return badArgument("MAX", wrongArgument)
		}
		s.max = n
	}
	if n := len(q.steps); n > 0 {
		switch last := q.steps[n-1].(type) {
		case *sortStep:
			return "Multiple SORTBY steps are not allowed. Sort multiple fields in a single step"
		case *limitStep: // they act as one step
			s.max = 0
			q.steps[n-1] = s
			q.steps = append(q.steps, last)
			return ""
		}
	}
	q.steps = append(q.steps, s)
	return ""
}

// limitStep returns the LIMIT of the current step. A sort before it keeps all rows.
func (q *aggregateCall) limitStep() *limitStep {
	if n := len(q.steps); n > 0 {
		switch last := q.steps[n-1].(type) {
		case *limitStep:
			return last
		case *sortStep:
			last.max = 0
		}
	}
	l := &limitStep{}
	q.steps = append(q.steps, l)
	return l
}

func (q *aggregateCall) parseApply(d *definition) string {
	if !d.more() {
		return badArgument("APPLY", noArgument)
	}
	source := string(d.next())
	e, err := expr.Compile(source)
	if err != nil {
		return err.Error()
	}
	as := source
	if d.is("AS") {
		if !d.more() {
			return "AS needs argument"
		}
		as = string(d.next())
	}
	q.steps = append(q.steps, &applyStep{e, as})
	return ""
}

func (q *aggregateCall) parseFilter(d *definition) string {
	if !d.more() {
		return badArgument("FILTER", noArgument)
	}
	e, err := expr.Compile(string(d.next()))
	if err != nil {
		return err.Error()
	}
	q.steps = append(q.steps, &filterStep{e})
	return ""
}
