package doctor

import (
	"fmt"
	"slices"
	"sync"

	"github.com/meowdis/meowdis/store/keytype"
	"github.com/meowdis/meowdis/store/schema"
)

// LostAndFound is the prefix of keys that a repair creates for elements without a key. The time of the repair,
// the type and the elements' key_id follow.
const LostAndFound = "lost+found:"

// No command finds a name that is not a blob. Converted to a blob, the name may already be taken: then the row
// moves to the key_id -key_id, and is adopted with the orphans.
const (
	blobKeys   = `UPDATE OR IGNORE keys SET key = CAST(key AS BLOB) WHERE typeof(key) <> 'blob'`
	twinKeys   = `UPDATE keys SET db = 0, key = CAST(?1 || id || ':' || key AS BLOB) WHERE typeof(key) <> 'blob'`
	blobFields = `UPDATE OR IGNORE hashes SET field = CAST(field AS BLOB) WHERE typeof(field) <> 'blob'`
	twinFields = `UPDATE hashes SET key_id = -key_id, field = CAST(field AS BLOB) WHERE typeof(field) <> 'blob'`
)

// Checks returns the conditions of a meowdis file, in the order of repair.
var Checks = sync.OnceValue(checks)

func checks() []Check {
	return slices.Concat(valueChecks(), referenceChecks(), keyChecks(), countChecks(), libraryChecks())
}

