package translator

import (
	"encoding/hex"
	"math"

	"github.com/meowdis/meowdis/resp"
	"github.com/meowdis/meowdis/schema"
	"github.com/meowdis/meowdis/store"
)

// Limits are those up to which Redis keeps a value in its compact form: the number of a
// collection's elements, and the bytes of the longest; the bytes of a HyperLogLog.
type Limits struct {
	HashFields, HashBytes  int64
	SetMembers             int64
	ZsetMembers, ZsetBytes int64
	HLLBytes               int64
}

// DefaultLimits are those of Redis 7.0.
var DefaultLimits = Limits{HashFields: 512, HashBytes: 64, SetMembers: 512, ZsetMembers: 128, ZsetBytes: 64, HLLBytes: 3000}

const (
	maxEmbedded      = 44 // bytes of a string beside its header
	maxIntegerDigits = 20
	sharedIntegers   = 10000 // 0, 1, … that all values share
)

// sqlObject reads the few facts that decide on an encoding: the type, the number
// of elements, and by type: the length of a string; whether a part of a small
// hash or zset is too long; whether a member of a small set is no integer. A big collection is decided by the number alone, and its elements
// are not read. Last comes a string that may be an integer, in hex.
const sqlObject = `SELECT type, count, CASE
		WHEN type = 'string' THEN ` + schema.StringLength + `
		WHEN type = 'hash' AND count <= ?4 THEN
			(SELECT max(max(length(field), length(value))) > ?5 FROM hashes WHERE key_id = keys.id)
		WHEN type = 'zset' AND count <= ?7 THEN
			(SELECT max(length(member)) > ?8 FROM zsets WHERE key_id = keys.id)
		WHEN type = 'set' AND count <= ?6 THEN
			EXISTS (SELECT 1 FROM sets WHERE key_id = keys.id
				AND CAST(CAST(CAST(member AS TEXT) AS INTEGER) AS TEXT) <> CAST(member AS TEXT))
		ELSE 1 END,
	(SELECT hex(value) FROM strings WHERE key_id = keys.id AND length(value) <= 20),
	updated_at
	FROM keys WHERE ` + live

// object is a row of sqlObject.
type object struct {
	typ       string
	length    int64 // of a string
	big       bool  // not in the compact form, for a collection
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

// objectStmt reads the object at a key.
func (c *Call) objectStmt(key []byte) store.Stmt {
	limits := c.limits()
	n := func(n int64) store.Value { return store.Int(min(n, math.MaxInt32)) }
	return c.stmt(sqlObject, key, n(limits.HashFields), n(limits.HashBytes), n(limits.SetMembers), n(limits.ZsetMembers), n(limits.ZsetBytes))
}

func objectOf(row store.Row) object {
	o := object{typ: string(row[0].Bytes()), length: row[2].Int(), big: row[2].Int() != 0, updatedAt: row[4].Int()}
	if digits, err := hex.DecodeString(string(row[3].Bytes())); err == nil && o.typ == stringType {
		o.integer, o.isInteger = parseInt(digits)
	}
	return o
}

// object plans an OBJECT subcommand: nil for a missing key, and what describe
// says of a live one.
func (c *Call) object(describe func(object) resp.Value) Plan {
	return read(func(r *store.Result) resp.Value {
		if len(r.Rows[0]) == 0 {
			return resp.Nil
		}
		return describe(objectOf(r.Rows[0][0]))
	}, c.objectStmt(c.Args[2]))
}

// encoding is the encoding that Redis 7.0 gives a value that was set as it is
// now. (Redis's own depends on the value's history, too: it never goes back to
// a compact form.)
func (o object) encoding() string {
	compact, spread := "", ""
	switch o.typ {
	case "string":
		switch {
		case o.isInteger:
			return "int"
		case o.length <= maxEmbedded:
			return "embstr"
		}
		return "raw"
	case "list":
		return "quicklist"
	case "set":
		compact, spread = "intset", "hashtable"
	case "hash":
		compact, spread = "listpack", "hashtable"
	case "zset":
		compact, spread = "listpack", "skiplist"
	case jsonType, vectorSetType:
		return "raw"
	case arrayType:
		return "sliced-array"
	default:
		return o.typ
	}
	if o.big {
		return spread
	}
	return compact
}

func objectEncoding(c *Call) Plan {
	return c.object(func(o object) resp.Value { return resp.MakeString(o.encoding()) })
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

// idle is the seconds since the last write.
func (o object) idle(now int64) int64 { return max(0, now-o.updatedAt) / 1000 }

func objectRefcount(c *Call) Plan {
	return c.object(func(o object) resp.Value { return resp.MakeInt(o.refcount()) })
}

// refcount is what Redis says of its shared integers, and 1 for everything else.
func (o object) refcount() int64 {
	if o.isInteger && 0 <= o.integer && o.integer < sharedIntegers {
		return 1<<31 - 1
	}
	return 1
}
