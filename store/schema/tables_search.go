package schema

import "strings"

// inSearch is the condition for the keys that an index may have.
func inSearch(row, types string) string {
	return row + `.type IN (` + types + `) AND ` + row + `.db = 0 AND EXISTS (SELECT 1 FROM search_indexes)`
}

// Indexes of FT.CREATE. A trigger notes each changed key in search_pending, in the transaction of the change. The sweep
// indexes these keys, and a query reads them itself until then. version changes with each slice, so that of two
// processes that index the same keys one is refused. scanned is the id of the last key of the initial scan, NULL after
// its end. deleted is the number of rows of search_deleted. dies_at is when a TEMPORARY index ends unless it is used.
// The ids of indexes are random, since rows of a dropped index stay until the sweep deletes them (search_dropped).
// index_id of search_aliases is the name of an index, as a BLOB, if SEARCH.ALIASADD made the alias: the index may come
// later.
//
// search_documents has the key of each document, with its name: a key that gets another name is another document. A query
// looks up every hit that it returns, so a row is found by a single number, which begins with the slot of the index.
//
// Each slice of indexing adds a segment: rows of search_pages with the documents of many terms, in order of the terms.
// The column term is the last term that the page may have; the page before has the terms up to its own. The sweep merges
// segments of one level: it moves their terms, in order, to the segment target, which has itself as target until all
// have moved. A posting is in one page at any time.
//
// search_postings has the documents with a term that has too many for a page, in blocks that begin with the document in
// block. A term begins with its kind and its field (package translator/inverted). search_numbers orders the documents by a
// number, or by the geohash of a place. Rows of documents in search_deleted count no more: the sweep removes them, and
// clean_term and clean_block say how far it is in search_postings, clean_segment and clean_term in search_pages. These two
// tables have a rowid, since SQLite would read the whole row for each comparison of a key in a WITHOUT ROWID table.
var search = []string{
	`CREATE TABLE search_indexes(
		id INTEGER PRIMARY KEY,
		name BLOB NOT NULL UNIQUE,
		definition BLOB NOT NULL,
		version INTEGER NOT NULL,
		last_doc INTEGER NOT NULL DEFAULT 0,
		documents INTEGER NOT NULL DEFAULT 0,
		length INTEGER NOT NULL DEFAULT 0,
		deleted INTEGER NOT NULL DEFAULT 0,
		scanned INTEGER,
		failures INTEGER NOT NULL DEFAULT 0,
		last_error BLOB,
		last_error_key BLOB,
		clean_term BLOB,
		clean_block INTEGER,
		dies_at INTEGER,
		clean_segment INTEGER,
		slot INTEGER NOT NULL DEFAULT 0)`,
	`CREATE TABLE search_aliases(alias BLOB PRIMARY KEY, index_id INTEGER NOT NULL) WITHOUT ROWID`,
	`CREATE TABLE search_documents(
		id INTEGER PRIMARY KEY,
		index_id INTEGER NOT NULL,
		key_id INTEGER NOT NULL,
		length INTEGER NOT NULL,
		key BLOB NOT NULL,
		doc INTEGER AS (id & ` + LastDoc + `) VIRTUAL)`,
	`CREATE UNIQUE INDEX search_documents_by_key ON search_documents(key_id, index_id)`,
	`CREATE TABLE search_deleted(index_id INTEGER NOT NULL, doc INTEGER NOT NULL, cleaning INTEGER NOT NULL DEFAULT 0, PRIMARY KEY(index_id, doc)) WITHOUT ROWID`,
	`CREATE TABLE search_postings(
		index_id INTEGER NOT NULL,
		term BLOB NOT NULL,
		block INTEGER NOT NULL,
		data BLOB NOT NULL,
		PRIMARY KEY(index_id, term, block))`,
	`CREATE TABLE search_segments(
		index_id INTEGER NOT NULL,
		segment INTEGER NOT NULL,
		level INTEGER NOT NULL,
		target INTEGER,
		PRIMARY KEY(index_id, segment)) WITHOUT ROWID`,
	`CREATE TABLE search_pages(
		index_id INTEGER NOT NULL,
		segment INTEGER NOT NULL,
		term BLOB NOT NULL,
		data BLOB NOT NULL,
		PRIMARY KEY(index_id, segment, term))`,
	`CREATE TABLE search_numbers(
		index_id INTEGER NOT NULL,
		field INTEGER NOT NULL,
		value REAL NOT NULL,
		doc INTEGER NOT NULL,
		PRIMARY KEY(index_id, field, value, doc)) WITHOUT ROWID`,
	`CREATE TABLE search_synonyms(index_id INTEGER NOT NULL, term BLOB NOT NULL, synonyms BLOB NOT NULL, PRIMARY KEY(index_id, term, synonyms)) WITHOUT ROWID`,
	`CREATE TABLE search_dictionaries(dictionary BLOB NOT NULL, term BLOB NOT NULL, PRIMARY KEY(dictionary, term)) WITHOUT ROWID`,
	`CREATE TABLE search_pending(key_id INTEGER PRIMARY KEY)`,
	`CREATE TABLE search_dropped(index_id INTEGER PRIMARY KEY, slot INTEGER NOT NULL DEFAULT 0)`,
	`CREATE TRIGGER search_indexes_delete AFTER DELETE ON search_indexes BEGIN
		DELETE FROM search_aliases WHERE index_id = OLD.id;
		DELETE FROM search_synonyms WHERE index_id = OLD.id;
		INSERT INTO search_dropped(index_id, slot) VALUES(OLD.id, OLD.slot);
		DELETE FROM search_pending WHERE NOT EXISTS (SELECT 1 FROM search_indexes);
	END`,
	`CREATE VIEW v_search_indexes AS SELECT CAST(name AS TEXT) AS name, CAST(definition AS TEXT) AS definition, documents FROM search_indexes`,
}

