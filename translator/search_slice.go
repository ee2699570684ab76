//go:build !wasip1 || search

package translator

import (
	"slices"
	"strconv"

	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/store/schema"
	"github.com/meowdis/meowdis/translator/inverted"
)

// IndexSlice plans the next piece of work on the indexes of FT.CREATE: it indexes changed keys, continues an initial
// scan, or removes rows that count no more. Its batch writes, and it decodes to the number of rows of work done, 0 if
// nothing is left. limit counts keys.
func IndexSlice(now int64, limit int, w *store.Work) Plan {
	c := &Call{Env: Env{Now: now, Work: w}}
	return readThen(func(r *store.Result) Plan {
		indexes := decodeIndexes(r.Rows[0], r.Rows[1], r.Work)
		ids := firstInts(r.Rows[2])
		if i := slices.IndexFunc(indexes, func(ix *searchIndex) bool { return ix.dead(now) }); i >= 0 {
			return writeSlice(store.Stmt{SQL: sqlDropDead, Args: []store.Value{store.Bytes(indexes[i].name), store.Int(now)}})
		}
		decodeSegments(r.Rows[4], indexes)
		scanning := slices.IndexFunc(indexes, func(ix *searchIndex) bool { return ix.scanned >= 0 })
		idle := len(ids) == 0 && scanning < 0
		for _, ix := range indexes {
			// Each slice of an index makes its version odd or even: neither new keys nor merges wait for all of the other.
			if idle || ix.version%2 == 1 {
				if plan := c.maintain(ix, limit); plan.Batch.Stmts != nil {
					return plan
				}
			}
		}
		switch {
		case len(ids) > 0 && len(indexes) > 0:
			return c.indexKeys(indexes, ids, sliceBytes, r.Work, nil)
		case len(r.Rows[3]) > 0:
			return dropRows(r.Rows[3][0][0], limit, len(indexes) == 0)
		case scanning >= 0:
			return c.scanKeys(indexes[scanning], limit)
		}
		return answer(resp.Zero)
	}, store.Stmt{SQL: sqlIndexes}, store.Stmt{SQL: sqlAllSynonyms}, store.Stmt{SQL: `SELECT key_id FROM search_pending LIMIT ?1`, Args: []store.Value{store.Int(int64(limit))}},
		store.Stmt{SQL: `SELECT index_id FROM search_dropped LIMIT 1`}, store.Stmt{SQL: sqlSegments})
}

// firstInts returns the first column of rows.
func firstInts(rows []store.Row) []int64 {
	ints := make([]int64, len(rows))
	for i, row := range rows {
		ints[i] = row[0].Int()
	}
	return ints
}

// maintain plans the next work on the rows of an index, none if there is nothing to do. Merges wait for the end of
// cleaning, since they would move postings past its place.
func (c *Call) maintain(ix *searchIndex, limit int) Plan {
	if ix.cleaning.term != nil {
		return c.cleanIndex(ix, limit)
	}
	if m := ix.nextMerge(); m != nil {
		return c.mergeSegments(ix, m, limit)
	}
	if ix.deleted > max(minDeleted, ix.documents/8) {
		return c.cleanIndex(ix, limit)
	}
	return Plan{}
}

// guard refuses a batch after another slice.
func (ix *searchIndex) guard() store.Stmt {
	return store.Stmt{SQL: sqlGuardIndexVersion, Args: []store.Value{store.Int(ix.id), store.Int(ix.version)}, Refused: &searchBusy}
}

// writeSlice plans a slice that counts as one row of work.
func writeSlice(stmts ...store.Stmt) Plan {
	return writeIndex(always(resp.One), stmts...)
}

// scannedTo returns the statement that sets the place of the initial scan, NULL at its end.
func scannedTo(ix *searchIndex, place store.Value) store.Stmt {
	return store.Stmt{SQL: `UPDATE search_indexes SET scanned = ?2 WHERE id = ?1`, Args: []store.Value{store.Int(ix.id), place}}
}

// minDeleted limits the deleted documents that an index may have before the sweep removes them.
const minDeleted = 1000

