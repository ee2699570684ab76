//go:build !wasip1 || search

package translator

import "github.com/meowdis/meowdis/redis/resp"

// rankedHit holds a document of one of the two searches of FT.HYBRID, with its score there.
type rankedHit struct {
	*hit
	score float64
}

// openCursors opens a cursor over the documents of each search, the best first, with LOAD's fields. No other step runs.
func (q *hybridCall) openCursors(a *pipeline) resp.Value {
	c, reply, warnings := a.f.c, resp.EmptyMap, resp.EmptyArray
	warnings.Elems = append(warnings.Elems, a.f.warnings()...)
	q.steps = nil
	for i, name := range []string{"SEARCH", "VSIM"} {
		f := *a.f
		f.hits = nil
		for _, h := range q.ranked[i] {
			own := *h.hit
			own.score = h.score
			f.hits = append(f.hits, &own)
		}
		part := &pipeline{f: &f, q: &q.aggregateCall, work: a.work, terms: a.terms, shown: []string{"__key", "__score"}}
		if err := part.run(); err != nil {
			return resp.MakeError(err.Error())
		}
		rows := &rowCursor{total: part.total, warning: warnings.Elems, count: q.cursor.count, idle: q.cursor.idle}
		for _, r := range part.rows {
			rows.rows = append(rows.rows, part.rowFields(r))
		}
		id, refused := c.openCursor(a.f.ix, rows, rows.rows, a.work)
		if refused.IsError() {
			return refused
		}
		reply.Elems = append(reply.Elems, resp.MakeString(name), resp.MakeInt(id))
	}
	reply.Elems = append(reply.Elems, resp.MakeString("warnings"), warnings)
	return reply
}
