//go:build !wasip1 || search

package translator

import (
	"math"
	"strconv"
	"strings"

	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/redis/search/text"
	"github.com/meowdis/meowdis/redis/xxh3"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/translator/inverted"
)

// checkPaths returns the error of a path of a schema of documents, "" for none.
func checkPaths(s *inverted.Schema) string {
	if !s.JSON {
		return ""
	}
	for _, f := range s.Fields {
		if !inverted.IsPath(f.Path) {
			return "Invalid JSONPath '" + f.Path + "' in attribute '" + f.Name + "' in index"
		}
	}
	return ""
}

// FT.INFO shows the sizes of the rows.
const (
	sqlBlockSizes = `SELECT count(*), ifnull(sum(length(data)), 0), ifnull(sum(iif(substr(term, 1, 1) = x'76', length(data), 0)), 0),
		ifnull(sum(iif(substr(term, 1, 1) = x'67', length(data), 0)), 0) FROM search_postings WHERE index_id = ?1`
	sqlCountPending   = `SELECT (SELECT count(*) FROM search_pending), (SELECT count(*) FROM search_numbers WHERE index_id = ?1)`
	sqlCountUnscanned = `SELECT count(*) FROM keys WHERE id > ?1 AND db = 0 AND type = ?2`
)

func ftInfo(c *Call) Plan {
	return c.withIndex(c.Args[1], noIndexName, func(ix *searchIndex, w *store.Work) Plan {
		return c.withChanged(ix, w, func(p *pending) Plan {
			id := store.Int(ix.id)
			typ := "hash"
			if ix.schema.JSON {
				typ = jsonType
			}
			var pages indexSizes
			names := termRange{[]byte{0}, []byte{0xff}}.statement(sqlNamesBetween, ix)
			use := eachRow(&names, func() (func(row store.Row), func(w *store.Work)) {
				pages = indexSizes{}
				words := map[uint64]bool{}
				return func(row store.Row) { pages.add(row, words) }, func(w *store.Work) {
					pages.words = int64(len(words))
					w.Grow(16 * pages.words)
					w.Step(int(pages.bytes))
				}
			})
			return read(func(r *store.Result) resp.Value {
				left := int64(0)
				if p.unscanned {
					left = r.Rows[3][0][0].Int()
				}
				use(r.Rows[1], r.Work)
				sizes, blocks := pages, r.Rows[0][0]
				sizes.rows, sizes.bytes, sizes.vectors, sizes.tags = sizes.rows+blocks[0].Int(), sizes.bytes+blocks[1].Int(), blocks[2].Int(), sizes.tags+blocks[3].Int()
				return c.indexInfo(ix, p, sizes, r.Rows[2][0], left)
			}, store.Stmt{SQL: sqlBlockSizes, Args: []store.Value{id}}, names, store.Stmt{SQL: sqlCountPending, Args: []store.Value{id}},
				store.Stmt{SQL: sqlCountUnscanned, Args: []store.Value{store.Int(ix.scanned), store.String(typ)}})
		})
	})
}

// indexSizes holds the number of words and rows of an index, and the bytes of its postings.
type indexSizes struct{ words, rows, bytes, vectors, tags int64 }

// add adds a row of sqlNamesBetween. words has hashes.
func (s *indexSizes) add(row store.Row, words map[uint64]bool) {
	if row[2].Int() == 1 {
		s.rows++
		s.bytes += int64(len(row[1].Bytes()))
	}
	termRange{nil, []byte{0xff}}.each(row, func(term, data []byte) {
		switch term[0] {
		case 't':
			words[xxh3.Hash(term)] = true
		case 'g':
			s.tags += int64(len(data))
		}
	})
}