// scanKeys indexes the next keys of an initial scan.
func (c *Call) scanKeys(ix *searchIndex, limit int) Plan {
	args := []store.Value{store.Int(ix.id), store.Int(ix.scanned), store.Int(int64(limit)), store.String(ix.keyType())}
	return readThen(func(r *store.Result) Plan {
		ids := firstInts(r.Rows[0])
		return c.indexKeys([]*searchIndex{ix}, ids, sliceBytes, r.Work, func(done []int64) store.Stmt {
			if len(ids) == limit || len(done) < len(ids) {
				return scannedTo(ix, store.Int(done[len(done)-1]))
			}
			return scannedTo(ix, store.Value{})
		})
	}, store.Stmt{SQL: sqlUnscanned, Args: args})
}

const (
	sqlDocsOfKeys = `SELECT d.index_id, d.doc, d.key_id, d.length FROM json_each(?1) j CROSS JOIN search_documents d ON d.key_id = j.value`

	sqlGuardIndexVersion = `INSERT INTO guard SELECT NULL WHERE NOT EXISTS (SELECT 1 FROM search_indexes WHERE id = ?1 AND version = ?2)`
	sqlDeleteDocs        = `DELETE FROM search_documents WHERE id IN (SELECT ` + firstDoc + ` + value FROM json_each(?2))`
	sqlMarkDeleted       = `INSERT INTO search_deleted(index_id, doc) SELECT ?1, value FROM json_each(?2) WHERE true ON CONFLICT DO NOTHING`
	// sqlAddDocs adds documents from the number ?2 on: ?3 lists their keys and lengths. A key that has been deleted or renamed
	// since it was read is pending, so its name does not matter.
	sqlAddDocs = `INSERT INTO search_documents(id, index_id, key_id, length, key)
		SELECT ` + firstDoc + ` + ?2 + j.key, ?1, json_extract(j.value, '$[0]'), json_extract(j.value, '$[1]'), ifnull(k.key, x'')
		FROM json_each(?3) j LEFT JOIN keys k ON k.id = json_extract(j.value, '$[0]')`
	sqlAddNumber = `INSERT INTO search_numbers(index_id, field, value, doc) VALUES(?1, ?2, ?3, ?4) ON CONFLICT DO NOTHING`
	// sqlAddBlock appends to the last block of the term, unless it is full. ?5 is the size of a full block.
	sqlAddBlock = `INSERT INTO search_postings(index_id, term, block, data) VALUES(?1, ?2,
		ifnull((SELECT iif(length(data) < ?5, block, ?3) FROM search_postings WHERE index_id = ?1 AND term = ?2 ORDER BY block DESC LIMIT 1), ?3), ?4)
		ON CONFLICT(index_id, term, block) DO UPDATE SET data = CAST(data || excluded.data AS BLOB)`
	sqlIndexed = `UPDATE search_indexes SET version = version + 1, last_doc = ?2, documents = documents + ?3, length = length + ?4, deleted = deleted + ?5,
		failures = failures + ?6, last_error = ifnull(?7, last_error), last_error_key = ifnull(?8, last_error_key), dies_at = ?9 WHERE id = ?1`
	// sqlDonePending forgets keys that have not changed since they were read: ?1 lists their ids, versions and numbers of
	// fields with an expiry, null for a key that may have no documents.
	sqlDonePending = `DELETE FROM search_pending WHERE key_id IN (SELECT json_extract(j.value, '$[0]') FROM json_each(?1) j LEFT JOIN keys k ON k.id = json_extract(j.value, '$[0]') AND ` + liveIndexedKey + `
		WHERE k.version IS json_extract(j.value, '$[1]') AND k.volatile IS json_extract(j.value, '$[2]'))`
)

// blockBytesOfPostings limits the size of a block of postings that grows, since each change copies it.
const blockBytesOfPostings = 700

// searchBusy refuses a batch if another process has indexed keys at the same time. The sweep tries again.
var searchBusy = resp.MakeError("TRYAGAIN another client changed the index; try again")

// sliceBytes limits the values that one slice indexes.
const sliceBytes = 8 << 20

