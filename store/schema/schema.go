package schema

// ApplicationID marks a SQLite file as ours in its header: "meow" in ASCII.
// Only stores whose engine has the pragma set it.
const ApplicationID = 0x6d656f77

// Version is the schema version that this program writes: the number of
// migrations.
const Version = 12

// VersionQuery reads the schema version of a file; it fails when the table
// does not exist, in a file that is empty or of another program.
const VersionQuery = `SELECT max(version) FROM meowdis`

// SetVersion records that the schema got version ?1 at ?2 (Unix ms).
const SetVersion = `INSERT INTO meowdis(version, applied_at) VALUES(?1, ?2)`

// DiesAt is the column dies_at of keys spelled out, which is what the index
// keys_by_death is of: SQLite finds all that it needs in an index of an
// expression, and never in that of a computed column.
const DiesAt = `iif(volatile > 0 AND volatile = count, min(last_field, ifnull(expires_at, last_field)), expires_at)`

// HiddenDB is the database of keys that are being made, which no client can select (translator.Aside).
// Hidden is the same in SQL.
const (
	HiddenDB = -2
	Hidden   = `-2`
)

// A string of more than WholeString bytes is kept in parts of StringPart bytes, and what is
// shorter in the row of its key. WholeBytes and PartBytes are the same in SQL.
const (
	WholeString = 16384
	StringPart  = 32768
	WholeBytes  = `16384`
	PartBytes   = `32768`
)

// StringLength is the bytes of the string of a row of keys, in SQL. It reads no value.
const StringLength = `iif(keys.count > 0, keys.count, length(keys.value))`

// splitString is the parts of the string of NEW, as rows of string_parts. It halves
// the value again and again: a cut out of a long one reads all of it.
const splitString = splitHead + `SELECT 0, (length(NEW.value) - 1) / ` + PartBytes + ` / 2 + 1, NEW.value` + splitTail

const (
	splitHead = `SELECT NEW.id, part, value FROM (
	WITH RECURSIVE cuts(part, half, value) AS (
		`
	splitTail = `
		UNION ALL SELECT part, (half - 1) / 2 + 1, substr(value, 1, half * ` + PartBytes + `)
			FROM cuts WHERE length(value) > ` + PartBytes + `
		UNION ALL SELECT part + half, (length(value) - half * ` + PartBytes + ` - 1) / ` + PartBytes + ` / 2 + 1, substr(value, half * ` + PartBytes + ` + 1)
			FROM cuts WHERE length(value) > ` + PartBytes + `)
	SELECT part, value FROM cuts WHERE length(value) BETWEEN 1 AND ` + PartBytes + `)`
)

// MakeNodes makes nodes for the streams that have none.
const MakeNodes = `INSERT INTO stream_nodes(key_id, first_id, last_id, count, deleted, bytes, names)
	SELECT key_id, min(id), max(id), count(*), 0, 7 + sum(size), x'' FROM (
		SELECT key_id, id, length(fields) + 10 AS size, (row_number() OVER stream - 1) / 100 AS hundred,
			(sum(length(fields) + 10) OVER stream - 1) / 4096 AS page
		FROM stream_entries WHERE key_id NOT IN (SELECT key_id FROM stream_nodes) WINDOW stream AS (PARTITION BY key_id ORDER BY id))
	GROUP BY key_id, hundred, page`