// indexInfo makes the reply of FT.INFO. left is the number of keys that the initial scan has not reached.
func (c *Call) indexInfo(ix *searchIndex, p *pending, sizes indexSizes, counts store.Row, left int64) resp.Value {
	s := ix.schema
	cursors, own := c.Env.Search.count(ix.id, c.Env.Now)
	name, str, num := resp.MakeString, resp.MakeString, func(f float64) resp.Value { return resp.MakeDouble(f) }
	mb := func(n int64) resp.Value { return num(float64(n) / (1 << 20)) }
	docs := ix.documents - int64(len(p.staleDocs)) + int64(len(p.docs))
	failures, lastError, errorKey := ix.failures.count, ix.failures.lastError, ix.failures.lastKey
	for _, k := range p.failed {
		failures++
		lastError, errorKey = []byte(k.reason), k.key.key
	}
	percent := 1.0
	if left > 0 {
		percent = float64(docs) / float64(docs+left)
	}
	terms, blocks, bytes, vectors, tags := sizes.words+int64(len(p.batch.SortedWords())), sizes.rows, sizes.bytes, sizes.vectors, sizes.tags
	records := counts[1].Int() + blocks
	per := func(n float64) resp.Value {
		if docs == 0 {
			return num(math.NaN())
		}
		return num(n / float64(docs))
	}
	orNone := func(b []byte) resp.Value {
		if b == nil {
			return str("N/A")
		}
		return resp.MakeBulk(b)
	}
	errors := resp.MakeMap(name("indexing failures"), resp.MakeInt(failures), name("last indexing error"), orNone(lastError), name("last indexing error key"), orNone(errorKey),
		name("background indexing status"), str("OK"))
	all := []resp.Value{
		name("index_name"), resp.MakeBulk(ix.name), name("index_options"), ix.options(), name("index_definition"), ix.definitionReply(), name("attributes"), ix.attributes(),
		name("num_docs"), resp.MakeInt(docs), name("max_doc_id"), resp.MakeInt(ix.lastDoc + int64(len(p.docs))), name("num_terms"), resp.MakeInt(terms), name("num_records"), resp.MakeInt(records),
		name("inverted_sz_mb"), mb(bytes - vectors), name("vector_index_sz_mb"), mb(vectors), name("total_inverted_index_blocks"), resp.MakeInt(blocks),
		name("offset_vectors_sz_mb"), num(0), name("doc_table_size_mb"), mb(docs * 32), name("sortable_values_size_mb"), num(0), name("key_table_size_mb"), mb(docs * 16),
		name("tag_overhead_sz_mb"), mb(tags), name("text_overhead_sz_mb"), num(0), name("total_index_memory_sz_mb"), mb(bytes + docs*48), name("geoshapes_sz_mb"), num(0),
		name("records_per_doc_avg"), per(float64(records)), name("bytes_per_record_avg"), per(float64(bytes) / math.Max(1, float64(records)) * float64(docs)),
		name("offsets_per_term_avg"), per(0), name("offset_bits_per_record_avg"), per(0),
		name("hash_indexing_failures"), resp.MakeInt(failures), name("total_indexing_time"), num(0), name("indexing"), resp.MakeInt(int64(toInt(left > 0))),
		name("percent_indexed"), num(percent), name("number_of_uses"), resp.MakeInt(1), name("cleaning"), resp.MakeInt(0),
		name("gc_stats"), resp.MakeMap(name("bytes_collected"), num(0), name("total_ms_run"), num(0), name("total_cycles"), num(0), name("average_cycle_time_ms"), num(math.NaN()),
			name("last_run_time_ms"), num(0), name("gc_numeric_trees_missed"), num(0), name("gc_blocks_denied"), num(0)),
		name("cursor_stats"), resp.MakeMap(name("global_idle"), resp.MakeInt(cursors), name("global_total"), resp.MakeInt(cursors), name("index_capacity"), resp.MakeInt(c.searchSettings().maxCursors), name("index_total"), resp.MakeInt(own)),
	}
	if s.HasStopWords {
		words := resp.EmptyArray
		for _, w := range s.StopWords {
			words.Elems = append(words.Elems, resp.MakeBulk(w))
		}
		all = append(all, name("stopwords_list"), words)
	}
	dialects := resp.EmptyMap
	for _, d := range []string{"dialect_1", "dialect_2", "dialect_3", "dialect_4"} {
		dialects.Elems = append(dialects.Elems, name(d), resp.Zero)
	}
	fields := resp.EmptyArray
	for _, f := range s.Fields {
		of := resp.MakeMap(errors.Elems[0], resp.Zero, errors.Elems[2], str("N/A"), errors.Elems[4], str("N/A"))
		fields.Elems = append(fields.Elems, resp.MakeMap(name("identifier"), str(f.Path), name("attribute"), str(f.Name), name("Index Errors"), of))
	}
	return resp.MakeMap(append(all, name("dialect_stats"), dialects, name("Index Errors"), errors, name("field statistics"), fields)...)
}