// indexKeys indexes the keys of the ids, and stops after that many bytes of values. last returns the last statement, for
// the ids that are done; without it they are pending no more.
func (c *Call) indexKeys(indexes []*searchIndex, ids []int64, bytes int64, w *store.Work, last func(done []int64) store.Stmt) Plan {
	list := numberList(ids)
	return readThen(func(r *store.Result) Plan {
		stale := r.Rows[0]
		return c.keyRows(ids, r.Work, func(keys []*keyRow, w *store.Work) Plan {
			covered := coveredBy(indexes, keys)
			return c.loadUpTo(bytes, covered, wantedBy(indexes), w, func(w *store.Work) Plan {
				done := ids
				if i := slices.IndexFunc(covered, func(k *keyRow) bool { return k.source == nil }); i >= 0 {
					done = ids[:slices.Index(ids, covered[i].id)]
					covered = covered[:i]
					stale = slices.DeleteFunc(stale, func(row store.Row) bool { return !slices.Contains(done, row[2].Int()) })
				}
				var stmts []store.Stmt
				for _, ix := range indexes {
					stmts = append(stmts, ix.indexed(covered, stale, c.Env.Now, w)...)
				}
				if last == nil {
					stmts = append(stmts, store.Stmt{SQL: sqlDonePending, Args: []store.Value{stateList(done, keys), store.Int(c.Env.Now)}})
				} else {
					stmts = append(stmts, last(done))
				}
				return writeIndex(always(resp.MakeInt(int64(len(done)+1))), stmts...)
			})
		})
	}, store.Stmt{SQL: sqlDocsOfKeys, Args: []store.Value{list}})
}

// coveredBy returns the keys that at least one index covers.
func coveredBy(indexes []*searchIndex, keys []*keyRow) (covered []*keyRow) {
	for _, k := range keys {
		if slices.ContainsFunc(indexes, func(ix *searchIndex) bool { return ix.covers(k) }) {
			covered = append(covered, k)
		}
	}
	return covered
}

// wantedBy returns the fields of hashes that the indexes need, nil for all.
func wantedBy(indexes []*searchIndex) (all [][]byte) {
	all = [][]byte{}
	seen := map[string]bool{}
	for _, ix := range indexes {
		fields := ix.wanted()
		if fields == nil {
			return nil
		}
		for _, f := range fields {
			if !seen[string(f)] {
				seen[string(f)] = true
				all = append(all, f)
			}
		}
	}
	return all
}

// stateList lists ids with the state of their keys, null for one that is not among keys.
func stateList(ids []int64, keys []*keyRow) store.Value {
	byID := map[int64]*keyRow{}
	for _, k := range keys {
		byID[k.id] = k
	}
	out := []byte{'['}
	for i, id := range ids {
		if i > 0 {
			out = append(out, ',')
		}
		out = strconv.AppendInt(append(out, '['), id, 10)
		if k := byID[id]; k == nil {
			out = append(out, ",null,null]"...)
		} else {
			out = strconv.AppendInt(append(out, ','), k.version, 10)
			out = strconv.AppendInt(append(out, ','), k.volatile, 10)
			out = append(out, ']')
		}
	}
	return store.TextBytes(append(out, ']'))
}

// indexed returns the statements that index the keys. The rows of stale are their documents so far.
func (ix *searchIndex) indexed(keys []*keyRow, stale []store.Row, now int64, w *store.Work) (stmts []store.Stmt) {
	id := store.Int(ix.id)
	stmts = append(stmts, ix.guard())
	var documents, length, failures, deleted int64
	var lastError, errorKey store.Value
	var gone []int64
	for _, row := range stale {
		if row[0].Int() == ix.id {
			gone = append(gone, row[1].Int())
			documents, length, deleted = documents-1, length-row[3].Int(), deleted+1
		}
	}
	if len(gone) > 0 {
		docs := []store.Value{id, numberList(gone)}
		stmts = append(stmts, store.Stmt{SQL: sqlDeleteDocs, Args: docs}, store.Stmt{SQL: sqlMarkDeleted, Args: docs})
	}
	b := &inverted.Batch{Schema: ix.schema, Synonyms: ix.synonyms, Work: w}
	doc, added := ix.lastDoc, []byte{'['}
	for _, k := range keys {
		if !ix.covers(k) || !ix.passes(k.source) {
			continue
		}
		if err := b.Add(doc+1, k.source); err != nil {
			failures++
			lastError, errorKey = store.Bytes([]byte(err.Error())), store.Bytes(k.key)
			continue
		}
		doc++
		of := int64(b.Docs[len(b.Docs)-1].Length)
		documents, length = documents+1, length+of
		if len(added) > 1 {
			added = append(added, ',')
		}
		added = append(strconv.AppendInt(append(strconv.AppendInt(append(added, '['), k.id, 10), ','), of, 10), ']')
	}
	if doc > ix.lastDoc {
		stmts = append(stmts, store.Stmt{SQL: sqlAddDocs, Args: []store.Value{id, store.Int(ix.lastDoc + 1), store.TextBytes(append(added, ']'))}})
	}
	if len(stmts) == 1 && failures == 0 {
		return stmts // the guard only
	}
	stmts = append(stmts, ix.addSegment(b.Blocks())...)
	for _, n := range b.Numbers {
		stmts = append(stmts, store.Stmt{SQL: sqlAddNumber, Args: []store.Value{id, store.Int(int64(n.Field)), store.Float(n.Value), store.Int(n.Doc)}})
	}
	return append(stmts, store.Stmt{SQL: sqlIndexed, Args: []store.Value{id, store.Int(doc), store.Int(documents), store.Int(length), store.Int(deleted), store.Int(failures), lastError, errorKey, deathAt(ix.schema, now)}})
}

