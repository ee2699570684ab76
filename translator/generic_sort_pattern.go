package translator

import (
	"bytes"
	"iter"
	"slices"

	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
)

// keyPattern holds a pattern of SORT's BY or GET. It derives the name of a key from an element, which replaces the
// first *. A trailing "->field" selects a field of a hash. The pattern # is the element itself.
type keyPattern struct {
	itself         bool
	hasStar        bool // the pattern has a *
	prefix, suffix []byte
	field          []byte // empty for a string
}

// parseKeyPattern parses a pattern. As in Redis, a * or an arrow after a NUL is ignored.
func parseKeyPattern(pattern []byte) keyPattern {
	if string(pattern) == "#" {
		return keyPattern{itself: true}
	}
	star := bytes.IndexByte(cString(pattern), '*')
	if star < 0 {
		return keyPattern{}
	}
	d := keyPattern{hasStar: true, prefix: pattern[:star], suffix: pattern[star+1:]}
	if arrow := bytes.Index(cString(d.suffix), []byte("->")); arrow >= 0 && arrow+2 < len(cString(d.suffix)) {
		d.suffix, d.field = d.suffix[:arrow], d.suffix[arrow+2:]
	}
	return d
}

// constant reports whether the pattern has the same value for all elements.
func (d keyPattern) constant() bool { return !d.hasStar }

// sqlDerivedFields returns the field ?5, with the hash ?4, of each of the keys ?2, or NULL if it is missing. sqlMGet
// does the same for strings.
const sqlDerivedFields = `SELECT h.value FROM json_each(?2) j
	LEFT JOIN keys k ON k.db = ?1 AND k.key = unhex(j.value) AND (k.dies_at IS NULL OR k.dies_at > ?3)
	LEFT JOIN hashes h ON h.key_id = k.id AND h.hash = ?4 AND h.field = ?5 AND ` + liveField + ` ORDER BY j.key`

// lookUp reads the values of the patterns for each item. next receives one column per pattern with one value per item,
// nil if missing.
func (s *sortCall) lookUp(patterns []keyPattern, items []item, next func([][]resp.Value) Plan) Plan {
	var stmts []store.Stmt
	var reads [][]byte
	for _, d := range patterns {
		if !d.hasStar || len(items) == 0 {
			continue
		}
		names := s.names(d, items)
		reads = append(reads, names...)
		stmt := s.stringsAt(names)
		if len(d.field) > 0 {
			stmt = store.Stmt{SQL: sqlDerivedFields, Args: append(s.list(names), hashValue(d.field), store.Bytes(d.field))}
		}
		stmts = append(stmts, stmt)
	}
	columns := func(r *store.Result) Plan {
		found, at := make([][]resp.Value, len(patterns)), 0
		for i, d := range patterns {
			if !d.hasStar || len(items) == 0 {
				found[i] = d.without(items)
				continue
			}
			if len(d.field) > 0 {
				found[i] = bulks(r.Rows[at]).Elems
			} else {
				found[i] = stringsOf(r.Rows[at], r.Work)
			}
			at++
		}
		return next(found)
	}
	if len(stmts) == 0 {
		return columns(nil)
	}
	p := readThen(columns, stmts...)
	p.Reads = reads
	return p
}

// names returns the names of the keys that a pattern makes of items.
func (s *sortCall) names(d keyPattern, items []item) [][]byte {
	names := make([][]byte, len(items))
	for i := range items {
		s.work.Step(stepsPerSorted + len(items[i].element))
		s.work.Grow(int64(64 + 3*(len(d.prefix)+len(items[i].element)+len(d.suffix)))) // the name, and as hex digits
		names[i] = slices.Concat(d.prefix, items[i].element, d.suffix)
	}
	return names
}

// without returns the column of a pattern that names no keys.
func (d keyPattern) without(items []item) []resp.Value {
	values := make([]resp.Value, len(items))
	for i := range items {
		values[i] = resp.Nil
		if d.itself {
			values[i] = resp.MakeBulk(items[i].element)
		}
	}
	return values
}

// rounds splits a list of groups of width words into parts small enough for one argument on any engine.
func (c *Call) rounds(list [][]byte, width int) iter.Seq[[][]byte] {
	return func(yield func([][]byte) bool) {
		start, size := 0, 0
		for i, b := range list {
			if i%width == 0 && i > start && (i-start >= c.round()*width || size > zsetRoundBytes) {
				if !yield(list[start:i]) {
					return
				}
				start, size = i, 0
			}
			size += len(b)
		}
		if start < len(list) {
			yield(list[start:])
		}
	}
}
