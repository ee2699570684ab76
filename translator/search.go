//go:build !wasip1 || search

package translator

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/redis/search/expr"
	_ "github.com/meowdis/meowdis/redis/search/languages" // registers the stemmers
	"github.com/meowdis/meowdis/redis/search/text"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/store/schema"
	"github.com/meowdis/meowdis/translator/inverted"
)

// hasSearch says whether the program has search. The Worker's has not (search_absent.go).
const hasSearch = true

var searchTranslations = translations{
	{"FT.CREATE", ftCreate(false)},
	{"FT._CREATEIFNX", ftCreate(true)},
	{"FT.ALTER", ftAlter(false)},
	{"FT._ALTERIFNX", ftAlter(true)},
	{"FT.DROPINDEX", ftDropindex(false)},
	{"FT._DROPINDEXIFX", ftDropindex(true)},
	{"FT._LIST", ftList},
	{"FT._DUMP", ftDump},
	{"FT.INFO", ftInfo},
	{"FT.ALIASADD", ftAliasadd(false)},
	{"FT._ALIASADDIFNX", ftAliasadd(true)},
	{"FT.ALIASUPDATE", ftAliasupdate},
	{"FT.ALIASDEL", ftAliasdel(false)},
	{"FT._ALIASDELIFX", ftAliasdel(true)},
	{"FT.ALIASLIST", ftAliaslist},
	{"FT.SEARCH", ftSearch},
	{"FT.AGGREGATE", ftAggregate},
	{"FT.HYBRID", ftHybrid},
	{"FT.CURSOR READ", ftCursor((*cursorCall).read)},
	{"FT.CURSOR DEL", ftCursor((*cursorCall).close)},
	{"FT.CURSOR GC", ftCursorGC},
	{"FT.CONFIG GET", ftConfigGet},
	{"FT.CONFIG SET", ftConfigSet},
	{"FT.CONFIG HELP", ftConfigHelp},
	{"FT.SPELLCHECK", ftSpellcheck},
	{"FT.PROFILE", ftProfile},
	{"FT.EXPLAIN", ftExplain(false)},
	{"FT.EXPLAINCLI", ftExplain(true)},
	{"FT.TAGVALS", ftTagvals},
	{"FT.SYNUPDATE", ftSynupdate},
	{"FT.SYNDUMP", ftSyndump},
	{"FT.SUGADD", ftSugadd},
	{"FT.SUGGET", ftSugget},
	{"FT.SUGDEL", ftSugdel},
	{"FT.SUGLEN", ftSuglen},
	{"FT.DICTADD", ftDict(sqlAddWord)},
	{"FT.DICTDEL", ftDict(sqlDropWord)},
	{"FT.DICTDUMP", ftDictdump},
	{"SEARCH.CREATE", upstashCreate},
	{"SEARCH.DROP", upstashDrop},
	{"SEARCH.REINDEX", upstashReindex},
	{"SEARCH.WAITINDEXING", upstashWait},
	{"SEARCH.DESCRIBE", upstashDescribe},
	{"SEARCH.LISTINDEXES", upstashListindexes},
	{"SEARCH.ALIASADD", upstashAliasadd},
	{"SEARCH.ALIASDEL", upstashAliasdel},
	{"SEARCH.LISTALIASES", upstashListaliases},
	{"SEARCH.QUERY", upstashQuery},
	{"SEARCH.COUNT", upstashCount},
	{"SEARCH.AGGREGATE", upstashAggregate},
}

// searchIndex holds a row of search_indexes.
type searchIndex struct {
	id         int64
	name       []byte
	definition []byte
	schema     *inverted.Schema
	version    int64
	lastDoc    int64
	documents  int64
	length     int64
	deleted    int64
	scanned    int64 // -1 after the initial scan
	failures   indexFailures
	cleaning   cleaningPlace
	diesAt     int64 // Unix ms of a TEMPORARY index, 0 for none
	synonyms   text.Synonyms
	segments   []segment // only in a slice
}

// indexFailures describes the documents that an index could not take.
type indexFailures struct {
	count     int64
	lastError []byte
	lastKey   []byte
}

// cleaningPlace holds the progress of the removal of rows of deleted documents.
type cleaningPlace struct {
	term    []byte // nil unless rows are being removed
	block   int64
	segment int64 // whose pages are being cleaned; -1 before that
}