// An index with many deleted documents is cleaned in slices: the documents deleted so far are marked, their rows
// removed term by term, and at the end the marks.
const (
	sqlMarkCleaning = `UPDATE search_deleted SET cleaning = 1 WHERE index_id = ?1`
	sqlSetCleaning  = `UPDATE search_indexes SET version = version + 1, clean_term = ?2, clean_block = ?3, clean_segment = ?4 WHERE id = ?1`
	sqlCleaning     = `SELECT doc FROM search_deleted WHERE index_id = ?1 AND cleaning = 1`
	sqlNextBlocks   = `SELECT term, block, data FROM search_postings WHERE index_id = ?1 AND (term, block) > (?2, ?3) ORDER BY term, block LIMIT ?4`
	sqlPutBlock     = `UPDATE search_postings SET data = ?4 WHERE index_id = ?1 AND term = ?2 AND block = ?3`
	sqlDropPostings = `DELETE FROM search_postings WHERE index_id = ?1 AND term = ?2 AND block = ?3`
	sqlCleanNumbers = `DELETE FROM search_numbers WHERE index_id = ?1 AND doc IN (SELECT doc FROM search_deleted WHERE index_id = ?1 AND cleaning = 1)`
	sqlCleaned      = `UPDATE search_indexes SET deleted = deleted - (SELECT count(*) FROM search_deleted WHERE index_id = ?1 AND cleaning = 1) WHERE id = ?1`
	sqlDropDeleted  = `DELETE FROM search_deleted WHERE index_id = ?1 AND cleaning = 1`
)

// cleanIndex removes rows of deleted documents.
func (c *Call) cleanIndex(ix *searchIndex, limit int) Plan {
	id := store.Int(ix.id)
	// next writes a slice that ends at a place: a term without a value for the end.
	next := func(stmts []store.Stmt, term, block, segment store.Value) Plan {
		stmts = append(stmts, store.Stmt{SQL: sqlSetCleaning, Args: []store.Value{id, term, block, segment}})
		return writeSlice(append([]store.Stmt{ix.guard()}, stmts...)...)
	}
	if ix.cleaning.term == nil {
		return next([]store.Stmt{{SQL: sqlMarkCleaning, Args: []store.Value{id}}}, store.Bytes(nil), store.Int(0), store.Value{})
	}
	read := store.Stmt{SQL: sqlNextBlocks, Args: []store.Value{id, store.Bytes(ix.cleaning.term), store.Int(ix.cleaning.block), store.Int(int64(limit))}}
	if ix.cleaning.segment >= 0 {
		read = store.Stmt{SQL: sqlNextPages, Args: []store.Value{id, store.Int(ix.cleaning.segment), store.Bytes(ix.cleaning.term), store.Int(int64(limit))}}
	}
	return readThen(func(r *store.Result) Plan {
		pages := ix.cleaning.segment >= 0
		stmts := ix.withoutDeleted(r.Rows[0], r.Rows[1], r.Work)
		switch n := len(r.Rows[1]); {
		case n == limit && pages:
			return next(stmts, r.Rows[1][n-1][1], store.Int(0), r.Rows[1][n-1][0])
		case n == limit:
			return next(stmts, r.Rows[1][n-1][0], r.Rows[1][n-1][1], store.Value{})
		case !pages:
			return next(stmts, store.Bytes(nil), store.Int(0), store.Int(0))
		}
		for _, sql := range []string{sqlCleanNumbers, sqlCleaned, sqlDropDeleted} {
			stmts = append(stmts, store.Stmt{SQL: sql, Args: []store.Value{id}})
		}
		return next(stmts, store.Value{}, store.Value{}, store.Value{})
	}, store.Stmt{SQL: sqlCleaning, Args: []store.Value{id}}, read)
}

