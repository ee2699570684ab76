package catalog

import (
	"context"
	"slices"
	"strings"

	"github.com/meowdis/meowdis/store"
)

// body is where the values of a type are: rows of a table by key_id, and the bytes
// that a row counts for.
type body struct{ kind, table, bytes string }

// inParts is the bytes of a string that is kept in parts, whose row has none of them.
const inParts = `iif(type = 'string', count, 0)`

// bodies are the types that a file can hold, the frequent ones first.
var bodies = []body{
	{"string", "strings", "length(value)"},
	{"hash", "hashes", "length(field) + length(value)"},
	{"list", "lists", "length(value)"},
	{"set", "sets", "length(member)"},
	{"zset", "zsets", "length(member) + 8"},
	{"stream", "stream_entries", "length(fields) + 16"},
	{"ReJSON-RL", "documents", "length(value)"},
	{"array", "arrays", "length(value) + 8"},
	{"vectorset", "vectors", "length(element) + ifnull(length(attributes), 0)"},
}

// byKind is an expression for each of the types that some chooses; NULL for the
// others.
func byKind(expression func(i int, b body) string, some func(b body) bool) string {
	var sql strings.Builder
	sql.WriteString(`CASE type`)
	for i, b := range bodies {
		if some(b) {
			sql.WriteString(` WHEN '` + b.kind + `' THEN ` + expression(i, b))
		}
	}
	return sql.String() + ` END`
}

func every(body) bool { return true }

// whole tells whether a value is one row, and its size the bytes of it.
func (b body) whole() bool { return b.kind == "string" || b.kind == "ReJSON-RL" }

// number is a type's place in bodies.
func number(i int, _ body) string { return string(rune('0' + i)) }

var (
	// byteCount is the bytes of a key and its value, looked up key by key: for keys in
	// another order than that of the file.
	byteCount = `(length(key) + ` + inParts + ` + ifnull(` + byKind(func(_ int, b body) string {
		return `(SELECT sum(` + b.bytes + `) FROM ` + b.table + ` WHERE key_id = keys.id)`
	}, every) + `, 0))`

	// typeRank numbers the types in the order of their names.
	typeRank = byKind(func(_ int, b body) string {
		before := 0
		for _, other := range bodies {
			if other.kind < b.kind {
				before++
			}
		}
		return number(before, b)
	}, every)

	// sqlWeights are the bytes of the values of a type, by the ids ?1 to ?2 of their
	// keys: one walk through a part of its table.
	sqlWeights = func() (all []string) {
		for _, b := range bodies {
			bytes, group := b.bytes, ``
			if !b.whole() {
				bytes, group = `sum(`+b.bytes+`)`, ` GROUP BY key_id`
			}
			all = append(all, `SELECT key_id, `+bytes+` FROM `+b.table+` WHERE key_id >= ?1 AND key_id <= ?2`+group+` ORDER BY key_id`)
		}
		return all
	}()
)

// unweighed is a key whose value is to be weighed: its id, and the number of its type.
type unweighed struct{ id, kind int64 }

// weights are the bytes of the values of keys, without those of their names and of
// strings in parts. The keys stand in the order of their ids, as near each other as
// they are in the file.
func (c *Catalog) weights(ctx context.Context, keys []unweighed) ([]int64, error) {
	var stmts []store.Stmt
	for kind, sql := range sqlWeights {
		is := func(k unweighed) bool { return k.kind == int64(kind) }
		first := slices.IndexFunc(keys, is)
		if first < 0 {
			continue
		}
		last := len(keys) - 1
		for !is(keys[last]) {
			last--
		}
		stmts = append(stmts, store.Stmt{SQL: sql, Args: []store.Value{store.Int(keys[first].id), store.Int(keys[last].id)}})
	}
	weights := make([]int64, len(keys))
	if len(stmts) == 0 {
		return weights, nil
	}
	results, err := c.read(ctx, stmts...)
	if err != nil {
		return nil, err
	}
	for _, rows := range results {
		i := 0
		for _, row := range rows {
			id := row[0].Int()
			for i < len(keys) && keys[i].id < id {
				i++
			}
			if i < len(keys) && keys[i].id == id {
				weights[i] += row[1].Int()
			}
		}
	}
	return weights, nil
}
