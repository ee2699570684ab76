package schema

import (
	"slices"
	"strings"
	"sync"
)

// Tables creates the tables of an empty file, with their indexes, triggers and views. No key_id is declared a
// foreign key: SQLite would search every table for each deleted key, at several times the cost, and could not
// empty a table at once; and an engine may run without foreign keys. So a trigger deletes the elements of a key
// from the one table that has them, if they are few. The views are for users who open the file with sqlite3.
var Tables = slices.Concat(keys, pendingDeletes, parts, hashes, sets, lists, streams, documents, arrays, vectors, sketches, series, search, suggestions, functions)

// live is the condition for the rows k of keys that the views show.
const live = `(k.dies_at IS NULL OR k.dies_at > (julianday('now') - 2440587.5) * 86400000)`

var keys = []string{
	`CREATE TABLE meowdis(version INTEGER PRIMARY KEY, applied_at INTEGER NOT NULL)`,

	// Always empty: a statement refuses its batch by inserting NULL here.
	`CREATE TABLE guard(ok INTEGER NOT NULL)`,

	// hash is a 52-bit hash of the key, which orders SCAN and random picks: unlike the row id it depends only on
	// the name. version starts at a random number and grows by one with each change, so it never repeats when a
	// key is deleted and created again: WATCH and compare-and-set rely on it. count is the number of elements,
	// seq the number of elements ever added. volatile counts the fields with an expiry of their own, and
	// last_field is the latest of these expiries: a hash dies with its last field, unless one field has no
	// expiry, or the TTL ends sooner. So expires_at is the end of the TTL, and dies_at the end of the key. value
	// is a string, and NULL for other types; it is the last column, so that a query for other columns does not
	// read a long value.
	`CREATE TABLE keys(
		id INTEGER PRIMARY KEY,
		db INTEGER NOT NULL,
		key BLOB NOT NULL,
		hash INTEGER NOT NULL,
		type TEXT NOT NULL,
		version INTEGER NOT NULL,
		count INTEGER NOT NULL DEFAULT 0 CHECK (count >= 0),
		seq INTEGER NOT NULL DEFAULT 0,
		expires_at INTEGER,
		created_at INTEGER NOT NULL,
		updated_at INTEGER NOT NULL,
		volatile INTEGER NOT NULL DEFAULT 0,
		last_field INTEGER,
		dies_at INTEGER AS (` + DiesAt + `) VIRTUAL,
		value BLOB,
		UNIQUE(db, key))`,
	`CREATE INDEX keys_by_hash ON keys(db, hash)`,
	// With db, so that counting expired keys does not read their rows, and with expires_at, which INFO averages.
	`CREATE INDEX keys_by_death ON keys(` + DiesAt + `, db, expires_at) WHERE ` + DiesAt + ` IS NOT NULL`,

	// The number of rows of keys in each database, so that DBSIZE reads one row.
	`CREATE TABLE dbs(db INTEGER PRIMARY KEY, keys INTEGER NOT NULL)`,
	`CREATE TRIGGER keys_insert AFTER INSERT ON keys BEGIN
		INSERT INTO dbs(db, keys) VALUES(NEW.db, 1) ON CONFLICT(db) DO UPDATE SET keys = keys + 1;
	END`,
	`CREATE TRIGGER keys_move AFTER UPDATE OF db ON keys WHEN OLD.db <> NEW.db BEGIN
		UPDATE dbs SET keys = keys - 1 WHERE db = OLD.db;
		INSERT INTO dbs(db, keys) VALUES(NEW.db, 1) ON CONFLICT(db) DO UPDATE SET keys = keys + 1;
	END`,
	`CREATE TRIGGER keys_delete AFTER DELETE ON keys BEGIN
		UPDATE dbs SET keys = keys - 1 WHERE db = OLD.db;
	END`,

	// If a row changes to another type (SET overwrites any type), it is deleted with its old type, so that its
	// elements are deleted, and inserted again.
	`CREATE TRIGGER keys_anew AFTER UPDATE OF created_at ON keys WHEN OLD.type <> NEW.type BEGIN
		UPDATE keys SET type = OLD.type, count = OLD.count WHERE id = NEW.id;
		DELETE FROM keys WHERE id = NEW.id;
		INSERT INTO keys(db, key, hash, type, version, expires_at, created_at, updated_at, value)
			VALUES(NEW.db, NEW.key, NEW.hash, NEW.type, NEW.version, NEW.expires_at, NEW.created_at, NEW.updated_at, NEW.value);
	END`,

	`CREATE VIEW v_keys AS SELECT k.db, CAST(k.key AS TEXT) AS key, k.type, k.count,
		(k.expires_at - CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)) / 1000.0 AS ttl_seconds,
		strftime('%Y-%m-%dT%H:%M:%fZ', k.expires_at / 1000.0, 'unixepoch') AS expires_at,
		strftime('%Y-%m-%dT%H:%M:%fZ', k.created_at / 1000.0, 'unixepoch') AS created_at,
		strftime('%Y-%m-%dT%H:%M:%fZ', k.updated_at / 1000.0, 'unixepoch') AS updated_at
		FROM keys k WHERE ` + live,
}

