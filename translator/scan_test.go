package translator_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/translator"
)

// scan counts the keys that a whole SCAN with the options returns, and calls between after each page except the last.
// It fails after limit pages.
func (c *client) scan(limit int, between func(page int), options ...string) (seen map[string]int, pages int) {
	c.t.Helper()
	seen = map[string]int{}
	for cursor := "0"; pages == 0 || cursor != "0"; {
		if pages++; pages > limit {
			c.t.Fatalf("SCAN %v takes more than %d pages", options, limit)
		}
		page := c.do(append([]string{"SCAN", cursor}, options...)...)
		cursor = string(page.Elems[0].Str)
		for _, key := range page.Elems[1].Elems {
			seen[string(key.Str)]++
		}
		if cursor != "0" {
			between(pages)
		}
	}
	return seen, pages
}

func quiet(int) {}

// fillKeys sets n strings, named by number after the prefix.
func (c *client) fillKeys(prefix string, n int) {
	c.t.Helper()
	for from := 0; from < n; from += 1000 {
		args := []string{"MSET"}
		for i := from; i < min(n, from+1000); i++ {
			args = append(args, prefix+strconv.Itoa(i), "value")
		}
		c.do(args...)
	}
}

// TestScanMeetsEveryConstantKey expects every name that exists from start to end, while other keys come and go and keys
// with these names are replaced.
func TestScanMeetsEveryConstantKey(t *testing.T) {
	c := newClient(t)
	const n = 300
	c.fillKeys("here:", n)
	c.fillKeys("gone:", n)
	c.do("SADD", "members", "a", "b")
	seen, _ := c.scan(200, func(page int) {
		for i := page; i < n; i += 37 {
			here, gone := fmt.Sprint("here:", i), fmt.Sprint("gone:", i)
			switch (page + i) % 7 {
			case 0: // the row of another key takes the name
				c.do("SET", "new", "value")
				c.do("RENAME", "new", here)
			case 1:
				c.do("SET", gone, "value")
				c.do("RENAME", gone, here)
			case 2: // a new row of another type
				c.do("SUNIONSTORE", here, "members")
			case 3:
				c.do("SET", here, "value")
			case 4:
				c.do("COPY", "members", here, "REPLACE")
			case 5: // frees the greatest row id
				c.do("SET", "last", "value")
				c.do("DEL", "last", gone)
				c.do("SET", "again", "value")
			case 6:
				c.do("MSET", here, "value", gone, "value")
			}
		}
	}, "COUNT", "7")
	for i := range n {
		if key := fmt.Sprint("here:", i); seen[key] != 1 {
			t.Errorf("%s is returned %d times", key, seen[key])
		}
	}
}

// TestScanEnds expects a scan to end although more new keys follow each page than a page holds.
func TestScanEnds(t *testing.T) {
	c := newClient(t)
	c.fillKeys("k:", 100)
	c.scan(200, func(page int) { c.fillKeys(fmt.Sprint("new:", page, ":"), 20) }, "COUNT", "10")
}

// TestScanManyKeys expects each of 100,000 keys once, also with MATCH and TYPE.
func TestScanManyKeys(t *testing.T) {
	c := newClient(t)
	const n = 20_000
	c.fillKeys("k:", n)
	c.do("SADD", "members", "a")
	seen, pages := c.scan(n/1000+2, quiet, "COUNT", "1000")
	if len(seen) != n+1 || pages < n/1000 {
		t.Errorf("%d keys on %d pages", len(seen), pages)
	}
	for key, times := range seen {
		if times != 1 {
			t.Fatalf("%s is returned %d times", key, times)
		}
	}
	for _, o := range []struct {
		options []string
		found   int
	}{
		{[]string{"MATCH", "k:*99"}, n / 100},
		{[]string{"MATCH", "nothing*"}, 0},
		{[]string{"TYPE", "string"}, n},
		{[]string{"TYPE", "set"}, 1},
		{[]string{"TYPE", "set", "MATCH", "k:*"}, 0},
		{[]string{"TYPE", "string", "MATCH", "k:1234*"}, 11},
	} {
		if seen, _ := c.scan(n/5000+2, quiet, append(o.options, "COUNT", "5000")...); len(seen) != o.found {
			t.Errorf("%v: %d keys, not %d", o.options, len(seen), o.found)
		}
	}
}