func (ix *searchIndex) options() resp.Value {
	v := resp.EmptyArray
	for _, o := range []struct {
		name string
		set  bool
	}{{"NOFREQS", ix.schema.NoFreqs}, {"NOFIELDS", ix.schema.NoFields}, {"NOOFFSETS", ix.schema.NoOffsets}, {"NOHL", ix.schema.NoHighlight}, {"MAXTEXTFIELDS", ix.schema.MaxTextFields}} {
		if o.set {
			v.Elems = append(v.Elems, resp.MakeStatus(o.name))
		}
	}
	return v
}

func (ix *searchIndex) definitionReply() resp.Value {
	s, str := ix.schema, resp.MakeString
	typ, all := "HASH", "false"
	if s.JSON {
		typ = "JSON"
	}
	if s.IndexAll {
		all = "true"
	}
	prefixes := resp.EmptyArray
	for _, p := range s.Prefixes {
		prefixes.Elems = append(prefixes.Elems, resp.MakeBulk(p))
	}
	v := resp.MakeMap(str("key_type"), str(typ), str("prefixes"), prefixes)
	add := func(name, value string) {
		if value != "" {
			v.Elems = append(v.Elems, str(name), str(value))
		}
	}
	add("filter", s.Filter)
	if s.Language != "english" {
		add("default_language", s.Language)
	}
	add("language_field", s.LanguageField)
	add("default_score", text.FormatNumber(s.Score))
	add("score_field", s.ScoreField)
	add("payload_field", s.PayloadField)
	add("indexes_all", all)
	return v
}

func (ix *searchIndex) attributes() resp.Value {
	v := resp.EmptyArray
	for _, f := range ix.schema.Fields {
		v.Elems = append(v.Elems, attribute(f))
	}
	return v
}

// attribute describes a field: pairs, then flags without values, which RESP3 has in a list.
func attribute(f *inverted.Field) resp.Value {
	var pairs, flags []resp.Value
	add := func(name string, value resp.Value) { pairs = append(pairs, resp.MakeStatus(name), value) }
	add("identifier", resp.MakeString(f.Path))
	add("attribute", resp.MakeString(f.Name))
	add("type", resp.MakeStatus(f.Type.String()))
	switch f.Type {
	case inverted.Text:
		add("WEIGHT", resp.MakeString(text.FormatNumber(f.Weight)))
	case inverted.Tag:
		separator := ""
		if f.Separator != 0 {
			separator = string(rune(f.Separator))
		}
		add("SEPARATOR", resp.MakeString(separator))
	case inverted.GeoShape:
		system := "SPHERICAL"
		if f.Flat {
			system = "FLAT"
		}
		add("coord_system", resp.MakeString(system))
	case inverted.Vector:
		pairs = append(pairs, vectorAttributes(f.Vector)...)
	}
	for _, flag := range []struct {
		name string
		set  bool
	}{
		{"CASESENSITIVE", f.CaseSensitive}, {"SORTABLE", f.Sortable}, {"UNF", f.Sortable && f.Unnormalized}, {"NOSTEM", f.NoStem}, {"NOINDEX", f.NoIndex},
		{"WITHSUFFIXTRIE", f.Suffixes}, {"INDEXEMPTY", f.IndexEmpty}, {"INDEXMISSING", f.IndexMissing},
	} {
		if flag.set {
			flags = append(flags, resp.MakeStatus(flag.name))
		}
	}
	v3 := resp.MakeMap(append(append([]resp.Value{}, pairs...), resp.MakeStatus("flags"), resp.MakeArray(flags...))...)
	v := resp.MakeArray(append(pairs, flags...)...)
	v.RESP3 = &v3
	return v
}

func vectorAttributes(v inverted.VectorOptions) (pairs []resp.Value) {
	add := func(name string, value resp.Value) { pairs = append(pairs, resp.MakeStatus(name), value) }
	add("algorithm", resp.MakeString(v.Algorithm))
	add("data_type", resp.MakeString(v.DataType))
	add("dim", resp.MakeInt(int64(v.Dim)))
	add("distance_metric", resp.MakeString(v.Metric))
	option := func(name, missing string) string {
		for _, o := range v.Options {
			if o[0] == name {
				return o[1]
			}
		}
		return missing
	}
	for _, d := range inverted.VectorDefaults(v.Algorithm) {
		name := strings.ToLower(d[0])
		if d[0] == "M" {
			name = "M"
		}
		value := option(d[0], d[1])
		if n, err := strconv.ParseInt(value, 10, 64); err == nil {
			add(name, resp.MakeInt(n))
		} else {
			add(name, resp.MakeString(value))
		}
	}
	return pairs
}