// A deleted key with more than a few elements leaves them behind, so that no client waits for their removal:
// its id stays in pending_deletes until a sweep has deleted the last of them. No key has such an id: if SQLite
// reuses one, a trigger changes it at once.
var pendingDeletes = []string{
	`CREATE TABLE pending_deletes(id INTEGER PRIMARY KEY, type TEXT NOT NULL)`,
	`CREATE TRIGGER keys_new_id AFTER INSERT ON keys WHEN NEW.id IN (SELECT id FROM pending_deletes) BEGIN
		UPDATE keys SET id = ` + freeID + ` WHERE id = NEW.id;
	END`,
	`CREATE TRIGGER keys_delete_later AFTER DELETE ON keys WHEN ` + manyElements + ` BEGIN
		INSERT INTO pending_deletes(id, type) VALUES(OLD.id, OLD.type);
	END`,
}

// fewElements and many are conditions on the number of elements of the key OLD. A long string counts its parts. A
// stream with few entries may have many pending entries, or many producer IDs.
const (
	fewElements  = `OLD.count <= 256`
	manyElements = `(OLD.count > 256 AND OLD.type <> 'string' OR ` + manyParts + ` OR OLD.type = 'stream' AND ` + manyPending + `)`
	fewParts     = `OLD.count BETWEEN 1 AND 256 * ` + PartBytes + ` AND OLD.type = 'string'`
	manyParts    = `OLD.count > 256 * ` + PartBytes + ` AND OLD.type = 'string'`
	manyPending  = `(EXISTS (SELECT 1 FROM stream_pending WHERE key_id = OLD.id LIMIT 1 OFFSET 256)
		OR EXISTS (SELECT 1 FROM stream_iids WHERE key_id = OLD.id LIMIT 1 OFFSET 256))`
	// freeID is an id that neither keys nor pending_deletes has.
	freeID = `max((SELECT max(id) FROM keys), (SELECT max(id) FROM pending_deletes)) + 1`
)

// A string is stored in the row of its key, or in parts if it is longer than WholeString bytes, so that a
// change writes one part and not the whole. count is the length of a string in parts, in bytes, and 0 for a
// short one. A missing part is all zeros, and a short part is filled up with zeros; the value in keys is then
// empty. Setting count splits a string into parts, and setting it to 0 deletes the parts. A statement that sets
// count also sets type, and the triggers fire on type: count changes with each element of other types, and even
// a trigger that only checks its condition costs 0.4 µs.
var parts = []string{
	`CREATE TABLE string_parts(
		key_id INTEGER NOT NULL,
		part INTEGER NOT NULL,
		value BLOB NOT NULL,
		PRIMARY KEY(key_id, part)) WITHOUT ROWID`,
	`CREATE TRIGGER string_parts_make AFTER UPDATE OF type ON keys WHEN OLD.count = 0 AND NEW.count > 0 AND NEW.type = 'string' BEGIN
		INSERT INTO string_parts(key_id, part, value) ` + splitString + `;
		UPDATE keys SET value = x'' WHERE id = NEW.id;
	END`,
	`CREATE TRIGGER string_parts_drop AFTER UPDATE OF type ON keys WHEN ` + fewParts + ` AND NEW.count = 0 BEGIN
		DELETE FROM string_parts WHERE key_id = OLD.id;
	END`,
	`CREATE TRIGGER string_parts_delete_later AFTER UPDATE OF type ON keys WHEN ` + manyParts + ` AND NEW.count = 0 BEGIN
		INSERT INTO pending_deletes(id, type) VALUES(OLD.id, OLD.type);
		UPDATE keys SET id = ` + freeID + ` WHERE id = OLD.id;
	END`,
	`CREATE TRIGGER keys_delete_parts AFTER DELETE ON keys WHEN ` + fewParts + ` BEGIN
		DELETE FROM string_parts WHERE key_id = OLD.id;
	END`,
	`CREATE VIEW v_strings AS SELECT k.db, CAST(k.key AS TEXT) AS key, iif(k.count = 0, CAST(k.value AS TEXT),
			(SELECT group_concat(CAST(value AS TEXT), '') FROM (SELECT value FROM string_parts WHERE key_id = k.id ORDER BY part))) AS value
		FROM keys k WHERE k.type = 'string' AND ` + live,
}

