package translator

import (
	"github.com/meowdis/meowdis/resp"
	"github.com/meowdis/meowdis/store"
)

// hashType is the name of the type in the keys table and in TYPE's reply.
const hashType = "hash"

var hashCommands = []Command{
	{
		Name: "HSET", Group: "hash", Since: "2.0.0", Arity: -4, Flags: Write | DenyOOM | Fast,
		Summary: "Sets fields of a hash and returns how many are new",
		Syntax:  "key field value [field value ...]", Keys: []KeySpec{oneKey(RW, 1)}, Translate: hset(false),
	},
	{
		Name: "HMSET", Group: "hash", Since: "2.0.0", Arity: -4, Flags: Write | DenyOOM | Fast,
		Summary: "Sets fields of a hash",
		Syntax:  "key field value [field value ...]", Keys: []KeySpec{oneKey(RW, 1)}, Translate: hset(true),
	},
	{
		Name: "HSETNX", Group: "hash", Since: "2.0.0", Arity: 4, Flags: Write | DenyOOM | Fast,
		Summary: "Sets a field of a hash only when it does not exist",
		Syntax:  "key field value", Keys: []KeySpec{oneKey(RW|Inserts, 1)}, Translate: hsetnx,
	},
	{
		Name: "HGET", Group: "hash", Since: "2.0.0", Arity: 3, Flags: ReadOnly | Fast,
		Summary: "Returns the value of a field of a hash, nil when there is none",
		Syntax:  "key field", Keys: []KeySpec{oneKey(RO, 1)},
		Translate: pointed(hashType, sqlField, resp.Nil, bulk),
	},
	{
		Name: "HMGET", Group: "hash", Since: "2.0.0", Arity: -3, Flags: ReadOnly | Fast,
		Summary: "Returns the values of several fields of a hash",
		Syntax:  "key field [field ...]", Keys: []KeySpec{oneKey(RO, 1)},
		Translate: pointedEach(hashType, sqlFields, resp.Nil, bulks),
	},
	{
		Name: "HEXISTS", Group: "hash", Since: "2.0.0", Arity: 3, Flags: ReadOnly | Fast,
		Summary: "Tells whether a hash has a field",
		Syntax:  "key field", Keys: []KeySpec{oneKey(RO|Metadata, 1)},
		Translate: pointed(hashType, sqlHasField, resp.Zero, integer),
	},
	{
		Name: "HSTRLEN", Group: "hash", Since: "3.2.0", Arity: 3, Flags: ReadOnly | Fast,
		Summary: "Returns the length of the value of a field of a hash",
		Syntax:  "key field", Keys: []KeySpec{oneKey(RO|Metadata, 1)},
		Translate: pointed(hashType, sqlFieldLength, resp.Zero, integer),
	},
	{
		Name: "HLEN", Group: "hash", Since: "2.0.0", Arity: 2, Flags: ReadOnly | Fast,
		Summary: "Returns the number of fields of a hash",
		Syntax:  "key", Keys: []KeySpec{oneKey(RO|Metadata, 1)},
		Translate: func(c *Call) Plan {
			return read(cellOf(hashType, resp.Zero, integer), c.stmt(sqlHashSize, c.Args[1]))
		},
	},
	{
		Name: "HGETALL", Group: "hash", Since: "2.0.0", Arity: 2, Flags: ReadOnly,
		Summary: "Returns all fields of a hash and their values",
		Syntax:  "key", Keys: []KeySpec{oneKey(RO, 1)},
		Translate: listing(hashType, sqlHash, resp.EmptyMap, mapOf),
		Tips:      []string{"nondeterministic_output_order"},
	},
	{
		Name: "HKEYS", Group: "hash", Since: "2.0.0", Arity: 2, Flags: ReadOnly,
		Summary: "Returns all fields of a hash",
		Syntax:  "key", Keys: []KeySpec{oneKey(RO, 1)},
		Translate: listing(hashType, sqlHashFields, resp.EmptyArray, bulks),
		Tips:      []string{"nondeterministic_output_order"},
	},
	{
		Name: "HVALS", Group: "hash", Since: "2.0.0", Arity: 2, Flags: ReadOnly,
		Summary: "Returns all values of a hash",
		Syntax:  "key", Keys: []KeySpec{oneKey(RO, 1)},
		Translate: listing(hashType, sqlHashValues, resp.EmptyArray, bulks),
		Tips:      []string{"nondeterministic_output_order"},
	},
	{
		Name: "HDEL", Group: "hash", Since: "2.0.0", Arity: -3, Flags: Write | Fast,
		Summary: "Deletes fields of a hash and returns how many were there",
		Syntax:  "key field [field ...]", Keys: []KeySpec{oneKey(RW|Deletes, 1)}, Translate: hdel,
	},
	{
		Name: "HINCRBY", Group: "hash", Since: "2.0.0", Arity: 4, Flags: Write | DenyOOM | Fast,
		Summary: "Adds a number to the integer in a field of a hash, which starts at 0",
		Syntax:  "key field increment", Keys: []KeySpec{oneKey(RW|Returns|Updates, 1)}, Translate: hincrby,
	},
	{
		Name: "HINCRBYFLOAT", Group: "hash", Since: "2.6.0", Arity: 4, Flags: Write | DenyOOM | Fast,
		Summary: "Adds a number to the decimal number in a field of a hash, which starts at 0",
		Syntax:  "key field increment", Keys: []KeySpec{oneKey(RW|Returns|Updates, 1)}, Translate: hincrbyfloat,
	},
	{
		Name: "HRANDFIELD", Group: "hash", Since: "6.2.0", Arity: -2, Flags: ReadOnly,
		Summary: "Returns random fields of a hash",
		Syntax:  "key [count [WITHVALUES]]", Keys: []KeySpec{oneKey(RO, 1)}, Translate: hrandfield,
		Tips: []string{"nondeterministic_output"},
	},
	{
		Name: "HSCAN", Group: "hash", Since: "2.8.0", Arity: -3, Flags: ReadOnly,
		Summary: "Returns the fields of a hash and their values page by page",
		Syntax:  "key cursor [MATCH pattern] [COUNT count] [NOVALUES]", Keys: []KeySpec{oneKey(RO, 1)},
		Translate: scanElements(hashType, sqlHashPage),
		Tips:      []string{"nondeterministic_output"},
	},
}

