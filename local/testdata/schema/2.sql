-- A file of schema version 2, as the program of commit 2aef65c wrote it.
PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE meowdis(version INTEGER PRIMARY KEY, applied_at INTEGER NOT NULL);
INSERT INTO meowdis VALUES(1,1795349011460);
INSERT INTO meowdis VALUES(2,1795349011461);
CREATE TABLE keys(
			id INTEGER PRIMARY KEY,
			db INTEGER NOT NULL,
			key BLOB NOT NULL,
			type TEXT NOT NULL,
			version INTEGER NOT NULL,
			count INTEGER NOT NULL DEFAULT 0 CHECK (count >= 0),
			seq INTEGER NOT NULL DEFAULT 0,
			expires_at INTEGER,
			created_at INTEGER NOT NULL,
			updated_at INTEGER NOT NULL,
			UNIQUE(db, key));
INSERT INTO keys VALUES(1,0,X'78','stream',1204684876381654,2,3,NULL,1795349011486,1795349011489);
INSERT INTO keys VALUES(2,0,X'73','string',1158434463205758,0,0,NULL,1795349011489,1795349011489);
INSERT INTO keys VALUES(3,0,X'74746c','string',1430564037118436,0,0,4102444800000,1795349011489,1795349011489);
INSERT INTO keys VALUES(4,0,X'62696e00ff','string',1423038819015943,0,0,NULL,1795349011489,1795349011489);
INSERT INTO keys VALUES(5,0,X'64656164','string',2072633387648272,0,0,1795349011490,1795349011489,1795349011489);
INSERT INTO keys VALUES(6,0,X'6c','list',2094051805309177,3,3,NULL,1795349011489,1795349011490);
INSERT INTO keys VALUES(7,0,X'736574','set',1037949565097765,3,3,NULL,1795349011491,1795349011491);
INSERT INTO keys VALUES(8,0,X'7a','zset',1796055473771044,3,3,NULL,1795349011491,1795349011491);
INSERT INTO keys VALUES(9,0,X'68','hash',1371080140854296,2,2,4102444800000,1795349011491,1795349011491);
INSERT INTO keys VALUES(10,1,X'6f74686572','string',699700305381412,0,0,NULL,1795349011491,1795349011491);
CREATE TABLE dbs(db INTEGER PRIMARY KEY, keys INTEGER NOT NULL);
INSERT INTO dbs VALUES(0,9);
INSERT INTO dbs VALUES(1,1);
CREATE TABLE guard(ok INTEGER NOT NULL);
CREATE TABLE strings(
			key_id INTEGER PRIMARY KEY REFERENCES keys(id),
			value BLOB NOT NULL);
INSERT INTO strings VALUES(2,X'68656c6c6f');
INSERT INTO strings VALUES(3,X'76');
INSERT INTO strings VALUES(4,X'7600ff');
INSERT INTO strings VALUES(5,X'76');
INSERT INTO strings VALUES(10,X'76');
CREATE TABLE hashes(
			key_id INTEGER NOT NULL REFERENCES keys(id),
			hash INTEGER NOT NULL,
			field BLOB NOT NULL,
			value BLOB NOT NULL,
			seq INTEGER NOT NULL,
			expires_at INTEGER,
			PRIMARY KEY(key_id, hash, field)) WITHOUT ROWID;
INSERT INTO hashes VALUES(9,2024006708787921,X'6632',X'7632',1,NULL);
INSERT INTO hashes VALUES(9,3315941982039363,X'6631',X'7631',0,NULL);
CREATE TABLE sets(
			key_id INTEGER NOT NULL REFERENCES keys(id),
			hash INTEGER NOT NULL,
			member BLOB NOT NULL,
			seq INTEGER NOT NULL,
			PRIMARY KEY(key_id, hash, member)) WITHOUT ROWID;
INSERT INTO sets VALUES(7,1942232135853229,X'62',1);
INSERT INTO sets VALUES(7,2094103501024681,X'63',2);
INSERT INTO sets VALUES(7,2298162199567341,X'61',0);
CREATE TABLE zsets(
			key_id INTEGER NOT NULL REFERENCES keys(id),
			hash INTEGER NOT NULL,
			member BLOB NOT NULL,
			score REAL NOT NULL,
			PRIMARY KEY(key_id, hash, member)) WITHOUT ROWID;