// valueChecks returns the checks of the types of values, and of values that no command writes.
func valueChecks() []Check {
	return []Check{
		{
			Name: "names", Severity: Error, Says: "names are text, not bytes, so commands do not find them",
			Broken: []string{
				`SELECT 'keys', CAST(key AS BLOB) FROM keys WHERE typeof(key) <> 'blob'`,
				`SELECT 'hashes', CAST(field AS BLOB) FROM hashes WHERE typeof(field) <> 'blob'`,
				`SELECT 'sets', CAST(member AS BLOB) FROM sets WHERE typeof(member) <> 'blob'`,
				`SELECT 'zsets', CAST(member AS BLOB) FROM zsets WHERE typeof(member) <> 'blob'`,
			},
			Shows: "in %s: %s",
			Fix:   "they become bytes; duplicates move to keys whose names begin with lost+found",
			Repair: []string{
				blobKeys, twinKeys, blobFields, twinFields,
				`UPDATE OR IGNORE sets SET member = CAST(member AS BLOB) WHERE typeof(member) <> 'blob'`,
				`UPDATE sets SET key_id = -key_id, member = CAST(member AS BLOB) WHERE typeof(member) <> 'blob'`,
				`UPDATE OR IGNORE zsets SET member = CAST(member AS BLOB) WHERE typeof(member) <> 'blob'`,
				`UPDATE zsets SET key_id = -key_id, member = CAST(member AS BLOB) WHERE typeof(member) <> 'blob'`,
			},
		},
		{
			Name: "values", Severity: Error, Says: "values are text or numbers, not bytes",
			Broken: []string{
				`SELECT 'keys', id, typeof(value) FROM keys WHERE typeof(value) NOT IN ('blob', 'null')`,
				`SELECT 'string_parts', key_id, typeof(value) FROM string_parts WHERE typeof(value) <> 'blob'`,
				`SELECT 'documents', key_id, typeof(value) FROM documents WHERE typeof(value) <> 'blob'`,
				`SELECT 'hashes', key_id, typeof(value) FROM hashes WHERE typeof(value) <> 'blob'`,
				`SELECT 'lists', key_id, typeof(value) FROM lists WHERE typeof(value) <> 'blob'`,
				`SELECT 'arrays', key_id, typeof(value) FROM arrays WHERE typeof(value) <> 'blob'`,
				`SELECT 'libraries', rowid, typeof(code) FROM libraries WHERE typeof(code) <> 'blob'`,
			},
			Shows: "in %s, of id %s: %s",
			Fix:   "they become bytes",
			Repair: []string{
				`UPDATE keys SET value = CAST(value AS BLOB) WHERE typeof(value) NOT IN ('blob', 'null')`,
				`UPDATE string_parts SET value = CAST(value AS BLOB) WHERE typeof(value) <> 'blob'`,
				`UPDATE documents SET value = CAST(value AS BLOB) WHERE typeof(value) <> 'blob'`,
				`UPDATE hashes SET value = CAST(value AS BLOB) WHERE typeof(value) <> 'blob'`,
				`UPDATE lists SET value = CAST(value AS BLOB) WHERE typeof(value) <> 'blob'`,
				`UPDATE arrays SET value = CAST(value AS BLOB) WHERE typeof(value) <> 'blob'`,
				`UPDATE libraries SET code = CAST(code AS BLOB) WHERE typeof(code) <> 'blob'`,
			},
		},
		{
			Name: "numbers", Severity: Error, Says: "expiries, versions, counts or scores are not numbers",
			Broken: []string{
				`SELECT 'keys', id FROM keys WHERE typeof(version) <> 'integer' OR version NOT BETWEEN 0 AND 9007199254740991
				OR typeof(count) <> 'integer' OR typeof(seq) <> 'integer' OR typeof(expires_at) NOT IN ('null', 'integer')
				OR typeof(created_at) <> 'integer' OR typeof(updated_at) <> 'integer'`,
				`SELECT 'hashes', key_id FROM hashes WHERE typeof(seq) <> 'integer' OR typeof(expires_at) NOT IN ('null', 'integer')`,
				`SELECT 'sets', key_id FROM sets WHERE typeof(seq) <> 'integer'`,
				`SELECT 'zsets', key_id FROM zsets WHERE typeof(score) <> 'real'`,
			},
			Shows: "in %s, of key id %s",
			Fix:   "versions are replaced; unreadable expiries are removed; a score that is not a number becomes 0",
			Repair: []string{
				`UPDATE keys SET version = random() & 2251799813685247 WHERE typeof(version) <> 'integer' OR version NOT BETWEEN 0 AND 9007199254740991`,
				`UPDATE keys SET count = CAST(count AS INTEGER) WHERE typeof(count) <> 'integer'`,
				`UPDATE keys SET seq = CAST(seq AS INTEGER) WHERE typeof(seq) <> 'integer'`,
				`UPDATE keys SET expires_at = iif(typeof(expires_at) = 'real', CAST(expires_at AS INTEGER), NULL) WHERE typeof(expires_at) NOT IN ('null', 'integer')`,
				`UPDATE keys SET created_at = CAST(created_at AS INTEGER), updated_at = CAST(updated_at AS INTEGER)
				WHERE typeof(created_at) <> 'integer' OR typeof(updated_at) <> 'integer'`,
				`UPDATE hashes SET seq = CAST(seq AS INTEGER) WHERE typeof(seq) <> 'integer'`,
				`UPDATE hashes SET expires_at = iif(typeof(expires_at) = 'real', CAST(expires_at AS INTEGER), NULL) WHERE typeof(expires_at) NOT IN ('null', 'integer')`,
				`UPDATE sets SET seq = CAST(seq AS INTEGER) WHERE typeof(seq) <> 'integer'`,
				`UPDATE zsets SET score = CAST(score AS REAL) WHERE typeof(score) <> 'real'`,
			},
		},
		{
			Name: "positions", Severity: Error, Says: "positions in lists or arrays are not integers, or string parts have an invalid position",
			Broken: []string{
				`SELECT key_id, part FROM string_parts WHERE typeof(part) <> 'integer' OR part NOT BETWEEN 0 AND 16383 OR length(value) > ` + schema.PartBytes,
				`SELECT key_id, pos FROM lists WHERE typeof(pos) <> 'integer'`,
				`SELECT key_id, pos FROM arrays WHERE typeof(pos) <> 'integer' OR pos = 9223372036854775807`, // index 2^64-1
				`SELECT key_id, next FROM array_cursors WHERE typeof(next) <> 'integer'`,
			},
			Shows:  "of key id %s: %s",
			Advice: "give them free positions with the sqlite3 shell",
		},
		{
			Name: "vectors", Severity: Error, Says: "vector sets have elements without a vector, or vectors that do not match the set",
			Broken: []string{
				`SELECT k.db, k.key FROM keys k LEFT JOIN vector_sets s ON s.key_id = k.id WHERE k.type = 'vectorset' AND ` + isPublished + ` AND (s.key_id IS NULL
				OR (SELECT min(slot) <> 0 OR max(slot) <> count(*) - 1 FROM vectors WHERE key_id = k.id)
				OR (SELECT ifnull(sum(length(records)), 0) <> s.size * (SELECT count(*) FROM vectors WHERE key_id = k.id)
					OR max(length(records)) > s.per * s.size FROM vector_blocks WHERE key_id = k.id))`,
			},
			Shows:  "db %s: %s",
			Advice: "delete the key and add its elements again",
		},
		{
			Name: "sketches", Severity: Error, Says: "filters, counters or digests have no head, or blocks that are too long",
			Broken: brokenSketches(), Shows: "db %s: %s",
			Advice: "delete the key and create it again",
		},
		{
			Name: "series", Severity: Error, Says: "time series have no properties, or a wrong last sample",
			Broken: []string{`SELECT k.db, k.key FROM keys k LEFT JOIN series s ON s.key_id = k.id WHERE k.type = 'TSDB-TYPE' AND ` + isPublished + ` AND (s.key_id IS NULL
				OR s.last_at IS NOT ifnull((SELECT max(at) FROM samples WHERE key_id = k.id), 0)
				OR k.count <> (SELECT count(*) FROM samples WHERE key_id = k.id))`}, Shows: "db %s: %s",
			Advice: "dump the key with DUMP, delete it and RESTORE it",
		},
		{
			Name: "documents", Severity: Error, Says: "documents are not JSON",
			Broken: []string{`SELECT db, key FROM documents JOIN keys ON id = key_id WHERE NOT json_valid(CAST(documents.value AS TEXT))`}, Shows: "db %s: %s",
			Advice: "set them again: JSON.SET KEY $ VALUE",
		},
	}
}