// hash is a 52-bit hash of the field or member. It orders the elements, so that a scan's numeric cursor and a
// random pick are a seek. seq is the order of insertion. The triggers update the columns of keys about fields
// with an expiry. A field is inserted without an expiry and gets it by an UPDATE, because most fields never
// have one. A statement that copies a whole hash also copies those columns.
var hashes = []string{
	`CREATE TABLE hashes(
		key_id INTEGER NOT NULL,
		hash INTEGER NOT NULL,
		field BLOB NOT NULL,
		value BLOB NOT NULL,
		seq INTEGER NOT NULL,
		expires_at INTEGER,
		PRIMARY KEY(key_id, hash, field)) WITHOUT ROWID`,
	`CREATE INDEX hashes_by_expiry ON hashes(key_id, expires_at) WHERE expires_at IS NOT NULL`,
	// For the sweep.
	`CREATE INDEX hashes_by_death ON hashes(expires_at) WHERE expires_at IS NOT NULL`,
	`CREATE TRIGGER hashes_update AFTER UPDATE OF expires_at ON hashes WHEN OLD.expires_at IS NOT NEW.expires_at BEGIN
		UPDATE keys SET volatile = volatile + (NEW.expires_at IS NOT NULL) - (OLD.expires_at IS NOT NULL),
			last_field = (SELECT max(expires_at) FROM hashes WHERE key_id = NEW.key_id AND expires_at IS NOT NULL)
		WHERE id = NEW.key_id;
	END`,
	`CREATE TRIGGER hashes_delete AFTER DELETE ON hashes WHEN OLD.expires_at IS NOT NULL BEGIN
		UPDATE keys SET volatile = volatile - 1,
			last_field = (SELECT max(expires_at) FROM hashes WHERE key_id = OLD.key_id AND expires_at IS NOT NULL)
		WHERE id = OLD.key_id;
	END`,
	`CREATE TRIGGER keys_delete_hash AFTER DELETE ON keys WHEN OLD.type = 'hash' AND ` + fewElements + ` BEGIN
		DELETE FROM hashes WHERE key_id = OLD.id;
	END`,
	`CREATE VIEW v_hashes AS SELECT k.db, CAST(k.key AS TEXT) AS key,
		CAST(h.field AS TEXT) AS field, CAST(h.value AS TEXT) AS value
		FROM keys k JOIN hashes h ON h.key_id = k.id WHERE ` + live + `
		AND (h.expires_at IS NULL OR h.expires_at > (julianday('now') - 2440587.5) * 86400000)
		ORDER BY k.id, h.seq`,
}

