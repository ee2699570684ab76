package translator

import (
	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/translator/vector"
)

const (
	blockBytes = 16 << 10 // approximate size of a block of records
	defaultM   = 16
)

// vaddArgs holds the arguments of VADD.
type vaddArgs struct {
	vectorArg
	element    []byte
	attributes []byte // nil if not given
	kind       vector.Kind
	m          int64
}

// parse parses the arguments. EF and CAS are checked but have no effect, since no graph is built.
func (a *vaddArgs) parse(c *Call) (bad resp.Value) {
	var ok bool
	if a.vectorArg, ok = c.parseVector(2, true); !ok {
		return badVector
	}
	if len(c.Args) <= a.next {
		return commands.WrongArity(c.Command)
	}
	a.element, a.kind, a.m = c.Args[a.next], vector.Int8, defaultM
	for i := a.next + 1; i < len(c.Args); i++ {
		more := i+1 < len(c.Args)
		switch {
		case c.is(i, "CAS"):
		case c.is(i, "NOQUANT"):
			a.kind = vector.F32
		case c.is(i, "BIN"):
			a.kind = vector.Bin
		case c.is(i, "Q8"):
			a.kind = vector.Int8
		case c.is(i, "EF") && more:
			i++
			if n, ok := parseInt(c.Args[i]); !ok || n <= 0 || n > 1_000_000 {
				return resp.MakeError("ERR invalid EF")
			}
		case c.is(i, "M") && more:
			i++
			if a.m, ok = parseInt(c.Args[i]); !ok || a.m < 4 || a.m > 4096 {
				return resp.MakeError("ERR invalid M")
			}
		case c.is(i, "SETATTR") && more:
			i++
			a.attributes = c.Args[i]
		default:
			return resp.MakeError("ERR invalid option after element")
		}
	}
	return bad
}

// shape returns a set that the vector fits into.
func (a *vaddArgs) shape() vectorSet {
	s := vectorSet{dim: len(a.v), kind: a.kind, m: a.m}
	if a.reduce > 0 {
		s.dim, s.input = a.reduce, len(a.v)
	}
	return s.withLayout()
}

// withLayout fills in the size of records and blocks.
func (s vectorSet) withLayout() vectorSet {
	s.size = int64(s.kind.Size(s.dim))
	s.per = max(1, blockBytes/s.size)
	return s
}

// mismatch returns the error for adding the vector to the set s, or a zero value if it fits.
func (a *vaddArgs) mismatch(s vectorSet) (bad resp.Value) {
	switch {
	case s.kind != a.kind:
		return resp.MakeError("ERR asked quantization mismatch with existing vector set")
	case s.m != a.m:
		return resp.MakeError("ERR asked M value mismatch with existing vector set")
	case s.input == 0 && s.dim != len(a.v) || s.input > 0 && s.dim != a.reduce:
		return errDimension(len(a.v), s.dim)
	case a.reduce > 0 && s.input == 0:
		return resp.MakeError("ERR cannot add projection to existing set without projection")
	case s.input > 0 && s.input != len(a.v):
		return errInputDimension(len(a.v), s.input)
	}
	return bad
}

// Adding to a set writes nothing unless the set has the shape ?4 to ?7, as a new set does; ?8 is the element.
const (
	sqlMakeVectorSet = `INSERT INTO vector_sets(key_id, dim, input_dim, quantization, m, size, per)
		SELECT id, ?4, ?5, ?6, ?7, ?8, ?9 FROM keys WHERE ` + live + ` ON CONFLICT DO NOTHING`
	fittingSet = `vector_sets s WHERE s.key_id = ` + liveID + ` AND s.dim = ?4 AND s.input_dim = ?5 AND s.quantization = ?6 AND s.m = ?7`

	sqlAddVector = `INSERT INTO vectors(key_id, slot, element, attributes)
		SELECT k.id, k.count, ?8, ?9 FROM keys k WHERE k.id = (SELECT s.key_id FROM ` + fittingSet + `)
		ON CONFLICT(key_id, element) DO NOTHING`

	recordPlace = `(SELECT v.slot % s.per * s.size FROM vectors v JOIN vector_sets s ON s.key_id = v.key_id
		WHERE v.key_id = vector_blocks.key_id AND v.element = ?8)`
	sqlPutRecord = `INSERT INTO vector_blocks(key_id, block, records)
		SELECT v.key_id, v.slot / (SELECT per FROM vector_sets WHERE key_id = v.key_id), ?9 FROM vectors v
		WHERE v.key_id = (SELECT s.key_id FROM ` + fittingSet + `) AND v.element = ?8
		ON CONFLICT(key_id, block) DO UPDATE SET records = CAST(substr(records, 1, ` + recordPlace + `) || excluded.records ||
			coalesce(substr(records, ` + recordPlace + ` + length(excluded.records) + 1), '') AS BLOB)`

	sqlAddAttributes = `UPDATE vectors SET attributes = iif(length(?9) = 0, NULL, ?9)
		WHERE key_id = (SELECT s.key_id FROM ` + fittingSet + `) AND element = ?8`

	sqlVectorAdded = `UPDATE keys SET version = version + 1, updated_at = ?3 WHERE id = (SELECT s.key_id FROM ` + fittingSet + `)`
)

