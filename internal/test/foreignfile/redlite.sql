-- The tables of Redlite, as far as reading goes.
PRAGMA journal_mode = WAL;
CREATE TABLE keys(id INTEGER PRIMARY KEY, db INTEGER NOT NULL DEFAULT 0, key TEXT NOT NULL, type INTEGER NOT NULL, expire_at INTEGER,
	version INTEGER NOT NULL DEFAULT 0, created_at INTEGER NOT NULL DEFAULT 1600000000000, updated_at INTEGER NOT NULL DEFAULT 1700000000000,
	last_accessed INTEGER NOT NULL DEFAULT 0, access_count INTEGER NOT NULL DEFAULT 0);
CREATE UNIQUE INDEX idx_keys_db_key ON keys(db, key);
CREATE TABLE strings(key_id INTEGER PRIMARY KEY REFERENCES keys(id) ON DELETE CASCADE, value BLOB NOT NULL);
CREATE TABLE hashes(key_id INTEGER NOT NULL, field TEXT NOT NULL, value BLOB NOT NULL, PRIMARY KEY(key_id, field));
CREATE TABLE lists(key_id INTEGER NOT NULL, pos INTEGER NOT NULL, value BLOB NOT NULL, PRIMARY KEY(key_id, pos));
CREATE TABLE sets(key_id INTEGER NOT NULL, member BLOB NOT NULL, PRIMARY KEY(key_id, member));
CREATE TABLE zsets(key_id INTEGER NOT NULL, member BLOB NOT NULL, score REAL NOT NULL, PRIMARY KEY(key_id, member));
CREATE INDEX idx_zsets_score ON zsets(key_id, score, member);
CREATE TABLE streams(id INTEGER PRIMARY KEY, key_id INTEGER NOT NULL, entry_ms INTEGER NOT NULL, entry_seq INTEGER NOT NULL, data BLOB NOT NULL,
	created_at INTEGER NOT NULL DEFAULT 0);
CREATE INDEX idx_streams_key_entry ON streams(key_id, entry_ms, entry_seq);
CREATE TABLE stream_groups(id INTEGER PRIMARY KEY, key_id INTEGER NOT NULL, name TEXT NOT NULL, last_ms INTEGER NOT NULL DEFAULT 0,
	last_seq INTEGER NOT NULL DEFAULT 0, UNIQUE(key_id, name));
CREATE TABLE stream_pending(id INTEGER PRIMARY KEY, key_id INTEGER NOT NULL, group_id INTEGER NOT NULL, entry_id INTEGER NOT NULL,
	consumer TEXT NOT NULL, delivered_at INTEGER NOT NULL, delivery_count INTEGER NOT NULL DEFAULT 1, UNIQUE(group_id, entry_id));
CREATE TABLE stream_consumers(id INTEGER PRIMARY KEY, group_id INTEGER NOT NULL, name TEXT NOT NULL, seen_time INTEGER NOT NULL DEFAULT 0,
	UNIQUE(group_id, name));
CREATE TABLE json_docs(key_id INTEGER PRIMARY KEY, value BLOB NOT NULL);
CREATE TABLE geo_data(id INTEGER PRIMARY KEY, key_id INTEGER NOT NULL, member TEXT NOT NULL, longitude REAL NOT NULL, latitude REAL NOT NULL,
	geohash TEXT, UNIQUE(key_id, member));
CREATE VIRTUAL TABLE geo_rtree USING rtree(id, min_lon, max_lon, min_lat, max_lat);

INSERT INTO keys(id, key, type, expire_at) VALUES
	(1, 'text', 1, NULL), (2, 'number', 1, NULL), (3, 'bytes', 1, NULL), (4, 'Größe 🐱', 1, NULL), (5, 'dying', 1, 2000000060000),
	(6, 'dead', 1, 1999999999999), (7, 'list', 3, NULL), (8, 'set', 4, NULL), (9, 'other', 4, NULL), (10, 'hash', 2, NULL), (11, 'zset', 5, NULL),
	(12, '', 1, NULL), (13, 'stream', 6, NULL), (14, 'json', 7, NULL), (15, 'geo', 'zset', NULL);
INSERT INTO keys(id, db, key, type) VALUES (16, 3, 'text', 1);
INSERT INTO strings VALUES (1, CAST('hello' AS BLOB)), (2, 41), (3, x'00ff0a'), (4, 'süß'), (5, 'soon'), (6, 'gone'), (12, 'empty name'), (16, 'in three');
INSERT INTO lists VALUES (7, 2000, 'b'), (7, 1000, 'a'), (7, 2500, 'c'), (7, 3000, x'00');
INSERT INTO sets VALUES (8, 'x'), (8, x'79'), (8, 7), (9, 'y'), (9, 'z'), (9, x'37');
INSERT INTO hashes VALUES (10, 'name', CAST('Tom' AS BLOB)), (10, 'age', 3), (10, 'süß', x'ff00');
INSERT INTO zsets VALUES (11, 'one', 1), (11, 'two', 2.5), (11, 'also one', 1), (11, 'far', 9e999);
-- The fields are MessagePack: [["f", "v"], ["g", "\xff"]], each string an array of bytes; ["a", "b"] in the form for bytes and for text.
INSERT INTO streams(id, key_id, entry_ms, entry_seq, data) VALUES (1, 13, 1000, 0, x'92929166917692916791ccff'), (2, 13, 1000, 5, x'9192c40161a162'), (3, 13, 2000, 0, x'9192916b9131');
INSERT INTO stream_groups VALUES (1, 13, 'readers', 1000, 5);
INSERT INTO stream_consumers VALUES (1, 1, 'ann', 1999999990000);
INSERT INTO stream_pending VALUES (1, 13, 1, 1, 'ann', 1999999990000, 2), (2, 13, 1, 2, 'bob', 1999999995000, 1);
INSERT INTO json_docs VALUES (14, CAST('{"a":[1,2,{"b":"ü"}]}' AS BLOB));
INSERT INTO geo_data(key_id, member, longitude, latitude) VALUES (15, 'Palermo', 13.361389, 38.115556), (15, 'Catania', 15.087269, 37.502669);
