//go:build !wasip1 || search

package translator

import (
	"bytes"

	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/translator/inverted"
)

// The statements that read postings return rows of search_postings, and then pages, whose last column is 1.
const (
	// sqlPostingsOf reads the rows with a term.
	sqlPostingsOf = `SELECT data, 0 FROM search_postings WHERE index_id = ?1 AND term = ?2 UNION ALL ` + pagesOf + `, 1` + ofSegments
	// sqlPagesOf reads the pages that may have a term: one of each segment.
	sqlPagesOf = pagesOf + ofSegments

	pagesOf    = `SELECT (SELECT p.data FROM search_pages p WHERE p.index_id = s.index_id AND p.segment = s.segment AND p.term >= ?2 ORDER BY p.term LIMIT 1)`
	ofSegments = ` FROM search_segments s WHERE s.index_id = ?1`

	// sqlTermsBetween reads the rows with the terms from ?2 to ?3, which is excluded.
	sqlTermsBetween = `SELECT term, data, 0 FROM search_postings WHERE index_id = ?1 AND term >= ?2 AND term < ?3` + pagesBetween
	// sqlNamesBetween is sqlTermsBetween without the postings of rows of search_postings.
	sqlNamesBetween = `SELECT DISTINCT term, NULL, 0 FROM search_postings WHERE index_id = ?1 AND term >= ?2 AND term < ?3` + pagesBetween

	pagesBetween = ` UNION ALL SELECT p.term, p.data, 1 FROM search_segments s CROSS JOIN search_pages p ON p.index_id = s.index_id AND p.segment = s.segment AND p.term >= ?2
		AND p.term <= ifnull((SELECT min(q.term) FROM search_pages q WHERE q.index_id = s.index_id AND q.segment = s.segment AND q.term >= ?3), ?3)
		WHERE s.index_id = ?1`

	sqlSegments    = `SELECT index_id, segment, level, target FROM search_segments ORDER BY index_id, segment`
	sqlAddSegment  = `INSERT INTO search_segments(index_id, segment, level, target) VALUES(?1, ?2, ?3, ?4) ON CONFLICT DO NOTHING`
	sqlAddPage     = `INSERT INTO search_pages(index_id, segment, term, data) VALUES(?1, ?2, ?3, ?4)`
	sqlFirstPages  = `SELECT term, data FROM search_pages WHERE index_id = ?1 AND segment = ?2 ORDER BY term LIMIT ?3`
	sqlDropPages   = `DELETE FROM search_pages WHERE index_id = ?1 AND segment = ?2 AND term <= ?3`
	sqlPutPage     = `UPDATE search_pages SET data = ?4 WHERE index_id = ?1 AND segment = ?2 AND term = ?3`
	sqlDropPage    = `DELETE FROM search_pages WHERE index_id = ?1 AND segment = ?2 AND term = ?3`
	sqlDropSegment = `DELETE FROM search_segments WHERE index_id = ?1 AND segment = ?2`
	sqlAimSegment  = `UPDATE search_segments SET target = ?3 WHERE index_id = ?1 AND segment = ?2`
	sqlNextPages   = `SELECT segment, term, data FROM search_pages WHERE index_id = ?1 AND (segment, term) > (?2, ?3) ORDER BY segment, term LIMIT ?4`
	sqlNextIndex   = `UPDATE search_indexes SET version = version + 1 WHERE id = ?1`
)

// chunksIn returns the chunks of a term in a row of sqlPostingsOf, nil for none.
func chunksIn(row store.Row, term []byte) []byte {
	if row[1].Int() == 0 {
		return row[0].Bytes()
	}
	return inverted.InPage(row[0].Bytes(), term)
}

// termRange holds the limits of a range of terms, without next.
type termRange struct{ first, next []byte }

func rangeOf(prefix []byte) termRange { return termRange{prefix, inverted.After(prefix)} }

// statement returns sqlTermsBetween or sqlNamesBetween.
func (t termRange) statement(sql string, ix *searchIndex) store.Stmt {
	return store.Stmt{SQL: sql, Args: []store.Value{store.Int(ix.id), store.Bytes(t.first), store.Bytes(t.next)}}
}

