-- A file of schema version 5, as the program of commit 7400d0c wrote it.
PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE meowdis(version INTEGER PRIMARY KEY, applied_at INTEGER NOT NULL);
INSERT INTO meowdis VALUES(1,1795349012058);
INSERT INTO meowdis VALUES(2,1795349012058);
INSERT INTO meowdis VALUES(3,1795349012058);
INSERT INTO meowdis VALUES(4,1795349012073);
INSERT INTO meowdis VALUES(5,1795349012074);
CREATE TABLE keys(
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
			updated_at INTEGER NOT NULL, volatile INTEGER NOT NULL DEFAULT 0, last_field INTEGER, dies_at INTEGER AS (iif(volatile > 0 AND volatile = count, min(last_field, ifnull(expires_at, last_field)), expires_at)) VIRTUAL,
			UNIQUE(db, key));
INSERT INTO keys VALUES(1,0,X'78',116890035142277,'stream',143561910760849,2,3,NULL,1795349012100,1795349012102,0,NULL);
INSERT INTO keys VALUES(2,0,X'6a',3017297295714193,'ReJSON-RL',446115028339835,0,0,NULL,1795349012102,1795349012102,0,NULL);
INSERT INTO keys VALUES(3,0,X'6866',2181727865094751,'hash',1125793940746360,3,3,NULL,1795349012102,1795349012102,2,4102444800000);
INSERT INTO keys VALUES(4,0,X'6864',4227930114420257,'hash',2221785968857323,1,1,NULL,1795349012102,1795349012102,1,4102444800000);
INSERT INTO keys VALUES(5,0,X'65787069726564',3535122670669735,'hash',565775311567401,1,1,NULL,1795349012102,1795349012102,1,1795349012103);
INSERT INTO keys VALUES(6,0,X'617272',3258492145207007,'array',934633759569239,3,3,NULL,1795349012102,1795349012102,0,NULL);
INSERT INTO keys VALUES(7,0,X'6c6f67',1462816286760437,'array',2113470796722465,1,1,NULL,1795349012102,1795349012102,0,NULL);
INSERT INTO keys VALUES(8,0,X'72696e67',4353914032717655,'array',1935356478129494,2,2,NULL,1795349012116,1795349012116,0,NULL);
INSERT INTO keys VALUES(9,0,X'73',3592668485254099,'string',104744931792520,0,0,NULL,1795349012117,1795349012117,0,NULL);
INSERT INTO keys VALUES(10,0,X'74746c',1217197030055095,'string',885921502254540,0,0,4102444800000,1795349012117,1795349012117,0,NULL);
INSERT INTO keys VALUES(11,0,X'62696e00ff',1316035440867977,'string',1027061941725350,0,0,NULL,1795349012117,1795349012117,0,NULL);
INSERT INTO keys VALUES(12,0,X'64656164',2753339038906303,'string',474647065431083,0,0,1795349012118,1795349012117,1795349012117,0,NULL);
INSERT INTO keys VALUES(13,0,X'6c',1364612284526893,'list',951975901716171,3,3,NULL,1795349012117,1795349012117,0,NULL);
INSERT INTO keys VALUES(14,0,X'736574',38442315270187,'set',548942725674922,3,3,NULL,1795349012118,1795349012118,0,NULL);
INSERT INTO keys VALUES(15,0,X'7a',2607161429522947,'zset',2085655843434828,3,3,NULL,1795349012118,1795349012118,0,NULL);
INSERT INTO keys VALUES(16,0,X'68',549716250208437,'hash',140214765918877,2,2,4102444800000,1795349012118,1795349012118,0,NULL);
INSERT INTO keys VALUES(17,1,X'6f74686572',1348665142879515,'string',948663068358749,0,0,NULL,1795349012118,1795349012118,0,NULL);
CREATE TABLE dbs(db INTEGER PRIMARY KEY, keys INTEGER NOT NULL);
INSERT INTO dbs VALUES(0,16);
INSERT INTO dbs VALUES(1,1);
CREATE TABLE guard(ok INTEGER NOT NULL);
CREATE TABLE strings(
			key_id INTEGER PRIMARY KEY,
			value BLOB NOT NULL);
INSERT INTO strings VALUES(9,X'68656c6c6f');
INSERT INTO strings VALUES(10,X'76');
INSERT INTO strings VALUES(11,X'7600ff');
INSERT INTO strings VALUES(12,X'76');
INSERT INTO strings VALUES(17,X'76');
CREATE TABLE hashes(
			key_id INTEGER NOT NULL,
			hash INTEGER NOT NULL,
			field BLOB NOT NULL,
			value BLOB NOT NULL,
			seq INTEGER NOT NULL,
			expires_at INTEGER,
			PRIMARY KEY(key_id, hash, field)) WITHOUT ROWID;