var sets = []string{
	`CREATE TABLE sets(
		key_id INTEGER NOT NULL,
		hash INTEGER NOT NULL,
		member BLOB NOT NULL,
		seq INTEGER NOT NULL,
		PRIMARY KEY(key_id, hash, member)) WITHOUT ROWID`,
	`CREATE TRIGGER keys_delete_set AFTER DELETE ON keys WHEN OLD.type = 'set' AND ` + fewElements + ` BEGIN
		DELETE FROM sets WHERE key_id = OLD.id;
	END`,
	`CREATE VIEW v_sets AS SELECT k.db, CAST(k.key AS TEXT) AS key, CAST(m.member AS TEXT) AS member
		FROM keys k JOIN sets m ON m.key_id = k.id WHERE ` + live + ` ORDER BY k.id, m.seq`,

	`CREATE TABLE zsets(
		key_id INTEGER NOT NULL,
		hash INTEGER NOT NULL,
		member BLOB NOT NULL,
		score REAL NOT NULL,
		PRIMARY KEY(key_id, hash, member)) WITHOUT ROWID`,
	`CREATE INDEX zsets_by_score ON zsets(key_id, score, member)`,
	`CREATE TRIGGER keys_delete_zset AFTER DELETE ON keys WHEN OLD.type = 'zset' AND ` + fewElements + ` BEGIN
		DELETE FROM zsets WHERE key_id = OLD.id;
	END`,
	`CREATE VIEW v_zsets AS SELECT k.db, CAST(k.key AS TEXT) AS key, CAST(z.member AS TEXT) AS member, z.score
		FROM keys k JOIN zsets z ON z.key_id = k.id WHERE ` + live + ` ORDER BY k.id, z.score, z.member`,
}

var lists = []string{
	// pos leaves 2^16 free positions between neighbours for LINSERT.
	`CREATE TABLE lists(
		key_id INTEGER NOT NULL,
		pos INTEGER NOT NULL,
		value BLOB NOT NULL,
		PRIMARY KEY(key_id, pos)) WITHOUT ROWID`,
	`CREATE TRIGGER keys_delete_list AFTER DELETE ON keys WHEN OLD.type = 'list' AND ` + fewElements + ` BEGIN
		DELETE FROM lists WHERE key_id = OLD.id;
	END`,
	`CREATE VIEW v_lists AS SELECT k.db, CAST(k.key AS TEXT) AS key,
		row_number() OVER (PARTITION BY k.id ORDER BY l.pos) - 1 AS "index", CAST(l.value AS TEXT) AS value
		FROM keys k JOIN lists l ON l.key_id = k.id WHERE ` + live,
}