// each calls use for the terms of the range in a row, with their chunks.
func (t termRange) each(row store.Row, use func(term, data []byte)) {
	if row[2].Int() == 0 {
		use(row[0].Bytes(), row[1].Bytes())
		return
	}
	inverted.EachTerm(row[1].Bytes(), func(term, data []byte) {
		if bytes.Compare(term, t.first) >= 0 && bytes.Compare(term, t.next) < 0 {
			use(term, data)
		}
	})
}

// postings returns the statement that reads the postings of a term.
func (ix *searchIndex) postings(term []byte) store.Stmt {
	return store.Stmt{SQL: sqlPostingsOf, Args: []store.Value{store.Int(ix.id), store.Bytes(term)}}
}

// eachRow lets a statement pass its rows to the function that begin returns. The function that it returns itself takes
// the rows of the result, if the store keeps them, and calls the other function of begin at the end.
func eachRow(stmt *store.Stmt, begin func() (each func(row store.Row), end func(w *store.Work))) func(rows []store.Row, w *store.Work) {
	var end func(w *store.Work)
	stmt.Fold = func() func(store.Row) {
		each, e := begin()
		end = e
		return each
	}
	return func(rows []store.Row, w *store.Work) {
		if end == nil || len(rows) > 0 {
			each, e := begin()
			end = e
			for _, row := range rows {
				each(row)
			}
		}
		end(w)
	}
}

// segment holds a row of search_segments. target is -1 outside a merge.
type segment struct{ id, level, target int64 }

func (s segment) grows() bool { return s.target == s.id }

// decodeSegments adds the segments to their indexes.
func decodeSegments(rows []store.Row, indexes []*searchIndex) {
	for _, row := range rows {
		s := segment{row[1].Int(), row[2].Int(), -1}
		if !row[3].IsNull() {
			s.target = row[3].Int()
		}
		for _, ix := range indexes {
			if ix.id == row[0].Int() {
				ix.segments = append(ix.segments, s)
			}
		}
	}
}

// mergeWidth counts the segments of a level that are merged. A query reads a page of each segment for each term, so there
// should be few; each level writes every posting once more, so there should be few levels.
const mergeWidth = 8

// merge describes the merge of some segments.
type merge struct {
	from   []segment
	target int64
	begun  bool
}

// add adds a segment of the level, unless the merge is full or has begun without the segment.
func (m *merge) add(s segment) {
	if len(m.from) < mergeWidth && m.begun == (s.target >= 0) {
		m.from = append(m.from, s)
	}
}

// nextMerge returns the merge to begin or to continue, nil for none: that of the lowest level, so that the many small
// segments do not wait for a large one.
func (ix *searchIndex) nextMerge() (next *merge) {
	levels := map[int64]*merge{}
	for _, begun := range []bool{true, false} {
		for _, s := range ix.segments {
			if s.grows() || begun != (s.target >= 0) {
				continue
			}
			if levels[s.level] == nil {
				levels[s.level] = &merge{target: s.target, begun: begun}
			}
			levels[s.level].add(s)
		}
	}
	for _, m := range levels {
		if ready := m.begun || len(m.from) == mergeWidth; ready && (next == nil || m.from[0].level < next.from[0].level) {
			next = m
		}
	}
	if next != nil && !next.begun {
		next.target = ix.version // a new number
	}
	return next
}

// levelOf returns the level of a new segment.
func levelOf(pages int) (level int64) {
	for ; pages >= mergeWidth; pages /= mergeWidth {
		level++
	}
	return level
}

// addBlocks returns the statements that store blocks, which are in order of their terms, in a segment.
func (ix *searchIndex) addBlocks(blocks []inverted.Block, to int64) (own, pages []store.Stmt) {
	id := store.Int(ix.id)
	paged := blocks[:0:0]
	for _, b := range blocks {
		if !b.HasOwnRow() {
			paged = append(paged, b)
			continue
		}
		size := int64(blockBytesOfPostings)
		if inverted.IsVectorTerm(b.Term) {
			size = blockBytes
		}
		own = append(own, store.Stmt{SQL: sqlAddBlock, Args: []store.Value{id, store.Bytes(b.Term), store.Int(b.First), store.Bytes(b.Data), store.Int(size)}})
	}
	for _, p := range inverted.Paged(paged) {
		pages = append(pages, store.Stmt{SQL: sqlAddPage, Args: []store.Value{id, store.Int(to), store.Bytes(p.Key), store.Bytes(p.Data)}})
	}
	return own, pages
}