// TestScanTiedKeys checks that keys with the same hash are on one page.
func TestScanTiedKeys(t *testing.T) {
	c := newClient(t)
	c.fillKeys("k:", 600)
	c.exec(`UPDATE keys SET hash = 1 + hash / (1 << 46)`)
	defer c.do("FLUSHALL") // otherwise they count as damaged
	for _, count := range []string{"1", "7", "600"} {
		seen, _ := c.scan(70, quiet, "COUNT", count)
		if len(seen) != 600 {
			t.Errorf("COUNT %s: %d keys", count, len(seen))
		}
		for key, times := range seen {
			if times != 1 {
				t.Errorf("COUNT %s: %s is returned %d times", count, key, times)
			}
		}
	}
}

// TestKeysHaveTheirHash creates and renames keys in all ways.
func TestKeysHaveTheirHash(t *testing.T) {
	c := newClient(t)
	for _, line := range []string{
		"SET string 1", "SET expiring 1 EX 100", "SETNX setnx 1", "MSET one 1 two 2", "MSETNX three 3 four 4", "INCR number", "APPEND text 1",
		"SETBIT bits 7 1", "PFADD hll a", "BITOP NOT inverse bits", "RPUSH list a", "LMOVE list list2 LEFT LEFT", "RPUSH list b",
		"HSET hash a 1", "HSETNX hash2 a 1", "HINCRBY hash3 a 1", "SADD set a", "SMOVE set set2 a", "SADD set a", "SUNIONSTORE union set set2",
		"ZADD zset 1 a", "ZUNIONSTORE zunion 1 zset", "ZRANGESTORE zrange zset 0 -1", "GEOADD geo 1 1 a", "XADD stream 1-1 a b",
		"COPY string copy", "COPY string list REPLACE", "RENAME one uno", "RENAME uno two", "RENAMENX two dos", "MOVE dos 3", "SET hash 1", "SET list 1 KEEPTTL",
		"SWAPDB 0 3",
	} {
		if v := c.do(strings.Fields(line)...); v.IsError() {
			t.Fatalf("%s: %s", line, v.Str)
		}
	}
	c.do("RESTORE", "restored", "0", string(c.do("DUMP", "dos").Str))
	c.expect("EXISTS restored", ":1")
	rows := c.exec(`SELECT key, hash FROM keys`)
	if len(rows) < 25 {
		t.Errorf("there are only %d keys", len(rows))
	}
	for _, row := range rows {
		if key := row[0].Bytes(); row[1].Int() != translator.HashOf(key) {
			t.Errorf("%s has the hash %d", key, row[1].Int())
		}
	}
}

// TestRandomKeyIsFair expects each of a few keys about as often as the others, each part of a big database about
// equally often, and no expired key.
func TestRandomKeyIsFair(t *testing.T) {
	for _, size := range []int{1, 10, 5000} {
		for _, expired := range []int{0, size} {
			c := newClient(t)
			c.fillKeys("", size)
			for i := range expired {
				c.do("SET", fmt.Sprint("expired:", i), "value", "PX", "1")
			}
			c.now += 10
			c.do("SET", "key of another type", "value")
			c.do("MOVE", "key of another type", "1")
			groups := min(size, 10)
			parts := make([]int, groups)
			for range 200 * groups {
				n, err := strconv.Atoi(string(c.do("RANDOMKEY").Str))
				if err != nil {
					t.Fatal(err)
				}
				parts[n*groups/size]++
			}
			// 200 are expected, with a deviation of 13.
			if slices.Min(parts) < 130 || slices.Max(parts) > 270 {
				t.Errorf("of %d keys, %d more expired: %v", size, expired, parts)
			}
		}
	}
}

// TestRandomKeyAmongExpired expects the one live key of a database full of expired ones.
func TestRandomKeyAmongExpired(t *testing.T) {
	c := newClient(t)
	c.fillKeys("k:", 1000)
	c.exec(`UPDATE keys SET expires_at = ?1`, store.Int(c.now))
	c.expect("RANDOMKEY", "_")
	c.do("SET", "live", "1")
	c.expect("RANDOMKEY", "$4 live")
}