// An entry's id is 16 bytes, big-endian ms and sequence number, so that bytes sort like ids; fields are
// length-prefixed strings.
var streams = []string{
	`CREATE TABLE streams(
		key_id INTEGER PRIMARY KEY,
		last_id BLOB NOT NULL,
		deleted_id BLOB NOT NULL,
		added INTEGER NOT NULL)`,
	`CREATE TABLE stream_entries(
		key_id INTEGER NOT NULL,
		id BLOB NOT NULL,
		fields BLOB NOT NULL,
		PRIMARY KEY(key_id, id)) WITHOUT ROWID`,

	// The nodes of a stream as Redis would have them, because trimming with ~ works on nodes: deleted counts
	// deleted entries, bytes is the size of the listpack, and names are the field names of the first entry.
	`CREATE TABLE stream_nodes(
		key_id INTEGER NOT NULL,
		first_id BLOB NOT NULL,
		last_id BLOB NOT NULL,
		count INTEGER NOT NULL,
		deleted INTEGER NOT NULL,
		bytes INTEGER NOT NULL,
		names BLOB NOT NULL,
		PRIMARY KEY(key_id, first_id)) WITHOUT ROWID`,

	`CREATE TABLE stream_groups(
		key_id INTEGER NOT NULL,
		name BLOB NOT NULL,
		last_id BLOB NOT NULL,
		entries_read INTEGER,
		PRIMARY KEY(key_id, name)) WITHOUT ROWID`,
	`CREATE TABLE stream_consumers(
		key_id INTEGER NOT NULL,
		group_name BLOB NOT NULL,
		name BLOB NOT NULL,
		seen_at INTEGER NOT NULL,
		active_at INTEGER,
		PRIMARY KEY(key_id, group_name, name),
		FOREIGN KEY(key_id, group_name) REFERENCES stream_groups(key_id, name)) WITHOUT ROWID`,
	// A pending entry without a consumer was returned by XNACK: it is deleted with its group.
	`CREATE TABLE stream_pending(
		key_id INTEGER NOT NULL,
		group_name BLOB NOT NULL,
		id BLOB NOT NULL,
		consumer BLOB,
		delivered_at INTEGER NOT NULL,
		deliveries INTEGER NOT NULL,
		PRIMARY KEY(key_id, group_name, id),
		FOREIGN KEY(key_id, group_name, consumer) REFERENCES stream_consumers(key_id, group_name, name)) WITHOUT ROWID`,
	`CREATE INDEX stream_pending_by_consumer ON stream_pending(key_id, group_name, consumer, id)`,
	`CREATE INDEX stream_pending_by_delivery ON stream_pending(key_id, group_name, delivered_at, id)`,
	`CREATE TRIGGER stream_groups_delete AFTER DELETE ON stream_groups BEGIN
		DELETE FROM stream_pending WHERE key_id = OLD.key_id AND group_name = OLD.name;
		DELETE FROM stream_consumers WHERE key_id = OLD.key_id AND group_name = OLD.name;
	END`,
	`CREATE TRIGGER stream_consumers_delete AFTER DELETE ON stream_consumers BEGIN
		DELETE FROM stream_pending WHERE key_id = OLD.key_id AND group_name = OLD.group_name AND consumer = OLD.name;
	END`,

	// stream_idmp has a row for each stream whose producers add entries with IDs of their own (iid). duration is
	// in seconds; added and duplicates count over the stream's life.
	`CREATE TABLE stream_idmp(
		key_id INTEGER PRIMARY KEY,
		duration INTEGER NOT NULL,
		maxsize INTEGER NOT NULL,
		added INTEGER NOT NULL DEFAULT 0,
		duplicates INTEGER NOT NULL DEFAULT 0)`,
	`CREATE TABLE stream_iids(
		key_id INTEGER NOT NULL,
		producer BLOB NOT NULL,
		iid BLOB NOT NULL,
		id BLOB NOT NULL,
		added_at INTEGER NOT NULL,
		PRIMARY KEY(key_id, producer, iid)) WITHOUT ROWID`,
	`CREATE INDEX stream_iids_by_id ON stream_iids(key_id, producer, id)`,
	`CREATE INDEX stream_iids_by_age ON stream_iids(key_id, added_at)`,

	`CREATE TRIGGER keys_delete_stream AFTER DELETE ON keys WHEN OLD.type = 'stream' AND NOT ` + manyElements + ` BEGIN
		DELETE FROM streams WHERE key_id = OLD.id;
		DELETE FROM stream_entries WHERE key_id = OLD.id;
		DELETE FROM stream_nodes WHERE key_id = OLD.id;
		DELETE FROM stream_groups WHERE key_id = OLD.id;
		DELETE FROM stream_idmp WHERE key_id = OLD.id;
		DELETE FROM stream_iids WHERE key_id = OLD.id;
	END`,
}

// A JSON document is compact text.
var documents = []string{
	`CREATE TABLE documents(
		key_id INTEGER PRIMARY KEY,
		value BLOB NOT NULL)`,
	`CREATE TRIGGER keys_delete_document AFTER DELETE ON keys WHEN OLD.type = 'ReJSON-RL' BEGIN
		DELETE FROM documents WHERE key_id = OLD.id;
	END`,
	`CREATE VIEW v_documents AS SELECT k.db, CAST(k.key AS TEXT) AS key, CAST(d.value AS TEXT) AS value
		FROM keys k JOIN documents d ON d.key_id = k.id WHERE ` + live,
}

// pos is the index minus 2^63, so that the unsigned indexes 0 to 2^64-2 are SQLite integers in the same order.
// array_cursors has the arrays with appended values: next is the position of the next append (2^63-1 if the
// array is full).
var arrays = []string{
	`CREATE TABLE arrays(
		key_id INTEGER NOT NULL,
		pos INTEGER NOT NULL,
		value BLOB NOT NULL,
		PRIMARY KEY(key_id, pos)) WITHOUT ROWID`,
	`CREATE TABLE array_cursors(
		key_id INTEGER PRIMARY KEY,
		next INTEGER NOT NULL)`,
	`CREATE TRIGGER keys_delete_array AFTER DELETE ON keys WHEN OLD.type = 'array' AND ` + fewElements + ` BEGIN
		DELETE FROM arrays WHERE key_id = OLD.id;
		DELETE FROM array_cursors WHERE key_id = OLD.id;
	END`,
	// pos with its highest bit flipped, as an unsigned number.
	`CREATE VIEW v_arrays AS SELECT k.db, CAST(k.key AS TEXT) AS key,
		printf('%u', (a.pos | -9223372036854775808) & ~(a.pos & -9223372036854775808)) AS "index", CAST(a.value AS TEXT) AS value
		FROM keys k JOIN arrays a ON a.key_id = k.id WHERE ` + live + ` ORDER BY k.id, a.pos`,
}