// brokenSketches returns queries for keys of probabilistic types whose blocks are wrong.
func brokenSketches() (all []string) {
	for _, t := range keytype.Types {
		if t.Form == keytype.Summary {
			all = append(all, fmt.Sprintf(`SELECT k.db, k.key FROM keys k WHERE k.type = '%s' AND `+isPublished+` AND (NOT EXISTS (SELECT 1 FROM %s WHERE key_id = k.id AND block = `+schema.SketchHead+`)
				OR EXISTS (SELECT 1 FROM %[2]s WHERE key_id = k.id AND block >= 0 AND length(data) > 960))`, t.Name, t.Tables[0].Name))
		}
	}
	return all
}

// referenceChecks returns the checks of rows that belong to missing or wrong rows.
func referenceChecks() []Check {
	return []Check{
		{
			Name: "databases", Severity: Error, Says: "keys are in databases that do not exist",
			Broken: []string{`SELECT db, key FROM keys WHERE ` + inNoDatabase}, Shows: "db %s: %s",
			Fix: "they move to database 0, under names that begin with lost+found",
			Repair: []string{`UPDATE keys SET key = CAST(?1 || db || ':' || CAST(key AS TEXT) AS BLOB), db = 0
			WHERE ` + inNoDatabase},
		},
		{
			Name: "leftovers", Severity: Note, Says: "an interrupted move has left incomplete keys",
			Broken: []string{`SELECT db, key FROM keys WHERE key >= CAST('meowdis:moving:' AS BLOB) AND key < CAST('meowdis:moving;' AS BLOB)`}, Shows: "db %s: %s",
			Fix:    "they are deleted",
			Repair: []string{`DELETE FROM keys WHERE key >= CAST('meowdis:moving:' AS BLOB) AND key < CAST('meowdis:moving;' AS BLOB)`},
		},
		{
			Name: "consumers", Severity: Error, Says: "messages are pending for missing consumers",
			Broken: []string{`SELECT key_id, group_name, consumer, count(*) FROM stream_pending p WHERE consumer IS NOT NULL AND NOT EXISTS
			(SELECT 1 FROM stream_consumers c WHERE c.key_id = p.key_id AND c.group_name = p.group_name AND c.name = p.consumer)
			GROUP BY key_id, group_name, consumer`},
			Shows: "of key id %s, group %s, consumer %s: %s",
			Fix:   "the consumers are created again",
			Repair: []string{`INSERT INTO stream_consumers(key_id, group_name, name, seen_at)
			SELECT key_id, group_name, consumer, max(delivered_at) FROM stream_pending p WHERE consumer IS NOT NULL AND NOT EXISTS
			(SELECT 1 FROM stream_consumers c WHERE c.key_id = p.key_id AND c.group_name = p.group_name AND c.name = p.consumer)
			GROUP BY key_id, group_name, consumer`},
		},
		{
			Name: "groups", Severity: Error, Says: "consumers or pending messages belong to missing groups",
			Broken: []string{`SELECT key_id, group_name, count(*) FROM ` + inGroups + ` c WHERE NOT EXISTS
			(SELECT 1 FROM stream_groups g WHERE g.key_id = c.key_id AND g.name = c.group_name) GROUP BY key_id, group_name`},
			Shows: "of key id %s, group %s: %s",
			Fix:   "the groups are created again and continue after the last pending message",
			Repair: []string{`INSERT INTO stream_groups(key_id, name, last_id)
			SELECT DISTINCT key_id, group_name, ifnull(
				(SELECT max(id) FROM stream_pending p WHERE p.key_id = c.key_id AND p.group_name = c.group_name), zeroblob(16))
			FROM ` + inGroups + ` c WHERE NOT EXISTS
				(SELECT 1 FROM stream_groups g WHERE g.key_id = c.key_id AND g.name = c.group_name)`},
		},
		{
			Name: "pending", Severity: Error, Says: "keys have the id of a deleted key, so a sweep would delete their elements",
			Broken: []string{`SELECT id, type FROM pending_deletes WHERE ` + isWrongPendingDelete()}, Shows: "id %s: a %s",
			Fix: "they keep the elements", Repair: []string{`DELETE FROM pending_deletes WHERE ` + isWrongPendingDelete()},
		},
		{
			Name: "orphans", Severity: Error, Says: "elements have no key",
			Broken: orphans(), Shows: "in %s, of key id %s: %s",
			Fix: "they get keys in database 0 whose names begin with lost+found", Repair: adoptOrphans(),
		},
		{
			Name: "mismatches", Severity: Error, Says: "elements belong to a key of another type",
			Broken: mismatched(), Shows: "in %s, of db %s key %s, which is a %s: %s",
			Fix:    "a key without elements of its own type takes their type; other elements move to keys whose names begin with lost+found",
			Repair: splitMismatched(),
		},
	}
}

