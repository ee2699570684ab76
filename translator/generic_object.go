package translator

import (
	"encoding/hex"
	"math"

	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/store/schema"
)

// Limits bound the compact encodings of Redis: for a collection the number of elements and the bytes of the longest,
// for a HyperLogLog its bytes, and for a stream the size of a node.
type Limits struct {
	HashFields, HashBytes  int64
	SetIntegers            int64 // members of a set of integers
	SetMembers, SetBytes   int64
	ZsetMembers, ZsetBytes int64
	ListSize               int64 // elements of a list; if negative, selects a size in listSizes
	HLLBytes               int64
	NodeEntries, NodeBytes int64 // of a stream's nodes; 0 for any

	Modules *ModuleDefaults // of new filters and series; nil for the defaults
}

// DefaultLimits are the defaults of Redis 8.0.
var DefaultLimits = Limits{
	HashFields: 512, HashBytes: 64, SetIntegers: 512, SetMembers: 128, SetBytes: 64, ZsetMembers: 128, ZsetBytes: 64, ListSize: -2, HLLBytes: 3000,
	NodeEntries: 100, NodeBytes: 4096,
}

// listSizes maps a ListSize of -1 to -5 to bytes.
var listSizes = [...]int64{4 << 10, 8 << 10, 16 << 10, 32 << 10, 64 << 10}

// listLimits returns the limits of elements and bytes of a list in its compact encoding.
func (l Limits) listLimits() (elements, bytes int64) {
	if l.ListSize >= 0 {
		return l.ListSize, listSizes[1]
	}
	return math.MaxInt32, listSizes[min(-l.ListSize, int64(len(listSizes)))-1]
}

const (
	maxEmbedded      = 44 // bytes of a string stored with its header
	maxIntegerDigits = 20
	sharedIntegers   = 10000 // 0, 1, … below this are shared values
)

// sqlObject reads the few facts that decide an encoding: the type and the number of elements, and by type: the length
// of a string; whether an element of a small hash or zset is too long, or a small list too large; whether a member of a
// small set is not an integer (1) and whether one is too long (2). For a big collection the number decides alone, and
// its elements are not read. The other columns are a string that may be an integer, in hex, the time of the last write,
// and whether fields expire.
const sqlObject = `SELECT type, count, CASE
		WHEN type = 'string' THEN ` + schema.StringLength + `
		WHEN type = 'hash' AND count <= ?4 THEN
			(SELECT max(max(length(field), length(value))) > ?5 FROM hashes WHERE key_id = keys.id)
		WHEN type = 'zset' AND count <= ?7 THEN
			(SELECT max(length(member)) > ?8 FROM zsets WHERE key_id = keys.id)
		WHEN type = 'set' AND count <= max(?6, ?9) THEN
			(SELECT max(CAST(CAST(CAST(member AS TEXT) AS INTEGER) AS TEXT) <> CAST(member AS TEXT))
				+ 2 * max(length(member) > ?10) FROM sets WHERE key_id = keys.id)
		WHEN type = 'list' AND count <= ?11 AND count <= ?12 / 2 THEN
			(SELECT sum(` + packedElement + `) + 7 > ?12 FROM lists WHERE key_id = keys.id)
		ELSE 3 END,
	iif(length(value) <= 20, hex(value), NULL),
	updated_at, volatile > 0
	FROM keys WHERE ` + live

// packedElement computes the bytes of an element in a listpack.
const (
	packedElement = `(CASE
		WHEN length(value) > 20 OR CAST(CAST(CAST(value AS TEXT) AS INTEGER) AS TEXT) <> CAST(value AS TEXT) THEN
			length(value) + CASE WHEN length(value) < 64 THEN 2 WHEN length(value) < 126 THEN 3 WHEN length(value) < 4096 THEN 4 ELSE 7 END
		WHEN ` + packedInteger + ` BETWEEN 0 AND 127 THEN 2
		WHEN ` + packedInteger + ` BETWEEN -4096 AND 4095 THEN 3
		WHEN ` + packedInteger + ` BETWEEN -32768 AND 32767 THEN 4
		WHEN ` + packedInteger + ` BETWEEN -8388608 AND 8388607 THEN 5
		WHEN ` + packedInteger + ` BETWEEN -2147483648 AND 2147483647 THEN 6
		ELSE 10 END)`
	packedInteger = `CAST(CAST(value AS TEXT) AS INTEGER)`
)

