//go:build !wasip1 || search

package translator

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/meowdis/meowdis/redis/glob"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/redis/search/upstash"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/store/schema"
	"github.com/meowdis/meowdis/translator/inverted"
)

// The commands of Upstash's search work on the tables of FT.CREATE. The definition of their indexes begins with
// upstashMark, which FT.CREATE does not accept. FT commands do not find these indexes, and SEARCH commands no others.
const (
	upstashMark = "SEARCH"

	isUpstash = `substr(i.definition, 1, 7) = x'53454152434820'` // "SEARCH "
)

// parseUpstash parses a stored definition, without its mark.
func parseUpstash(name []byte, words [][]byte) *inverted.Schema {
	d, err := upstash.ParseCreate(append([]string{string(name)}, texts(words)...))
	if err != nil {
		return nil
	}
	return inverted.FromUpstash(d)
}

func texts(words [][]byte) []string {
	all := make([]string, len(words))
	for i, w := range words {
		all[i] = string(w)
	}
	return all
}

// failWith plans an error reply of the commands of Upstash.
func failWith(err error) Plan {
	var e *upstash.Error
	if errors.As(err, &e) {
		return fail("ERR " + e.Text)
	}
	return fail("ERR " + err.Error())
}

// withUpstash reads the index of a name or alias, and calls next. The reply is missing for an unknown name.
func (c *Call) withUpstash(name []byte, missing resp.Value, next func(ix *searchIndex, w *store.Work) Plan) Plan {
	return c.readIndex(name, func(ix *searchIndex, w *store.Work) Plan {
		if ix == nil || ix.schema.Upstash == nil {
			return answer(missing)
		}
		return next(ix, w)
	})
}

func upstashCreate(c *Call) Plan {
	if c.Env.DB != 0 {
		return fail("ERR Cannot create index on db != 0")
	}
	d, err := upstash.ParseCreate(texts(c.Args[1:]))
	if err != nil {
		return failWith(err)
	}
	words := [][]byte{[]byte(upstashMark)}
	for _, w := range d.Words() {
		words = append(words, []byte(w))
	}
	definition := joinWords(words)
	exists := resp.MakeError(fmt.Sprintf("ERR Index %s already exists", d.Name))
	name := store.Bytes(c.Args[1])
	return readThen(func(r *store.Result) Plan {
		switch {
		case len(r.Rows[0]) == 0:
		case d.ExistsOK && slices.Equal(r.Rows[0][0][0].Bytes(), definition):
			return answer(resp.Zero)
		default:
			return answer(exists)
		}
		scanned := store.Int(0)
		if d.SkipInitialScan {
			scanned = store.Value{}
		}
		stmts := []store.Stmt{{SQL: sqlGuardNewIndex, Args: []store.Value{name}, Refused: &exists}}
		stmts = append(stmts, statements(schema.SearchTriggers)...)
		if d.Type == "STRING" {
			stmts = append(stmts, statements(schema.SearchStringTriggers)...)
		}
		return writeIndex(always(resp.One), append(stmts,
			store.Stmt{SQL: sqlCreateIndex, Args: []store.Value{c.newVersion(), name, store.Bytes(definition), c.newVersion(), scanned, {}}})...)
	}, store.Stmt{SQL: `SELECT definition FROM search_indexes WHERE name = ?1`, Args: []store.Value{name}})
}

func upstashDrop(c *Call) Plan {
	return writeIndex(changed(0), store.Stmt{SQL: `DELETE FROM search_indexes AS i WHERE i.name = ?1 AND ` + isUpstash, Args: []store.Value{store.Bytes(c.Args[1])}})
}

func upstashReindex(c *Call) Plan {
	return c.withUpstash(c.Args[1], resp.Zero, func(ix *searchIndex, _ *store.Work) Plan {
		return writeIndex(always(resp.One), store.Stmt{SQL: sqlRescan, Args: []store.Value{store.Int(ix.id)}})
	})
}

// upstashWait translates SEARCH.WAITINDEXING: it indexes the keys that the first scan has not reached. Other changes are
// always seen.
func upstashWait(c *Call) Plan {
	return c.withUpstash(c.Args[1], resp.Zero, func(ix *searchIndex, w *store.Work) Plan {
		if ix.scanned < 0 {
			return answer(resp.One)
		}
		return c.unscanned(ix, ix.scanned, nil, w, func(ids []int64, w *store.Work) Plan {
			return replying(c.indexKeys([]*searchIndex{ix}, ids, math.MaxInt64, w, func([]int64) store.Stmt { return scannedTo(ix, store.Value{}) }), resp.One)
		})
	})
}

// unscanned appends the ids of the keys after the last one that the first scan has reached, and calls next.
func (c *Call) unscanned(ix *searchIndex, after int64, ids []int64, w *store.Work, next func(ids []int64, w *store.Work) Plan) Plan {
	return readThen(func(r *store.Result) Plan {
		for _, row := range r.Rows[0] {
			r.Work.Grow(8)
			after = row[0].Int()
			ids = append(ids, after)
		}
		if len(r.Rows[0]) < maxUnscanned {
			return next(ids, r.Work)
		}
		return c.unscanned(ix, after, ids, r.Work, next)
	}, store.Stmt{SQL: sqlUnscanned, Args: []store.Value{store.Int(ix.id), store.Int(after), store.Int(maxUnscanned), store.String(ix.keyType())}})
}

// replying changes the reply of a plan that writes.
func replying(p Plan, v resp.Value) Plan {
	if then := p.Then; then != nil {
		p.Then = func(r *store.Result) Plan { return replying(then(r), v) }
	} else {
		p.Decode = always(v)
	}
	return p
}