// keyChecks returns the checks of keys whose rows contradict each other.
func keyChecks() []Check {
	held := hasElements()
	return []Check{
		{
			Name: "parts", Severity: Error, Says: "strings have both parts and a value, or parts without an empty value",
			Broken: []string{`SELECT db, key FROM keys k WHERE type = 'string' AND ` + inParts + ` AND (value IS NULL OR ` + whole + `)`}, Shows: "db %s: %s",
			Fix: "the half that commands do not see moves to a key whose name begins with lost+found",
			Repair: []string{
				`INSERT INTO keys(db, key, hash, type, version, created_at, updated_at, value)
				SELECT 0, ` + fmt.Sprintf(savedName, "string") + `, ` + fmt.Sprintf(newKey, "string") + `, iif(count = 0, x'', value)
				FROM (SELECT id AS key_id, count, value FROM keys k WHERE type = 'string' AND ` + inParts + ` AND ` + whole + `)`,
				`UPDATE string_parts SET key_id = ` + savedString + ` WHERE EXISTS (SELECT 1 FROM keys k WHERE id = key_id AND type = 'string' AND count = 0 AND ` + whole + `)`,
				`UPDATE keys AS k SET value = x'' WHERE type = 'string' AND (value IS NULL OR count > 0) AND ` + inParts,
			},
		},
		{
			Name: "streams", Severity: Error, Says: "streams have no last ID, or one below the ID of their last entry",
			Broken: []string{`SELECT db, key FROM keys k WHERE type = 'stream' AND ` + held + ` AND NOT EXISTS (SELECT 1 FROM streams WHERE key_id = k.id
			AND last_id >= ifnull((SELECT max(id) FROM stream_entries WHERE key_id = k.id), x''))`},
			Shows: "db %s: %s",
			Fix:   "the ID of the last entry becomes the last ID",
			Repair: []string{
				`INSERT INTO streams(key_id, last_id, deleted_id, added)
				SELECT id, zeroblob(16), zeroblob(16), (SELECT count(*) FROM stream_entries WHERE key_id = k.id) FROM keys k
				WHERE type = 'stream' AND ` + held + ` AND NOT EXISTS (SELECT 1 FROM streams WHERE key_id = k.id)`,
				`UPDATE streams SET last_id = (SELECT max(id) FROM stream_entries e WHERE e.key_id = streams.key_id)
				WHERE last_id < (SELECT max(id) FROM stream_entries e WHERE e.key_id = streams.key_id)`,
			},
		},
		{
			Name: "nodes", Severity: Error, Says: "nodes of streams do not match their entries, so trimming with ~ trims the wrong entries",
			Broken: []string{`SELECT db, key FROM keys k WHERE type = 'stream' AND ` + isPublished + ` AND ` + held + ` AND ` + badNodes}, Shows: "db %s: %s",
			Fix: "the nodes are rebuilt with the usual size",
			Repair: []string{
				`DELETE FROM stream_nodes WHERE key_id IN (SELECT id FROM keys k WHERE type = 'stream' AND ` + isPublished + ` AND ` + badNodes + `)`,
				schema.MakeNodes,
			},
		},
		{
			Name: "hollow", Severity: Error, Says: "keys have no elements, or no value",
			Broken: []string{`SELECT db, key, type FROM keys k WHERE ` + isPublished + ` AND NOT (` + held + `)`}, Shows: "db %s: %s, a %s",
			Fix:    "they are deleted: they hold no data",
			Repair: []string{`DELETE FROM keys AS k WHERE ` + isPublished + ` AND NOT (` + held + `)`},
		},
	}
}

