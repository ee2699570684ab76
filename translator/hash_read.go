package translator

import (
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/store/keytype"
)

// hashType names the type in the keys table and in TYPE's reply.
const hashType = keytype.Hash

var hashTranslations = translations{
	{"HSET", hset(false)},
	{"HMSET", hset(true)},
	{"HSETNX", hsetnx},
	{"HGET", byName(hashType, sqlField, resp.Nil, bulk)},
	{"HMGET", byEachName(hashType, &sqlFields, resp.Nil, bulks)},
	{"HEXISTS", byName(hashType, sqlHasField, resp.Zero, integer)},
	{"HSTRLEN", byName(hashType, sqlFieldLength, resp.Zero, integer)},
	{"HLEN", func(c *Call) Plan {
		return read(decodeCell(hashType, resp.Zero, integer), c.stmt(sqlHashSize, c.Args[1]))
	}},
	{"HGETALL", listing(hashType, sqlHash, resp.EmptyMap, mapOf)},
	{"HKEYS", listing(hashType, sqlHashFields, resp.EmptyArray, bulks)},
	{"HVALS", listing(hashType, sqlHashValues, resp.EmptyArray, bulks)},
	{"HDEL", hdel},
	{"HINCRBY", hincrby},
	{"HINCRBYFLOAT", hincrbyfloat},
	{"HRANDFIELD", hrandfield},
	{"HSCAN", scanElements(hashType, sqlHashPage, compareSeq, asBulks)},
}

// A field may have its own expiry. An expired field counts as missing. Reads filter expired fields; writes first purge
// all expired fields of the hash.
const (
	liveField = `(h.expires_at IS NULL OR h.expires_at > ?3)`

	// liveFields counts the live fields, in a query on keys.
	liveFields = `(count - (SELECT count(*) FROM hashes h WHERE h.key_id = keys.id AND h.expires_at <= ?3))`
)

const (
	ofField = ` FROM ` + liveKey + ` k
		LEFT JOIN hashes h ON h.key_id = k.id AND h.hash = ?4 AND h.field = ?5 AND ` + liveField
	sqlField       = `SELECT k.type, h.value` + ofField
	sqlHasField    = `SELECT k.type, h.hash IS NOT NULL` + ofField
	sqlFieldLength = `SELECT k.type, ifnull(length(h.value), 0)` + ofField

	sqlHashSize = `SELECT type, ` + liveFields + ` FROM keys WHERE ` + live

	ofHash        = ` FROM hashes h WHERE h.key_id = ` + liveID + ` AND ` + liveField
	sqlHash       = `SELECT h.field, h.value, h.seq` + ofHash
	sqlHashFields = `SELECT h.field, h.seq` + ofHash
	sqlHashValues = `SELECT h.value, h.seq` + ofHash
)

var sqlFields = nameSQL{newListSQL(1, `SELECT h.value`+eachField), `SELECT h.value` + theField}

// mapOf returns rows of field and value as a map.
func mapOf(rows []store.Row) resp.Value { return pairs(resp.Map, rows) }
