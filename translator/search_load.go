//go:build !wasip1 || search

package translator

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"github.com/meowdis/meowdis/redis/search/expr"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/store/schema"
	"github.com/meowdis/meowdis/translator/document"
	"github.com/meowdis/meowdis/translator/inverted"
)

// keyRow holds a key that an index may have.
type keyRow struct {
	id, version, volatile int64
	key                   []byte
	json, text            bool             // a document; a string, for an index of SEARCH.CREATE
	source                *inverted.Source // after its content is loaded
}

// searchKeyColumns lists the columns that newKeyRow reads.
const searchKeyColumns = `k.id, k.key, k.version, k.volatile, k.type`

func newKeyRow(row store.Row, w *store.Work) *keyRow {
	w.Grow(int64(160 + len(row[1].Bytes())))
	typ := string(row[4].Bytes())
	return &keyRow{id: row[0].Int(), key: row[1].Bytes(), version: row[2].Int(), volatile: row[3].Int(), json: typ == jsonType, text: typ == stringType}
}

// numberList returns the JSON argument of a list of ids.
func numberList(ids []int64) store.Value {
	out := make([]byte, 0, 2+8*len(ids))
	out = append(out, '[')
	for i, id := range ids {
		if i > 0 {
			out = append(out, ',')
		}
		out = strconv.AppendInt(out, id, 10)
	}
	return store.TextBytes(append(out, ']'))
}

const (
	// liveIndexedKey limits k to keys that may have documents at ?2.
	liveIndexedKey = `k.db = 0 AND k.type IN ('hash', 'ReJSON-RL', 'string') AND (k.dies_at IS NULL OR k.dies_at > ?2)`
	sqlKeyRows     = `SELECT ` + searchKeyColumns + ` FROM json_each(?1) j CROSS JOIN keys k ON k.id = j.value WHERE ` + liveIndexedKey

	liveIndexedField = `(h.expires_at IS NULL OR h.expires_at > ?2)`
	sqlKeyDocuments  = `SELECT d.key_id, d.value FROM json_each(?1) j CROSS JOIN documents d ON d.key_id = j.value`
	sqlKeyTexts      = `SELECT k.id, ` + stringColumns + ` FROM json_each(?1) j CROSS JOIN keys k ON k.id = j.value AND k.type = 'string'` + keyParts + ` ORDER BY k.id, p.part`
	sqlKeyFields     = `SELECT h.key_id, h.field, h.value FROM json_each(?1) j CROSS JOIN hashes h ON h.key_id = j.value AND ` + liveIndexedField + ` ORDER BY h.key_id, h.seq`
	// sqlSomeFields reads the fields in ?3, a list of hashes and names.
	sqlSomeFields = `WITH f(hash, field) AS MATERIALIZED (SELECT json_extract(value, '$[0]'), unhex(json_extract(value, '$[1]')) FROM json_each(?3))
		SELECT h.key_id, h.field, h.value FROM json_each(?1) j CROSS JOIN f CROSS JOIN hashes h ON h.key_id = j.value AND h.hash = f.hash AND h.field = f.field AND ` + liveIndexedField
)

// loadSlice limits the keys that a step loads.
const loadSlice = 500

// keyRows reads the live keys of the ids that are hashes, documents or strings, and calls next.
func (c *Call) keyRows(ids []int64, w *store.Work, next func(keys []*keyRow, w *store.Work) Plan) Plan {
	if len(ids) == 0 {
		return next(nil, w)
	}
	return readThen(func(r *store.Result) Plan {
		keys := make([]*keyRow, 0, len(r.Rows[0]))
		for _, row := range r.Rows[0] {
			keys = append(keys, newKeyRow(row, r.Work))
		}
		return next(keys, r.Work)
	}, store.Stmt{SQL: sqlKeyRows, Args: []store.Value{numberList(ids), store.Int(c.Env.Now)}})
}