const (
	indexColumns = `SELECT i.id, i.name, i.definition, i.version, i.last_doc, i.documents, i.length, i.deleted, ifnull(i.scanned, -1), i.failures, i.last_error, i.last_error_key, i.clean_term, i.clean_block, i.dies_at, ifnull(i.clean_segment, -1) FROM search_indexes i `

	// sqlIndex reads the index with the name or alias ?1.
	sqlIndex   = indexColumns + `WHERE i.id = ` + idOfName
	sqlIndexes = indexColumns + `ORDER BY i.id`

	// idOfName finds the id of the index with the name or alias ?1. The plus lets SQLite search by a name in index_id, whose
	// column has integers otherwise.
	idOfName = `coalesce((SELECT id FROM search_indexes WHERE name = ?1),
		(SELECT id FROM search_indexes WHERE name = (SELECT +index_id FROM search_aliases WHERE alias = ?1)),
		(SELECT index_id FROM search_aliases WHERE alias = ?1))`

	// firstDoc computes the id that document 0 of the index ?1 would have in search_documents. docsOfIndex limits d to the
	// documents of the index: without the range, SQLite would read all rows.
	firstDoc    = `(SELECT slot << ` + schema.SlotBits + ` FROM search_indexes WHERE id = ?1)`
	docsOfIndex = `d.id BETWEEN ` + firstDoc + ` AND ` + firstDoc + ` + ` + schema.LastDoc + ` AND d.index_id = ?1`

	sqlSynonyms    = `SELECT index_id, term, synonyms FROM search_synonyms WHERE index_id = ` + idOfName
	sqlAllSynonyms = `SELECT index_id, term, synonyms FROM search_synonyms`
)

// decodeIndexes decodes the rows of sqlIndex or sqlIndexes, and adds their synonyms. It leaves out indexes whose definition
// it cannot parse.
func decodeIndexes(rows, synonyms []store.Row, w *store.Work) []*searchIndex {
	all := make([]*searchIndex, 0, len(rows))
	for _, r := range rows {
		w.Step(len(r[2].Bytes()) * 8)
		if ix := decodeIndex(r); ix.schema != nil {
			all = append(all, ix)
		}
	}
	for _, r := range synonyms {
		i := slices.IndexFunc(all, func(ix *searchIndex) bool { return ix.id == r[0].Int() })
		if i < 0 {
			continue
		}
		if all[i].synonyms == nil {
			all[i].synonyms = text.Synonyms{}
		}
		term := string(r[1].Bytes())
		all[i].synonyms[term] = append(all[i].synonyms[term], string(r[2].Bytes()))
	}
	return all
}

func decodeIndex(r store.Row) *searchIndex {
	ix := &searchIndex{id: r[0].Int(), name: r[1].Bytes(), definition: r[2].Bytes(), version: r[3].Int(), lastDoc: r[4].Int(), documents: r[5].Int(),
		length: r[6].Int(), deleted: r[7].Int(), scanned: r[8].Int(), failures: indexFailures{r[9].Int(), r[10].Bytes(), r[11].Bytes()}, cleaning: cleaningPlace{block: r[13].Int(), segment: r[15].Int()}, diesAt: r[14].Int()}
	if !r[12].IsNull() {
		ix.cleaning.term = append([]byte{}, r[12].Bytes()...)
	}
	words, err := resp.SplitLine(string(ix.definition))
	switch {
	case err != nil:
	case len(words) > 0 && wordIs(words[0], upstashMark):
		ix.schema = parseUpstash(ix.name, words[1:])
	default:
		ix.schema, _ = parseDefinition(words)
	}
	return ix
}

// withIndex reads the index of FT.CREATE with a name or alias, and calls next. missing is the error reply for an unknown
// name.
func (c *Call) withIndex(name []byte, missing string, next func(ix *searchIndex, w *store.Work) Plan) Plan {
	return c.readIndex(name, func(ix *searchIndex, w *store.Work) Plan {
		if ix == nil || ix.schema.Upstash != nil {
			return fail(missing)
		}
		return next(ix, w)
	})
}

