//go:build !wasip1 || search

package translator

import (
	"fmt"
	"slices"
	"strings"

	"github.com/meowdis/meowdis/redis/search/expr"
	"github.com/meowdis/meowdis/redis/search/query"
	"github.com/meowdis/meowdis/translator/document"
	"github.com/meowdis/meowdis/translator/inverted"
)

// property returns a property of a row, and keeps it in the row.
func (a *pipeline) property(r *aggregateRow, name string) (expr.Value, bool) {
	if v, ok := r.values[name]; ok {
		return v, true
	}
	h := r.hit
	if h == nil {
		return expr.Value{}, false
	}
	v, ok := a.documentProperty(r, h, name)
	if ok {
		a.work.Grow(64)
		r.values[name] = v
	}
	return v, ok
}

func (a *pipeline) documentProperty(r *aggregateRow, h *hit, name string) (expr.Value, bool) {
	if d, ok := h.Distances[name]; ok {
		return expr.Num(d), true
	}
	if name == "__score" {
		return expr.Num(h.score), true
	}
	if name == "__key" && h.key != nil {
		return expr.Str(string(h.key.key)), true
	}
	if h.key == nil || h.key.source == nil {
		return expr.Value{}, false
	}
	path, field := name, a.f.ix.schema.Field(name)
	if field != nil {
		path = field.Path
	}
	if h.key.source.Root == nil {
		return a.hashProperty(h.key.source, field, name, path)
	}
	return a.jsonProperty(r, field, name, path)
}

// hashProperty returns a field of a hash. A sortable field is normalized unless LOAD names it.
func (a *pipeline) hashProperty(src *inverted.Source, field *inverted.Field, name, path string) (expr.Value, bool) {
	value, ok := src.Value(path)
	if !ok {
		return expr.Value{}, false
	}
	v := expr.Str(value)
	if field == nil {
		return v, true
	}
	if n, is := v.Number(); is && field.Type == inverted.Numeric {
		return expr.Num(n), true
	}
	if field.SortsNormalized() && !a.isLoaded(name) {
		v.Str = strings.ToLower(value)
	}
	return v, true
}

// jsonProperty returns the first value that a path selects in a document. From dialect 3 on, rows show an array of all
// values.
func (a *pipeline) jsonProperty(r *aggregateRow, field *inverted.Field, name, path string) (expr.Value, bool) {
	values := r.hit.key.source.Select(path)
	if len(values) == 0 {
		return expr.Value{}, false
	}
	if a.q.dialect < 3 || field != nil && field.Sortable && !a.isLoaded(name) {
		return jsonExpr(values[0]), true
	}
	all := &document.Value{Kind: document.Array, Elems: values}
	if r.json == nil {
		r.json = map[string]*document.Value{}
	}
	r.json[name] = all
	v := expr.Value{}
	if first := firstScalar(values[0]); first != nil {
		v = jsonExpr(first)
	}
	v.Shown = string(all.Append(nil))
	return v, true
}

// isLoaded reports whether LOAD names the property.
func (a *pipeline) isLoaded(name string) bool {
	return a.q.loadAll || slices.ContainsFunc(a.q.load, func(f returnedField) bool { return f.name == name })
}

// firstScalar returns the first element of an array, else v. It is nil if the array is empty.
func firstScalar(v *document.Value) *document.Value {
	switch {
	case v.Kind != document.Array:
		return v
	case len(v.Elems) == 0:
		return nil
	}
	return v.Elems[0]
}

// jsonExpr converts a value of a document: an array or an object to its text, a boolean to 1 or 0.
func jsonExpr(v *document.Value) expr.Value {
	switch {
	case v.IsNumber():
		return expr.Num(v.Double())
	case v.Kind == document.Bool && v.Bool:
		return expr.Num(1)
	case v.Kind == document.Bool:
		return expr.Num(0)
	case v.Kind == document.Null:
		return expr.Value{}
	}
	return expr.Str(textOf(v))
}

func (a *pipeline) exprRow(r *aggregateRow) *expr.Row {
	return &expr.Row{
		Property: func(name string) (expr.Value, bool) { return a.property(r, name) },
		Names: func() (names []string) {
			for _, name := range slices.Concat(a.shown, r.shown) {
				if _, ok := a.property(r, name); ok && !slices.Contains(names, name) {
					names = append(names, name)
				}
			}
			return names
		},
		MatchedTerms: a.terms,
	}
}

// queryTerms returns the terms of a query.
func queryTerms(tree query.Node) (terms []string) {
	query.Walk(tree, func(n query.Node) {
		switch n := n.(type) {
		case *query.Term:
			terms = append(terms, n.Text)
		case *query.Phrase:
			terms = append(terms, n.Terms...)
		}
	})
	return terms
}

// applyStep adds a property.
type applyStep struct {
	e  *expr.Expr
	as string
}

func (s *applyStep) needs() []string { return s.e.Properties() }

func (s *applyStep) run(a *pipeline) error {
	for _, r := range a.rows {
		a.work.Step(64)
		v, err := s.e.Eval(a.exprRow(r))
		if err != nil {
			return err
		}
		a.work.Grow(int64(64 + len(v.Str)))
		r.values[s.as] = v
		delete(r.json, s.as)
	}
	a.show(s.as)
	return nil
}