// loadKeys reads the contents of keys in slices, and calls next. fields limits the fields of hashes, unless it is nil.
func (c *Call) loadKeys(keys []*keyRow, fields [][]byte, w *store.Work, next func(w *store.Work) Plan) Plan {
	return c.loadUpTo(math.MaxInt64, keys, fields, w, next)
}

// loadUpTo is loadKeys that stops after that many bytes. The source of a key that it has not read is nil.
func (c *Call) loadUpTo(bytes int64, keys []*keyRow, fields [][]byte, w *store.Work, next func(w *store.Work) Plan) Plan {
	if len(keys) == 0 || bytes <= 0 {
		return next(w)
	}
	n := min(len(keys), loadSlice)
	l := newKeyLoader(keys[:n], w)
	stmts := l.statements(fields, c.Env.Now)
	return readThen(func(r *store.Result) Plan {
		size := l.takeFields(r.Rows[0], r.Work) + l.takeDocuments(r.Rows[1], r.Work)
		if len(l.texts) > 0 {
			size += loadTexts(l.byID, r.Rows[2], r.Work)
		}
		for _, k := range keys[:n] {
			k.source.Work = r.Work
			if (k.json || k.text) && k.source.Root == nil { // another process has deleted it
				k.source.Root = &document.Value{}
			}
		}
		return c.loadUpTo(bytes-size, keys[n:], fields, r.Work, next)
	}, stmts...)
}

// keyLoader loads the contents of a slice of keys. It has their ids by type.
type keyLoader struct {
	byID                     map[int64]*keyRow
	hashes, documents, texts []int64
}

// newKeyLoader gives each key an empty source.
func newKeyLoader(keys []*keyRow, w *store.Work) *keyLoader {
	l := &keyLoader{byID: map[int64]*keyRow{}}
	for _, k := range keys {
		k.source = &inverted.Source{Key: k.key, Work: w}
		l.byID[k.id] = k
		switch {
		case k.json:
			l.documents = append(l.documents, k.id)
		case k.text:
			l.texts = append(l.texts, k.id)
		default:
			k.source.Fields = map[string][]byte{}
			l.hashes = append(l.hashes, k.id)
		}
	}
	return l
}

// statements returns the statements that read hashes, documents and, if there are any, strings.
func (l *keyLoader) statements(fields [][]byte, now int64) []store.Stmt {
	read := store.Stmt{SQL: sqlKeyFields, Args: []store.Value{numberList(l.hashes), store.Int(now)}}
	if fields != nil {
		read = store.Stmt{SQL: sqlSomeFields, Args: append(read.Args, hashedJSON(fields, 1))}
	}
	stmts := []store.Stmt{read, {SQL: sqlKeyDocuments, Args: []store.Value{numberList(l.documents)}}}
	if len(l.texts) > 0 {
		stmts = append(stmts, store.Stmt{SQL: sqlKeyTexts, Args: []store.Value{numberList(l.texts)}, SizeColumn: 3, SizeGroup: 1})
	}
	return stmts
}

// takeFields takes the rows of hashes, and returns their bytes.
func (l *keyLoader) takeFields(rows []store.Row, w *store.Work) (bytes int64) {
	for _, row := range rows {
		size := int64(64 + len(row[1].Bytes()) + len(row[2].Bytes()))
		w.Grow(size)
		bytes += size
		src, name := l.byID[row[0].Int()].source, string(row[1].Bytes())
		src.Fields[name] = row[2].Bytes()
		src.Order = append(src.Order, name)
	}
	return bytes
}

// takeDocuments takes the rows of documents, and returns their bytes.
func (l *keyLoader) takeDocuments(rows []store.Row, w *store.Work) (bytes int64) {
	for _, row := range rows {
		src := l.byID[row[0].Int()].source
		src.Text = row[1].Bytes()
		w.Step(len(src.Text))
		bytes += int64(len(src.Text))
		root, err := document.Load(src.Text, w.Grow)
		if err != nil {
			root = &document.Value{}
		}
		src.Root = root
	}
	return bytes
}