// readIndex reads the index with a name or alias, and calls next, with nil for an unknown name.
func (c *Call) readIndex(name []byte, next func(ix *searchIndex, w *store.Work) Plan) Plan {
	args := []store.Value{store.Bytes(name)}
	return readThen(func(r *store.Result) Plan {
		found := decodeIndexes(r.Rows[0], r.Rows[1], r.Work)
		if len(found) == 0 || found[0].dead(c.Env.Now) {
			return next(nil, r.Work)
		}
		return next(found[0], r.Work)
	}, store.Stmt{SQL: sqlIndex, Args: args}, store.Stmt{SQL: sqlSynonyms, Args: args})
}

// dead reports whether a TEMPORARY index has ended. The sweep deletes it.
func (ix *searchIndex) dead(now int64) bool { return ix.diesAt != 0 && ix.diesAt <= now }

// deathAt returns when a TEMPORARY index ends that is used now, null for other indexes.
func deathAt(s *inverted.Schema, now int64) store.Value {
	if s.Temporary <= 0 {
		return store.Value{}
	}
	return store.Int(now + s.Temporary*1000)
}

// use notes that a query uses a TEMPORARY index.
func (c *Call) use(ix *searchIndex) {
	if ix.diesAt != 0 && c.Env.Search != nil {
		c.Env.Search.use(ix.id, c.Env.Now, deathAt(ix.schema, c.Env.Now).Int())
	}
}

const (
	noIndexName  = "Unknown index name"
	unknownIndex = "Unknown Index name"
)

func noSuchIndex(name []byte) string { return fmt.Sprintf("No such index %s", name) }

// writeIndex plans statements that change indexes, and no key.
func writeIndex(decode func(*store.Result) resp.Value, stmts ...store.Stmt) Plan {
	p := write(decode, stmts...)
	p.Keys = [][]byte{}
	return p
}

const (
	sqlGuardNewIndex = `INSERT INTO guard SELECT NULL FROM search_indexes WHERE name = ?1`
	sqlCreateIndex   = `INSERT INTO search_indexes(id, name, definition, version, scanned, dies_at, slot) VALUES(?1, ?2, ?3, ?4, ?5, ?6, 1 + ` + lastSlot + `)`
	lastSlot         = `(SELECT ifnull(max(slot), 0) FROM (SELECT slot FROM search_indexes UNION ALL SELECT slot FROM search_dropped UNION ALL SELECT max(id) >> ` + schema.SlotBits + ` FROM search_documents))`
	sqlDropDead      = `DELETE FROM search_indexes WHERE name = ?1 AND dies_at <= ?2`
)

var indexExists = resp.MakeError("Index already exists")

// ftCreate translates FT.CREATE and FT._CREATEIFNX.
func ftCreate(ifMissing bool) func(*Call) Plan {
	return func(c *Call) Plan {
		if c.Env.DB != 0 {
			return fail("Cannot create index on db != 0")
		}
		s, bad := parseDefinition(c.Args[2:])
		if bad != "" {
			return fail(bad)
		}
		if s.Filter != "" {
			if _, err := expr.Compile(s.Filter); err != nil {
				return fail(err.Error())
			}
		}
		if bad := checkPaths(s); bad != "" {
			return fail(bad)
		}
		scanned := store.Int(0)
		if s.SkipScan {
			scanned = store.Value{}
		}
		name := store.Bytes(c.Args[1])
		refused := &indexExists
		if ifMissing {
			refused = &resp.OK
		}
		stmts := []store.Stmt{{SQL: sqlDropDead, Args: []store.Value{name, store.Int(c.Env.Now)}}, {SQL: sqlGuardNewIndex, Args: []store.Value{name}, Refused: refused}}
		stmts = append(stmts, statements(schema.SearchTriggers)...)
		return writeIndex(decodeOK, append(stmts,
			store.Stmt{SQL: sqlCreateIndex, Args: []store.Value{c.newVersion(), name, store.Bytes(joinWords(c.Args[2:])), c.newVersion(), scanned, deathAt(s, c.Env.Now)}})...)
	}
}

// sqlAlterIndex sets the definition ?2, and scans the keys again, unless ?3 is set.
const sqlAlterIndex = `UPDATE search_indexes SET definition = ?2, version = version + 1, scanned = iif(?3, scanned, 0) WHERE id = ?1`