// filterStep keeps rows.
type filterStep struct{ e *expr.Expr }

func (s *filterStep) needs() []string { return s.e.Properties() }

func (s *filterStep) run(a *pipeline) error {
	kept := a.rows[:0]
	for _, r := range a.rows {
		a.work.Step(64)
		v, err := s.e.Eval(a.exprRow(r))
		if err != nil {
			return err
		}
		if v.Truth() {
			kept = append(kept, r)
		}
	}
	a.rows, a.total = kept, len(kept)
	return nil
}

// sortStep sorts rows, and keeps the first max unless it is 0.
type sortStep struct {
	keys   []expr.SortKey
	max    int64
	hidden bool // the keys are not shown
}

func (s *sortStep) needs() (names []string) {
	for _, k := range s.keys {
		names = append(names, k.Name)
	}
	return names
}

func (s *sortStep) run(a *pipeline) error {
	for _, k := range s.keys {
		if !s.hidden {
			a.show(k.Name)
		}
	}
	slices.SortStableFunc(a.rows, func(x, y *aggregateRow) int {
		a.work.Step(32)
		return expr.CompareRows(s.keys, a.exprRow(x).Property, a.exprRow(y).Property)
	})
	if s.max > 0 && int64(len(a.rows)) > s.max {
		a.rows = a.rows[:s.max]
	}
	return nil
}

// limitStep keeps a page of rows.
type limitStep struct{ offset, count int64 }

func (s *limitStep) needs() []string { return nil }

func (s *limitStep) run(a *pipeline) error {
	a.rows = a.rows[min(s.offset, int64(len(a.rows))):]
	a.rows = a.rows[:min(s.count, int64(len(a.rows)))]
	return nil
}

// groupStep replaces rows by a row per group.
type groupStep struct {
	by         []string
	reductions []*expr.Reduction
	as         []string
	most       int // groups
}

func (s *groupStep) needs() (names []string) {
	names = slices.Clone(s.by)
	for _, r := range s.reductions {
		names = append(names, r.Properties...)
	}
	return names
}

// maxGroups limits the groups of a step.
const maxGroups = 1_000_000

func tooManyGroups(most int) error {
	return &expr.Error{Code: "SEARCH_LIMIT_OVER", Text: fmt.Sprintf("Aggregate GROUPBY exceeded MAX_AGGREGATE_GROUPS limit of %d groups", most)}
}

type rowGroup struct {
	row      *aggregateRow
	reducers []expr.Reducer
}

// grouping collects the groups of a step in the order of their first rows.
type grouping struct {
	*groupStep
	*pipeline
	row    *expr.Row // the one that is added
	groups map[string]*rowGroup
	order  []*rowGroup
}

// add adds r to the groups of its values from property at on: with an array, to a group per item. key and values
// describe the properties before at.
func (g *grouping) add(r *aggregateRow, at int, key []byte, values []expr.Value) error {
	g.work.Step(64)
	if at == len(g.by) {
		into, err := g.group(key, values)
		if err != nil {
			return err
		}
		for _, reducer := range into.reducers {
			g.work.Grow(16)
			reducer.Add(g.row)
		}
		return nil
	}
	v, _ := g.property(r, g.by[at])
	items := []expr.Value{v}
	if v.Kind == expr.Array && len(v.Items) > 0 {
		items = v.Items
	}
	for _, item := range items {
		next := append(append(slices.Clip(key), byte(item.Kind)), item.String()...)
		if err := g.add(r, at+1, append(next, 0), append(slices.Clip(values), item)); err != nil {
			return err
		}
	}
	return nil
}

// group returns the group of a key, and begins it if it is new.
func (g *grouping) group(key []byte, values []expr.Value) (*rowGroup, error) {
	if old := g.groups[string(key)]; old != nil {
		return old, nil
	}
	if len(g.order) == g.most {
		return nil, tooManyGroups(g.most)
	}
	g.work.Grow(int64(320 + len(key)))
	fresh := &rowGroup{row: &aggregateRow{values: map[string]expr.Value{}}}
	for i, name := range g.by {
		fresh.row.values[name] = values[i]
	}
	for _, reduction := range g.reductions {
		fresh.reducers = append(fresh.reducers, reduction.New())
	}
	g.groups[string(key)], g.order = fresh, append(g.order, fresh)
	return fresh, nil
}

func (s *groupStep) run(a *pipeline) error {
	g := &grouping{groupStep: s, pipeline: a, groups: map[string]*rowGroup{}}
	for _, r := range a.rows {
		g.row = a.exprRow(r)
		if err := g.add(r, 0, nil, nil); err != nil {
			return err
		}
	}
	a.rows, a.shown = a.rows[:0], nil
	for _, name := range slices.Concat(s.by, s.as) {
		a.show(name)
	}
	for _, group := range g.order {
		for i, reducer := range group.reducers {
			group.row.values[s.as[i]] = reducer.Result()
		}
		a.rows = append(a.rows, group.row)
	}
	a.total = len(a.rows)
	return nil
}
