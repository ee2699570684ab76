package main

import (
	"database/sql"
	"fmt"
)

// sqliteByName returns how many values SQLite alone reads, writes and increments by random names in a second of
// processor time, in one statement and one transaction each, which a server cannot do for its clients.
func sqliteByName(file string, keys int) (rates map[string]float64, err error) {
	return timeSQL(file, []timedSQL{
		{"", "CREATE TEMP TABLE read(name)"},
		{"", "INSERT INTO read " + randomNames("key:%012d", keys)},
		{"get", "SELECT sum(length(k.value)) FROM read CROSS JOIN keys k WHERE k.db = 0 AND k.key = read.name"},
		{"", "CREATE TEMP TABLE written(name)"},
		{"", `CREATE TEMP TRIGGER write AFTER INSERT ON written BEGIN
			UPDATE keys SET value = x'797979', version = version + 1, updated_at = 1 WHERE db = 0 AND key = NEW.name;
		END`},
		{"", "CREATE TEMP TABLE counted(name)"},
		{"", `CREATE TEMP TRIGGER count AFTER INSERT ON counted BEGIN
			UPDATE keys SET value = CAST(CAST(value AS INTEGER) + 1 AS BLOB), version = version + 1, updated_at = 1 WHERE db = 0 AND key = NEW.name;
		END`},
		{"", "BEGIN"},
		{"set", "INSERT INTO written SELECT name FROM read"},
		{"incr", "INSERT INTO counted SELECT name FROM read"},
		{"", "ROLLBACK"},
	})
}

// sqliteElements returns how many commands on one key SQLite alone runs in a second of processor time, each with the
// statements that it needs at least: one for the element, and one for the row of the key. All are in one transaction,
// without savepoints, replies or the time to log them.
func sqliteElements(file string) (rates map[string]float64, err error) {
	const (
		id      = `(SELECT id FROM keys WHERE db = 0 AND key = x'%[1]x')`
		counted = `UPDATE keys SET count = count + changes(), version = version + 1, updated_at = 1 WHERE db = 0 AND key = x'%[1]x';`
		push    = `INSERT INTO lists VALUES(` + id + `, coalesce((SELECT %[2]s(pos) FROM lists WHERE key_id = ` + id + `), 0) %[3]s 65536, x'787878');` + counted
		pop     = `DELETE FROM lists WHERE (key_id, pos) = (SELECT key_id, pos FROM lists WHERE key_id = ` + id + ` ORDER BY pos %[2]s LIMIT 1);
			UPDATE keys SET count = count - 1, version = version + 1, updated_at = 1 WHERE db = 0 AND key = x'%[1]x';`
	)
	steps := []timedSQL{
		{"", "CREATE TEMP TABLE called(name)"},
		{"", "INSERT INTO called " + randomNames("element:%012d", distinctKeys)},
		{"", "BEGIN"},
	}
	for i, c := range []struct{ test, typ, sql string }{
		{"lpush", "list", fmt.Sprintf(push, "list", "min", "-")},
		{"rpush", "list", fmt.Sprintf(push, "list", "max", "+")},
		{"lpop", "list", fmt.Sprintf(pop, "list", "")},
		{"rpop", "list", fmt.Sprintf(pop, "list", "DESC")},
		{"sadd", "set", fmt.Sprintf(`INSERT OR IGNORE INTO sets SELECT `+id+`, 4096 * CAST(substr(NEW.name, 9) AS INTEGER), NEW.name, 1;`+counted, "set")},
		{"hset", "hash", fmt.Sprintf(`INSERT INTO hashes SELECT `+id+`, 4096 * CAST(substr(NEW.name, 9) AS INTEGER), NEW.name, x'787878', 1, NULL
			WHERE true ON CONFLICT DO UPDATE SET value = excluded.value;`+counted, "hash")},
		{"zadd", "zset", fmt.Sprintf(`INSERT INTO zsets SELECT `+id+`, 4096 * CAST(substr(NEW.name, 9) AS INTEGER), NEW.name, 0
			WHERE true ON CONFLICT DO UPDATE SET score = excluded.score WHERE score <> excluded.score;`+counted, "zset")},
	} {
		steps = append(steps,
			timedSQL{"", fmt.Sprintf("INSERT OR IGNORE INTO keys(db, key, hash, type, version, created_at, updated_at) VALUES(0, x'%x', %d, '%[1]s', 1, 1, 1)", c.typ, i)},
			timedSQL{"", fmt.Sprintf("CREATE TEMP TABLE %s(name)", c.test)},
			timedSQL{"", fmt.Sprintf("CREATE TEMP TRIGGER run_%[1]s AFTER INSERT ON %[1]s BEGIN %s END", c.test, c.sql)},
			timedSQL{c.test, fmt.Sprintf("INSERT INTO %s SELECT name FROM called", c.test)})
	}
	return timeSQL(file, append(steps, timedSQL{"", "ROLLBACK"}))
}

const timedRows = 400_000

// randomNames returns a query for timedRows random names.
func randomNames(format string, distinct int) string {
	return fmt.Sprintf(`WITH RECURSIVE i(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM i WHERE i < %d)
		SELECT CAST(printf('%s', abs(random()) %% %d) AS BLOB) FROM i`, timedRows, format, distinct)
}

// timedSQL holds a statement. With a test it handles timedRows rows, and is timed.
type timedSQL struct{ test, sql string }

// timeSQL runs statements, and returns the rows per second of processor time of each test.
func timeSQL(file string, steps []timedSQL) (rates map[string]float64, err error) {
	db, err := sql.Open("sqlite", file+"?_pragma=cache_size(-32768)")
	if err != nil {
		return nil, err
	}
	defer db.Close()
	db.SetMaxOpenConns(1) // which has the tables in TEMP
	rates = map[string]float64{}
	for _, step := range steps {
		began := processorTime()
		if _, err := db.Exec(step.sql); err != nil {
			return nil, fmt.Errorf("%s: %w", step.sql, err)
		}
		if step.test != "" {
			rates[step.test] = timedRows / (processorTime() - began).Seconds()
		}
	}
	return rates, nil
}