// SlotBits is the number of bits of the number of a document in its id, below the slot of its index. LastDoc is the largest
// number.
const (
	SlotBits = `40`
	LastDoc  = `1099511627775`
)

// SearchTriggers note changed keys in search_pending. FT.CREATE creates them, and the sweep drops them with the last
// index: an UPDATE trigger takes a sixth of the processor time of a pipelined SET, even if its condition is false.
// SearchStringTriggers are for indexes of strings, which only SEARCH.CREATE makes.
var (
	SearchTriggers       = searchTriggers("search_key", `'hash', 'ReJSON-RL'`)
	SearchStringTriggers = searchTriggers("search_string", `'string'`)
)

// IndexesStrings is the condition for a row of search_indexes that needs SearchStringTriggers.
const IndexesStrings = `substr(definition, 1, 17) = CAST('SEARCH ON STRING ' AS BLOB)`

func searchTriggers(name, types string) []string {
	// A key that moves to another database leaves an index. A field that expires changes volatile only.
	moved := strings.ReplaceAll(inSearch("NEW", types), "NEW.db = 0", "(NEW.db = 0 OR OLD.db = 0)")
	return []string{
		`CREATE TRIGGER IF NOT EXISTS ` + name + `_insert AFTER INSERT ON keys WHEN ` + inSearch("NEW", types) + ` BEGIN
		INSERT INTO search_pending(key_id) VALUES(NEW.id) ON CONFLICT DO NOTHING;
	END`,
		`CREATE TRIGGER IF NOT EXISTS ` + name + `_update AFTER UPDATE OF db, key, version, volatile ON keys WHEN ` + moved + ` BEGIN
		INSERT INTO search_pending(key_id) VALUES(NEW.id) ON CONFLICT DO NOTHING;
	END`,
		`CREATE TRIGGER IF NOT EXISTS ` + name + `_delete AFTER DELETE ON keys WHEN ` + inSearch("OLD", types) + ` BEGIN
		INSERT INTO search_pending(key_id) VALUES(OLD.id) ON CONFLICT DO NOTHING;
	END`,
	}
}

// DropSearchTriggers drops them.
var DropSearchTriggers = []string{
	`DROP TRIGGER IF EXISTS search_key_insert`, `DROP TRIGGER IF EXISTS search_key_update`, `DROP TRIGGER IF EXISTS search_key_delete`,
	`DROP TRIGGER IF EXISTS search_string_insert`, `DROP TRIGGER IF EXISTS search_string_update`, `DROP TRIGGER IF EXISTS search_string_delete`,
}

// The suggestions of FT.SUGADD. folded is string in lower case, so that a prefix is a range.
var suggestions = []string{
	`CREATE TABLE suggestions(
		key_id INTEGER NOT NULL,
		string BLOB NOT NULL,
		folded BLOB NOT NULL,
		score REAL NOT NULL,
		payload BLOB,
		PRIMARY KEY(key_id, folded, string)) WITHOUT ROWID`,
	`CREATE TRIGGER keys_delete_suggestions AFTER DELETE ON keys WHEN OLD.type = 'trietype0' AND ` + fewElements + ` BEGIN
		DELETE FROM suggestions WHERE key_id = OLD.id;
	END`,
	`CREATE VIEW v_suggestions AS SELECT k.db, CAST(k.key AS TEXT) AS key, CAST(s.string AS TEXT) AS string, s.score, CAST(s.payload AS TEXT) AS payload
		FROM keys k JOIN suggestions s ON s.key_id = k.id WHERE ` + live + ` ORDER BY k.id, s.folded`,
}