INSERT INTO zsets VALUES(8,2094103501024681,X'63',-1e999);
INSERT INTO zsets VALUES(8,2298162199567341,X'61',1.0);
INSERT INTO zsets VALUES(8,1942232135853229,X'62',2.5);
CREATE TABLE lists(
			key_id INTEGER NOT NULL REFERENCES keys(id),
			pos INTEGER NOT NULL,
			value BLOB NOT NULL,
			PRIMARY KEY(key_id, pos)) WITHOUT ROWID;
INSERT INTO lists VALUES(6,65536,X'61');
INSERT INTO lists VALUES(6,98304,X'62');
INSERT INTO lists VALUES(6,131072,X'63');
CREATE TABLE streams(
			key_id INTEGER PRIMARY KEY REFERENCES keys(id),
			last_id BLOB NOT NULL,
			deleted_id BLOB NOT NULL,
			added INTEGER NOT NULL);
INSERT INTO streams VALUES(1,X'00000000000000030000000000000001',X'00000000000000030000000000000001',3);
CREATE TABLE stream_entries(
			key_id INTEGER NOT NULL REFERENCES keys(id),
			id BLOB NOT NULL,
			fields BLOB NOT NULL,
			PRIMARY KEY(key_id, id)) WITHOUT ROWID;
INSERT INTO stream_entries VALUES(1,X'00000000000000010000000000000001',X'01610131');
INSERT INTO stream_entries VALUES(1,X'00000000000000020000000000000001',X'01620132');
CREATE TABLE stream_groups(
			key_id INTEGER NOT NULL REFERENCES keys(id),
			name BLOB NOT NULL,
			last_id BLOB NOT NULL,
			entries_read INTEGER,
			PRIMARY KEY(key_id, name)) WITHOUT ROWID;
INSERT INTO stream_groups VALUES(1,X'67',X'00000000000000010000000000000001',NULL);
CREATE TABLE stream_consumers(
			key_id INTEGER NOT NULL,
			group_name BLOB NOT NULL,
			name BLOB NOT NULL,
			seen_at INTEGER NOT NULL,
			active_at INTEGER,
			PRIMARY KEY(key_id, group_name, name),
			FOREIGN KEY(key_id, group_name) REFERENCES stream_groups(key_id, name)) WITHOUT ROWID;
INSERT INTO stream_consumers VALUES(1,X'67',X'616c696365',1795349011488,NULL);
INSERT INTO stream_consumers VALUES(1,X'67',X'626f62',1795349011489,NULL);
CREATE TABLE stream_pending(
			key_id INTEGER NOT NULL,
			group_name BLOB NOT NULL,
			id BLOB NOT NULL,
			consumer BLOB NOT NULL,
			delivered_at INTEGER NOT NULL,
			deliveries INTEGER NOT NULL,
			PRIMARY KEY(key_id, group_name, id),
			FOREIGN KEY(key_id, group_name, consumer) REFERENCES stream_consumers(key_id, group_name, name)) WITHOUT ROWID;
INSERT INTO stream_pending VALUES(1,X'67',X'00000000000000010000000000000001',X'616c696365',1795349011488,1);
CREATE INDEX keys_by_db ON keys(db);
CREATE INDEX keys_by_expiry ON keys(expires_at, db) WHERE expires_at IS NOT NULL;
CREATE TRIGGER keys_insert AFTER INSERT ON keys BEGIN
			INSERT INTO dbs(db, keys) VALUES(NEW.db, 1) ON CONFLICT(db) DO UPDATE SET keys = keys + 1;
		END;
CREATE TRIGGER keys_move AFTER UPDATE OF db ON keys WHEN OLD.db <> NEW.db BEGIN
			UPDATE dbs SET keys = keys - 1 WHERE db = OLD.db;
			INSERT INTO dbs(db, keys) VALUES(NEW.db, 1) ON CONFLICT(db) DO UPDATE SET keys = keys + 1;
		END;
