package translator

import (
	"bytes"
	"cmp"
	"math"
	"slices"

	"github.com/meowdis/meowdis/internal/smallsort"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
)

// An input is a sorted set, or a set, whose members have score 1. An intersection needs only members of the smallest
// input, and a difference only members of the first one. sqlZMatching returns the members of a key that the smallest of
// the keys in ?4 also has.
const (
	sqlZInput = `SELECT member, score FROM zsets WHERE key_id = ` + liveID + `
		UNION ALL SELECT member, 1.0 FROM sets WHERE key_id = ` + liveID
	sqlZMatching = `WITH smallest(id) AS MATERIALIZED (
			SELECT k.id FROM json_each(?4) j CROSS JOIN keys k ON k.db = ?1 AND k.key = unhex(j.value)
			AND (k.dies_at IS NULL OR k.dies_at > ?3) ORDER BY k.count, k.id LIMIT 1),
		walked(hash, member) AS (
			SELECT hash, member FROM zsets WHERE key_id = (SELECT id FROM smallest)
			UNION ALL SELECT hash, member FROM sets WHERE key_id = (SELECT id FROM smallest))
		SELECT z.member, z.score FROM walked w CROSS JOIN zsets z
			ON z.key_id = ` + liveID + ` AND z.hash = w.hash AND z.member = w.member
		UNION ALL SELECT s.member, 1.0 FROM walked w CROSS JOIN sets s
			ON s.key_id = ` + liveID + ` AND s.hash = w.hash AND s.member = w.member`
)

type zsetOp byte

const (
	zsetUnion zsetOp = iota
	zsetInter
	zsetDiff
)

// combineForm describes one of ZUNION, ZINTER, ZDIFF, their STORE forms and ZINTERCARD.
type combineForm struct {
	op    zsetOp
	store bool
	count bool
}

// zsetCombination holds a call of one of these commands.
type zsetCombination struct {
	combineForm
	keys      [][]byte
	weights   []float64
	aggregate func(a, b float64) float64
	tally     bool // AGGREGATE COUNT: each input contributes its weight, whatever the score
	scores    bool
	limit     int64 // 0 for none
}

func zcombine(f combineForm) func(*Call) Plan {
	at := 1
	if f.store {
		at = 2
	}
	return func(c *Call) Plan {
		n, ok := parseInt(c.Args[at])
		switch {
		case !ok:
			return fail(errNotInteger)
		case n < 1:
			return fail("ERR at least 1 input key is needed for '" + c.lowerName() + "' command")
		case n > int64(len(c.Args)-at-1):
			return fail(errSyntax)
		}
		z := zsetCombination{combineForm: f, keys: c.Args[at+1:][:n], aggregate: sum}
		bad := z.options(c.Args[at+1+int(n):])
		stmts := c.inputStmts(&z, bad == "")
		if !f.store || bad != "" {
			return read(func(r *store.Result) resp.Value {
				chargeCombined(r)
				return z.reply(r, bad)
			}, stmts...)
		}
		return readThen(func(r *store.Result) Plan {
			chargeCombined(r)
			inputs, ok := z.inputs(r)
			if !ok {
				return answer(wrongType)
			}
			return c.zsetStore(c.Args[1], z.combine(inputs))
		}, stmts...)
	}
}

// stepsPerCombined covers finding an element in the other inputs, and its place in the reply.
const stepsPerCombined = 32

// combinedMemory counts the bytes of an element, and of its entry in a table by member.
const combinedMemory = 160

// chargeCombined charges the rows of the inputs, before they are combined.
func chargeCombined(r *store.Result) {
	for _, rows := range r.Rows {
		r.Work.Step(stepsPerCombined * len(rows))
		r.Work.Grow(int64(combinedMemory * len(rows)))
	}
}

// options parses the words after the keys and returns the error text. Redis reports a key of the wrong type before this
// error.
func (z *zsetCombination) options(args [][]byte) (bad string) {
	z.weights = make([]float64, len(z.keys))
	for i := range z.weights {
		z.weights[i] = 1
	}
	weighted := z.op != zsetDiff && !z.count
	for len(args) > 0 {
		word, used := args[0], 2
		switch {
		case weighted && wordIs(word, "WEIGHTS") && len(args) > len(z.keys):
			if bad = z.parseWeights(args[1:]); bad != "" {
				return bad
			}
			used = 1 + len(z.keys)
		case weighted && wordIs(word, "AGGREGATE") && len(args) > 1:
			z.aggregate, z.tally = aggregation(args[1]), wordIs(args[1], "COUNT")
			if z.aggregate == nil {
				return errSyntax
			}
		case !z.store && !z.count && wordIs(word, "WITHSCORES"):
			z.scores, used = true, 1
		case z.count && wordIs(word, "LIMIT") && len(args) > 1:
			var ok bool
			if z.limit, ok = parseInt(args[1]); !ok || z.limit < 0 {
				return "ERR LIMIT can't be negative"
			}
		default:
			return errSyntax
		}
		args = args[used:]
	}
	return ""
}

// parseWeights parses a weight for each key.
func (z *zsetCombination) parseWeights(args [][]byte) (bad string) {
	for i := range z.weights {
		var ok bool
		if z.weights[i], ok = parseFloat(args[i]); !ok {
			return "ERR weight value is not a float"
		}
	}
	return ""
}

