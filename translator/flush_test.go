package translator_test

import (
	"strings"
	"testing"
)

// TestFlushEmptiesEveryTable expects no row of any type to stay, by either way.
func TestFlushEmptiesEveryTable(t *testing.T) {
	for _, flush := range []string{"FLUSHALL", "FLUSHDB"} {
		c := newClient(t)
		for _, line := range []string{
			"SET string 1", "SETRANGE long 200000 1", "RPUSH list a", "HSET hash a 1", "SADD set a", "ZADD zset 1 a", "JSON.SET doc $ 1", "ARINSERT array a", "VADD vectors VALUES 1 1 a",
			"XADD stream IDMP p i * a b", "XGROUP CREATE stream g 0", "XREADGROUP GROUP g me STREAMS stream >",
		} {
			if v := c.do(strings.Fields(line)...); v.IsError() {
				t.Fatalf("%s: %s", line, v.Str)
			}
		}
		tables := c.exec(`SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT IN ('meowdis', 'guard')`)
		for _, row := range tables {
			if rows := c.exec(`SELECT * FROM ` + string(row[0].Bytes())); len(rows) == 0 {
				t.Errorf("%s is empty already", row[0].Bytes())
			}
		}
		c.expect(flush, "+OK", "DBSIZE", ":0")
		for _, row := range tables {
			name := string(row[0].Bytes())
			if rows := c.exec(`SELECT * FROM ` + name); len(rows) > 0 && name != "dbs" {
				t.Errorf("%s leaves %v in %s", flush, rows, name)
			}
		}
	}
}
