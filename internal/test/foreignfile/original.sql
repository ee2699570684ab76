-- The tables of the first meowdis: text, one database, times in seconds.
CREATE TABLE keys(key TEXT PRIMARY KEY, type TEXT NOT NULL CHECK(type IN ('string', 'hash', 'list', 'set')), expires_at INTEGER);
CREATE TABLE strings(key TEXT PRIMARY KEY REFERENCES keys(key) ON DELETE CASCADE, value TEXT NOT NULL);
CREATE TABLE hashes(key TEXT NOT NULL REFERENCES keys(key) ON DELETE CASCADE, field TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY(key, field));
CREATE TABLE lists(key TEXT NOT NULL REFERENCES keys(key) ON DELETE CASCADE, "index" REAL NOT NULL, value TEXT NOT NULL, PRIMARY KEY(key, "index"));
CREATE TABLE sets(key TEXT NOT NULL REFERENCES keys(key) ON DELETE CASCADE, member TEXT NOT NULL, PRIMARY KEY(key, member));

INSERT INTO keys VALUES ('text', 'string', NULL), ('number', 'string', NULL), ('bytes', 'string', NULL), ('Größe 🐱', 'string', NULL),
	('dying', 'string', 2000000060), ('dead', 'string', 1999999999), ('list', 'list', NULL), ('set', 'set', NULL), ('other', 'set', NULL),
	('hash', 'hash', NULL), ('', 'string', NULL);
INSERT INTO strings VALUES ('text', 'hello'), ('number', 41), ('bytes', x'00ff0a'), ('Größe 🐱', 'süß'), ('dying', 'soon'), ('dead', 'gone'), ('', 'empty name');
INSERT INTO lists VALUES ('list', 0.0, 'b'), ('list', -1.0, 'a'), ('list', 0.5, 'c'), ('list', 2.0, x'00'),
	-- What LPUSH left at a key of another type.
	('text', 0.0, 'stray');
INSERT INTO sets VALUES ('set', 'x'), ('set', 'y'), ('set', 7), ('other', 'y'), ('other', 'z'), ('other', 7);
INSERT INTO hashes VALUES ('hash', 'name', 'Tom'), ('hash', 'age', 3), ('hash', 'süß', x'ff00');
