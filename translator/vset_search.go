package translator

import (
	"cmp"
	"container/heap"
	"slices"

	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/translator/filter"
	"github.com/meowdis/meowdis/translator/vector"
)

// stepBytes is about the number of bytes of records that one step of a search reads. It bounds the step's memory.
const stepBytes = 4 << 20

// foldBytes replaces stepBytes if the store keeps no rows: one step reads nearly any set.
const foldBytes = 1 << 30

// vectorSearch reads every vector of a set to find the nearest ones. The steps of one plan share it.
type vectorSearch struct {
	set    vectorSet
	query  vector.Query
	filter *filter.Program // nil for no filter
	skip   int64           // a slot to ignore, or -1
	folds  bool            // the store passes rows to a fold without keeping them
	nearest
}

const (
	sqlBlocks         = `SELECT records FROM vector_blocks WHERE key_id = ` + liveID + ` AND block >= ?4 AND block < ?5 ORDER BY block`
	sqlSlotAttributes = `SELECT slot, attributes FROM vectors
		WHERE key_id = ` + liveID + ` AND slot >= ?4 AND slot < ?5 AND attributes IS NOT NULL ORDER BY slot`
)

// from plans the search from a block on, and calls next with the neighbours found.
func (s *vectorSearch) from(c *Call, block int64, next func([]neighbour) Plan) Plan {
	key, per := c.Args[1], s.set.per
	bytes := int64(stepBytes)
	if s.folds {
		bytes = foldBytes
	}
	end := block + max(1, bytes/(s.set.size*per))
	stmts := []store.Stmt{c.stmt(sqlBlocks, key, store.Int(block), store.Int(end))}
	var read *foldResult
	fold := func() func(store.Row) {
		read = &foldResult{nearest: nearest{s.limit, slices.Clone(s.kept)}}
		return s.comparing(read, block*per)
	}
	if s.filter == nil {
		stmts[0].Fold = fold
	} else {
		stmts = append(stmts, c.stmt(sqlSlotAttributes, key, store.Int(block*per), store.Int(end*per)))
	}
	return readThen(func(r *store.Result) Plan {
		if s.filter == nil {
			s.take(r.Rows[0], &read, fold)
		} else {
			s.some(block*per, r.Rows[0], r.Rows[1], r.Work)
		}
		if end*per < s.set.count {
			return s.from(c, end, next)
		}
		return next(s.sorted())
	}, stmts...)
}

// foldResult holds the result of a step without a filter, including the results of earlier steps.
type foldResult struct {
	nearest
	fault any // a panic in a row, raised again by the caller of the step
}

// take adopts the result of a step. *read is nil if the store returned the rows instead of folding them.
func (s *vectorSearch) take(rows []store.Row, read **foldResult, fold func() func(store.Row)) {
	if s.folds = *read != nil; !s.folds {
		compare := fold()
		for _, row := range rows {
			compare(row)
		}
	}
	if (*read).fault != nil {
		panic((*read).fault)
	}
	s.nearest = (*read).nearest
}

// comparing returns a function that offers every record of a block; the first block begins at slot. The function runs
// inside the store, which a damaged block must not panic.
func (s *vectorSearch) comparing(read *foldResult, slot int64) func(store.Row) {
	size := s.set.size
	return func(row store.Row) {
		defer func() {
			if fault := recover(); fault != nil {
				read.fault = fault
			}
		}()
		for records := row[0].Bytes(); len(records) > 0; records = records[size:] {
			if slot != s.skip {
				read.offer(s.query.Distance(records[:size]), slot)
			}
			slot++
		}
	}
}

// stepsPerRecord counts the steps of comparing a record, besides its bytes.
const stepsPerRecord = 16

// some compares the records of blocks whose attributes match the filter.
func (s *vectorSearch) some(first int64, blocks, attributes []store.Row, w *store.Work) {
	for _, row := range attributes {
		w.Step(stepsPerRecord + int(s.set.size)/16)
		if !s.filter.Match(row[1].Bytes(), w.Step) {
			continue
		}
		slot := row[0].Int()
		block, at := (slot-first)/s.set.per, slot%s.set.per*s.set.size
		s.offer(s.query.Distance(blocks[block][0].Bytes()[at:at+s.set.size]), slot)
	}
}

// neighbour is a vector that a search found.
type neighbour struct {
	distance float32
	slot     int64
}

// compare orders by distance, and equal distances in the order of slots.
func (n neighbour) compare(o neighbour) int {
	return cmp.Or(cmp.Compare(n.distance, o.distance), cmp.Compare(n.slot, o.slot))
}

// nearest keeps the nearest offered vectors, as a heap with the furthest at the root.
type nearest struct {
	limit int
	kept  []neighbour
}

func (n *nearest) Len() int           { return len(n.kept) }
func (n *nearest) Less(i, j int) bool { return n.kept[i].compare(n.kept[j]) > 0 }
func (n *nearest) Swap(i, j int)      { n.kept[i], n.kept[j] = n.kept[j], n.kept[i] }
func (n *nearest) Push(x any)         { n.kept = append(n.kept, x.(neighbour)) }
func (n *nearest) Pop() any           { panic("translator: nothing is taken from a heap of neighbours") }

// offer considers a vector. A NaN distance, of a vector without a direction, counts as the greatest distance.
func (n *nearest) offer(distance float32, slot int64) {
	if distance != distance {
		distance = 2
	}
	found := neighbour{distance, slot}
	switch {
	case len(n.kept) < n.limit:
		heap.Push(n, found)
	case n.limit > 0 && found.compare(n.kept[0]) < 0:
		n.kept[0] = found
		heap.Fix(n, 0)
	}
}

// sorted returns the kept vectors, the nearest first.
func (n *nearest) sorted() []neighbour {
	slices.SortFunc(n.kept, neighbour.compare)
	return n.kept
}

// vlinks replies with one level of links, to the nearest neighbours. Their number is Redis's limit of links per
// element.
func vlinks(c *Call) Plan {
	scores := len(c.Args) == 4
	if len(c.Args) > 4 || scores && !c.is(3, "WITHSCORES") {
		return answer(commands.WrongArity(c.Command))
	}
	key := c.Args[1]
	return readThen(func(r *store.Result) Plan {
		s, bad := vectorSetOf(r.Rows[0])
		switch {
		case bad.IsError():
			return answer(bad)
		case len(r.Rows[1]) == 0:
			return answer(resp.Nil)
		}
		own := r.Rows[1][0]
		search := &vectorSearch{set: s, query: s.kind.QueryRecord(own[1].Bytes(), s.dim), nearest: nearest{limit: int(2 * s.m)}, skip: own[0].Int()}
		return search.from(c, 0, func(found []neighbour) Plan { return c.linksTo(key, found, scores) })
	}, c.record(key, c.Args[2])...)
}

func (c *Call) linksTo(key []byte, found []neighbour, scores bool) Plan {
	slots := make([]int64, len(found))
	for i, n := range found {
		slots[i] = n.slot
	}
	return read(func(r *store.Result) resp.Value {
		if !scores {
			return resp.MakeArray(bulks(r.Rows[0]))
		}
		level := resp.EmptyMap
		for i, row := range r.Rows[0] {
			score := float32(vector.Similarity(found[i].distance))
			level.Elems = append(level.Elems, bulk(row[0]), resp.MakeDouble(float64(score)))
		}
		return resp.MakeArray(level)
	}, c.elementsAt(key, slots))
}