// loadTexts parses strings, whose rows follow each other, and returns their bytes. Strings that are not JSON are empty
// documents.
func loadTexts(byID map[int64]*keyRow, rows []store.Row, w *store.Work) (bytes int64) {
	for len(rows) > 0 {
		n := 1
		for n < len(rows) && rows[n][0].Int() == rows[0][0].Int() {
			n++
		}
		parts := make([]store.Row, n)
		for i, row := range rows[:n] {
			parts[i] = row[1:]
		}
		k := byID[rows[0][0].Int()]
		k.source.Text = stringOf(parts, w).Str
		bytes += int64(len(k.source.Text))
		w.Step(len(k.source.Text))
		if root, err := document.Parse(k.source.Text, w.Grow); err == nil {
			k.source.Root = root
		}
		rows = rows[n:]
	}
	return bytes
}

// wanted returns the fields of hashes that an index needs, nil for all.
func (ix *searchIndex) wanted() [][]byte {
	s := ix.schema
	if s.Filter != "" {
		return nil
	}
	fields := [][]byte{}
	for _, f := range s.Fields {
		fields = append(fields, []byte(f.Path))
	}
	for _, name := range []string{s.LanguageField, s.ScoreField} {
		if name != "" {
			fields = append(fields, []byte(name))
		}
	}
	return fields
}

// covers reports whether the index has the key, as far as its name and type say.
func (ix *searchIndex) covers(k *keyRow) bool {
	return k.json == ix.schema.JSON && k.text == ix.schema.Strings && ix.schema.Covers(k.key)
}

// keyType returns the type of the keys that the index covers.
func (ix *searchIndex) keyType() string {
	switch {
	case ix.schema.JSON:
		return jsonType
	case ix.schema.Strings:
		return stringType
	}
	return hashType
}

// passes reports whether a document passes the index's FILTER, or suits the schema of SEARCH.CREATE.
func (ix *searchIndex) passes(src *inverted.Source) bool {
	if ix.schema.Upstash != nil {
		return src.Suits(ix.schema)
	}
	if ix.schema.Filter == "" {
		return true
	}
	e, err := expr.Compile(ix.schema.Filter)
	if err != nil {
		return false
	}
	v, err := e.Eval(&expr.Row{Property: func(name string) (expr.Value, bool) {
		if name == "__key" {
			return expr.Str(string(src.Key)), true
		}
		if field := ix.schema.Field(name); field != nil {
			name = field.Path
		}
		value, ok := src.Value(name)
		return expr.Str(value), ok
	}})
	return err == nil && v.Truth()
}

// pending holds what the rows of an index do not show.
type pending struct {
	keys      []*keyRow // changed since they were indexed, in order of their ids
	matching  []*keyRow // the keys that the index will have
	staleDocs []int64   // indexed documents of changed keys
	hidden    map[int64]bool
	gone      int64 // hidden documents that the row of the index counts
	length    int64 // their words
	unscanned bool  // more keys wait for the initial scan than a query reads
	batch     *inverted.Batch
	docs      map[int64]*keyRow // by the number of a document in batch
	failed    []failedKey
}

// failedKey holds a key that cannot be indexed.
type failedKey struct {
	key    *keyRow
	reason string
}

// maxUnscanned limits the keys that a query reads before the initial scan has indexed them.
const maxUnscanned = 1000

const (
	withDoc      = ` LEFT JOIN search_documents d ON d.index_id = ?1 AND d.key_id = `
	sqlPendingOf = `SELECT p.key_id, d.doc, d.length FROM search_pending p` + withDoc + `p.key_id`
	// sqlUnscanned reads keys in order of their ids: the pluses keep SQLite from the index of keys by database.
	sqlUnscanned = `SELECT k.id, d.doc, d.length FROM keys k` + withDoc + `k.id WHERE k.id > ?2 AND +k.db = 0 AND +k.type = ?4 ORDER BY k.id LIMIT ?3`
	sqlDeadDocs  = `SELECT d.doc, d.length FROM keys k CROSS JOIN search_documents d ON d.key_id = k.id AND d.index_id = ?1 WHERE ` + schema.DiesAt + ` <= ?2`
	// sqlDeadFields reads expired fields only: the plus keeps SQLite from the index that orders fields by their keys.
	sqlDeadFields = `SELECT DISTINCT +h.key_id, d.doc, d.length FROM hashes h` + withDoc + `h.key_id WHERE h.expires_at <= ?2`
	sqlDeleted    = `SELECT doc FROM search_deleted WHERE index_id = ?1`
)