// countChecks returns the checks of counts and other values that are derived from rows.
func countChecks() []Check {
	elements := elements()
	return []Check{
		{
			Name: "counts", Severity: Error, Says: "element counts of keys are wrong",
			Broken: []string{`SELECT db, key, count, ` + elements + ` FROM keys k WHERE ` + isPublished + ` AND count <> ` + elements}, Shows: "db %s: %s counts %s and has %s",
			Fix: "the counts are corrected",
			Repair: []string{
				`UPDATE keys AS k SET count = ` + elements + ` WHERE ` + isPublished + ` AND count <> ` + elements,
				// A string that is not long has no parts.
				`UPDATE keys SET value = (SELECT p.value FROM string_parts p WHERE p.key_id = keys.id)
				WHERE type = 'string' AND count BETWEEN 1 AND ` + schema.WholeBytes,
				`UPDATE keys SET type = type, count = 0 WHERE type = 'string' AND count BETWEEN 1 AND ` + schema.WholeBytes,
			},
		},
		{
			Name: "order", Severity: Error, Says: "keys have a lower insertion counter than their elements",
			Broken: []string{`SELECT db, key, seq, ` + lastPlace + ` FROM keys k WHERE ` + isPublished + ` AND seq < ` + lastPlace}, Shows: "db %s: %s is at %s, not %s",
			Fix:    "the counter continues after the last element",
			Repair: []string{`UPDATE keys AS k SET seq = ` + lastPlace + ` WHERE ` + isPublished + ` AND seq < ` + lastPlace},
		},
		{
			Name: "fields", Severity: Error, Says: "hashes have a wrong count of expiring fields, or a wrong last expiry",
			Broken: []string{`SELECT db, key FROM keys k WHERE ` + isPublished + ` AND (volatile <> ` + expiring + ` OR last_field IS NOT ` + lastField + `)`}, Shows: "db %s: %s",
			Fix:    "both are corrected",
			Repair: []string{`UPDATE keys AS k SET volatile = ` + expiring + `, last_field = ` + lastField + ` WHERE ` + isPublished + ` AND (volatile <> ` + expiring + ` OR last_field IS NOT ` + lastField + `)`},
		},
		{
			Name: "sizes", Severity: Error, Says: "key counts of databases are wrong",
			Broken: []string{
				`SELECT db, keys, (SELECT count(*) FROM keys k WHERE k.db = dbs.db) AS have FROM dbs WHERE keys <> have`,
				`SELECT db, 0, count(*) FROM keys WHERE db NOT IN (SELECT db FROM dbs) GROUP BY db`,
			},
			Shows: "db %s counts %s and has %s",
			Fix:   "the counts are corrected", Repair: []string{`DELETE FROM dbs`, `INSERT INTO dbs(db, keys) SELECT db, count(*) FROM keys GROUP BY db`},
		},
	}
}