// aggregation returns the function that AGGREGATE names, nil for none. As in Redis, opposite infinities make 0, and
// NaN, which is infinity times a weight of 0, loses against any score.
func aggregation(name []byte) func(a, b float64) float64 {
	switch {
	case wordIs(name, "SUM"), wordIs(name, "COUNT"):
		return sum
	case wordIs(name, "MIN"):
		return func(a, b float64) float64 {
			if b < a {
				return b
			}
			return a
		}
	case wordIs(name, "MAX"):
		return func(a, b float64) float64 {
			if b > a {
				return b
			}
			return a
		}
	}
	return nil
}

func sum(a, b float64) float64 { return numberOr0(a + b) }

func numberOr0(f float64) float64 {
	if math.IsNaN(f) {
		return 0
	}
	return f
}

// zsetInput is one input.
type zsetInput struct {
	size   int64
	weight float64
	rows   []store.Row
}

// inputStmts returns the statements that read the type and the size of each key, and then, with contents, the elements.
func (c *Call) inputStmts(z *zsetCombination, contents bool) []store.Stmt {
	stmts := make([]store.Stmt, 0, 2*len(z.keys))
	for _, key := range z.keys {
		stmts = append(stmts, c.stmt(sqlZCard, key))
	}
	if !contents {
		return stmts
	}
	all := hexList(z.keys)
	for i, key := range z.keys {
		switch {
		case z.op == zsetInter:
			stmts = append(stmts, c.stmt(sqlZMatching, key, all))
		case z.op == zsetDiff && i > 0:
			stmts = append(stmts, c.stmt(sqlZMatching, key, hexList([][]byte{z.keys[0], key})))
		default:
			stmts = append(stmts, c.stmt(sqlZInput, key))
		}
	}
	return stmts
}

// score returns the contribution of a row of the input.
func (z *zsetCombination) score(in zsetInput, row store.Row) float64 {
	if z.tally {
		return in.weight
	}
	return in.weight * row[1].Float()
}

// inputs decodes the rows of inputStmts by key; ok is false if a key is neither a sorted set nor a set.
func (z *zsetCombination) inputs(r *store.Result) (inputs []zsetInput, ok bool) {
	n := len(z.keys)
	inputs = make([]zsetInput, n)
	for i := range inputs {
		in := &inputs[i]
		in.weight = z.weights[i]
		if len(r.Rows[i]) > 0 {
			if t := string(r.Rows[i][0][0].Bytes()); t != zsetType && t != "set" {
				return nil, false
			}
			in.size = r.Rows[i][0][1].Int()
		}
		if len(r.Rows) > n {
			in.rows = r.Rows[n+i]
		}
	}
	return inputs, true
}

// reply returns the elements or their number. bad, unless it is "", is reported after a key of the wrong type.
func (z *zsetCombination) reply(r *store.Result, bad string) resp.Value {
	inputs, ok := z.inputs(r)
	switch {
	case !ok:
		return wrongType
	case bad != "":
		return resp.MakeError(bad)
	}
	elems := z.combine(inputs)
	if z.count {
		n := int64(len(elems))
		if z.limit > 0 {
			n = min(n, z.limit)
		}
		return resp.MakeInt(n)
	}
	slices.SortFunc(elems, func(a, b element) int {
		return cmp.Or(cmp.Compare(a.score, b.score), bytes.Compare(a.member, b.member))
	})
	v := resp.EmptyArray
	if z.scores {
		v.Kind = resp.Scored
	}
	for _, e := range elems {
		v.Elems = append(v.Elems, resp.MakeBulk(e.member))
		if z.scores {
			v.Elems = append(v.Elems, resp.MakeDouble(e.score))
		}
	}
	return v
}

// combine runs the operation. Scores are aggregated from the smallest input to the largest, since the sum of doubles
// depends on the order.
func (z *zsetCombination) combine(inputs []zsetInput) []element {
	if z.op == zsetDiff {
		return difference(inputs)
	}
	smallsort.Sort(inputs, func(a, b zsetInput) int { return cmp.Compare(a.size, b.size) })
	if z.op == zsetInter {
		return z.intersection(inputs)
	}
	var elems []element
	place := map[string]int{}
	for _, in := range inputs {
		for _, row := range in.rows {
			member, score := row[0].Bytes(), numberOr0(z.score(in, row))
			if i, ok := place[string(member)]; ok {
				elems[i].score = z.aggregate(elems[i].score, score)
				continue
			}
			place[string(member)] = len(elems)
			elems = append(elems, element{member, score})
		}
	}
	return elems
}

func (z *zsetCombination) intersection(inputs []zsetInput) []element {
	var elems []element
	place, found := map[string]int{}, []int{}
	for _, row := range inputs[0].rows {
		place[string(row[0].Bytes())] = len(elems)
		elems = append(elems, element{row[0].Bytes(), numberOr0(z.score(inputs[0], row))})
		found = append(found, 1)
	}
	for _, in := range inputs[1:] {
		for _, row := range in.rows {
			if i, ok := place[string(row[0].Bytes())]; ok {
				elems[i].score = z.aggregate(elems[i].score, z.score(in, row))
				found[i]++
			}
		}
	}
	var shared []element
	for i, e := range elems {
		if found[i] == len(inputs) {
			shared = append(shared, e)
		}
	}
	return shared
}

// difference returns the elements of the first input that no other input has.
func difference(inputs []zsetInput) []element {
	gone := map[string]bool{}
	for _, in := range inputs[1:] {
		for _, row := range in.rows {
			gone[string(row[0].Bytes())] = true
		}
	}
	var elems []element
	for _, row := range inputs[0].rows {
		if !gone[string(row[0].Bytes())] {
			elems = append(elems, element{row[0].Bytes(), row[1].Float()})
		}
	}
	return elems
}