func ftAlter(ifMissing bool) func(*Call) Plan {
	return func(c *Call) Plan {
		return c.withIndex(c.Args[1], noIndexName, func(ix *searchIndex, w *store.Work) Plan {
			d := &definition{words: c.Args[2:]}
			skip := d.is("SKIPINITIALSCAN")
			switch {
			case !d.is("SCHEMA"):
				return fail("ALTER must be followed by SCHEMA")
			case !d.is("ADD"):
				return fail("Unknown action passed to ALTER SCHEMA")
			case !d.more():
				return fail("No fields provided")
			}
			added := d.words[d.at:]
			if ifMissing && ix.schema.Field(string(added[0])) != nil {
				return answer(resp.OK)
			}
			if bad := d.fields(ix.schema); bad != "" {
				return fail(bad)
			}
			if bad := checkPaths(ix.schema); bad != "" {
				return fail(bad)
			}
			if ix.schema.TextFields() > fewTextFields && !ix.schema.MaxTextFields {
				return fail("Cannot add more TEXT fields: the index was created without MAXTEXTFIELDS")
			}
			definition := append(append(bytes.Clone(ix.definition), ' '), joinWords(added)...)
			id := store.Int(ix.id)
			return writeIndex(decodeOK, store.Stmt{SQL: sqlGuardIndexVersion, Args: []store.Value{id, store.Int(ix.version)}, Refused: &searchBusy},
				store.Stmt{SQL: sqlAlterIndex, Args: []store.Value{id, store.Bytes(definition), store.Int(int64(toInt(skip)))}})
		})
	}
}

func toInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

const (
	sqlDropIndex = `DELETE FROM search_indexes WHERE id = ?1`
	// sqlDropKeys deletes the keys of indexed documents.
	sqlDropKeys     = `DELETE FROM keys WHERE id IN (SELECT d.key_id FROM search_documents d WHERE ` + docsOfIndex + `) AND db = 0`
	sqlNamesOfIndex = `SELECT k.key FROM search_documents d CROSS JOIN keys k ON k.id = d.key_id AND k.db = 0 WHERE ` + docsOfIndex
	sqlDropKey      = `DELETE FROM keys WHERE id = ?1 AND version = ?2`
)

func ftDropindex(ifPresent bool) func(*Call) Plan {
	return func(c *Call) Plan {
		dd := len(c.Args) == 3 && c.is(2, "DD")
		if len(c.Args) > 3 || len(c.Args) == 3 && !dd {
			return fail("Unknown argument")
		}
		plan := c.withIndex(c.Args[1], unknownIndex, func(ix *searchIndex, w *store.Work) Plan {
			drop := store.Stmt{SQL: sqlDropIndex, Args: []store.Value{store.Int(ix.id)}}
			if !dd {
				return writeIndex(decodeOK, drop)
			}
			return c.withChanged(ix, w, func(p *pending) Plan { return c.dropWithKeys(ix, p, drop) })
		})
		if ifPresent {
			then := plan.Then
			plan.Then = func(r *store.Result) Plan {
				if len(r.Rows[0]) == 0 {
					return answer(resp.OK)
				}
				return then(r)
			}
		}
		return plan
	}
}

// dropWithKeys drops an index with the keys that it has.
func (c *Call) dropWithKeys(ix *searchIndex, p *pending, drop store.Stmt) Plan {
	id := store.Int(ix.id)
	return readThen(func(r *store.Result) Plan {
		names := make([][]byte, 0, len(r.Rows[0])+len(p.matching))
		for _, row := range r.Rows[0] {
			r.Work.Grow(24)
			names = append(names, row[0].Bytes())
		}
		stmts := []store.Stmt{}
		for _, k := range p.matching {
			names = append(names, k.key)
			stmts = append(stmts, store.Stmt{SQL: sqlDropKey, Args: []store.Value{store.Int(k.id), store.Int(k.version)}})
		}
		stmts = append(stmts, store.Stmt{SQL: sqlDeleteDocs, Args: []store.Value{id, numberList(p.staleDocs)}})
		plan := write(decodeOK, append(stmts, store.Stmt{SQL: sqlDropKeys, Args: []store.Value{id}}, drop)...)
		plan.Keys = names
		return plan
	}, store.Stmt{SQL: sqlNamesOfIndex, Args: []store.Value{id}})
}

