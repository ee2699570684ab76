package schema

// Streams. An entry's id is 16 bytes, big-endian ms and sequence number, so
// that bytes order as ids do; fields are length-prefixed strings.
var streamTables = []string{
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
	`CREATE TABLE stream_pending(
			key_id INTEGER NOT NULL,
			group_name BLOB NOT NULL,
			id BLOB NOT NULL,
			consumer BLOB NOT NULL,
			delivered_at INTEGER NOT NULL,
			deliveries INTEGER NOT NULL,
			PRIMARY KEY(key_id, group_name, id),
			FOREIGN KEY(key_id, group_name, consumer) REFERENCES stream_consumers(key_id, group_name, name)) WITHOUT ROWID`,
	`CREATE INDEX stream_pending_by_consumer ON stream_pending(key_id, group_name, consumer, id)`,
	`CREATE TRIGGER keys_delete_stream AFTER DELETE ON keys WHEN OLD.type = 'stream' BEGIN
			DELETE FROM streams WHERE key_id = OLD.id;
			DELETE FROM stream_entries WHERE key_id = OLD.id;
			DELETE FROM stream_groups WHERE key_id = OLD.id;
		END`,
	`CREATE TRIGGER stream_groups_delete AFTER DELETE ON stream_groups BEGIN
			DELETE FROM stream_consumers WHERE key_id = OLD.key_id AND group_name = OLD.name;
		END`,
	`CREATE TRIGGER stream_consumers_delete AFTER DELETE ON stream_consumers BEGIN
			DELETE FROM stream_pending WHERE key_id = OLD.key_id AND group_name = OLD.group_name AND consumer = OLD.name;
		END`,
}

// Streams since Redis 8. XNACK leaves a pending entry without a consumer; it is deleted with its group.
// stream_idmp has a row for each stream whose producers add entries with IDs of their own (iid). duration is
// in seconds; added and duplicates count over the stream's life.
var streamsOfRedis8 = []string{
	`DROP TRIGGER stream_groups_delete`,
	`DROP TRIGGER stream_consumers_delete`,
	`CREATE TABLE stream_pending_2(
			key_id INTEGER NOT NULL,
			group_name BLOB NOT NULL,
			id BLOB NOT NULL,
			consumer BLOB,
			delivered_at INTEGER NOT NULL,
			deliveries INTEGER NOT NULL,
			PRIMARY KEY(key_id, group_name, id),
			FOREIGN KEY(key_id, group_name, consumer) REFERENCES stream_consumers(key_id, group_name, name)) WITHOUT ROWID`,
	`INSERT INTO stream_pending_2(key_id, group_name, id, consumer, delivered_at, deliveries)
			SELECT key_id, group_name, id, consumer, delivered_at, deliveries FROM stream_pending`,
	`DROP TABLE stream_pending`,
	`ALTER TABLE stream_pending_2 RENAME TO stream_pending`,
	`CREATE INDEX stream_pending_by_consumer ON stream_pending(key_id, group_name, consumer, id)`,
	`CREATE INDEX stream_pending_by_delivery ON stream_pending(key_id, group_name, delivered_at, id)`,
	`CREATE TRIGGER stream_groups_delete AFTER DELETE ON stream_groups BEGIN
			DELETE FROM stream_pending WHERE key_id = OLD.key_id AND group_name = OLD.name;
			DELETE FROM stream_consumers WHERE key_id = OLD.key_id AND group_name = OLD.name;
		END`,
	`CREATE TRIGGER stream_consumers_delete AFTER DELETE ON stream_consumers BEGIN
			DELETE FROM stream_pending WHERE key_id = OLD.key_id AND group_name = OLD.group_name AND consumer = OLD.name;
		END`,

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
	`CREATE TRIGGER keys_delete_idmp AFTER DELETE ON keys WHEN OLD.type = 'stream' BEGIN
			DELETE FROM stream_idmp WHERE key_id = OLD.id;
			DELETE FROM stream_iids WHERE key_id = OLD.id;
		END`,
}

// The nodes of a stream as Redis would have them, because trimming with ~ works on nodes: deleted counts
// deleted entries, bytes is the size of the listpack, and names are the field names of the first entry.
// Existing entries get nodes of about Redis's default sizes.
var streamNodes = []string{
	`CREATE TABLE stream_nodes(
			key_id INTEGER NOT NULL,
			first_id BLOB NOT NULL,
			last_id BLOB NOT NULL,
			count INTEGER NOT NULL,
			deleted INTEGER NOT NULL,
			bytes INTEGER NOT NULL,
			names BLOB NOT NULL,
			PRIMARY KEY(key_id, first_id)) WITHOUT ROWID`,
	`CREATE TRIGGER keys_delete_nodes AFTER DELETE ON keys WHEN OLD.type = 'stream' BEGIN
			DELETE FROM stream_nodes WHERE key_id = OLD.id;
		END`,
	MakeNodes,
}