// object holds a row of sqlObject.
type object struct {
	typ       string
	length    int64 // of a string
	count     int64 // of elements
	odd       int64 // sqlObject's result for elements: 0 if they fit the compact encoding
	volatile  bool  // fields expire
	integer   int64
	isInteger bool
	updatedAt int64
}

func (c *Call) limits() Limits {
	if c.Env.Limits == nil {
		return DefaultLimits
	}
	return *c.Env.Limits
}

// objectStmt returns the statement that reads the object at a key.
func (c *Call) objectStmt(key []byte) store.Stmt {
	limits := c.limits()
	elements, bytes := limits.listLimits()
	return c.stmt(sqlObject, key, limitArg(limits.HashFields), limitArg(limits.HashBytes), limitArg(limits.SetIntegers),
		limitArg(limits.ZsetMembers), limitArg(limits.ZsetBytes), limitArg(limits.SetMembers), limitArg(limits.SetBytes), limitArg(elements), limitArg(bytes))
}

// limitArg returns a limit as an argument of a statement, for engines with 32-bit counts.
func limitArg(n int64) store.Value { return store.Int(min(n, math.MaxInt32)) }

func objectOf(row store.Row) object {
	o := object{typ: string(row[0].Bytes()), count: row[1].Int(), length: row[2].Int(), odd: row[2].Int(), updatedAt: row[4].Int(), volatile: row[5].Int() != 0}
	if digits, err := hex.DecodeString(string(row[3].Bytes())); err == nil && o.typ == stringType {
		o.integer, o.isInteger = parseInt(digits)
	}
	return o
}

// object plans an OBJECT subcommand. The reply is nil for a missing key, and the result of describe for a live one.
func (c *Call) object(describe func(object) resp.Value) Plan {
	return read(func(r *store.Result) resp.Value {
		if len(r.Rows[0]) == 0 {
			return resp.Nil
		}
		return describe(objectOf(r.Rows[0][0]))
	}, c.objectStmt(c.Args[2]))
}

// encoding returns the encoding that Redis 8.0 gives the value when it is first set. Redis's own choice also depends on
// the history of a value: except for lists, it never returns to a compact encoding.
func (o object) encoding(limits Limits) string {
	compact, spread := "", ""
	switch o.typ {
	case stringType:
		switch {
		case o.isInteger:
			return "int"
		case o.length <= maxEmbedded:
			return "embstr"
		}
		return "raw"
	case listType:
		compact, spread = "listpack", "quicklist"
	case setType:
		switch {
		case o.odd&1 == 0 && o.count <= limits.SetIntegers:
			return "intset"
		case o.odd&2 == 0 && o.count <= limits.SetMembers:
			return "listpack"
		}
		return "hashtable"
	case hashType:
		compact, spread = "listpack", "hashtable"
		if o.volatile {
			compact = "listpackex"
		}
	case zsetType:
		compact, spread = "listpack", "skiplist"
	case jsonType, vectorSetType, bloomType.name, cuckooType.name, countMinType.name, topKType.name, tdigestType.name, seriesType, suggestionsType:
		return "raw"
	case arrayType:
		return "sliced-array"
	default:
		return o.typ
	}
	if o.odd != 0 {
		return spread
	}
	return compact
}

func objectEncoding(c *Call) Plan {
	return c.object(func(o object) resp.Value { return resp.MakeString(o.encoding(c.limits())) })
}

func objectFreq(c *Call) Plan {
	return c.object(func(object) resp.Value {
		return resp.MakeError("ERR An LFU maxmemory policy is not selected, access frequency not tracked. " +
			"Please note that when switching between policies at runtime LRU and LFU data will take some time to adjust.")
	})
}

func objectIdletime(c *Call) Plan {
	return c.object(func(o object) resp.Value { return resp.MakeInt(o.idle(c.Env.Now)) })
}

// idle returns the seconds since the last write.
func (o object) idle(now int64) int64 { return max(0, now-o.updatedAt) / 1000 }

func objectRefcount(c *Call) Plan {
	return c.object(func(o object) resp.Value { return resp.MakeInt(o.refcount()) })
}

// refcount returns Redis's count for shared integers, and 1 for everything else.
func (o object) refcount() int64 {
	if o.isInteger && 0 <= o.integer && o.integer < sharedIntegers {
		return 1<<31 - 1
	}
	return 1
}