// The vectors of a set are numbered from 0 without gaps (slot), and stored in blocks of per records, about 16
// KB, so that a scan reads few rows. size is the bytes of a record. input_dim is the dimension of vectors that
// are reduced to dim, 0 without a reduction. quantization is 0 for floats, 1 for int8, 2 for binary.
var vectors = []string{
	`CREATE TABLE vector_sets(
		key_id INTEGER PRIMARY KEY,
		dim INTEGER NOT NULL,
		input_dim INTEGER NOT NULL,
		quantization INTEGER NOT NULL,
		m INTEGER NOT NULL,
		size INTEGER NOT NULL,
		per INTEGER NOT NULL)`,
	`CREATE TABLE vectors(
		key_id INTEGER NOT NULL,
		slot INTEGER NOT NULL,
		element BLOB NOT NULL,
		attributes BLOB,
		PRIMARY KEY(key_id, slot)) WITHOUT ROWID`,
	`CREATE UNIQUE INDEX vectors_by_element ON vectors(key_id, element)`,
	`CREATE TABLE vector_blocks(
		key_id INTEGER NOT NULL,
		block INTEGER NOT NULL,
		records BLOB NOT NULL,
		PRIMARY KEY(key_id, block)) WITHOUT ROWID`,
	`CREATE TRIGGER keys_delete_vectors AFTER DELETE ON keys WHEN OLD.type = 'vectorset' AND ` + fewElements + ` BEGIN
		DELETE FROM vector_sets WHERE key_id = OLD.id;
		DELETE FROM vectors WHERE key_id = OLD.id;
		DELETE FROM vector_blocks WHERE key_id = OLD.id;
	END`,
	`CREATE VIEW v_vectors AS SELECT k.db, CAST(k.key AS TEXT) AS key, CAST(v.element AS TEXT) AS element,
		CAST(v.attributes AS TEXT) AS attributes, s.dim,
		CASE s.quantization WHEN 0 THEN 'f32' WHEN 1 THEN 'int8' ELSE 'bin' END AS quantization
		FROM keys k JOIN vector_sets s ON s.key_id = k.id JOIN vectors v ON v.key_id = k.id
		WHERE ` + live + ` ORDER BY k.id, v.slot`,
}

// The probabilistic types. A sketch has a head, in block SketchHead, and a body, whose block i holds its bytes from
// 960 * i on. A block of zeros is not stored, and neither are zeros at the end of a block, so a filter takes space as
// it fills. A block fits into a page beside three others.
var sketches = []string{
	sketchTable("bloom_filters"), sketchTable("cuckoo_filters"), sketchTable("count_min_sketches"), sketchTable("top_k_lists"), sketchTable("t_digests"),
	`CREATE TRIGGER keys_delete_sketch AFTER DELETE ON keys WHEN OLD.type IN ('MBbloom--', 'MBbloomCF', 'CMSk-TYPE', 'TopK-TYPE', 'TDIS-TYPE') AND ` + fewElements + ` BEGIN
		DELETE FROM bloom_filters WHERE key_id = OLD.id;
		DELETE FROM cuckoo_filters WHERE key_id = OLD.id;
		DELETE FROM count_min_sketches WHERE key_id = OLD.id;
		DELETE FROM top_k_lists WHERE key_id = OLD.id;
		DELETE FROM t_digests WHERE key_id = OLD.id;
	END`,
}