// withoutDeleted returns the statements that remove deleted documents from rows of search_postings, or of search_pages once
// the cleaning has come to them.
func (ix *searchIndex) withoutDeleted(deleted, rows []store.Row, w *store.Work) (stmts []store.Stmt) {
	gone := map[int64]bool{}
	for _, row := range deleted {
		w.Grow(48)
		gone[row[0].Int()] = true
	}
	isGone := func(doc int64) bool { return gone[doc] }
	put, drop := sqlPutBlock, sqlDropPostings
	without := inverted.Without
	if ix.cleaning.segment >= 0 {
		put, drop = sqlPutPage, sqlDropPage
		without = func(_, page []byte, gone func(doc int64) bool) ([]byte, bool) {
			return inverted.WithoutDocs(page, gone)
		}
	}
	for _, row := range rows {
		w.Step(len(row[2].Bytes()))
		data, dropped := without(row[0].Bytes(), row[2].Bytes(), isGone)
		args := []store.Value{store.Int(ix.id), row[0], row[1]}
		switch {
		case len(data) == 0:
			stmts = append(stmts, store.Stmt{SQL: drop, Args: args})
		case dropped:
			stmts = append(stmts, store.Stmt{SQL: put, Args: append(args, store.Bytes(data))})
		}
	}
	return stmts
}

// dropStmts delete rows of an index that is dropped.
var dropStmts = []string{
	`DELETE FROM search_postings WHERE index_id = ?1 AND (term, block) IN (SELECT term, block FROM search_postings WHERE index_id = ?1 LIMIT ?2)`,
	`DELETE FROM search_pages WHERE index_id = ?1 AND (segment, term) IN (SELECT segment, term FROM search_pages WHERE index_id = ?1 LIMIT ?2)`,
	`DELETE FROM search_segments WHERE index_id = ?1 AND segment IN (SELECT segment FROM search_segments WHERE index_id = ?1 LIMIT ?2)`,
	`DELETE FROM search_numbers WHERE index_id = ?1 AND (field, value, doc) IN (SELECT field, value, doc FROM search_numbers WHERE index_id = ?1 LIMIT ?2)`,
	`DELETE FROM search_documents WHERE id IN (SELECT d.id FROM search_dropped x CROSS JOIN search_documents d ON ` + docsOfDropped + ` WHERE x.index_id = ?1 LIMIT ?2)`,
	`DELETE FROM search_deleted WHERE index_id = ?1 AND doc IN (SELECT doc FROM search_deleted WHERE index_id = ?1 LIMIT ?2)`,
}

// docsOfDropped limits d to the documents of the dropped index x.
const docsOfDropped = `d.id BETWEEN x.slot << ` + schema.SlotBits + ` AND (x.slot << ` + schema.SlotBits + `) + ` + schema.LastDoc + ` AND d.index_id = x.index_id`

const sqlDropDone = `DELETE FROM search_dropped AS x WHERE index_id = ?1 AND NOT EXISTS (SELECT 1 FROM search_postings WHERE index_id = ?1)
	AND NOT EXISTS (SELECT 1 FROM search_numbers WHERE index_id = ?1) AND NOT EXISTS (SELECT 1 FROM search_documents d WHERE ` + docsOfDropped + `)
	AND NOT EXISTS (SELECT 1 FROM search_deleted WHERE index_id = ?1) AND NOT EXISTS (SELECT 1 FROM search_pages WHERE index_id = ?1)
	AND NOT EXISTS (SELECT 1 FROM search_segments WHERE index_id = ?1)`

// sqlGuardNoIndex refuses a batch if an index exists.
const sqlGuardNoIndex = `INSERT INTO guard SELECT NULL FROM search_indexes LIMIT 1`

// dropRows deletes rows of a dropped index, and with the last index the triggers.
func dropRows(index store.Value, limit int, last bool) Plan {
	var stmts []store.Stmt
	if last {
		stmts = append(stmts, store.Stmt{SQL: sqlGuardNoIndex, Refused: &searchBusy})
		stmts = append(stmts, statements(schema.DropSearchTriggers)...)
	}
	for _, sql := range dropStmts {
		stmts = append(stmts, store.Stmt{SQL: sql, Args: []store.Value{index, store.Int(int64(10 * limit))}})
	}
	stmts = append(stmts, store.Stmt{SQL: sqlDropDone, Args: []store.Value{index}})
	return writeSlice(stmts...)
}
