-- The tables of Redlite's documentation.
PRAGMA journal_mode = WAL;
CREATE TABLE keys(db INTEGER NOT NULL DEFAULT 0, key TEXT NOT NULL, type TEXT NOT NULL CHECK(type IN ('string', 'hash', 'list', 'set', 'zset')),
	expires_at INTEGER, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, PRIMARY KEY(db, key));
CREATE INDEX keys_expires ON keys(expires_at) WHERE expires_at IS NOT NULL;
CREATE TABLE strings(db INTEGER NOT NULL DEFAULT 0, key TEXT NOT NULL, value BLOB NOT NULL, PRIMARY KEY(db, key));
CREATE TABLE hashes(db INTEGER NOT NULL DEFAULT 0, key TEXT NOT NULL, field TEXT NOT NULL, value BLOB NOT NULL, PRIMARY KEY(db, key, field));
CREATE TABLE lists(db INTEGER NOT NULL DEFAULT 0, key TEXT NOT NULL, position REAL NOT NULL, value BLOB NOT NULL, PRIMARY KEY(db, key, position));
CREATE TABLE sets(db INTEGER NOT NULL DEFAULT 0, key TEXT NOT NULL, member BLOB NOT NULL, PRIMARY KEY(db, key, member));
CREATE TABLE zsets(db INTEGER NOT NULL DEFAULT 0, key TEXT NOT NULL, member BLOB NOT NULL, score REAL NOT NULL, PRIMARY KEY(db, key, member));
CREATE INDEX zsets_score ON zsets(db, key, score);

INSERT INTO keys SELECT 0, column1, column2, column3, 1600000000000, 1700000000000 FROM (VALUES
	('text', 'string', NULL), ('number', 'string', NULL), ('bytes', 'string', NULL), ('Größe 🐱', 'string', NULL),
	('dying', 'string', 2000000060000), ('dead', 'string', 1999999999999), ('list', 'list', NULL), ('set', 'set', NULL), ('other', 'set', NULL),
	('hash', 'hash', NULL), ('zset', 'zset', NULL), ('', 'string', NULL));
INSERT INTO keys VALUES (3, 'text', 'string', NULL, 1600000000000, 1700000000000);
INSERT INTO strings VALUES (0, 'text', CAST('hello' AS BLOB)), (0, 'number', 41), (0, 'bytes', x'00ff0a'), (0, 'Größe 🐱', 'süß'),
	(0, 'dying', 'soon'), (0, 'dead', 'gone'), (0, '', 'empty name'), (3, 'text', 'in three');
INSERT INTO lists VALUES (0, 'list', 2, 'b'), (0, 'list', 1, 'a'), (0, 'list', 2.5, 'c'), (0, 'list', 3, x'00');
INSERT INTO sets VALUES (0, 'set', 'x'), (0, 'set', x'79'), (0, 'set', 7), (0, 'other', 'y'), (0, 'other', 'z'), (0, 'other', x'37');
INSERT INTO hashes VALUES (0, 'hash', 'name', CAST('Tom' AS BLOB)), (0, 'hash', 'age', 3), (0, 'hash', 'süß', x'ff00');
INSERT INTO zsets VALUES (0, 'zset', 'one', 1), (0, 'zset', 'two', 2.5), (0, 'zset', 'also one', 1), (0, 'zset', 'far', 9e999);