// withChanged reads the keys that changed after they were indexed, and indexes them in memory. It calls next.
func (c *Call) withChanged(ix *searchIndex, w *store.Work, next func(p *pending) Plan) Plan {
	id := store.Int(ix.id)
	stmts := []store.Stmt{
		{SQL: sqlPendingOf, Args: []store.Value{id}},
		{SQL: sqlDeadFields, Args: []store.Value{id, store.Int(c.Env.Now)}},
		{SQL: sqlDeadDocs, Args: []store.Value{id, store.Int(c.Env.Now)}},
		{SQL: sqlDeleted, Args: []store.Value{id}},
	}
	if ix.scanned >= 0 {
		stmts = append(stmts, store.Stmt{SQL: sqlUnscanned, Args: []store.Value{id, store.Int(ix.scanned), store.Int(maxUnscanned + 1), store.String(ix.keyType())}})
	}
	return readThen(func(r *store.Result) Plan {
		p := &pending{hidden: map[int64]bool{}, docs: map[int64]*keyRow{}}
		changed := slices.Concat(r.Rows[0], r.Rows[1])
		if ix.scanned >= 0 {
			if p.unscanned = len(r.Rows[4]) > maxUnscanned; !p.unscanned {
				changed = append(changed, r.Rows[4]...)
			}
		}
		ids := p.hideChanged(changed, r.Work)
		for _, row := range r.Rows[2] {
			r.Work.Grow(48)
			p.hide(row)
		}
		for _, row := range r.Rows[3] {
			r.Work.Grow(48)
			p.hidden[row[0].Int()] = true
		}
		return c.keyRows(ids, r.Work, func(keys []*keyRow, w *store.Work) Plan {
			slices.SortFunc(keys, func(a, b *keyRow) int { return cmp.Compare(a.id, b.id) })
			for _, k := range keys {
				if ix.covers(k) {
					p.keys = append(p.keys, k)
				}
			}
			return c.loadKeys(p.keys, ix.wanted(), w, func(w *store.Work) Plan {
				p.index(ix, w)
				return next(p)
			})
		})
	}, stmts...)
}

// hideChanged hides the documents of changed keys. A row is a key's id, and the number and length of its document or
// nulls. It returns the different ids in order.
func (p *pending) hideChanged(rows []store.Row, w *store.Work) (ids []int64) {
	for _, row := range rows {
		w.Grow(64)
		ids = append(ids, row[0].Int())
		if !row[1].IsNull() && p.hide(row[1:]) {
			p.staleDocs = append(p.staleDocs, row[1].Int())
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// hide hides a document of search_documents, whose row is its number and length. It returns false if it was hidden.
func (p *pending) hide(row store.Row) bool {
	if p.hidden[row[0].Int()] {
		return false
	}
	p.hidden[row[0].Int()] = true
	p.gone, p.length = p.gone+1, p.length+row[1].Int()
	return true
}

// index indexes the changed keys in memory.
func (p *pending) index(ix *searchIndex, w *store.Work) {
	p.batch = &inverted.Batch{Schema: ix.schema, Synonyms: ix.synonyms, Work: w}
	doc := ix.lastDoc
	for _, k := range p.keys {
		if !ix.passes(k.source) {
			continue
		}
		if err := p.batch.Add(doc+1, k.source); err != nil {
			p.failed = append(p.failed, failedKey{k, err.Error()})
			continue
		}
		doc++
		p.matching = append(p.matching, k)
		p.docs[doc] = k
	}
}