// libraryChecks returns the checks of function libraries, and of the table guard.
func libraryChecks() []Check {
	return []Check{
		{
			Name: "functions", Severity: Error, Says: "functions belong to a missing library, or to more than one",
			Broken: []string{
				`SELECT name, library FROM functions WHERE library NOT IN (SELECT name FROM libraries)`,
				`SELECT name, library FROM functions WHERE ` + sameFunction,
			},
			Shows: "%s of %s",
			Fix:   "they are deleted; of two libraries with a function of the same name, the older one keeps it",
			Repair: []string{
				`DELETE FROM functions WHERE library NOT IN (SELECT name FROM libraries)`,
				`DELETE FROM functions WHERE ` + sameFunction,
			},
		},
		{
			Name: "libraries", Severity: Error, Says: "libraries have no functions",
			Broken: []string{`SELECT name, length(code) FROM libraries WHERE name NOT IN (SELECT library FROM functions)`},
			Shows:  "%s, of %s bytes", Advice: "FUNCTION LIST LIBRARYNAME name WITHCODE shows the source; load it again with FUNCTION LOAD REPLACE",
		},
		{
			Name: "guard", Severity: Warning, Says: "the table guard is not empty",
			Broken: []string{`SELECT ok FROM guard`}, Shows: "%s",
			Fix: "it is emptied: no row may stay in it", Repair: []string{`DELETE FROM guard`},
		},
	}
}

// sameFunction matches a function if an older function of another library has the same name.
const sameFunction = `EXISTS (SELECT 1 FROM functions f WHERE f.name = functions.name AND f.library <> functions.library AND f.id < functions.id)`

// inGroups selects the consumers and pending messages of groups. A message without a consumer was released and
// not claimed again.
const inGroups = `(SELECT key_id, group_name FROM stream_consumers UNION ALL SELECT key_id, group_name FROM stream_pending)`

// The parts and the value of the string in row k of keys, and the key that receives its other half.
const (
	inParts     = `EXISTS (SELECT 1 FROM string_parts WHERE key_id = k.id)`
	whole       = `length(value) > 0`
	savedString = `(SELECT s.id FROM keys s WHERE s.db = 0 AND s.key = CAST(?1 || 'string:' || key_id AS BLOB))`
)

// badNodes matches a stream, row k of keys, with wrong nodes: entries are outside its nodes, or the counts differ.
const badNodes = `((SELECT count(*) FROM stream_entries WHERE key_id = k.id) <> (SELECT ifnull(sum(count), 0) FROM stream_nodes WHERE key_id = k.id)
	OR EXISTS (SELECT 1 FROM stream_nodes n WHERE n.key_id = k.id
		AND count <> (SELECT count(*) FROM stream_entries e WHERE e.key_id = n.key_id AND e.id BETWEEN n.first_id AND n.last_id)))`

// elements returns an SQL expression: the number of elements that row k of keys has in the tables.
func elements() string {
	return `CASE k.type` + whens(func(t *keytype.Type) string {
		for _, table := range t.Tables {
			if table.Role == keytype.Element {
				return `(SELECT count(*) FROM ` + table.Name + ` WHERE key_id = k.id)`
			}
		}
		if t.Name == keytype.String { // the length of a string in parts
			return `ifnull((SELECT part * ` + schema.PartBytes + ` + length(value) FROM string_parts WHERE key_id = k.id ORDER BY part DESC LIMIT 1), 0)`
		}
		return ""
	}) + ` ELSE 0 END`
}

// The actual values of the columns that row k of keys keeps about its elements.
const (
	lastPlace = `CASE k.type
		WHEN 'hash' THEN (SELECT max(seq) FROM hashes WHERE key_id = k.id)
		WHEN 'set' THEN (SELECT max(seq) FROM sets WHERE key_id = k.id)
		ELSE 0 END`
	expiring  = `(SELECT count(*) FROM hashes WHERE key_id = k.id AND expires_at IS NOT NULL)`
	lastField = `(SELECT max(expires_at) FROM hashes WHERE key_id = k.id AND expires_at IS NOT NULL)`
)
