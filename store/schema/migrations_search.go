package schema

// The indexes of FT.CREATE.
var searchTables = []string{
	`CREATE TABLE search_indexes(id INTEGER PRIMARY KEY, name BLOB NOT NULL UNIQUE, definition BLOB NOT NULL, version INTEGER NOT NULL,
			last_doc INTEGER NOT NULL DEFAULT 0, documents INTEGER NOT NULL DEFAULT 0, length INTEGER NOT NULL DEFAULT 0, deleted INTEGER NOT NULL DEFAULT 0,
			scanned INTEGER, failures INTEGER NOT NULL DEFAULT 0, last_error BLOB, last_error_key BLOB, clean_term BLOB, clean_block INTEGER)`,
	`CREATE TABLE search_aliases(alias BLOB PRIMARY KEY, index_id INTEGER NOT NULL) WITHOUT ROWID`,
	`CREATE TABLE search_documents(index_id INTEGER NOT NULL, doc INTEGER NOT NULL, key_id INTEGER NOT NULL, length INTEGER NOT NULL, PRIMARY KEY(index_id, doc)) WITHOUT ROWID`,
	`CREATE UNIQUE INDEX search_documents_by_key ON search_documents(key_id, index_id)`,
	`CREATE TABLE search_deleted(index_id INTEGER NOT NULL, doc INTEGER NOT NULL, cleaning INTEGER NOT NULL DEFAULT 0, PRIMARY KEY(index_id, doc)) WITHOUT ROWID`,
	`CREATE TABLE search_postings(index_id INTEGER NOT NULL, term BLOB NOT NULL, block INTEGER NOT NULL, data BLOB NOT NULL, PRIMARY KEY(index_id, term, block)) WITHOUT ROWID`,
	`CREATE TABLE search_numbers(index_id INTEGER NOT NULL, field INTEGER NOT NULL, value REAL NOT NULL, doc INTEGER NOT NULL, PRIMARY KEY(index_id, field, value, doc)) WITHOUT ROWID`,
	`CREATE TABLE search_synonyms(index_id INTEGER NOT NULL, term BLOB NOT NULL, synonyms BLOB NOT NULL, PRIMARY KEY(index_id, term, synonyms)) WITHOUT ROWID`,
	`CREATE TABLE search_dictionaries(dictionary BLOB NOT NULL, term BLOB NOT NULL, PRIMARY KEY(dictionary, term)) WITHOUT ROWID`,
	`CREATE TABLE search_pending(key_id INTEGER PRIMARY KEY)`,
	`CREATE TABLE search_dropped(index_id INTEGER PRIMARY KEY)`,
}

// The suggestions of FT.SUGADD, and the end of TEMPORARY indexes.
var suggestionsAndDeaths = []string{
	`ALTER TABLE search_indexes ADD COLUMN dies_at INTEGER`,
	`CREATE TABLE suggestions(key_id INTEGER NOT NULL, string BLOB NOT NULL, folded BLOB NOT NULL, score REAL NOT NULL, payload BLOB, PRIMARY KEY(key_id, folded, string)) WITHOUT ROWID`,
}

// The segments of the indexes of FT.CREATE. Postings that have rows of their own keep them.
var searchSegments = []string{
	`ALTER TABLE search_indexes ADD COLUMN clean_segment INTEGER`,
	`CREATE TABLE search_segments(index_id INTEGER NOT NULL, segment INTEGER NOT NULL, level INTEGER NOT NULL, target INTEGER, PRIMARY KEY(index_id, segment)) WITHOUT ROWID`,
	`CREATE TABLE search_pages(index_id INTEGER NOT NULL, segment INTEGER NOT NULL, term BLOB NOT NULL, data BLOB NOT NULL, PRIMARY KEY(index_id, segment, term)) WITHOUT ROWID`,
}

// Postings have a rowid.
var postingsWithRowid = []string{
	`CREATE TABLE search_postings_2(index_id INTEGER NOT NULL, term BLOB NOT NULL, block INTEGER NOT NULL, data BLOB NOT NULL, PRIMARY KEY(index_id, term, block))`,
	`INSERT INTO search_postings_2 SELECT index_id, term, block, data FROM search_postings`,
	`DROP TABLE search_postings`,
	`ALTER TABLE search_postings_2 RENAME TO search_postings`,
	`CREATE TABLE search_pages_2(index_id INTEGER NOT NULL, segment INTEGER NOT NULL, term BLOB NOT NULL, data BLOB NOT NULL, PRIMARY KEY(index_id, segment, term))`,
	`INSERT INTO search_pages_2 SELECT index_id, segment, term, data FROM search_pages`,
	`DROP TABLE search_pages`,
	`ALTER TABLE search_pages_2 RENAME TO search_pages`,
}

// Documents have the names of their keys, and are found by one number.
var documentsWithNames = []string{
	`ALTER TABLE search_indexes ADD COLUMN slot INTEGER NOT NULL DEFAULT 0`,
	`UPDATE search_indexes SET slot = (SELECT count(*) FROM search_indexes x WHERE x.id <= search_indexes.id)`,
	`ALTER TABLE search_dropped ADD COLUMN slot INTEGER NOT NULL DEFAULT 0`,
	`CREATE TABLE search_documents_2(id INTEGER PRIMARY KEY, index_id INTEGER NOT NULL, key_id INTEGER NOT NULL, length INTEGER NOT NULL, key BLOB NOT NULL,
			doc INTEGER AS (id & 1099511627775) VIRTUAL)`,
	`INSERT INTO search_documents_2(id, index_id, key_id, length, key) SELECT i.slot << 40 | d.doc, d.index_id, d.key_id, d.length, ifnull(k.key, x'')
			FROM search_indexes i CROSS JOIN search_documents d ON d.index_id = i.id LEFT JOIN keys k ON k.id = d.key_id`,
	`DROP TABLE search_documents`,
	`ALTER TABLE search_documents_2 RENAME TO search_documents`,
	`CREATE UNIQUE INDEX search_documents_by_key ON search_documents(key_id, index_id)`,
}