// The time series. Times are Unix ms. A value without a type stays a double, and NULL stands for NaN. The retention,
// the bucket and the alignment of a rule are in ms; opened is the start of the bucket that is not in the target yet.
var series = []string{
	`CREATE TABLE series(
		key_id INTEGER PRIMARY KEY,
		retention INTEGER NOT NULL,
		chunk_size INTEGER NOT NULL,
		plain INTEGER NOT NULL,
		policy INTEGER NOT NULL,
		ignore_time INTEGER NOT NULL,
		ignore_value REAL NOT NULL,
		last_at INTEGER NOT NULL,
		last_value)`,
	`CREATE TABLE samples(
		key_id INTEGER NOT NULL,
		at INTEGER NOT NULL,
		value,
		PRIMARY KEY(key_id, at)) WITHOUT ROWID`,
	`CREATE TABLE series_labels(
		key_id INTEGER NOT NULL,
		position INTEGER NOT NULL,
		name BLOB NOT NULL,
		value BLOB NOT NULL,
		PRIMARY KEY(key_id, position)) WITHOUT ROWID`,
	`CREATE INDEX series_labels_by_name ON series_labels(name, value)`,
	`CREATE TABLE series_rules(
		id INTEGER PRIMARY KEY,
		source_id INTEGER NOT NULL,
		target_id INTEGER NOT NULL,
		aggregator INTEGER NOT NULL,
		bucket INTEGER NOT NULL,
		align INTEGER NOT NULL,
		opened INTEGER)`,
	`CREATE INDEX series_rules_by_source ON series_rules(source_id)`,
	`CREATE UNIQUE INDEX series_rules_by_target ON series_rules(target_id)`,
	`CREATE TRIGGER keys_delete_series AFTER DELETE ON keys WHEN OLD.type = 'TSDB-TYPE' BEGIN
		DELETE FROM series_rules WHERE source_id = OLD.id OR target_id = OLD.id;
		DELETE FROM series WHERE key_id = OLD.id AND ` + fewElements + `;
		DELETE FROM series_labels WHERE key_id = OLD.id AND ` + fewElements + `;
		DELETE FROM samples WHERE key_id = OLD.id AND ` + fewElements + `;
	END`,
	`CREATE VIEW v_series AS SELECT k.db, CAST(k.key AS TEXT) AS key, s.at, s.value
		FROM keys k JOIN samples s ON s.key_id = k.id WHERE ` + live + ` ORDER BY k.id, s.at`,
}

func sketchTable(name string) string {
	return `CREATE TABLE ` + name + `(
		key_id INTEGER NOT NULL,
		block INTEGER NOT NULL,
		data BLOB NOT NULL,
		PRIMARY KEY(key_id, block)) WITHOUT ROWID`
}

// The libraries of functions, and the functions that their code registers. Function names are unique over all
// libraries, ignoring case. version changes whenever a library is loaded, so that a process can tell whether
// its compiled copy is current. flags are script.Flags.
var functions = []string{
	`CREATE TABLE libraries(
		name TEXT PRIMARY KEY,
		version INTEGER NOT NULL,
		code BLOB NOT NULL)`,
	`CREATE TABLE functions(
		id INTEGER PRIMARY KEY,
		library TEXT NOT NULL,
		name TEXT NOT NULL COLLATE NOCASE,
		flags INTEGER NOT NULL,
		description BLOB)`,
	`CREATE INDEX functions_by_name ON functions(name)`,
	`CREATE TRIGGER libraries_delete AFTER DELETE ON libraries BEGIN
		DELETE FROM functions WHERE library = OLD.name;
	END`,
	`CREATE VIEW v_functions AS SELECT f.library, f.name, CAST(f.description AS TEXT) AS description,
		CAST(l.code AS TEXT) AS library_code
		FROM functions f JOIN libraries l ON l.name = f.library ORDER BY f.library, f.id`,
}

// Remake empties the tables of keys and their elements by dropping and creating them, in time proportional to
// their pages: a DELETE would run the triggers of each row.
var Remake = sync.OnceValue(remake)

func remake() (all []string) {
	for _, sql := range Tables {
		words := strings.Fields(strings.TrimPrefix(sql, "CREATE "))
		name, _, _ := strings.Cut(words[1], "(")
		switch {
		case words[0] == "VIEW", name == "meowdis", name == "guard", slices.Contains(functions, sql):
			continue
		case words[0] == "TABLE":
			all = append([]string{"DROP TABLE " + name}, all...) // dependent tables first
		}
		all = append(all, sql)
	}
	return all
}