func ftList(c *Call) Plan {
	return read(func(r *store.Result) resp.Value {
		v := bulks(r.Rows[0])
		v.Kind = resp.Set
		return v
	}, store.Stmt{SQL: `SELECT i.name FROM search_indexes i WHERE NOT ` + isUpstash + ` AND (i.dies_at IS NULL OR i.dies_at > ?1) ORDER BY i.name`, Args: []store.Value{store.Int(c.Env.Now)}})
}

const (
	sqlGuardAlias   = `INSERT INTO guard SELECT NULL FROM search_aliases WHERE alias = ?1`
	sqlSetAlias     = `INSERT INTO search_aliases(alias, index_id) VALUES(?1, ?2) ON CONFLICT(alias) DO UPDATE SET index_id = excluded.index_id`
	sqlDropAlias    = `DELETE FROM search_aliases WHERE alias = ?1`
	sqlIsIndex      = `SELECT 1 FROM search_indexes WHERE name = ?1`
	sqlGuardIndexID = `INSERT INTO guard SELECT NULL WHERE NOT EXISTS (SELECT 1 FROM search_indexes WHERE id = ?1)`
	sqlIsAlias      = `SELECT 1 FROM search_aliases WHERE alias = ?1`
)

var (
	aliasExists   = resp.MakeError("Alias already exists")
	aliasMissing  = resp.MakeError("Alias does not exist")
	aliasTarget   = "Unknown index name (or name is an alias itself)"
	indexWentAway = resp.MakeError("Unknown index name")
)

func (c *Call) setAlias(guards ...store.Stmt) Plan {
	alias := store.Bytes(c.Args[1])
	return readThen(func(r *store.Result) Plan {
		if len(r.Rows[0]) == 0 {
			return fail(aliasTarget)
		}
		if len(r.Rows[1]) > 0 {
			return fail("Alias conflicts with an existing index name")
		}
		id := store.Int(r.Rows[0][0][0].Int())
		stmts := append(guards, store.Stmt{SQL: sqlGuardIndexID, Args: []store.Value{id}, Refused: &indexWentAway}, store.Stmt{SQL: sqlSetAlias, Args: []store.Value{alias, id}})
		return writeIndex(decodeOK, stmts...)
	}, store.Stmt{SQL: `SELECT i.id FROM search_indexes i WHERE i.name = ?1 AND NOT ` + isUpstash, Args: []store.Value{store.Bytes(c.Args[2])}}, store.Stmt{SQL: sqlIsIndex, Args: []store.Value{alias}})
}

func ftAliasadd(ifMissing bool) func(*Call) Plan {
	return func(c *Call) Plan {
		refused := &aliasExists
		if ifMissing {
			refused = &resp.OK
		}
		return c.setAlias(store.Stmt{SQL: sqlGuardAlias, Args: []store.Value{store.Bytes(c.Args[1])}, Refused: refused})
	}
}

func ftAliasupdate(c *Call) Plan { return c.setAlias() }

func ftAliasdel(ifPresent bool) func(*Call) Plan {
	return func(c *Call) Plan {
		return writeIndex(func(r *store.Result) resp.Value {
			if r.Changes[0] == 0 && !ifPresent {
				return aliasMissing
			}
			return resp.OK
		}, store.Stmt{SQL: sqlDropAlias, Args: []store.Value{store.Bytes(c.Args[1])}})
	}
}

// ftAliaslist translates FT.ALIASLIST, which accepts no alias.
func ftAliaslist(c *Call) Plan {
	name := []store.Value{store.Bytes(c.Args[1])}
	return read(func(r *store.Result) resp.Value {
		if len(r.Rows[0]) == 0 {
			return resp.MakeError("Unknown index name (or name is an alias itself)")
		}
		v := bulks(r.Rows[1])
		v.Kind = resp.Set
		return v
	}, store.Stmt{SQL: sqlIsIndex, Args: name},
		store.Stmt{SQL: `SELECT alias FROM search_aliases WHERE index_id = (SELECT id FROM search_indexes WHERE name = ?1) ORDER BY alias`, Args: name})
}