// addSegment returns the statements that store the blocks of a slice.
func (ix *searchIndex) addSegment(blocks []inverted.Block) []store.Stmt {
	own, pages := ix.addBlocks(blocks, ix.version)
	if len(pages) == 0 {
		return own
	}
	return append(append(own, store.Stmt{SQL: sqlAddSegment, Args: []store.Value{store.Int(ix.id), store.Int(ix.version), store.Int(levelOf(len(pages))), {}}}), pages...)
}

// mergeSegments moves the next terms of the segments of a merge to its target: about limit pages.
func (c *Call) mergeSegments(ix *searchIndex, m *merge, limit int) Plan {
	id, target := store.Int(ix.id), store.Int(m.target)
	each := max(2, limit/len(m.from))
	reads := make([]store.Stmt, len(m.from))
	for i, s := range m.from {
		reads[i] = store.Stmt{SQL: sqlFirstPages, Args: []store.Value{id, store.Int(s.id), store.Int(int64(each))}}
	}
	return readThen(func(r *store.Result) Plan {
		pages, upTo := firstPages(r, each)
		stmts := append([]store.Stmt{ix.guard(), {SQL: sqlNextIndex, Args: []store.Value{id}}}, m.begin(id)...)
		blocks, rests := inverted.Merge(pages, upTo)
		for i, s := range m.from {
			stmts = append(stmts, s.removeMoved(id, rests[i])...)
			if upTo == nil {
				stmts = append(stmts, store.Stmt{SQL: sqlDropSegment, Args: []store.Value{id, store.Int(s.id)}})
			}
		}
		own, added := ix.addBlocks(blocks, m.target)
		stmts = append(append(stmts, own...), added...)
		if upTo == nil {
			stmts = append(stmts, store.Stmt{SQL: sqlAimSegment, Args: []store.Value{id, target, {}}})
		}
		return writeSlice(stmts...)
	}, reads...)
}

// firstPages returns the pages that were read of each segment, at most each, and the last term that all of them reach:
// nil if every page was read.
func firstPages(r *store.Result, each int) (pages [][]inverted.Page, upTo []byte) {
	pages = make([][]inverted.Page, len(r.Rows))
	for i, rows := range r.Rows {
		for _, row := range rows {
			r.Work.Grow(int64(len(row[1].Bytes())))
			r.Work.Step(len(row[1].Bytes()))
			pages[i] = append(pages[i], inverted.Page{Key: row[0].Bytes(), Data: row[1].Bytes()})
		}
		if len(rows) == each && (upTo == nil || bytes.Compare(rows[each-1][0].Bytes(), upTo) < 0) {
			upTo = rows[each-1][0].Bytes()
		}
	}
	return pages, upTo
}

// begin returns the statements that add the target of a merge in an index, none if it has begun.
func (m *merge) begin(index store.Value) []store.Stmt {
	if m.begun {
		return nil
	}
	target := store.Int(m.target)
	stmts := []store.Stmt{{SQL: sqlAddSegment, Args: []store.Value{index, target, store.Int(m.from[0].level + 1), target}}}
	for _, s := range m.from {
		stmts = append(stmts, store.Stmt{SQL: sqlAimSegment, Args: []store.Value{index, store.Int(s.id), target}})
	}
	return stmts
}

// removeMoved returns the statements that remove what a merge has moved from a segment of an index, whose remains are rest.
func (s *segment) removeMoved(index store.Value, rest inverted.Rest) (stmts []store.Stmt) {
	id := store.Int(s.id)
	if rest.Done != nil {
		stmts = append(stmts, store.Stmt{SQL: sqlDropPages, Args: []store.Value{index, id, store.Bytes(rest.Done)}})
	}
	if rest.Page != nil {
		stmts = append(stmts, store.Stmt{SQL: sqlPutPage, Args: []store.Value{index, id, store.Bytes(rest.Page.Key), store.Bytes(rest.Page.Data)}})
	}
	return stmts
}