INSERT INTO hashes VALUES(3,1279468128867503,X'6b656570',X'76',0,NULL);
INSERT INTO hashes VALUES(3,1942232135853229,X'62',X'76',2,1795349012103);
INSERT INTO hashes VALUES(3,2298162199567341,X'61',X'76',1,4102444800000);
INSERT INTO hashes VALUES(4,2298162199567341,X'61',X'76',0,4102444800000);
INSERT INTO hashes VALUES(5,2298162199567341,X'61',X'76',0,1795349012103);
INSERT INTO hashes VALUES(16,2024006708787921,X'6632',X'7632',1,NULL);
INSERT INTO hashes VALUES(16,3315941982039363,X'6631',X'7631',0,NULL);
CREATE TABLE sets(
			key_id INTEGER NOT NULL,
			hash INTEGER NOT NULL,
			member BLOB NOT NULL,
			seq INTEGER NOT NULL,
			PRIMARY KEY(key_id, hash, member)) WITHOUT ROWID;
INSERT INTO sets VALUES(14,1942232135853229,X'62',1);
INSERT INTO sets VALUES(14,2094103501024681,X'63',2);
INSERT INTO sets VALUES(14,2298162199567341,X'61',0);
CREATE TABLE zsets(
			key_id INTEGER NOT NULL,
			hash INTEGER NOT NULL,
			member BLOB NOT NULL,
			score REAL NOT NULL,
			PRIMARY KEY(key_id, hash, member)) WITHOUT ROWID;
INSERT INTO zsets VALUES(15,2094103501024681,X'63',-1e999);
INSERT INTO zsets VALUES(15,2298162199567341,X'61',1.0);
INSERT INTO zsets VALUES(15,1942232135853229,X'62',2.5);
CREATE TABLE lists(
			key_id INTEGER NOT NULL,
			pos INTEGER NOT NULL,
			value BLOB NOT NULL,
			PRIMARY KEY(key_id, pos)) WITHOUT ROWID;
INSERT INTO lists VALUES(13,65536,X'61');
INSERT INTO lists VALUES(13,98304,X'62');
INSERT INTO lists VALUES(13,131072,X'63');
CREATE TABLE streams(
			key_id INTEGER PRIMARY KEY,
			last_id BLOB NOT NULL,
			deleted_id BLOB NOT NULL,
			added INTEGER NOT NULL);
INSERT INTO streams VALUES(1,X'00000000000000030000000000000001',X'00000000000000030000000000000001',3);
CREATE TABLE stream_entries(
			key_id INTEGER NOT NULL,
			id BLOB NOT NULL,
			fields BLOB NOT NULL,
			PRIMARY KEY(key_id, id)) WITHOUT ROWID;