// A field may have an expiry of its own: from then on it counts as absent. Reads
// filter it; writes purge all expired fields of the hash first.
const (
	liveField = `(h.expires_at IS NULL OR h.expires_at > ?3)`

	// liveFields is the number of live fields, in a query on keys.
	liveFields = `(count - (SELECT count(*) FROM hashes h WHERE h.key_id = keys.id AND h.expires_at <= ?3))`
)

const (
	ofField = ` FROM ` + liveKey + ` k
		LEFT JOIN hashes h ON h.key_id = k.id AND h.hash = ?4 AND h.field = ?5 AND ` + liveField
	sqlField       = `SELECT k.type, h.value` + ofField
	sqlHasField    = `SELECT k.type, h.field IS NOT NULL` + ofField
	sqlFieldLength = `SELECT k.type, ifnull(length(h.value), 0)` + ofField

	sqlFields = `SELECT h.value` + eachField

	sqlHashSize = `SELECT type, ` + liveFields + ` FROM keys WHERE ` + live

	ofHash        = ` FROM hashes h WHERE h.key_id = ` + liveID + ` AND ` + liveField + ` ORDER BY h.seq`
	sqlHash       = `SELECT h.field, h.value` + ofHash
	sqlHashFields = `SELECT h.field` + ofHash
	sqlHashValues = `SELECT h.value` + ofHash
)

// mapOf is rows of field and value.
func mapOf(rows []store.Row) resp.Value { return pairs(resp.Map, rows) }
