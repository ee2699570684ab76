package translator

import (
	"slices"

	"github.com/meowdis/meowdis/redis/rdb"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/translator/vector"
)

// vectorDump holds the state of DUMP, shared by the steps of its plan. The payload has the links of a graph, which the
// steps build.
type vectorDump struct {
	set   vectorSet
	out   *rdb.VectorSet
	graph *vector.Graph
}

// dumpStep limits the vectors that one step adds to the graph: a disconnected client is noticed between steps.
const dumpStep = 512

// stepsPerLinked estimates the steps of finding the neighbours of a vector in the graph.
const stepsPerLinked = 1 << 13

// sqlElementsOf reads the elements at the slots from ?4 on, below ?5.
const sqlElementsOf = `SELECT element, attributes FROM vectors WHERE key_id = ` + liveID + ` AND slot >= ?4 AND slot < ?5 ORDER BY slot`

func (c *Call) dumpVectors(s vectorSet) Plan {
	d := &vectorDump{set: s, out: &rdb.VectorSet{Dim: s.dim, Kind: int(s.kind), M: s.m, Input: s.input}, graph: vector.NewGraph(s.kind, s.dim, s.m)}
	if s.input > 0 {
		d.out.Matrix = vector.Matrix(s.input, s.dim)
	}
	return d.from(c, 0)
}

// from plans the dump of the blocks from block on.
func (d *vectorDump) from(c *Call, block int64) Plan {
	key, per := c.Args[1], d.set.per
	end := block + max(1, min(dumpStep, stepBytes/d.set.size)/per)
	return readThen(func(r *store.Result) Plan {
		elements := r.Rows[1]
		for _, row := range r.Rows[0] {
			for records := row[0].Bytes(); len(records) > 0 && len(elements) > 0; records, elements = records[d.set.size:], elements[1:] {
				r.Work.Step(stepsPerLinked)
				d.add(records[:d.set.size], elements[0])
			}
		}
		if end*per < d.set.count {
			return d.from(c, end)
		}
		return answer(resp.MakeBulk(rdb.Dump(d.linked(), r.Work.Step)))
	}, c.stmt(sqlBlocks, key, store.Int(block), store.Int(end)), c.stmt(sqlElementsOf, key, store.Int(block*per), store.Int(end*per)))
}

func (d *vectorDump) add(record []byte, element store.Row) {
	v := rdb.Vector{Name: element[0].Bytes(), Components: vector.Components(record), Length: vector.Length(record), Range: vector.Range(record)}
	if !element[1].IsNull() {
		v.Attributes = element[1].Bytes()
	}
	d.out.Elements = append(d.out.Elements, v)
	d.graph.Add(record)
}

// linked returns the set in Redis's order, the last element first.
func (d *vectorDump) linked() *rdb.VectorSet {
	all := d.out.Elements
	for i := range all {
		all[i].Links = d.graph.Links(i)
		for _, links := range all[i].Links {
			for j, to := range links {
				links[j] = uint32(len(all)-1) - to
			}
		}
	}
	slices.Reverse(all)
	return d.out
}

// restorable returns the error that prevents restoring a payload's vector set, "" for none.
func restorable(v *rdb.VectorSet) string {
	if v.M < 4 || v.M > 4096 {
		return "ERR Bad data format"
	}
	if v.Input > 0 && !vector.IsMatrix(v.Matrix, v.Input) {
		return "ERR the projection matrix is not one that VADD creates"
	}
	names := make(map[string]bool, len(v.Elements))
	for _, e := range v.Elements {
		if names[string(e.Name)] {
			return "ERR Bad data format"
		}
		names[string(e.Name)] = true
	}
	return ""
}

// Elements are passed as JSON [slot, element, attributes], except large ones.
const (
	sqlRestoreVectors = `INSERT INTO vectors(key_id, slot, element, attributes)
		SELECT ` + thisID + `, j.value ->> 0, unhex(j.value ->> 1), unhex(j.value ->> 2) FROM json_each(?3) j`
	sqlRestoreVector = `INSERT INTO vectors(key_id, slot, element, attributes) VALUES(` + thisID + `, ?3, ?4, ?5)`
	sqlRestoreBlock  = `INSERT INTO vector_blocks(key_id, block, records) VALUES(` + thisID + `, ?3, ?4)`
)

// restoreVectors makes a vector set. The element added first becomes the first one again.
func (c *Call) restoreVectors(key []byte, v *rdb.VectorSet) []store.Stmt {
	s := vectorSet{dim: v.Dim, input: v.Input, kind: vector.Kind(v.Kind), m: v.M}.withLayout()
	stmts := []store.Stmt{c.ensure(key, vectorSetType), c.stmt(sqlMakeVectorSet, key,
		store.Int(int64(s.dim)), store.Int(int64(s.input)), store.Int(int64(s.kind)), store.Int(s.m), store.Int(s.size), store.Int(s.per))}
	elements := slices.Clone(v.Elements)
	slices.Reverse(elements)
	pairs := make([][]byte, 0, 2*len(elements))
	for _, e := range elements {
		pairs = append(pairs, e.Name, e.Attributes)
	}
	slot := int64(0)
	for part := range c.rounds(pairs, 2) {
		for piece, large := range pieces(part, 2) {
			stmts = append(stmts, c.restoreElements(key, slot, piece, large), c.countAdded(key))
			slot += int64(len(piece) / 2)
		}
	}
	block := int64(0)
	for part := range slices.Chunk(elements, int(s.per)) {
		records := make([]byte, 0, int64(len(part))*s.size)
		for _, e := range part {
			records = append(records, vector.Record(e.Length, e.Range, e.Components)...)
		}
		stmts = append(stmts, store.Stmt{SQL: sqlRestoreBlock, Args: append(c.key(key)[:2], store.Int(block), store.Bytes(records))})
		block++
	}
	return stmts
}

// restoreElements adds elements, each a name and attributes, at consecutive slots from slot on.
func (c *Call) restoreElements(key []byte, slot int64, pairs [][]byte, large bool) store.Stmt {
	args := c.key(key)[:2]
	if large {
		attributes := store.Value{}
		if len(pairs[1]) > 0 {
			attributes = store.Bytes(pairs[1])
		}
		return store.Stmt{SQL: sqlRestoreVector, Args: append(args, store.Int(slot), store.Bytes(pairs[0]), attributes)}
	}
	var rows []byte
	for i := 0; i < len(pairs); i += 2 {
		rows = append(append(rows, ",["...), resp.FormatInt(slot)...)
		rows = appendHex(append(rows, ','), pairs[i])
		if rows = append(rows, ','); len(pairs[i+1]) > 0 {
			rows = appendHex(rows, pairs[i+1])
		} else {
			rows = append(rows, "null"...)
		}
		rows = append(rows, ']')
		slot++
	}
	rows[0] = '['
	return store.Stmt{SQL: sqlRestoreVectors, Args: append(args, store.TextBytes(append(rows, ']')))}
}