CREATE INDEX hashes_by_expiry ON hashes(key_id, expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX zsets_by_score ON zsets(key_id, score, member);
CREATE TRIGGER keys_delete AFTER DELETE ON keys BEGIN
			UPDATE dbs SET keys = keys - 1 WHERE db = OLD.db;
			DELETE FROM strings WHERE OLD.type = 'string' AND key_id = OLD.id;
			DELETE FROM hashes WHERE OLD.type = 'hash' AND key_id = OLD.id;
			DELETE FROM lists WHERE OLD.type = 'list' AND key_id = OLD.id;
			DELETE FROM sets WHERE OLD.type = 'set' AND key_id = OLD.id;
			DELETE FROM zsets WHERE OLD.type = 'zset' AND key_id = OLD.id;
		END;
CREATE VIEW v_keys AS SELECT db, CAST(key AS TEXT) AS key, type, count,
			(expires_at - CAST(unixepoch('subsec') * 1000 AS INTEGER)) / 1000.0 AS ttl_seconds,
			strftime('%Y-%m-%dT%H:%M:%fZ', expires_at / 1000.0, 'unixepoch') AS expires_at,
			strftime('%Y-%m-%dT%H:%M:%fZ', created_at / 1000.0, 'unixepoch') AS created_at,
			strftime('%Y-%m-%dT%H:%M:%fZ', updated_at / 1000.0, 'unixepoch') AS updated_at
			FROM keys WHERE expires_at IS NULL OR expires_at > unixepoch('subsec') * 1000;
CREATE VIEW v_strings AS SELECT k.db, CAST(k.key AS TEXT) AS key, CAST(s.value AS TEXT) AS value
			FROM keys k JOIN strings s ON s.key_id = k.id
			WHERE k.expires_at IS NULL OR k.expires_at > unixepoch('subsec') * 1000;
CREATE VIEW v_hashes AS SELECT k.db, CAST(k.key AS TEXT) AS key,
			CAST(h.field AS TEXT) AS field, CAST(h.value AS TEXT) AS value
			FROM keys k JOIN hashes h ON h.key_id = k.id
			WHERE (k.expires_at IS NULL OR k.expires_at > unixepoch('subsec') * 1000)
			AND (h.expires_at IS NULL OR h.expires_at > unixepoch('subsec') * 1000)
			ORDER BY k.id, h.seq;
CREATE VIEW v_sets AS SELECT k.db, CAST(k.key AS TEXT) AS key, CAST(m.member AS TEXT) AS member
			FROM keys k JOIN sets m ON m.key_id = k.id
			WHERE k.expires_at IS NULL OR k.expires_at > unixepoch('subsec') * 1000
			ORDER BY k.id, m.seq;
CREATE VIEW v_zsets AS SELECT k.db, CAST(k.key AS TEXT) AS key, CAST(z.member AS TEXT) AS member, z.score
			FROM keys k JOIN zsets z ON z.key_id = k.id
			WHERE k.expires_at IS NULL OR k.expires_at > unixepoch('subsec') * 1000
			ORDER BY k.id, z.score, z.member;
CREATE VIEW v_lists AS SELECT k.db, CAST(k.key AS TEXT) AS key,
			row_number() OVER (PARTITION BY k.id ORDER BY l.pos) - 1 AS "index", CAST(l.value AS TEXT) AS value
			FROM keys k JOIN lists l ON l.key_id = k.id
			WHERE k.expires_at IS NULL OR k.expires_at > unixepoch('subsec') * 1000;
CREATE INDEX stream_pending_by_consumer ON stream_pending(key_id, group_name, consumer, id);
CREATE TRIGGER keys_delete_stream AFTER DELETE ON keys WHEN OLD.type = 'stream' BEGIN
			DELETE FROM streams WHERE key_id = OLD.id;
			DELETE FROM stream_entries WHERE key_id = OLD.id;
			DELETE FROM stream_groups WHERE key_id = OLD.id;
		END;
CREATE TRIGGER stream_groups_delete AFTER DELETE ON stream_groups BEGIN
			DELETE FROM stream_consumers WHERE key_id = OLD.key_id AND group_name = OLD.name;
		END;
CREATE TRIGGER stream_consumers_delete AFTER DELETE ON stream_consumers BEGIN
			DELETE FROM stream_pending WHERE key_id = OLD.key_id AND group_name = OLD.group_name AND consumer = OLD.name;
		END;
COMMIT;
PRAGMA application_id = 1835364215;
