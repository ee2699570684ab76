//go:build !wasip1 || search

package translator

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/store/schema"
	"github.com/meowdis/meowdis/translator/inverted"
)

// Statements that read an index in slices of ?3 rows.
const (
	sqlPendingDocs  = `SELECT d.doc FROM search_pending p CROSS JOIN search_documents d ON d.key_id = p.key_id AND d.index_id = ?1`
	sqlNextDocs     = `SELECT d.doc, d.key_id, d.length, d.key FROM search_documents d WHERE d.id > ` + firstDoc + ` + ?2 AND d.id <= ` + firstDoc + ` + ` + schema.LastDoc + ` AND d.index_id = ?1 ORDER BY d.id LIMIT ?3`
	sqlAlienDocs    = `SELECT 1 FROM search_documents d WHERE d.id BETWEEN ` + firstDoc + ` AND ` + firstDoc + ` + ` + schema.LastDoc + ` AND d.index_id <> ?1 LIMIT 1`
	sqlNextNumbers  = `SELECT field, value, doc FROM search_numbers WHERE index_id = ?1 AND (field, value, doc) > (?2, ?4, ?5) ORDER BY field, value, doc LIMIT ?3`
	sqlCheckedPages = `SELECT p.segment, p.term, p.data, s.segment FROM search_pages p LEFT JOIN search_segments s ON s.index_id = p.index_id AND s.segment = p.segment
		WHERE p.index_id = ?1 AND (p.segment, p.term) > (?2, ?3) ORDER BY p.segment, p.term LIMIT ?4`
	// sqlNotIndexed reads live keys of the type ?4 that are neither documents of the index nor pending.
	sqlNotIndexed = `SELECT k.id FROM keys k WHERE k.id > ?2 AND +k.db = 0 AND +k.type = ?4 AND NOT EXISTS (SELECT 1 FROM search_documents d WHERE d.key_id = k.id AND d.index_id = ?1)
		AND NOT EXISTS (SELECT 1 FROM search_pending p WHERE p.key_id = k.id) ORDER BY k.id LIMIT ?3`
)

// CheckIndexes plans reads that compare each index with its keys. It calls found with the name of each index that differs,
// and how. Keys that wait to be indexed do not count.
func CheckIndexes(now int64, found func(name []byte, how string)) Plan {
	c := &Call{Env: Env{Now: now}}
	return readThen(func(r *store.Result) Plan {
		return c.checkEach(decodeIndexes(r.Rows[0], r.Rows[1], r.Work), found)
	}, store.Stmt{SQL: sqlIndexes}, store.Stmt{SQL: sqlAllSynonyms})
}

func (c *Call) checkEach(indexes []*searchIndex, found func(name []byte, how string)) Plan {
	if len(indexes) == 0 {
		return answer(resp.OK)
	}
	ix := indexes[0]
	k := &indexCheck{c: c, ix: ix, ignored: map[int64]bool{}, next: func(how string) Plan {
		if how != "" {
			found(ix.name, how)
		}
		return c.checkEach(indexes[1:], found)
	}}
	return k.begin()
}

// indexCheck compares an index with its keys.
type indexCheck struct {
	c       *Call
	ix      *searchIndex
	ignored map[int64]bool // documents of keys that have changed, or expired
	next    func(how string) Plan

	documents, length int64
	expected, rows    uint64 // sums of digests: of the keys, and of the rows
	numberField, doc  int64
	numberValue       store.Value
	block             int64
	term              []byte
}

func (k *indexCheck) id() store.Value { return store.Int(k.ix.id) }

func (k *indexCheck) begin() Plan {
	id, now := k.id(), store.Int(k.c.Env.Now)
	return readThen(func(r *store.Result) Plan {
		for _, rows := range r.Rows[:3] {
			for _, row := range rows {
				k.ignored[row[0].Int()] = true
			}
		}
		for _, row := range r.Rows[3] {
			if !row[1].IsNull() {
				k.ignored[row[1].Int()] = true
			}
		}
		if len(r.Rows[4]) > 0 {
			return k.next("its place has documents of another index")
		}
		return k.documentsAfter(0)
	}, store.Stmt{SQL: sqlDeleted, Args: []store.Value{id}}, store.Stmt{SQL: sqlPendingDocs, Args: []store.Value{id}},
		store.Stmt{SQL: sqlDeadDocs, Args: []store.Value{id, now}}, store.Stmt{SQL: sqlDeadFields, Args: []store.Value{id, now}},
		store.Stmt{SQL: sqlAlienDocs, Args: []store.Value{id}})
}

// documentsAfter indexes the keys of documents in memory, and adds up their digests.
func (k *indexCheck) documentsAfter(doc int64) Plan {
	return readThen(func(r *store.Result) Plan {
		rows := r.Rows[0]
		var ids []int64
		for _, row := range rows {
			k.documents, k.length = k.documents+1, k.length+row[2].Int()
			if !k.ignored[row[0].Int()] {
				ids = append(ids, row[1].Int())
			}
		}
		return k.c.keyRows(ids, r.Work, func(keys []*keyRow, w *store.Work) Plan {
			return k.c.loadKeys(keys, k.ix.wanted(), w, func(w *store.Work) Plan {
				if how := k.addKeys(rows, keys, w); how != "" {
					return k.next(how)
				}
				if len(rows) < loadSlice {
					return k.postings()
				}
				return k.documentsAfter(rows[len(rows)-1][0].Int())
			})
		})
	}, store.Stmt{SQL: sqlNextDocs, Args: []store.Value{k.id(), store.Int(doc), store.Int(loadSlice)}})
}

