//go:build !wasip1 || search

package translator

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"slices"
	"unicode/utf8"

	"github.com/meowdis/meowdis/internal/smallsort"
	"github.com/meowdis/meowdis/redis/rdb"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/redis/search/text"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/store/keytype"
	"github.com/meowdis/meowdis/translator/inverted"
)

// The commands of suggestions: redis.io/docs/latest/commands/ft.sugadd.

const suggestionsType = keytype.Suggestions

// The limits of Redis. A longer string is not added.
const (
	maxSuggestion       = 255 // characters
	maxSuggestionPrefix = 99  // characters
)

const (
	sqlSetSuggestion = `UPDATE suggestions SET score = ifnull(iif(?5, score, 0) + ?4, 0), payload = ifnull(?6, payload)
		WHERE key_id = ` + thisID + ` AND folded = ?7 AND string = ?3`
	sqlAddSuggestion  = `INSERT INTO suggestions(key_id, string, folded, score, payload) VALUES(` + thisID + `, ?3, ?5, ?4, ?6) ON CONFLICT DO NOTHING`
	sqlDropSuggestion = `DELETE FROM suggestions WHERE key_id = ` + liveID + ` AND folded = ?4 AND string = ?5`
	sqlTypeAndCount   = `SELECT type, count FROM keys WHERE ` + live

	// sqlSuggest orders by Redis's score, or by its square, since not every store has roots. ?6 is the length of the prefix.
	sqlSuggest = `SELECT string, score, payload FROM suggestions WHERE key_id = ` + liveID + ` AND folded >= ?4 AND folded < ?5
		ORDER BY folded = ?4 DESC, score * abs(score) / (1 + length(CAST(folded AS TEXT)) - ?6) DESC, string LIMIT ?7`
	// sqlSuggestNear reads the strings that may begin with the prefix after one edit: they begin with its first half ?4, or have
	// its second half ?6.
	sqlSuggestNear = `SELECT string, score, payload FROM suggestions WHERE key_id = ` + liveID + ` AND (folded >= ?4 AND folded < ?5 OR instr(folded, ?6) > 0)`
	sqlSuggestions = `SELECT string, score, payload FROM suggestions WHERE key_id = ` + liveID + ` ORDER BY folded, string`
)

func folded(s []byte) []byte { return []byte(text.Fold(string(s))) }

func ftSugadd(c *Call) Plan {
	key, s := c.Args[1], c.Args[2]
	score, ok := parseFloat(c.Args[3])
	if !ok || math.IsNaN(score) {
		return fail("ERR invalid score")
	}
	var payload store.Value
	d := &definition{words: c.Args[4:]}
	incr := false
	for d.more() {
		switch {
		case d.is("INCR"):
			incr = true
		case d.is("PAYLOAD"):
			if !d.more() {
				return fail("Invalid payload: " + noArgument)
			}
			if p := d.next(); len(p) > 0 {
				payload = store.Bytes(p)
			}
		default:
			return fail(fmt.Sprintf("Unknown argument `%s`", d.next()))
		}
	}
	if len(s) == 0 || utf8.RuneCount(s) > maxSuggestion {
		return ftSuglen(c)
	}
	args := c.key(key)[:2:2]
	f, points := store.Bytes(folded(s)), store.Float(float64(float32(score)))
	set := store.Stmt{SQL: sqlSetSuggestion, Args: append(args, store.Bytes(s), points, store.Int(int64(toInt(incr))), payload, f)}
	add := store.Stmt{SQL: sqlAddSuggestion, Args: append(args, store.Bytes(s), points, f, payload),
		SkipIf: func(before store.Result) bool { return before.Changes[2] > 0 }}
	return write(func(r *store.Result) resp.Value { return resp.MakeInt(r.Rows[6][0][1].Int()) },
		c.purge(key), c.ensure(key, suggestionsType), set, c.touchIfChanged(key), add, c.countAdded(key), c.stmt(sqlTypeAndCount, key))
}

func ftSugdel(c *Call) Plan {
	key, s := c.Args[1], c.Args[2]
	return write(changed(2), c.guardType(key, suggestionsType), c.purge(key),
		c.stmt(sqlDropSuggestion, key, store.Bytes(folded(s)), store.Bytes(s)), c.countRemoved(key), c.dropEmpty(key))
}

func ftSuglen(c *Call) Plan {
	return read(func(r *store.Result) resp.Value {
		switch {
		case len(r.Rows[0]) == 0:
			return resp.Zero
		case string(r.Rows[0][0][0].Bytes()) != suggestionsType:
			return wrongType
		}
		return resp.MakeInt(r.Rows[0][0][1].Int())
	}, c.stmt(sqlTypeAndCount, c.Args[1]))
}

// suggestCall holds the arguments of FT.SUGGET.
type suggestCall struct {
	prefix                          []byte // in lower case
	fuzzy, withScores, withPayloads bool
	max                             int64
}

func (q *suggestCall) parse(words [][]byte) (bad string) {
	d := &definition{words: words}
	for d.more() {
		switch {
		case d.is("FUZZY"):
			q.fuzzy = true
		case d.is("WITHSCORES"):
			q.withScores = true
		case d.is("WITHPAYLOADS"):
			q.withPayloads = true
		case d.is("MAX"):
			n, ok := parseInt(d.next())
			if !ok || n < 1 {
				return badArgument("MAX", wrongArgument)
			}
			q.max = n
		default:
			return "Unrecognized argument: " + string(d.next())
		}
	}
	return ""
}

