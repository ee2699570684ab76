package schema

// ApplicationID marks a SQLite file as a meowdis file in its header: "meow" in ASCII. Only stores whose engine
// has the pragma set it.
const ApplicationID = 0x6d656f77

// Version is the schema version that this program writes: the number of migrations.
const Version = 20

// VersionQuery reads the schema version of a file. It fails if the table does not exist: in an empty file, or
// in a file of another program.
const VersionQuery = `SELECT max(version) FROM meowdis`

// SetVersion records that the schema reached version ?1 at ?2 (Unix ms).
const SetVersion = `INSERT INTO meowdis(version, applied_at) VALUES(?1, ?2)`

// DiesAt is the expression of the column dies_at of keys. The index keys_by_death is on the expression: SQLite
// uses an index of an expression as a covering index, but never an index of a computed column.
const DiesAt = `iif(volatile > 0 AND volatile = count, min(last_field, ifnull(expires_at, last_field)), expires_at)`

// HiddenDB is the database of keys under construction, which no client can select (translator.Staged). Hidden
// is the same in SQL.
const (
	HiddenDB = -2
	Hidden   = `-2`
)

// SketchHeadBlock numbers the block of a sketch's head. SketchHead is the same in SQL.
const (
	SketchHeadBlock = -1
	SketchHead      = `-1`
)

// A string of more than WholeString bytes is stored in parts of StringPart bytes, a shorter one in the row of
// its key. WholeBytes and PartBytes are the same in SQL.
const (
	WholeString = 16384
	StringPart  = 32768
	WholeBytes  = `16384`
	PartBytes   = `32768`
)

// StringLength is SQL for the length of the string of a row of keys, in bytes. It reads no value.
const StringLength = `iif(keys.count > 0, keys.count, length(keys.value))`

// splitString selects the parts of the string of NEW, as rows of string_parts. It halves the value recursively,
// because each substr of a long value reads all of it.
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

// MakeNodes creates the nodes of streams without any.
const MakeNodes = `INSERT INTO stream_nodes(key_id, first_id, last_id, count, deleted, bytes, names)
	SELECT key_id, min(id), max(id), count(*), 0, 7 + sum(size), x'' FROM (
		SELECT key_id, id, length(fields) + 10 AS size, (row_number() OVER stream - 1) / 100 AS hundred,
			(sum(length(fields) + 10) OVER stream - 1) / 4096 AS page
		FROM stream_entries WHERE key_id NOT IN (SELECT key_id FROM stream_nodes) WINDOW stream AS (PARTITION BY key_id ORDER BY id))
	GROUP BY key_id, hundred, page`
