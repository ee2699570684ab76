package schema

// Migrations upgrade a file of an earlier version: the first creates version 1 in an empty file, and each later
// one the next version. They run in order, in one transaction with SetVersion. Afterwards the file gets the
// schema of a new file, so a migration need not create that file's triggers and views. A released migration
// never changes.
var Migrations = [][]string{
	{
		`CREATE TABLE meowdis(version INTEGER PRIMARY KEY, applied_at INTEGER NOT NULL)`,

		// version starts at a random number and grows by one with each change, so it never repeats when a key is
		// deleted and created again: WATCH and compare-and-set rely on it. count is the number of elements (0 for
		// a string), seq the number of elements ever added. hash is a 52-bit hash of the key, which orders SCAN
		// and random picks: unlike the row id it depends only on the name.
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
			UNIQUE(db, key))`,
		`CREATE INDEX keys_by_hash ON keys(db, hash)`,
		// With db, so that counting expired keys does not read their rows.
		`CREATE INDEX keys_by_expiry ON keys(expires_at, db) WHERE expires_at IS NOT NULL`,

		// The number of rows of keys in each database, so that DBSIZE reads one row.
		`CREATE TABLE dbs(db INTEGER PRIMARY KEY, keys INTEGER NOT NULL)`,
		`CREATE TRIGGER keys_insert AFTER INSERT ON keys BEGIN
			INSERT INTO dbs(db, keys) VALUES(NEW.db, 1) ON CONFLICT(db) DO UPDATE SET keys = keys + 1;
		END`,
		`CREATE TRIGGER keys_move AFTER UPDATE OF db ON keys WHEN OLD.db <> NEW.db BEGIN
			UPDATE dbs SET keys = keys - 1 WHERE db = OLD.db;
			INSERT INTO dbs(db, keys) VALUES(NEW.db, 1) ON CONFLICT(db) DO UPDATE SET keys = keys + 1;
		END`,

		// Always empty: a statement refuses its batch by inserting NULL here.
		`CREATE TABLE guard(ok INTEGER NOT NULL)`,

		`CREATE TABLE strings(
			key_id INTEGER PRIMARY KEY,
			value BLOB NOT NULL)`,

		// hash is a 52-bit hash of the field or member. It orders the
		// elements, so that a scan's numeric cursor and a random pick are a
		// seek. seq is the order of insertion.
		`CREATE TABLE hashes(
			key_id INTEGER NOT NULL,
			hash INTEGER NOT NULL,
			field BLOB NOT NULL,
			value BLOB NOT NULL,
			seq INTEGER NOT NULL,
			expires_at INTEGER,
			PRIMARY KEY(key_id, hash, field)) WITHOUT ROWID`,
		`CREATE INDEX hashes_by_expiry ON hashes(key_id, expires_at) WHERE expires_at IS NOT NULL`,

		`CREATE TABLE sets(
			key_id INTEGER NOT NULL,
			hash INTEGER NOT NULL,
			member BLOB NOT NULL,
			seq INTEGER NOT NULL,
			PRIMARY KEY(key_id, hash, member)) WITHOUT ROWID`,

		`CREATE TABLE zsets(
			key_id INTEGER NOT NULL,
			hash INTEGER NOT NULL,
			member BLOB NOT NULL,
			score REAL NOT NULL,
			PRIMARY KEY(key_id, hash, member)) WITHOUT ROWID`,
		`CREATE INDEX zsets_by_score ON zsets(key_id, score, member)`,

		// pos leaves 2^16 free positions between neighbours for LINSERT.
		`CREATE TABLE lists(
			key_id INTEGER NOT NULL,
			pos INTEGER NOT NULL,
			value BLOB NOT NULL,
			PRIMARY KEY(key_id, pos)) WITHOUT ROWID`,

		// The elements of a key are deleted with it, from the one table that has them. No key_id is declared a
		// foreign key: SQLite would search every table for each deleted key, at several times the cost, and could
		// not empty a table at once; and an engine may run without foreign keys.
		`CREATE TRIGGER keys_delete AFTER DELETE ON keys BEGIN
			UPDATE dbs SET keys = keys - 1 WHERE db = OLD.db;
			DELETE FROM strings WHERE OLD.type = 'string' AND key_id = OLD.id;
			DELETE FROM hashes WHERE OLD.type = 'hash' AND key_id = OLD.id;
			DELETE FROM lists WHERE OLD.type = 'list' AND key_id = OLD.id;
			DELETE FROM sets WHERE OLD.type = 'set' AND key_id = OLD.id;
			DELETE FROM zsets WHERE OLD.type = 'zset' AND key_id = OLD.id;
		END`,

		// If a row changes to another type (SET overwrites any type), it is deleted with its old type, so that
		// its elements are deleted, and inserted again.
		`CREATE TRIGGER keys_anew AFTER UPDATE OF created_at ON keys WHEN OLD.type <> NEW.type BEGIN
			UPDATE keys SET type = OLD.type WHERE id = NEW.id;
			DELETE FROM keys WHERE id = NEW.id;
			INSERT INTO keys(id, db, key, hash, type, version, expires_at, created_at, updated_at)
				VALUES(NEW.id, NEW.db, NEW.key, NEW.hash, NEW.type, NEW.version, NEW.expires_at, NEW.created_at, NEW.updated_at);
		END`,

		// For users who open the file with sqlite3.
		`CREATE VIEW v_keys AS SELECT db, CAST(key AS TEXT) AS key, type, count,
			(expires_at - CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)) / 1000.0 AS ttl_seconds,
			strftime('%Y-%m-%dT%H:%M:%fZ', expires_at / 1000.0, 'unixepoch') AS expires_at,
			strftime('%Y-%m-%dT%H:%M:%fZ', created_at / 1000.0, 'unixepoch') AS created_at,
			strftime('%Y-%m-%dT%H:%M:%fZ', updated_at / 1000.0, 'unixepoch') AS updated_at
			FROM keys WHERE expires_at IS NULL OR expires_at > (julianday('now') - 2440587.5) * 86400000`,
		`CREATE VIEW v_strings AS SELECT k.db, CAST(k.key AS TEXT) AS key, CAST(s.value AS TEXT) AS value
			FROM keys k JOIN strings s ON s.key_id = k.id
			WHERE k.expires_at IS NULL OR k.expires_at > (julianday('now') - 2440587.5) * 86400000`,
		`CREATE VIEW v_hashes AS SELECT k.db, CAST(k.key AS TEXT) AS key,
			CAST(h.field AS TEXT) AS field, CAST(h.value AS TEXT) AS value
			FROM keys k JOIN hashes h ON h.key_id = k.id
			WHERE (k.expires_at IS NULL OR k.expires_at > (julianday('now') - 2440587.5) * 86400000)
			AND (h.expires_at IS NULL OR h.expires_at > (julianday('now') - 2440587.5) * 86400000)
			ORDER BY k.id, h.seq`,
		`CREATE VIEW v_sets AS SELECT k.db, CAST(k.key AS TEXT) AS key, CAST(m.member AS TEXT) AS member
			FROM keys k JOIN sets m ON m.key_id = k.id
			WHERE k.expires_at IS NULL OR k.expires_at > (julianday('now') - 2440587.5) * 86400000
			ORDER BY k.id, m.seq`,
		`CREATE VIEW v_zsets AS SELECT k.db, CAST(k.key AS TEXT) AS key, CAST(z.member AS TEXT) AS member, z.score
			FROM keys k JOIN zsets z ON z.key_id = k.id
			WHERE k.expires_at IS NULL OR k.expires_at > (julianday('now') - 2440587.5) * 86400000
			ORDER BY k.id, z.score, z.member`,
		`CREATE VIEW v_lists AS SELECT k.db, CAST(k.key AS TEXT) AS key,
			row_number() OVER (PARTITION BY k.id ORDER BY l.pos) - 1 AS "index", CAST(l.value AS TEXT) AS value
			FROM keys k JOIN lists l ON l.key_id = k.id
			WHERE k.expires_at IS NULL OR k.expires_at > (julianday('now') - 2440587.5) * 86400000`,
	},

	streamTables, // version 2

	// JSON documents, as compact text.
	{
		`CREATE TABLE documents(
			key_id INTEGER PRIMARY KEY,
			value BLOB NOT NULL)`,
		`CREATE TRIGGER keys_delete_document AFTER DELETE ON keys WHEN OLD.type = 'ReJSON-RL' BEGIN
			DELETE FROM documents WHERE key_id = OLD.id;
		END`,
		`CREATE VIEW v_documents AS SELECT k.db, CAST(k.key AS TEXT) AS key, CAST(d.value AS TEXT) AS value
			FROM keys k JOIN documents d ON d.key_id = k.id
			WHERE k.expires_at IS NULL OR k.expires_at > (julianday('now') - 2440587.5) * 86400000`,
	},

	// Fields with an expiry of their own. volatile counts them and last_field is the latest of their expiries;
	// triggers on hashes update both. A hash dies with its last field, unless one field has no expiry, or the
	// TTL ends sooner: dies_at is the end of the key, and expires_at only the end of its TTL.
	{
		`ALTER TABLE keys ADD COLUMN volatile INTEGER NOT NULL DEFAULT 0`,
		`ALTER TABLE keys ADD COLUMN last_field INTEGER`,
		`ALTER TABLE keys ADD COLUMN dies_at INTEGER AS (` + DiesAt + `) VIRTUAL`,
		// With expires_at, which INFO averages.
		`DROP INDEX keys_by_expiry`,
		`CREATE INDEX keys_by_death ON keys(` + DiesAt + `, db, expires_at) WHERE ` + DiesAt + ` IS NOT NULL`,
		// For the sweep.
		`CREATE INDEX hashes_by_death ON hashes(expires_at) WHERE expires_at IS NOT NULL`,

		`CREATE TRIGGER hashes_insert AFTER INSERT ON hashes WHEN NEW.expires_at IS NOT NULL BEGIN
			UPDATE keys SET volatile = volatile + 1, last_field = max(NEW.expires_at, ifnull(last_field, NEW.expires_at))
			WHERE id = NEW.key_id;
		END`,
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

		`DROP VIEW v_keys`,
		`CREATE VIEW v_keys AS SELECT db, CAST(key AS TEXT) AS key, type, count,
			(expires_at - CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)) / 1000.0 AS ttl_seconds,
			strftime('%Y-%m-%dT%H:%M:%fZ', expires_at / 1000.0, 'unixepoch') AS expires_at,
			strftime('%Y-%m-%dT%H:%M:%fZ', created_at / 1000.0, 'unixepoch') AS created_at,
			strftime('%Y-%m-%dT%H:%M:%fZ', updated_at / 1000.0, 'unixepoch') AS updated_at
			FROM keys WHERE dies_at IS NULL OR dies_at > (julianday('now') - 2440587.5) * 86400000`,
	},

	// Arrays. pos is the index minus 2^63, so that the unsigned indexes 0 to 2^64-2 are SQLite integers in the
	// same order. array_cursors has the arrays with appended values: next is the position of the next append
	// (2^63-1 if the array is full).
	{
		`CREATE TABLE arrays(
			key_id INTEGER NOT NULL,
			pos INTEGER NOT NULL,
			value BLOB NOT NULL,
			PRIMARY KEY(key_id, pos)) WITHOUT ROWID`,
		`CREATE TABLE array_cursors(
			key_id INTEGER PRIMARY KEY,
			next INTEGER NOT NULL)`,
		`CREATE TRIGGER keys_delete_array AFTER DELETE ON keys WHEN OLD.type = 'array' BEGIN
			DELETE FROM arrays WHERE key_id = OLD.id;
			DELETE FROM array_cursors WHERE key_id = OLD.id;
		END`,
		// pos with its highest bit flipped, as an unsigned number.
		`CREATE VIEW v_arrays AS SELECT k.db, CAST(k.key AS TEXT) AS key,
			printf('%u', (a.pos | -9223372036854775808) & ~(a.pos & -9223372036854775808)) AS "index", CAST(a.value AS TEXT) AS value
			FROM keys k JOIN arrays a ON a.key_id = k.id
			WHERE k.expires_at IS NULL OR k.expires_at > (julianday('now') - 2440587.5) * 86400000
			ORDER BY k.id, a.pos`,
	},
	streamsOfRedis8, // version 6

	// Strings of more than 128 KB in parts of 32 KB, so that a change writes one part and not the whole. count
	// is the length of a string in parts, in bytes, and 0 for a short one. A missing part is all zeros, and a
	// short part is filled up with zeros; the value in strings is then empty. Setting count splits a string into
	// parts, and setting it to 0 deletes the parts.
	{
		`CREATE TABLE string_parts(
			key_id INTEGER NOT NULL,
			part INTEGER NOT NULL,
			value BLOB NOT NULL,
			PRIMARY KEY(key_id, part)) WITHOUT ROWID`,
		`CREATE TRIGGER string_parts_make AFTER UPDATE OF count ON keys WHEN OLD.count = 0 AND NEW.count > 0 AND NEW.type = 'string' BEGIN
			INSERT INTO string_parts(key_id, part, value) ` + splitRow + `;
			INSERT INTO strings(key_id, value) VALUES(NEW.id, x'') ON CONFLICT(key_id) DO UPDATE SET value = excluded.value;
		END`,
		`CREATE TRIGGER string_parts_drop AFTER UPDATE OF count ON keys WHEN OLD.count > 0 AND NEW.count = 0 AND OLD.type = 'string' BEGIN
			DELETE FROM string_parts WHERE key_id = OLD.id;
		END`,
		`CREATE TRIGGER keys_delete_parts AFTER DELETE ON keys WHEN OLD.count > 0 AND OLD.type = 'string' BEGIN
			DELETE FROM string_parts WHERE key_id = OLD.id;
		END`,
		`UPDATE keys SET count = (SELECT length(value) FROM strings WHERE key_id = keys.id)
			WHERE type = 'string' AND (SELECT length(value) FROM strings WHERE key_id = keys.id) > ` + WholeBytes,

		`DROP VIEW v_strings`,
		`CREATE VIEW v_strings AS SELECT k.db, CAST(k.key AS TEXT) AS key, iif(k.count = 0, CAST(s.value AS TEXT),
				(SELECT group_concat(CAST(value AS TEXT), '') FROM (SELECT value FROM string_parts WHERE key_id = k.id ORDER BY part))) AS value
			FROM keys k JOIN strings s ON s.key_id = k.id
			WHERE k.expires_at IS NULL OR k.expires_at > (julianday('now') - 2440587.5) * 86400000`,
	},

	// Vector sets. The vectors of a set are numbered from 0 without gaps (slot), and stored in blocks of per
	// records, about 16 KB, so that a scan reads few rows. size is the bytes of a record. input_dim is the
	// dimension of vectors that are reduced to dim, 0 without a reduction. quantization is 0 for floats, 1 for
	// int8, 2 for binary.
	{
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
		`CREATE TRIGGER keys_delete_vectors AFTER DELETE ON keys WHEN OLD.type = 'vectorset' BEGIN
			DELETE FROM vector_sets WHERE key_id = OLD.id;
			DELETE FROM vectors WHERE key_id = OLD.id;
			DELETE FROM vector_blocks WHERE key_id = OLD.id;
		END`,
		`CREATE VIEW v_vectors AS SELECT k.db, CAST(k.key AS TEXT) AS key, CAST(v.element AS TEXT) AS element,
			CAST(v.attributes AS TEXT) AS attributes, s.dim,
			CASE s.quantization WHEN 0 THEN 'f32' WHEN 1 THEN 'int8' ELSE 'bin' END AS quantization
			FROM keys k JOIN vector_sets s ON s.key_id = k.id JOIN vectors v ON v.key_id = k.id
			WHERE k.expires_at IS NULL OR k.expires_at > (julianday('now') - 2440587.5) * 86400000
			ORDER BY k.id, v.slot`,
	},
	streamNodes, // version 9

	// A string that is not in parts moves to the row of its key, in value; value is empty for a string in parts,
	// and NULL for other types. The table strings is dropped. Strings longer than WholeString are split into
	// parts.
	{
		`ALTER TABLE keys ADD COLUMN value BLOB`,
		`DROP TRIGGER IF EXISTS string_parts_make`,
		`DROP TRIGGER IF EXISTS keys_anew`,
		`DROP TRIGGER IF EXISTS keys_delete`,
		`DROP TRIGGER IF EXISTS keys_delete_nodes`,
		`DROP TRIGGER IF EXISTS keys_delete_idmp`,
		`DROP VIEW IF EXISTS v_strings`,
		`UPDATE keys SET value = (SELECT value FROM strings WHERE key_id = keys.id) WHERE type = 'string'`,
		`DROP TABLE strings`,
		`CREATE TRIGGER string_parts_make AFTER UPDATE OF count ON keys WHEN OLD.count = 0 AND NEW.count > 0 AND NEW.type = 'string' BEGIN
			INSERT INTO string_parts(key_id, part, value) ` + splitString + `;
			UPDATE keys SET value = x'' WHERE id = NEW.id;
		END`,
		`UPDATE keys SET count = length(value) WHERE type = 'string' AND length(value) > ` + WholeBytes,
	},

	// The triggers that split strings now fire on type, and no trigger fires on new fields.
	{`DROP TRIGGER IF EXISTS hashes_insert`},

	// The libraries of functions. flags are script.Flags.
	{
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
	},

	// The table graves gets the name pending_deletes. Files before version 10 have neither.
	{
		`DROP TRIGGER IF EXISTS keys_apart`,
		`DROP TRIGGER IF EXISTS keys_bury`,
		`DROP TRIGGER IF EXISTS string_parts_bury`,
		`CREATE TABLE IF NOT EXISTS graves(id INTEGER PRIMARY KEY, type TEXT NOT NULL)`,
		`CREATE TABLE pending_deletes(id INTEGER PRIMARY KEY, type TEXT NOT NULL)`,
		`INSERT INTO pending_deletes(id, type) SELECT id, type FROM graves`,
		`DROP TABLE graves`,
	},

	// The blocks of sketches: filters, counters and digests.
	{
		`CREATE TABLE bloom_filters(key_id INTEGER NOT NULL, block INTEGER NOT NULL, data BLOB NOT NULL, PRIMARY KEY(key_id, block)) WITHOUT ROWID`,
		`CREATE TABLE cuckoo_filters(key_id INTEGER NOT NULL, block INTEGER NOT NULL, data BLOB NOT NULL, PRIMARY KEY(key_id, block)) WITHOUT ROWID`,
		`CREATE TABLE count_min_sketches(key_id INTEGER NOT NULL, block INTEGER NOT NULL, data BLOB NOT NULL, PRIMARY KEY(key_id, block)) WITHOUT ROWID`,
		`CREATE TABLE top_k_lists(key_id INTEGER NOT NULL, block INTEGER NOT NULL, data BLOB NOT NULL, PRIMARY KEY(key_id, block)) WITHOUT ROWID`,
		`CREATE TABLE t_digests(key_id INTEGER NOT NULL, block INTEGER NOT NULL, data BLOB NOT NULL, PRIMARY KEY(key_id, block)) WITHOUT ROWID`,
	},

	// The time series.
	{
		`CREATE TABLE series(key_id INTEGER PRIMARY KEY, retention INTEGER NOT NULL, chunk_size INTEGER NOT NULL, plain INTEGER NOT NULL, policy INTEGER NOT NULL,
			ignore_time INTEGER NOT NULL, ignore_value REAL NOT NULL, last_at INTEGER NOT NULL, last_value)`,
		`CREATE TABLE samples(key_id INTEGER NOT NULL, at INTEGER NOT NULL, value, PRIMARY KEY(key_id, at)) WITHOUT ROWID`,
		`CREATE TABLE series_labels(key_id INTEGER NOT NULL, position INTEGER NOT NULL, name BLOB NOT NULL, value BLOB NOT NULL, PRIMARY KEY(key_id, position)) WITHOUT ROWID`,
		`CREATE INDEX series_labels_by_name ON series_labels(name, value)`,
		`CREATE TABLE series_rules(id INTEGER PRIMARY KEY, source_id INTEGER NOT NULL, target_id INTEGER NOT NULL, aggregator INTEGER NOT NULL,
			bucket INTEGER NOT NULL, align INTEGER NOT NULL, opened INTEGER)`,
		`CREATE INDEX series_rules_by_source ON series_rules(source_id)`,
		`CREATE UNIQUE INDEX series_rules_by_target ON series_rules(target_id)`,
	},
	searchTables,         // version 16
	suggestionsAndDeaths, // version 17
	searchSegments,       // version 18
	postingsWithRowid,    // version 19
	documentsWithNames,   // version 20
}

// splitRow does the same as splitString for the value in the table strings.
const splitRow = splitHead + `SELECT 0, (length(value) - 1) / ` + PartBytes + ` / 2 + 1, value FROM strings WHERE key_id = NEW.id` + splitTail
