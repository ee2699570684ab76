-- The tables of Redka 0.6, as far as reading goes.
PRAGMA journal_mode = WAL;
PRAGMA user_version = 1;
CREATE TABLE rkey(id INTEGER PRIMARY KEY, key TEXT NOT NULL, type INTEGER NOT NULL, version INTEGER NOT NULL,
	etime INTEGER, mtime INTEGER NOT NULL, len INTEGER) STRICT;
CREATE UNIQUE INDEX rkey_key_idx ON rkey(key);
CREATE INDEX rkey_etime_idx ON rkey(etime) WHERE etime IS NOT NULL;
CREATE TABLE rstring(kid INTEGER NOT NULL, value BLOB NOT NULL) STRICT;
CREATE UNIQUE INDEX rstring_pk_idx ON rstring(kid);
CREATE TABLE rlist(kid INTEGER NOT NULL, pos REAL NOT NULL, elem BLOB NOT NULL) STRICT;
CREATE UNIQUE INDEX rlist_pk_idx ON rlist(kid, pos);
CREATE TABLE rset(kid INTEGER NOT NULL, elem BLOB NOT NULL) STRICT;
CREATE UNIQUE INDEX rset_pk_idx ON rset(kid, elem);
CREATE TABLE rhash(kid INTEGER NOT NULL, field TEXT NOT NULL, value BLOB NOT NULL) STRICT;
CREATE UNIQUE INDEX rhash_pk_idx ON rhash(kid, field);
CREATE TABLE rzset(kid INTEGER NOT NULL, elem BLOB NOT NULL, score REAL NOT NULL) STRICT;
CREATE UNIQUE INDEX rzset_pk_idx ON rzset(kid, elem);
CREATE INDEX rzset_score_idx ON rzset(kid, score, elem);

INSERT INTO rkey VALUES
	(1, 'text', 1, 7, NULL, 1700000000000, NULL),
	(2, 'number', 1, 1, NULL, 1700000000000, NULL),
	(3, 'bytes', 1, 1, NULL, 1700000000000, NULL),
	(4, 'Größe 🐱', 1, 1, NULL, 1700000000000, NULL),
	(5, 'dying', 1, 1, 2000000060000, 1700000000000, NULL),
	(6, 'dead', 1, 1, 1999999999999, 1700000000000, NULL),
	(7, 'list', 2, 3, NULL, 1700000000000, 4),
	(8, 'set', 3, 3, NULL, 1700000000000, 3),
	(9, 'other', 3, 3, NULL, 1700000000000, 3),
	(10, 'hash', 4, 3, NULL, 1700000000000, 3),
	(11, 'zset', 5, 3, NULL, 1700000000000, 4),
	(12, '', 1, 1, NULL, 1700000000000, NULL);
INSERT INTO rstring VALUES (1, CAST('hello' AS BLOB)), (2, CAST('41' AS BLOB)), (3, x'00ff0a'), (4, CAST('süß' AS BLOB)),
	(5, CAST('soon' AS BLOB)), (6, CAST('gone' AS BLOB)), (12, CAST('empty name' AS BLOB));
INSERT INTO rlist VALUES (7, 0.0, CAST('b' AS BLOB)), (7, -1.0, CAST('a' AS BLOB)), (7, 0.5, CAST('c' AS BLOB)), (7, 2.0, x'00');
INSERT INTO rset VALUES (8, CAST('x' AS BLOB)), (8, CAST('y' AS BLOB)), (8, CAST('7' AS BLOB)),
	(9, CAST('y' AS BLOB)), (9, CAST('z' AS BLOB)), (9, CAST('7' AS BLOB));
INSERT INTO rhash VALUES (10, 'name', CAST('Tom' AS BLOB)), (10, 'age', CAST('3' AS BLOB)), (10, 'süß', x'ff00');
INSERT INTO rzset VALUES (11, CAST('one' AS BLOB), 1), (11, CAST('two' AS BLOB), 2.5), (11, CAST('also one' AS BLOB), 1), (11, CAST('far' AS BLOB), 9e999);
