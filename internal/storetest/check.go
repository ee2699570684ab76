package storetest

import (
	"testing"

	"github.com/meowdis/meowdis/engine"
)

// invariants are what holds in every database between two batches. Each query
// returns the rows that break it.
var invariants = []struct{ what, broken string }{
	{"a key counts its elements", `SELECT * FROM (SELECT db, key, type, count, CASE type
			WHEN 'string' THEN 0
			WHEN 'ReJSON-RL' THEN 0
			WHEN 'hash' THEN (SELECT count(*) FROM hashes WHERE key_id = id)
			WHEN 'list' THEN (SELECT count(*) FROM lists WHERE key_id = id)
			WHEN 'set' THEN (SELECT count(*) FROM sets WHERE key_id = id)
			WHEN 'zset' THEN (SELECT count(*) FROM zsets WHERE key_id = id)
			WHEN 'array' THEN (SELECT count(*) FROM arrays WHERE key_id = id) END AS elements FROM keys)
		WHERE count <> elements`},
	{"no collection is empty", `SELECT db, key, type FROM keys WHERE count = 0 AND type IN ('hash', 'list', 'set', 'zset', 'array')`},
	{"a key knows its fields that expire, and the last of them", `SELECT * FROM (SELECT db, key, volatile, last_field,
			(SELECT count(*) FROM hashes WHERE key_id = id AND expires_at IS NOT NULL) AS expiring,
			(SELECT max(expires_at) FROM hashes WHERE key_id = id) AS latest FROM keys)
		WHERE volatile <> expiring OR last_field IS NOT latest`},
	{"a string has a value", `SELECT db, key FROM keys WHERE type = 'string' AND id NOT IN (SELECT key_id FROM strings)`},
	{"a document has a value", `SELECT db, key FROM keys WHERE type = 'ReJSON-RL' AND id NOT IN (SELECT key_id FROM documents)`},

	{"a row of strings hangs on a string", `SELECT key_id, type FROM strings LEFT JOIN keys ON id = key_id WHERE type IS NOT 'string'`},
	{"a row of hashes hangs on a hash", `SELECT key_id, type FROM hashes LEFT JOIN keys ON id = key_id WHERE type IS NOT 'hash'`},
	{"a row of lists hangs on a list", `SELECT key_id, type FROM lists LEFT JOIN keys ON id = key_id WHERE type IS NOT 'list'`},
	{"a row of sets hangs on a set", `SELECT key_id, type FROM sets LEFT JOIN keys ON id = key_id WHERE type IS NOT 'set'`},
	{"a row of zsets hangs on a zset", `SELECT key_id, type FROM zsets LEFT JOIN keys ON id = key_id WHERE type IS NOT 'zset'`},
	{"a row of documents hangs on a document", `SELECT key_id, type FROM documents LEFT JOIN keys ON id = key_id WHERE type IS NOT 'ReJSON-RL'`},
	{"a row of arrays hangs on an array", `SELECT key_id, type FROM arrays LEFT JOIN keys ON id = key_id WHERE type IS NOT 'array'`},
	{"a row of array_cursors hangs on an array", `SELECT key_id, type FROM array_cursors LEFT JOIN keys ON id = key_id WHERE type IS NOT 'array'`},

	{"dbs counts the keys of a database", `SELECT db, keys, actual FROM
		(SELECT db, keys, (SELECT count(*) FROM keys k WHERE k.db = dbs.db) AS actual FROM dbs) WHERE keys <> actual`},
	{"every database with keys is in dbs", `SELECT db, key FROM keys WHERE db NOT IN (SELECT db FROM dbs)`},
	{"there are 16 databases", `SELECT db, key FROM keys WHERE db NOT BETWEEN 0 AND 15`},
	{"guard is empty", `SELECT * FROM guard`},

	{"keys are blobs and their numbers integers", `SELECT db, key, typeof(db), typeof(key), typeof(version), typeof(expires_at), typeof(created_at), typeof(updated_at)
		FROM keys WHERE typeof(db) <> 'integer' OR typeof(key) <> 'blob' OR typeof(type) <> 'text' OR typeof(version) <> 'integer'
		OR typeof(count) <> 'integer' OR typeof(seq) <> 'integer' OR typeof(expires_at) NOT IN ('null', 'integer')
		OR typeof(created_at) <> 'integer' OR typeof(updated_at) <> 'integer'`},
	{"a version fits a double", `SELECT db, key, version FROM keys WHERE version NOT BETWEEN 0 AND 9007199254740991`},
	{"values of strings are blobs", `SELECT key_id, typeof(value) FROM strings WHERE typeof(value) <> 'blob'`},
	{"documents are blobs of JSON", `SELECT key_id, typeof(value) FROM documents WHERE typeof(value) <> 'blob' OR NOT json_valid(CAST(value AS TEXT))`},
	{"hashes hold blobs", `SELECT key_id, field, typeof(field), typeof(value), typeof(seq), typeof(expires_at) FROM hashes
		WHERE typeof(field) <> 'blob' OR typeof(value) <> 'blob' OR typeof(seq) <> 'integer' OR typeof(expires_at) NOT IN ('null', 'integer')`},
	{"lists hold blobs", `SELECT key_id, typeof(pos), typeof(value) FROM lists WHERE typeof(pos) <> 'integer' OR typeof(value) <> 'blob'`},
	{"sets hold blobs", `SELECT key_id, member, typeof(member), typeof(seq) FROM sets WHERE typeof(member) <> 'blob' OR typeof(seq) <> 'integer'`},
	{"arrays hold blobs up to index 2^64-2", `SELECT key_id, pos, typeof(pos), typeof(value) FROM arrays
		WHERE typeof(pos) <> 'integer' OR typeof(value) <> 'blob' OR pos = 9223372036854775807`},
	{"cursors of arrays are integers", `SELECT key_id, typeof(next), typeof(ring) FROM array_cursors
		WHERE typeof(next) <> 'integer' OR typeof(ring) NOT IN ('null', 'integer')`},
	{"zsets hold blobs and doubles", `SELECT key_id, member, typeof(member), typeof(score) FROM zsets WHERE typeof(member) <> 'blob' OR typeof(score) <> 'real'`},

	{"a name has one hash, of 52 bits", `SELECT element, min(hash), max(hash) FROM (
			SELECT key AS element, hash FROM keys UNION ALL SELECT field AS element, hash FROM hashes UNION ALL SELECT member, hash FROM sets UNION ALL SELECT member, hash FROM zsets)
		GROUP BY element HAVING min(hash) <> max(hash) OR min(hash) < 1 OR max(hash) >= 1 << 52 OR typeof(max(hash)) <> 'integer'`},
}

// Check reports every invariant that the database breaks. Nothing may be
// writing meanwhile.
func Check(t testing.TB, s engine.Store) {
	t.Helper()
	for _, i := range invariants {
		if rows := query(t, s, i.broken); len(rows) > 0 {
			t.Errorf("not so: %s: %v", i.what, rows)
		}
	}
}
