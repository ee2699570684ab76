//go:build !wasip1 || search

package translator

import (
	"fmt"
	"slices"

	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/redis/search/expr"
	"github.com/meowdis/meowdis/redis/search/query"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/translator/document"
)

// aggregateStep changes the rows. needs lists the properties that it reads.
type aggregateStep interface {
	needs() []string
	run(a *pipeline) error
}

// aggregateRow holds the properties of a row.
type aggregateRow struct {
	hit    *hit
	values map[string]expr.Value
	json   map[string]*document.Value // the JSON of a property that an expr.Value cannot show
	shown  []string                   // names that are shown although other rows lack them: LOAD *
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
	tree, bad := q.parse(c, ix)
	if bad != "" {
		return fail(bad)
	}
	names, bad := q.check(ix, tree)
	if bad != "" {
		return fail(bad)
	}
	p.parsed()
	f := &finder{c: c, ix: ix, tree: tree, profile: p, options: &q.searchOptions, ordering: ordering{scores: q.addScores || slices.Contains(names, "__score")}}
	p.created()
	return f.find(w, func(w *store.Work) Plan {
		a := &pipeline{f: f, q: q, work: w, terms: queryTerms(tree), shown: yielded(tree)}
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
	known, grouped := map[string]bool{"__key": true, "__score": true}, false
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
			case !grouped && ix.schema.Field(name) != nil:
				names = append(names, name)
			case !grouped && (q.loadAll || slices.Contains(yielded(tree), name)):
			default:
				return nil, unknownProperty(step, name)
			}
		}
		switch step := step.(type) {
		case *groupStep:
			known, grouped = map[string]bool{}, true
			for _, name := range slices.Concat(step.by, step.as) {
				known[name] = true
			}
		case *applyStep:
			known[step.as] = true
		}
	}
	return names, ""
}

// unknownProperty returns the error of a step that needs a property.
func unknownProperty(step aggregateStep, name string) string {
	if _, sort := step.(*sortStep); sort {
		return fmt.Sprintf("Property `%s` not loaded nor in schema", name)
	}
	return fmt.Sprintf("Property not loaded nor in pipeline: `%s`", name)
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
			a.rename(f)
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

// rename gives a loaded property its name of LOAD.
func (a *pipeline) rename(f returnedField) {
	for _, r := range a.rows {
		v, ok := a.property(r, f.name)
		if !ok {
			continue
		}
		r.values[f.as] = v
		if v, is := r.json[f.name]; is {
			r.json[f.as] = v
		}
	}
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
		value := exprReply(v, a.q.expand)
		if v, is := r.json[name]; is && a.q.expand {
			value = jsonExpanded(v, a.work)
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

// exprReply returns a value of a row. A number is text, unless expand is set.
func exprReply(v expr.Value, expand bool) resp.Value {
	if v.Shown != "" {
		return resp.MakeString(v.Shown)
	}
	switch v.Kind {
	case expr.Null:
		return resp.Nil
	case expr.Array:
		all := resp.Value{Kind: resp.Array, Elems: []resp.Value{}}
		for _, item := range v.Items {
			all.Elems = append(all.Elems, exprReply(item, expand))
		}
		return all
	case expr.Map:
		all := resp.Value{Kind: resp.Map, Elems: []resp.Value{}}
		for i, item := range v.Items {
			all.Elems = append(all.Elems, resp.MakeString(v.Names[i]), exprReply(item, expand))
		}
		return all
	case expr.Number:
		if expand {
			return resp.MakeDouble(v.Num)
		}
	}
	return resp.MakeString(v.String())
}