// sqlIndexBytes counts the bytes of the rows of an index.
const sqlIndexBytes = `SELECT (SELECT ifnull(sum(length(term) + length(data)), 0) FROM search_postings WHERE index_id = ?1)
	+ (SELECT ifnull(sum(length(term) + length(data)), 0) FROM search_pages WHERE index_id = ?1) + 16 * (SELECT count(*) FROM search_numbers WHERE index_id = ?1)`

func upstashDescribe(c *Call) Plan {
	return c.withUpstash(c.Args[1], resp.Nil, func(ix *searchIndex, _ *store.Work) Plan {
		id := store.Int(ix.id)
		stmts := []store.Stmt{{SQL: sqlIndexBytes, Args: []store.Value{id}}}
		if ix.scanned >= 0 {
			stmts = append(stmts, store.Stmt{SQL: sqlCountUnscanned, Args: []store.Value{store.Int(ix.scanned), store.String(ix.keyType())}})
		}
		return read(func(r *store.Result) resp.Value {
			pending := int64(0)
			if ix.scanned >= 0 {
				pending = r.Rows[1][0][0].Int()
			}
			d, str := ix.schema.Upstash, resp.MakeString
			schema := resp.EmptyArray
			for _, f := range d.Described() {
				schema.Elems = append(schema.Elems, stringList(f))
			}
			return resp.MakeMap(str("name"), resp.MakeBulk(ix.name), str("type"), str(d.Type), str("prefixes"), stringList(d.Prefixes), str("language"), str(d.Language),
				str("indexSize"), resp.MakeInt(r.Rows[0][0][0].Int()), str("pendingUpdates"), resp.MakeInt(pending), str("schema"), schema)
		}, stmts...)
	})
}

func stringList(list []string) resp.Value {
	v := resp.EmptyArray
	for _, s := range list {
		v.Elems = append(v.Elems, resp.MakeString(s))
	}
	return v
}

// parseListindexes parses the options of SEARCH.LISTINDEXES. Without them pattern is nil, and limit is 0.
func parseListindexes(args [][]byte) (pattern []byte, limit, offset int64, refusal string) {
	for i := 0; i < len(args); i += 2 {
		option := strings.ToUpper(string(args[i]))
		if i+1 == len(args) || option != "MATCH" && option != "LIMIT" && option != "OFFSET" {
			return nil, 0, 0, "ERR syntax error"
		}
		if option == "MATCH" {
			pattern = args[i+1]
			continue
		}
		n, ok := parseInt(args[i+1])
		if !ok || n < 0 {
			return nil, 0, 0, errNotInteger
		}
		if option == "LIMIT" {
			limit = n
		} else {
			offset = n
		}
	}
	return pattern, limit, offset, ""
}

// upstashListindexes translates SEARCH.LISTINDEXES [MATCH pattern] [LIMIT n] [OFFSET n].
func upstashListindexes(c *Call) Plan {
	pattern, limit, offset, refusal := parseListindexes(c.Args[1:])
	if refusal != "" {
		return fail(refusal)
	}
	return read(func(r *store.Result) resp.Value {
		all := resp.EmptyArray
		for _, row := range r.Rows[0] {
			if pattern != nil && !glob.MatchCounted(pattern, row[0].Bytes(), false, r.Work.Step) {
				continue
			}
			words, err := resp.SplitLine(string(row[1].Bytes()))
			if err != nil {
				continue
			}
			if s := parseUpstash(row[0].Bytes(), words[1:]); s != nil {
				all.Elems = append(all.Elems, resp.MakeMap(resp.MakeString("name"), resp.MakeBulk(row[0].Bytes()), resp.MakeString("type"), resp.MakeString(s.Upstash.Type)))
			}
		}
		all.Elems = all.Elems[min(offset, int64(len(all.Elems))):]
		if limit > 0 {
			all.Elems = all.Elems[:min(limit, int64(len(all.Elems)))]
		}
		return all
	}, store.Stmt{SQL: `SELECT i.name, i.definition FROM search_indexes i WHERE ` + isUpstash + ` ORDER BY i.name`})
}

// An alias of SEARCH.ALIASADD is a row of search_aliases with the name of the index, which need not exist.
const (
	sqlUpstashAliases   = `SELECT alias, index_id FROM search_aliases WHERE typeof(index_id) = 'blob' ORDER BY alias`
	sqlDropUpstashAlias = `DELETE FROM search_aliases WHERE alias = ?1 AND typeof(index_id) = 'blob'`
)

func upstashAliasadd(c *Call) Plan {
	alias := store.Bytes(c.Args[1])
	return writeIndex(func(r *store.Result) resp.Value {
		if len(r.Rows[0]) > 0 {
			return resp.MakeInt(2)
		}
		return resp.One
	}, store.Stmt{SQL: sqlIsAlias, Args: []store.Value{alias}}, store.Stmt{SQL: sqlSetAlias, Args: []store.Value{alias, store.Bytes(c.Args[2])}})
}

func upstashAliasdel(c *Call) Plan {
	return writeIndex(changed(0), store.Stmt{SQL: sqlDropUpstashAlias, Args: []store.Value{store.Bytes(c.Args[1])}})
}

func upstashListaliases(c *Call) Plan {
	return read(func(r *store.Result) resp.Value {
		all := resp.EmptyArray
		for _, row := range r.Rows[0] {
			all.Elems = append(all.Elems, resp.MakeArray(resp.MakeBulk(row[0].Bytes()), resp.MakeBulk(row[1].Bytes())))
		}
		return all
	}, store.Stmt{SQL: sqlUpstashAliases})
}
