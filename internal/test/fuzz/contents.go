package fuzz

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"sort"
	"strconv"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/store/schema"
)

// contents maps each key of the databases to one line: its type, the class of its time to live
// and its value.
type contents map[string]string

// entry adds a key. The caller sorts the elements of unordered types.
func (c contents) entry(db int, key []byte, typ string, ttl int64, elements [][]byte) {
	if len(elements) == 1 && len(elements[0]) >= 16 && bytes.HasPrefix(elements[0], []byte("HYLL")) {
		elements = [][]byte{elements[0][:8], elements[0][16:]} // between them is the cache of PFCOUNT
	}
	for i, e := range elements {
		if typ == "zset" && string(e) == "-0" {
			elements[i] = []byte("0")
		}
	}
	class := "no"
	switch {
	case ttl > 150_000:
		class = "a long"
	case ttl > 0:
		class = "a short"
	}
	c[fmt.Sprintf("key %s of database %d", quoted(key), db)] = fmt.Sprintf("a %s with %s time to live, %q", typ, class, elements)
}

// differences lists the keys that two databases do not agree on.
func differences(ours, theirs contents) []string {
	var all []string
	for name, value := range ours {
		if theirs[name] != value {
			all = append(all, fmt.Sprintf("%s\nmeowdis:      %s\nredis-server: %s", name, value, theirs[name]))
		}
	}
	for name, value := range theirs {
		if _, ok := ours[name]; !ok {
			all = append(all, fmt.Sprintf("%s\nmeowdis:      nothing\nredis-server: %s", name, value))
		}
	}
	sort.Strings(all)
	return all
}

// Queries for the live keys and the elements of each type, in the order and form of Redis's
// replies to the commands in asked.
const sqlLiveKeys = `SELECT id, db, key, type, expires_at - ?1, count FROM keys WHERE dies_at IS NULL OR dies_at > ?1`

var stored = map[string]struct {
	sql  string
	size int // cells that make an element of unordered types, 0 for ordered
}{
	"string": {`SELECT value FROM keys WHERE id = ?1`, 0},
	"list":   {`SELECT value FROM lists WHERE key_id = ?1 ORDER BY pos`, 0},
	"hash":   {`SELECT field, value FROM hashes WHERE key_id = ?1`, 2},
	"set":    {`SELECT member FROM sets WHERE key_id = ?1`, 1},
	"zset":   {`SELECT member, score FROM zsets WHERE key_id = ?1 ORDER BY score, member`, 0},
	"stream": {`SELECT id, fields FROM stream_entries WHERE key_id = ?1 ORDER BY id`, 0},

	"vectorset": {`SELECT element FROM vectors WHERE key_id = ?1`, 1}, // more: vectorsInFull
}

// ourContents reads the tables themselves, past all commands.
func ourContents(s engine.Store, now int64) (contents, error) {
	rows, err := query(s, sqlLiveKeys, store.Int(now))
	if err != nil {
		return nil, err
	}
	c := contents{}
	for _, k := range rows {
		typ := string(k[3].Bytes())
		cells, err := cellsOf(s, typ, k)
		if err != nil {
			return nil, err
		}
		c.entry(int(k[1].Int()), k[2].Bytes(), typ, k[4].Int(), inOrder(cells, stored[typ].size))
	}
	return c, nil
}

// cellsOf reads the elements of the key in row k of sqlLiveKeys.
func cellsOf(s engine.Store, typ string, k store.Row) (cells [][]byte, err error) {
	if stored[typ].sql == "" {
		return nil, nil
	}
	elements, err := query(s, stored[typ].sql, k[0])
	if err != nil {
		return nil, err
	}
	for _, row := range elements {
		switch {
		case typ == "stream":
			cells = appendEntry(cells, row)
		case typ == "string" && k[5].Int() > 0:
			long, err := inParts(s, k[0], k[5].Int())
			if err != nil {
				return nil, err
			}
			cells = append(cells, long)
		default:
			for _, cell := range row {
				cells = append(cells, text(cell))
			}
		}
	}
	return cells, nil
}

// inParts reads a string that is stored in parts, each with its offset.
func inParts(s engine.Store, id store.Value, size int64) ([]byte, error) {
	rows, err := query(s, `SELECT part * `+schema.PartBytes+`, value FROM string_parts WHERE key_id = ?1`, id)
	value := make([]byte, size)
	for _, row := range rows {
		copy(value[row[0].Int():], row[1].Bytes())
	}
	return value, err
}

// appendEntry adds an entry of a stream as XRANGE shows it.
func appendEntry(cells [][]byte, row store.Row) [][]byte {
	id := row[0].Bytes()
	cells = append(cells, fmt.Appendf(nil, "%d-%d", binary.BigEndian.Uint64(id), binary.BigEndian.Uint64(id[8:])))
	for packed := row[1].Bytes(); len(packed) > 0; {
		n, used := binary.Uvarint(packed)
		end := used + int(n)
		cells = append(cells, packed[used:end])
		packed = packed[end:]
	}
	return cells
}

func query(s engine.Store, sql string, arg store.Value) ([]store.Row, error) {
	stmt := store.Stmt{SQL: sql, Args: []store.Value{arg}}
	results, err := s.Apply(context.Background(), []store.Batch{{ReadOnly: true, Stmts: []store.Stmt{stmt}}})
	if err != nil {
		return nil, err
	}
	return results[0].Rows[0], nil
}

func text(v store.Value) []byte {
	if v.Kind() == store.Real {
		return []byte(resp.FormatDouble(v.Float()))
	}
	return v.Bytes()
}

// inOrder sorts groups of size cells.
func inOrder(cells [][]byte, size int) [][]byte {
	if size == 0 {
		return cells
	}
	var groups [][][]byte
	for i := 0; i+size <= len(cells); i += size {
		groups = append(groups, cells[i:i+size])
	}
	sort.Slice(groups, func(i, j int) bool { return bytes.Compare(groups[i][0], groups[j][0]) < 0 })
	sorted := make([][]byte, 0, len(cells))
	for _, g := range groups {
		sorted = append(sorted, g...)
	}
	return sorted
}

// readCommands holds the commands that read a whole value from Redis.
var readCommands = map[string][]string{
	"string": {"GET", ""},
	"list":   {"LRANGE", "", "0", "-1"},
	"hash":   {"HGETALL", ""},
	"set":    {"SMEMBERS", ""},
	"zset":   {"ZRANGE", "", "0", "-1", "WITHSCORES"},
	"stream": {"XRANGE", "", "-", "+"},

	"vectorset": {"VRANDMEMBER", "", "100000"},
}

// theirContents reads Redis's contents, and leaves its connection in database 0.
func theirContents(do doer) contents {
	c := contents{}
	for db := range commands.Databases {
		do(words("SELECT", strconv.Itoa(db))...)
		for _, key := range flatten(do(words("KEYS", "*")...)) {
			typ := string(do([]byte("TYPE"), key).Str)
			ttl := do([]byte("PTTL"), key).Int
			var elements [][]byte
			if line := words(readCommands[typ]...); line != nil {
				line[1] = key
				elements = inOrder(flatten(do(line...)), stored[typ].size)
			}
			c.entry(db, key, typ, ttl, elements)
		}
	}
	do(words("SELECT", "0")...)
	return c
}