func (k *indexCheck) addKeys(rows []store.Row, keys []*keyRow, w *store.Work) (how string) {
	byID := map[int64]*keyRow{}
	for _, key := range keys {
		byID[key.id] = key
	}
	b := &inverted.Batch{Schema: k.ix.schema, Synonyms: k.ix.synonyms, Work: w}
	for _, row := range rows {
		doc := row[0].Int()
		if k.ignored[doc] {
			continue
		}
		key := byID[row[1].Int()]
		switch {
		case key == nil || !k.ix.covers(key) || !k.ix.passes(key.source):
			return "it has documents without a key"
		case !bytes.Equal(row[3].Bytes(), key.key):
			return fmt.Sprintf("it has a document with another name than its key %s", resp.AppendQuoted(nil, key.key, true))
		case b.Add(doc, key.source) != nil:
			return fmt.Sprintf("it has a document of %s, which it cannot index", resp.AppendQuoted(nil, key.key, true))
		}
	}
	for _, block := range b.Blocks() {
		k.expected += inverted.Digest(block.Term, block.Data, nil)
	}
	for _, n := range b.Numbers {
		k.expected += n.Digest()
	}
	return ""
}

// checkedRows limits the rows of a slice.
const checkedRows = 200

// postings adds up the digests of the next rows of search_postings.
func (k *indexCheck) postings() Plan {
	return readThen(func(r *store.Result) Plan {
		for _, row := range r.Rows[0] {
			if k.term, k.block = row[0].Bytes(), row[1].Int(); len(k.term) > 0 {
				k.rows += inverted.Digest(k.term, row[2].Bytes(), func(doc int64) bool { return k.ignored[doc] })
			}
		}
		if len(r.Rows[0]) < checkedRows {
			k.term = nil
			return k.pages(0)
		}
		return k.postings()
	}, store.Stmt{SQL: sqlNextBlocks, Args: []store.Value{k.id(), store.Bytes(append([]byte{}, k.term...)), store.Int(k.block), store.Int(checkedRows)}})
}

// pages adds up the digests of the next rows of search_pages after the term in a segment.
func (k *indexCheck) pages(segment int64) Plan {
	return readThen(func(r *store.Result) Plan {
		for _, row := range r.Rows[0] {
			if row[0].Int() != segment {
				segment, k.term = row[0].Int(), nil
			}
			page := inverted.Page{Key: row[1].Bytes(), Data: row[2].Bytes()}
			switch {
			case row[3].IsNull():
				return k.next("it has rows of a missing segment")
			case !inverted.InOrder(page, k.term):
				return k.next("it has rows whose terms are not in order")
			}
			k.term = page.Key
			inverted.EachTerm(page.Data, func(term, data []byte) {
				k.rows += inverted.Digest(term, data, func(doc int64) bool { return k.ignored[doc] })
			})
		}
		if len(r.Rows[0]) < checkedRows {
			k.numberField, k.numberValue = -1, store.Float(0)
			return k.numbers()
		}
		return k.pages(segment)
	}, store.Stmt{SQL: sqlCheckedPages, Args: []store.Value{k.id(), store.Int(segment), store.Bytes(append([]byte{}, k.term...)), store.Int(checkedRows)}})
}

// numbers adds up the digests of the next rows of search_numbers.
func (k *indexCheck) numbers() Plan {
	return readThen(func(r *store.Result) Plan {
		for _, row := range r.Rows[0] {
			k.numberField, k.numberValue, k.doc = row[0].Int(), row[1], row[2].Int()
			if !k.ignored[k.doc] {
				k.rows += inverted.Number{Field: int(k.numberField), Value: row[1].Float(), Doc: k.doc}.Digest()
			}
		}
		if len(r.Rows[0]) == loadSlice {
			return k.numbers()
		}
		switch ix := k.ix; {
		case k.rows != k.expected:
			return k.next("its rows differ from its keys")
		case ix.documents != k.documents || ix.length != k.length: // deleted only says when to remove rows
			return k.next("its counts are wrong")
		case ix.schema.SkipScan || ix.schema.Upstash != nil: // it may lack keys
			return k.next("")
		}
		return k.missingAfter(0)
	}, store.Stmt{SQL: sqlNextNumbers, Args: []store.Value{k.id(), store.Int(k.numberField), store.Int(loadSlice), k.numberValue, store.Int(k.doc)}})
}

// indexes reports whether the index should have a key that it covers.
func (k *indexCheck) indexes(key *keyRow, w *store.Work) bool {
	b := &inverted.Batch{Schema: k.ix.schema, Synonyms: k.ix.synonyms, Work: w}
	return k.ix.passes(key.source) && b.Add(1, key.source) == nil
}

// missingAfter looks for keys that the index should have.
func (k *indexCheck) missingAfter(last int64) Plan {
	return readThen(func(r *store.Result) Plan {
		var ids []int64
		for _, row := range r.Rows[0] {
			if last = row[0].Int(); k.ix.scanned < 0 || last <= k.ix.scanned {
				ids = append(ids, last)
			}
		}
		return k.c.keyRows(ids, r.Work, func(keys []*keyRow, w *store.Work) Plan {
			covered := slices.DeleteFunc(keys, func(key *keyRow) bool { return !k.ix.covers(key) })
			return k.c.loadKeys(covered, k.ix.wanted(), w, func(w *store.Work) Plan {
				if at := slices.IndexFunc(covered, func(key *keyRow) bool { return k.indexes(key, w) }); at >= 0 {
					return k.next(fmt.Sprintf("it lacks the key %s", resp.AppendQuoted(nil, covered[at].key, true)))
				}
				if len(ids) < loadSlice {
					return k.next("")
				}
				return k.missingAfter(last)
			})
		})
	}, store.Stmt{SQL: sqlNotIndexed, Args: []store.Value{k.id(), store.Int(last), store.Int(loadSlice), store.String(k.ix.keyType())}})
}
