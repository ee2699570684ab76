package translator

import (
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/store/keytype"
	"github.com/meowdis/meowdis/translator/vector"
)

const vectorSetType = keytype.VectorSet

var vectorSetTranslations = translations{
	{"VADD", vadd},
	{"VCARD", vcard},
	{"VDIM", vdim},
	{"VEMB", vemb},
	{"VGETATTR", vgetattr},
	{"VINFO", vinfo},
	{"VISMEMBER", vismember},
	{"VLINKS", vlinks},
	{"VRANDMEMBER", vrandmember},
	{"VRANGE", vrange},
	{"VREM", vrem},
	{"VSETATTR", vsetattr},
	{"VSIM", vsim},
}

// sqlVectorSet reads the properties that all vectors of a set share.
const sqlVectorSet = `SELECT k.type, k.count, s.dim, s.input_dim, s.quantization, s.m, s.size, s.per, k.id, k.seq
	FROM keys k LEFT JOIN vector_sets s ON s.key_id = k.id WHERE ` + live

// vectorSet holds a row of sqlVectorSet.
type vectorSet struct {
	count     int64
	dim       int // of the stored vectors
	input     int // dimension before reduction to dim, 0 if not reduced
	kind      vector.Kind
	m         int64 // Redis's parameter of the graph
	size, per int64 // bytes of a record; records in a block
	id, added int64
}

// vectorSetOf decodes the rows of sqlVectorSet. A missing key has dim 0; bad is the error reply for another type.
func vectorSetOf(rows []store.Row) (s vectorSet, bad resp.Value) {
	if len(rows) == 0 {
		return s, bad
	}
	row := rows[0]
	if string(row[0].Bytes()) != vectorSetType {
		return s, wrongType
	}
	return vectorSet{
		count: row[1].Int(), dim: int(row[2].Int()), input: int(row[3].Int()), kind: vector.Kind(row[4].Int()),
		m: row[5].Int(), size: row[6].Int(), per: row[7].Int(), id: row[8].Int(), added: row[9].Int(),
	}, bad
}

// describeVectors plans a read of sqlVectorSet; missing is the reply for a missing key.
func (c *Call) describeVectors(missing resp.Value, describe func(vectorSet) resp.Value) Plan {
	return read(func(r *store.Result) resp.Value {
		s, bad := vectorSetOf(r.Rows[0])
		switch {
		case bad.IsError():
			return bad
		case len(r.Rows[0]) == 0:
			return missing
		}
		return describe(s)
	}, c.stmt(sqlVectorSet, c.Args[1]))
}

func vcard(c *Call) Plan {
	return c.describeVectors(resp.Zero, func(s vectorSet) resp.Value { return resp.MakeInt(s.count) })
}

func vdim(c *Call) Plan {
	return c.describeVectors(resp.MakeError("ERR key does not exist"), func(s vectorSet) resp.Value { return resp.MakeInt(int64(s.dim)) })
}

const sqlCountAttributes = `SELECT count(attributes) FROM vectors WHERE key_id = ` + liveID

// vinfo describes the set. Its description of Redis's graph is a possible one: one level, and one node per element ever
// added.
func vinfo(c *Call) Plan {
	key := c.Args[1]
	return read(func(r *store.Result) resp.Value {
		s, bad := vectorSetOf(r.Rows[0])
		switch {
		case bad.IsError():
			return bad
		case len(r.Rows[0]) == 0:
			return resp.NilArray
		}
		return resp.MakeMap(
			resp.MakeStatus("quant-type"), resp.MakeStatus(s.kind.String()),
			resp.MakeStatus("hnsw-m"), resp.MakeInt(s.m),
			resp.MakeStatus("vector-dim"), resp.MakeInt(int64(s.dim)),
			resp.MakeStatus("projection-input-dim"), resp.MakeInt(int64(s.input)),
			resp.MakeStatus("size"), resp.MakeInt(s.count),
			resp.MakeStatus("max-level"), resp.Zero,
			resp.MakeStatus("attributes-count"), resp.MakeInt(firstInt(r, 1)),
			resp.MakeStatus("vset-uid"), resp.MakeInt(s.id),
			resp.MakeStatus("hnsw-max-node-uid"), resp.MakeInt(s.added),
		)
	}, c.stmt(sqlVectorSet, key), c.stmt(sqlCountAttributes, key))
}

// boolean returns a boolean reply.
func boolean(b bool) resp.Value {
	if b {
		return resp.Value{Kind: resp.Bool, Int: 1}
	}
	return resp.Value{Kind: resp.Bool}
}
