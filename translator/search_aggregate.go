//go:build !wasip1

package translator

import (
	"fmt"
	"slices"
	"strings"

	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/redis/search/expr"
	"github.com/meowdis/meowdis/redis/search/query"
	"github.com/meowdis/meowdis/store"
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

// aggregateStep changes the rows. needs lists the properties that it reads.
type aggregateStep interface {
	needs() []string
	run(a *pipeline) error
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

// aggregateRow holds the properties of a row.
type aggregateRow struct {
	hit    *hit
	values map[string]expr.Value
	json   map[string]string // the text of a JSON array that a property has
	shown  []string          // names that are shown although other rows lack them: LOAD *
}

// pipeline is a run of the steps of FT.AGGREGATE.
type pipeline struct {
	f     *finder
	q     *aggregateCall
	rows  []*aggregateRow
	shown []string // the properties of the reply, in order
	total int
	work  *store.Work
	terms []string
}

func ftAggregate(c *Call) Plan {
	return c.withIndex(c.Args[1], noSuchIndex(c.Args[1]), func(ix *searchIndex, w *store.Work) Plan {
		q, bad := parseAggregate(c.Args[2], c.Args[3:], ix, c.searchSettings(), c.Random())
		if bad != "" {
			return fail(bad)
		}
		return c.aggregate(ix, q, nil, w)
	})
}

func (c *Call) aggregate(ix *searchIndex, q *aggregateCall, p *profile, w *store.Work) Plan {
	if !c.mayQuery(ix) {
		return answer(noSearchPermission)
	}
	tree, bad := q.parse(ix)
	if bad != "" {
		return fail(bad)
	}
	names, bad := q.check(ix, tree)
	if bad != "" {
		return fail(bad)
	}
	p.parsed()
	f := &finder{c: c, ix: ix, tree: tree, profile: p, options: &q.searchOptions, scores: q.addScores || slices.Contains(names, "__score")}
	p.created()
	return f.find(w, func(w *store.Work) Plan {
		a := &pipeline{f: f, q: q, work: w, terms: queryTerms(tree)}
		run := func(w *store.Work) Plan {
			a.work = w
			if a.loads() {
				f.stage("Loader", len(f.hits))
			}
			return answer(f.profiled(a.reply()))
		}
		if len(names) == 0 && !q.loadAll {
			return run(w)
		}
		return f.keysOf(f.hits, w, func(w *store.Work) Plan {
			if !c.mayReadAll(f.hits) {
				return answer(noSearchPermission)
			}
			return c.loadKeys(keysOfHits(f.hits), ix.fieldsToLoad(names, q.loadAll), w, run)
		})
	})
}

// fieldsToLoad returns the fields of hashes that properties need, nil for all.
func (ix *searchIndex) fieldsToLoad(names []string, all bool) [][]byte {
	if all {
		return nil
	}
	fields := [][]byte{}
	for _, name := range names {
		if field := ix.schema.Field(name); field != nil {
			name = field.Path
		}
		fields = append(fields, []byte(name))
	}
	return fields
}

// check returns the properties that the rows need from the documents. Each property must be in the schema, loaded or created
// by an earlier step.
func (q *aggregateCall) check(ix *searchIndex, tree query.Node) (names []string, bad string) {
	known := map[string]bool{"__key": true, "__score": true}
	for _, name := range q.yielded {
		known[name] = true
	}
	for _, f := range q.load {
		known[f.as] = true
		names = append(names, f.name)
	}
	for _, step := range q.steps {
		for _, name := range step.needs() {
			switch {
			case known[name]:
			case ix.schema.Field(name) != nil && !known["*grouped"]:
				names = append(names, name)
			case yields(tree, name) && !known["*grouped"], q.loadAll && !known["*grouped"]:
			default:
				if _, sort := step.(*sortStep); sort {
					return nil, fmt.Sprintf("Property `%s` not loaded nor in schema", name)
				}
				return nil, fmt.Sprintf("Property not loaded nor in pipeline: `%s`", name)
			}
		}
		switch step := step.(type) {
		case *groupStep:
			known = map[string]bool{"*grouped": true}
			for _, name := range slices.Concat(step.by, step.as) {
				known[name] = true
			}
		case *applyStep:
			known[step.as] = true
		}
	}
	return names, ""
}

// reply runs the steps, and makes the reply.
func (a *pipeline) reply() resp.Value {
	if err := a.run(); err != nil {
		return resp.MakeError(err.Error())
	}
	return a.rowsReply()
}

// run makes rows of the hits, and runs the steps.
func (a *pipeline) run() error {
	for _, h := range a.f.hits {
		a.work.Grow(160)
		a.rows = append(a.rows, &aggregateRow{hit: h, values: map[string]expr.Value{}})
	}
	a.total = len(a.rows)
	if a.q.addScores {
		a.shown = append(a.shown, "__score")
	}
	for _, f := range a.q.load {
		a.show(f.as)
		if f.as != f.name {
			for _, r := range a.rows {
				if v, ok := a.property(r, f.name); ok {
					r.values[f.as] = v
					if text, is := r.json[f.name]; is {
						r.json[f.as] = text
					}
				}
			}
		}
	}
	if a.q.loadAll {
		for _, r := range a.rows {
			a.loadRow(r)
		}
	}
	for _, step := range a.q.steps {
		if err := step.run(a); err != nil {
			return err
		}
		a.f.stage(stageName(step), len(a.rows))
	}
	return nil
}

// loads reports whether the rows need their documents.
func (a *pipeline) loads() bool {
	return slices.ContainsFunc(a.f.hits, func(h *hit) bool { return h.key != nil && h.key.source != nil })
}

// stageName returns the name of a step in FT.PROFILE.
func stageName(step aggregateStep) string {
	switch step := step.(type) {
	case *groupStep:
		return "Grouper"
	case *sortStep:
		return "Sorter"
	case *limitStep:
		return "Pager/Limiter"
	case *applyStep:
		return "Projector - " + step.as
	}
	return "Filter"
}

// loadRow shows all fields of a row's document.
func (a *pipeline) loadRow(r *aggregateRow) {
	if r.hit.key == nil || r.hit.key.source == nil {
		return
	}
	src := r.hit.key.source
	if src.Root != nil {
		r.values["$"] = expr.Str(string(src.Root.Append(nil)))
		r.shown = append(r.shown, "$")
		return
	}
	for _, name := range src.Order {
		as := name
		if field := a.f.ix.schema.FieldByPath(name); field != nil {
			as = field.Name
		}
		if v, ok := a.property(r, as); ok {
			r.values[as] = v
			r.shown = append(r.shown, as)
		}
	}
}

func (a *pipeline) show(name string) {
	if !slices.Contains(a.shown, name) {
		a.shown = append(a.shown, name)
	}
}

// rowsReply makes the reply from the rows.
func (a *pipeline) rowsReply() resp.Value {
	all := rowCursor{total: a.total, expand: a.q.expand, warning: a.f.warnings()}
	if a.q.cursor != nil {
		all.count, all.idle = a.q.cursor.count, a.q.cursor.idle
	}
	for _, r := range a.rows {
		all.rows = append(all.rows, a.rowFields(r))
	}
	if a.q.cursor != nil {
		return a.f.c.withCursor(a.f.ix, &all, a.work)
	}
	return all.rowsReply()
}

// rowFields returns the names and values of a row.
func (a *pipeline) rowFields(r *aggregateRow) resp.Value {
	fields := resp.Value{Kind: resp.Array, Elems: []resp.Value{}}
	names := a.shown
	for _, name := range r.shown {
		if !slices.Contains(names, name) {
			names = append(slices.Clip(names), name)
		}
	}
	for _, name := range names {
		v, ok := a.property(r, name)
		if !ok {
			continue
		}
		value := exprReply(v)
		if text, is := r.json[name]; is {
			value = resp.MakeString(text)
		}
		fields.Elems = append(fields.Elems, resp.MakeString(name), value)
	}
	return fields
}

// rowsReply returns the reply of FT.AGGREGATE with the rows.
func (q *rowCursor) rowsReply() resp.Value {
	v2 := resp.MakeArray(resp.MakeInt(int64(q.total)))
	results := resp.EmptyArray
	for _, fields := range q.rows {
		v2.Elems = append(v2.Elems, fields)
		fields.Kind = resp.Map
		results.Elems = append(results.Elems, resp.MakeMap(resp.MakeString("extra_attributes"), fields, resp.MakeString("values"), resp.EmptyArray))
	}
	v2.RESP3 = resultMap(results, q.total, q.expand, q.warning)
	return v2
}

// exprReply returns a value of a row.
func exprReply(v expr.Value) resp.Value {
	switch v.Kind {
	case expr.Null:
		return resp.Nil
	case expr.Array:
		all := resp.Value{Kind: resp.Array, Elems: []resp.Value{}}
		for _, item := range v.Items {
			all.Elems = append(all.Elems, exprReply(item))
		}
		return all
	case expr.Map:
		all := resp.Value{Kind: resp.Map, Elems: []resp.Value{}}
		for i, item := range v.Items {
			all.Elems = append(all.Elems, resp.MakeString(v.Names[i]), exprReply(item))
		}
		return all
	}
	return resp.MakeString(v.String())
}