// suggestion holds a string that FT.SUGGET found.
type suggestion struct {
	row   store.Row
	score float64
}

func ftSugget(c *Call) Plan {
	key := c.Args[1]
	q := &suggestCall{prefix: folded(c.Args[2]), max: 5}
	if bad := q.parse(c.Args[3:]); bad != "" {
		return fail(bad)
	}
	chars := []rune(string(q.prefix))
	if len(chars) > maxSuggestionPrefix {
		return fail("Invalid query")
	}
	first := q.prefix
	if q.fuzzy {
		first = []byte(string(chars[:len(chars)/2]))
	}
	next := []byte{0xff} // after every string
	if len(first) > 0 {
		next = inverted.After(first)
	}
	args := []store.Value{store.Bytes(first), store.Bytes(next)}
	stmt := c.stmt(sqlSuggest, key, append(args, store.Int(int64(len(chars))), store.Int(q.max))...)
	if q.fuzzy {
		stmt = c.stmt(sqlSuggestNear, key, append(args, store.Bytes([]byte(string(chars[len(chars)/2:]))))...)
	}
	return read(func(r *store.Result) resp.Value {
		if len(r.Rows[0]) > 0 && string(r.Rows[0][0][0].Bytes()) != suggestionsType {
			return wrongType
		}
		return q.reply(q.found(r.Rows[1], r.Work))
	}, c.typeOf(key), stmt)
}

// found returns the suggestions in order of their scores.
func (q *suggestCall) found(rows []store.Row, w *store.Work) (all []suggestion) {
	for _, row := range rows {
		w.Grow(48)
		w.Step(8 * (len(q.prefix) + 1))
		if score, ok := text.Suggest(string(q.prefix), string(row[0].Bytes()), row[1].Float(), q.fuzzy); ok {
			all = append(all, suggestion{row, score})
		}
	}
	smallsort.Sort(all, func(a, b suggestion) int {
		return cmp.Or(cmp.Compare(b.score, a.score), bytes.Compare(a.row[0].Bytes(), b.row[0].Bytes()))
	})
	return all[:min(q.max, int64(len(all)))]
}

func (q *suggestCall) reply(all []suggestion) resp.Value {
	v := resp.EmptyArray
	for _, s := range all {
		v.Elems = append(v.Elems, bulk(s.row[0]))
		if q.withScores {
			v.Elems = append(v.Elems, resp.MakeDouble(s.score))
		}
		if q.withPayloads {
			v.Elems = append(v.Elems, bulk(s.row[2]))
		}
	}
	return v
}

// suggestionsValue holds the strings of a payload of DUMP.
type suggestionsValue struct {
	*rdb.Module
	rows []store.Row // string, score and payload
}

// suggestionsVersion numbers the format of the payload. In version 0 strings have no payloads.
const suggestionsVersion = 1

// dumpSuggestions plans DUMP. Each string and payload ends with a zero.
func (c *Call) dumpSuggestions() Plan {
	return readThen(func(r *store.Result) Plan {
		m := &rdb.Module{Name: suggestionsType, Version: suggestionsVersion}
		m.Numbers(uint64(len(r.Rows[0])))
		size := 0
		for _, row := range r.Rows[0] {
			size += 32 + len(row[0].Bytes()) + len(row[2].Bytes())
		}
		r.Work.Grow(3 * int64(size))
		m.Grow(size)
		for _, row := range r.Rows[0] {
			m.String(append(slices.Clip(row[0].Bytes()), 0))
			m.Double(row[1].Float())
			m.String(append(slices.Clip(row[2].Bytes()), 0))
		}
		return answer(resp.MakeBulk(rdb.Dump(m, r.Work.Step)))
	}, c.stmt(sqlSuggestions, c.Args[1]))
}

// dumpedSuggestions decodes a payload, and returns nil for a bad one.
func dumpedSuggestions(m *rdb.Module, w *store.Work) rdb.Value {
	if m.Version > suggestionsVersion {
		return nil
	}
	r := m.Reader()
	text := func() []byte {
		b := r.String()
		if n := len(b); n > 0 && b[n-1] == 0 {
			return b[:n-1]
		}
		return nil
	}
	v := &suggestionsValue{Module: m}
	seen := map[string]bool{}
	for n := r.Number(); n > 0 && r.More(); n-- {
		s, score, payload := text(), r.Double(), store.Value{}
		if m.Version > 0 {
			if p := text(); len(p) > 0 {
				payload = store.Bytes(p)
			}
		}
		w.Grow(int64(256 + 2*len(s)))
		if len(s) == 0 || seen[string(s)] || math.IsNaN(score) {
			return nil
		}
		seen[string(s)] = true
		v.rows = append(v.rows, store.Row{store.Bytes(s), store.Float(score), payload})
	}
	if !r.Done() || len(v.rows) == 0 {
		return nil
	}
	return v
}

// restoreSuggestions creates a key. The key must not exist.
func (c *Call) restoreSuggestions(key []byte, v *suggestionsValue) []store.Stmt {
	stmts := []store.Stmt{c.ensure(key, suggestionsType)}
	args := c.key(key)[:2:2]
	for _, row := range v.rows {
		stmts = append(stmts, store.Stmt{SQL: sqlAddSuggestion, Args: append(args, row[0], row[1], store.Bytes(folded(row[0].Bytes())), row[2])})
	}
	return append(stmts, store.Stmt{SQL: sqlCountChanged, Args: append(args, store.Int(int64(len(v.rows))), store.Int(c.Env.Now))})
}