INSERT INTO stream_entries VALUES(1,X'00000000000000010000000000000001',X'01610131');
INSERT INTO stream_entries VALUES(1,X'00000000000000020000000000000001',X'01620132');
CREATE TABLE stream_groups(
			key_id INTEGER NOT NULL,
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
INSERT INTO stream_consumers VALUES(1,X'67',X'616c696365',1795349012101,NULL);
INSERT INTO stream_consumers VALUES(1,X'67',X'626f62',1795349012102,NULL);
CREATE TABLE stream_pending(
			key_id INTEGER NOT NULL,
			group_name BLOB NOT NULL,
			id BLOB NOT NULL,
			consumer BLOB NOT NULL,
			delivered_at INTEGER NOT NULL,
			deliveries INTEGER NOT NULL,
			PRIMARY KEY(key_id, group_name, id),
			FOREIGN KEY(key_id, group_name, consumer) REFERENCES stream_consumers(key_id, group_name, name)) WITHOUT ROWID;
INSERT INTO stream_pending VALUES(1,X'67',X'00000000000000010000000000000001',X'616c696365',1795349012101,1);
CREATE TABLE documents(
			key_id INTEGER PRIMARY KEY,
			value BLOB NOT NULL);
INSERT INTO documents VALUES(2,X'7b2261223a5b312c325d7d');
CREATE TABLE arrays(
			key_id INTEGER NOT NULL,
			pos INTEGER NOT NULL,
			value BLOB NOT NULL,
			PRIMARY KEY(key_id, pos)) WITHOUT ROWID;
INSERT INTO arrays VALUES(6,-9223372036854775808,X'61');
INSERT INTO arrays VALUES(6,-9223372036854775807,X'62');
INSERT INTO arrays VALUES(6,9223372036854775806,X'7a');
INSERT INTO arrays VALUES(7,-9223372036854775808,X'78');
INSERT INTO arrays VALUES(8,-9223372036854775808,X'63');
INSERT INTO arrays VALUES(8,-9223372036854775807,X'62');
CREATE TABLE array_cursors(
			key_id INTEGER PRIMARY KEY,
			next INTEGER NOT NULL,
			ring INTEGER);
INSERT INTO array_cursors VALUES(7,-9223372036854775807,NULL);
INSERT INTO array_cursors VALUES(8,-9223372036854775807,-9223372036854775806);
CREATE INDEX keys_by_hash ON keys(db, hash);
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
CREATE TRIGGER keys_delete_document AFTER DELETE ON keys WHEN OLD.type = 'ReJSON-RL' BEGIN
			DELETE FROM documents WHERE key_id = OLD.id;
		END;
CREATE VIEW v_documents AS SELECT k.db, CAST(k.key AS TEXT) AS key, CAST(d.value AS TEXT) AS value
			FROM keys k JOIN documents d ON d.key_id = k.id
			WHERE k.expires_at IS NULL OR k.expires_at > unixepoch('subsec') * 1000;
CREATE INDEX keys_by_death ON keys(iif(volatile > 0 AND volatile = count, min(last_field, ifnull(expires_at, last_field)), expires_at), db, expires_at) WHERE iif(volatile > 0 AND volatile = count, min(last_field, ifnull(expires_at, last_field)), expires_at) IS NOT NULL;
CREATE INDEX hashes_by_death ON hashes(expires_at) WHERE expires_at IS NOT NULL;
CREATE TRIGGER hashes_insert AFTER INSERT ON hashes WHEN NEW.expires_at IS NOT NULL BEGIN
			UPDATE keys SET volatile = volatile + 1, last_field = max(NEW.expires_at, ifnull(last_field, NEW.expires_at))
			WHERE id = NEW.key_id;
		END;
CREATE TRIGGER hashes_update AFTER UPDATE OF expires_at ON hashes WHEN OLD.expires_at IS NOT NEW.expires_at BEGIN
			UPDATE keys SET volatile = volatile + (NEW.expires_at IS NOT NULL) - (OLD.expires_at IS NOT NULL),
				last_field = (SELECT max(expires_at) FROM hashes WHERE key_id = NEW.key_id AND expires_at IS NOT NULL)
			WHERE id = NEW.key_id;
		END;
CREATE TRIGGER hashes_delete AFTER DELETE ON hashes WHEN OLD.expires_at IS NOT NULL BEGIN
			UPDATE keys SET volatile = volatile - 1,
				last_field = (SELECT max(expires_at) FROM hashes WHERE key_id = OLD.key_id AND expires_at IS NOT NULL)
			WHERE id = OLD.key_id;
		END;
CREATE VIEW v_keys AS SELECT db, CAST(key AS TEXT) AS key, type, count,
			(expires_at - CAST(unixepoch('subsec') * 1000 AS INTEGER)) / 1000.0 AS ttl_seconds,
			strftime('%Y-%m-%dT%H:%M:%fZ', expires_at / 1000.0, 'unixepoch') AS expires_at,
			strftime('%Y-%m-%dT%H:%M:%fZ', created_at / 1000.0, 'unixepoch') AS created_at,
			strftime('%Y-%m-%dT%H:%M:%fZ', updated_at / 1000.0, 'unixepoch') AS updated_at
			FROM keys WHERE dies_at IS NULL OR dies_at > unixepoch('subsec') * 1000;
CREATE TRIGGER keys_delete_array AFTER DELETE ON keys WHEN OLD.type = 'array' BEGIN
			DELETE FROM arrays WHERE key_id = OLD.id;
			DELETE FROM array_cursors WHERE key_id = OLD.id;
		END;
CREATE VIEW v_arrays AS SELECT k.db, CAST(k.key AS TEXT) AS key,
			printf('%u', (a.pos | -9223372036854775808) & ~(a.pos & -9223372036854775808)) AS "index", CAST(a.value AS TEXT) AS value
			FROM keys k JOIN arrays a ON a.key_id = k.id
			WHERE k.expires_at IS NULL OR k.expires_at > unixepoch('subsec') * 1000
			ORDER BY k.id, a.pos;
COMMIT;
PRAGMA application_id = 1835364215;