func vadd(c *Call) Plan {
	var a vaddArgs
	if bad := a.parse(c); bad.IsError() {
		return answer(bad)
	}
	key, s, v := c.Args[1], a.shape(), a.v
	if a.reduce > 0 {
		v = vector.Project(v, a.reduce)
	}
	attributes := store.Value{}
	if a.attributes != nil {
		attributes = store.Bytes(a.attributes)
	}
	fit := func(sql string, more ...store.Value) store.Stmt {
		return c.stmt(sql, key, append([]store.Value{
			store.Int(int64(s.dim)), store.Int(int64(s.input)), store.Int(int64(s.kind)), store.Int(s.m)}, more...)...)
	}
	element := store.Bytes(a.element)
	stmts := []store.Stmt{
		c.purge(key), c.ensure(key, vectorSetType), fit(sqlMakeVectorSet, store.Int(s.size), store.Int(s.per)),
		c.stmt(sqlVectorSet, key), // before anything is added
	}
	if a.attributes != nil { // for an existing element
		stmts = append(stmts, fit(sqlAddAttributes, element, attributes))
	}
	stmts = append(stmts, fit(sqlAddVector, element, attributes), c.countAdded(key),
		fit(sqlPutRecord, element, store.Bytes(a.kind.Encode(v))), fit(sqlVectorAdded))
	added := len(stmts) - 4 // index of the vector's statement
	return write(func(r *store.Result) resp.Value {
		there, _ := vectorSetOf(r.Rows[3])
		if bad := a.mismatch(there); bad.IsError() {
			return bad
		}
		return boolean(r.Changes[added] > 0)
	}, stmts...)
}

// sqlSetAttributes sets the attributes of an element. Empty attributes are removed.
const sqlSetAttributes = `UPDATE vectors SET attributes = iif(length(?5) = 0, NULL, ?5) WHERE key_id = ` + liveID + ` AND element = ?4`

func vsetattr(c *Call) Plan {
	key := c.Args[1]
	return write(func(r *store.Result) resp.Value { return boolean(r.Changes[2] > 0) },
		c.purge(key), c.guardType(key, vectorSetType),
		c.stmt(sqlSetAttributes, key, store.Bytes(c.Args[2]), store.Bytes(c.Args[3])),
		c.touchIfChanged(key))
}

// Removing an element moves the last element to its slot, so that slots have no gaps.
const (
	sqlFindSlot = `SELECT k.type, k.count, s.per, s.size, v.slot FROM keys k LEFT JOIN vector_sets s ON s.key_id = k.id
		LEFT JOIN vectors v ON v.key_id = k.id AND v.element = ?4 WHERE ` + live
	// The last record, at ?7 of block ?6, replaces the record at ?5 of block ?4; ?8 is its size.
	sqlMoveRecord = `UPDATE vector_blocks SET records = CAST(substr(records, 1, ?5) ||
			(SELECT substr(records, ?7 + 1, ?8) FROM vector_blocks WHERE key_id = ` + liveID + ` AND block = ?6) ||
			coalesce(substr(records, ?5 + ?8 + 1), '') AS BLOB)
		WHERE key_id = ` + liveID + ` AND block = ?4`
	sqlCutBlock     = `UPDATE vector_blocks SET records = substr(records, 1, ?5) WHERE key_id = ` + liveID + ` AND block = ?4`
	sqlDropBlock    = `DELETE FROM vector_blocks WHERE key_id = ` + liveID + ` AND block = ?4`
	sqlRemoveVector = `DELETE FROM vectors WHERE key_id = ` + liveID + ` AND slot = ?4`
	sqlMoveVector   = `UPDATE vectors SET slot = ?5 WHERE key_id = ` + liveID + ` AND slot = ?4`
)

func vrem(c *Call) Plan {
	key := c.Args[1]
	return readThen(func(r *store.Result) Plan {
		if len(r.Rows[0]) == 0 {
			return answer(boolean(false))
		}
		row := r.Rows[0][0]
		switch {
		case string(row[0].Bytes()) != vectorSetType:
			return answer(wrongType)
		case row[4].IsNull():
			return answer(boolean(false))
		}
		return c.removeVector(key, row[1].Int()-1, row[2].Int(), row[3].Int(), row[4].Int())
	}, c.stmt(sqlFindSlot, key, store.Bytes(c.Args[2])))
}

// removeVector plans the removal of the element at the slot; last is the last slot, and blocks have per records of size
// bytes.
func (c *Call) removeVector(key []byte, last, per, size, slot int64) Plan {
	end := last % per * size // new size of the last block
	var stmts []store.Stmt
	if slot != last {
		stmts = append(stmts, c.stmt(sqlMoveRecord, key,
			store.Int(slot/per), store.Int(slot%per*size), store.Int(last/per), store.Int(end), store.Int(size)))
	}
	if end > 0 {
		stmts = append(stmts, c.stmt(sqlCutBlock, key, store.Int(last/per), store.Int(end)))
	} else {
		stmts = append(stmts, c.stmt(sqlDropBlock, key, store.Int(last/per)))
	}
	stmts = append(stmts, c.stmt(sqlRemoveVector, key, store.Int(slot)), c.countRemoved(key))
	if slot != last {
		stmts = append(stmts, c.stmt(sqlMoveVector, key, store.Int(last), store.Int(slot)))
	}
	return write(always(boolean(true)), append(stmts, c.dropEmpty(key))...)
}
