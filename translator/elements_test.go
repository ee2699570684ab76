package translator_test

import (
	"fmt"
	"strconv"
	"testing"

	"github.com/meowdis/meowdis/store"
)

// fill adds n members or fields, named by number, to the key.
func (c *client) fill(command, key string, n int) {
	args := []string{command, key}
	for i := range n {
		args = append(args, strconv.Itoa(i))
		if command == "HSET" {
			args = append(args, "value")
		}
	}
	if v := c.do(args...); v.Int != int64(n) {
		c.t.Fatalf("%s %s: %v", command, key, v)
	}
}

// withExpiredFields makes the hash h with the live fields a and c, and the expired fields b and d.
func withExpiredFields(t *testing.T) *client {
	c := newClient(t)
	c.expect("HSET h a 1 b 2 c 3 d 4", ":4")
	c.exec(`UPDATE hashes SET expires_at = ?1 WHERE field IN (x'62', x'64')`, store.Int(c.now+1000))
	c.exec(`UPDATE hashes SET expires_at = ?1 WHERE field = x'61'`, store.Int(c.now+2000))
	c.expect("HLEN h", ":4", "HGET h b", "$1 2")
	c.now += 1000
	return c
}

// TestExpiredFieldsRead checks that reads ignore expired fields and do not delete them.
func TestExpiredFieldsRead(t *testing.T) {
	c := withExpiredFields(t)
	c.expect(
		"HLEN h", ":2",
		"HGET h b", "_",
		"HMGET h a b c d", "*4 $1 1 _ $1 3 _",
		"HEXISTS h b", ":0",
		"HSTRLEN h b", ":0",
		"HGETALL h", "%2 $1 a $1 1 $1 c $1 3",
		"HKEYS h", "*2 $1 a $1 c",
		"HVALS h", "*2 $1 1 $1 3",
		"HSCAN h 0", "*2 $1 0 *4 $1 a $1 1 $1 c $1 3",
		"HRANDFIELD h 10 WITHVALUES", "*2 *2 $1 a $1 1 *2 $1 c $1 3",
	)
	for range 20 {
		if got := c.show("HRANDFIELD h"); got != "$1 a " && got != "$1 c " {
			t.Fatalf("HRANDFIELD: %s", got)
		}
	}
	if rows := c.exec(`SELECT count(*) FROM hashes`); rows[0][0].Int() != 4 {
		t.Errorf("%v fields are left", rows)
	}
	c.now += 1000
	c.exec(`UPDATE hashes SET expires_at = 1`)
	c.expect("HLEN h", ":0", "HRANDFIELD h", "_", "HRANDFIELD h 2", "*0", "HGETALL h", "%0", "HSCAN h 0", "*2 $1 0 *0")
}

// TestExpiredFieldsWritten checks that writes treat an expired field as missing.
func TestExpiredFieldsWritten(t *testing.T) {
	for line, want := range map[string][3]string{ // reply, HGETALL, HLEN
		"HSET h b 9 a 8":     {":1", "%3 $1 a $1 8 $1 c $1 3 $1 b $1 9", ":3"},
		"HSET h new 9":       {":1", "%3 $1 a $1 1 $1 c $1 3 $3 new $1 9", ":3"},
		"HSETNX h b 9":       {":1", "%3 $1 a $1 1 $1 c $1 3 $1 b $1 9", ":3"},
		"HSETNX h a 9":       {":0", "%2 $1 a $1 1 $1 c $1 3", ":2"},
		"HDEL h b a":         {":1", "%1 $1 c $1 3", ":1"},
		"HDEL h b":           {":0", "%2 $1 a $1 1 $1 c $1 3", ":2"},
		"HDEL h a c":         {":2", "%0", ":0"},
		"HINCRBY h b 5":      {":5", "%3 $1 a $1 1 $1 c $1 3 $1 b $1 5", ":3"},
		"HINCRBY h a 5":      {":6", "%2 $1 a $1 6 $1 c $1 3", ":2"},
		"HINCRBYFLOAT h b 5": {"$1 5", "%3 $1 a $1 1 $1 c $1 3 $1 b $1 5", ":3"},
	} {
		c := withExpiredFields(t)
		c.expect(line, want[0], "HGETALL h", want[1], "HLEN h", want[2])
		for _, row := range c.exec(`SELECT k.count, (SELECT count(*) FROM hashes h WHERE h.key_id = k.id) FROM keys k`) {
			if row[0].Int() != row[1].Int() {
				t.Errorf("%s: the key says %v elements, and has %v", line, row[0], row[1])
			}
		}
	}
}

// TestFieldExpiryKept checks that an increment keeps a field's expiry and HSET removes it.
func TestFieldExpiryKept(t *testing.T) {
	c := withExpiredFields(t)
	expiry := func() bool { return !c.exec(`SELECT expires_at FROM hashes WHERE field = x'61'`)[0][0].IsNull() }
	c.expect("HINCRBY h a 1", ":2", "HINCRBYFLOAT h a 1", "$1 3")
	if !expiry() {
		t.Error("an increment ended the expiry")
	}
	c.expect("HSET h a 1", ":0")
	if expiry() {
		t.Error("HSET kept the expiry")
	}
}

// TestOrderOfAddition checks that elements keep the order of addition when existing elements are added again.
func TestOrderOfAddition(t *testing.T) {
	c := newClient(t)
	c.expect(
		"SADD s z z z y", ":2", "SADD s x", ":1", "SADD s z y w x v", ":2", "SADD s u", ":1", "SREM s y", ":1", "SADD s y", ":1",
		"SMEMBERS s", "~6 $1 z $1 x $1 w $1 v $1 u $1 y",
		"SADD t v b", ":2",
		"SUNION t s", "~7 $1 v $1 b $1 z $1 x $1 w $1 u $1 y",
		"SUNIONSTORE o t s", ":7", "SADD o new", ":1",
		"SMEMBERS o", "~8 $1 v $1 b $1 z $1 x $1 w $1 u $1 y $3 new",
		"HSET h z 1 z 2 y 3", ":2", "HSET h y 1 x 2", ":1", "HSET h w 1", ":1",
		"HKEYS h", "*4 $1 z $1 y $1 x $1 w",
	)
}

// TestKinds expects the kinds of RESP3 that Redis 7.0 replies with.
func TestKinds(t *testing.T) {
	c := newClient(t)
	c.expect(
		"SADD s a", ":1", "HSET h f v", ":1",
		"SMEMBERS none", "~0", "SINTER s", "~1 $1 a", "SINTER none", "~0", "SDIFF s s", "~0",
		"SRANDMEMBER s 5", "*1 $1 a", "SRANDMEMBER s -2", "*2 $1 a $1 a", "SRANDMEMBER none 5", "*0",
		"SPOP none", "_", "SPOP none 1", "~0", "SPOP s 0", "~0", "SPOP s 5", "~1 $1 a",
		"HGETALL none", "%0", "HKEYS none", "*0", "HVALS none", "*0",
		"HRANDFIELD h 1 WITHVALUES", "*1 *2 $1 f $1 v", "HRANDFIELD h -1", "*1 $1 f", "HRANDFIELD none 1 WITHVALUES", "*0",
		"HSCAN h 0", "*2 $1 0 *2 $1 f $1 v",
	)
}

// TestNothingStaged checks that SINTERSTORE and similar commands leave nothing in the database for intermediate
// results.
func TestNothingStaged(t *testing.T) {
	c := newClient(t)
	c.expect("SADD s a b", ":2", "SET str x", "+OK",
		"SUNIONSTORE d s", ":2", "SUNIONSTORE d d s", ":2", "SINTERSTORE d s none", ":0",
		"SDIFFSTORE d s str", "-WRONGTYPE Operation against a key holding the wrong kind of value")
	if rows := c.exec(`SELECT db, key FROM keys WHERE db < 0 UNION ALL SELECT db, keys FROM dbs WHERE db < 0 AND keys <> 0`); len(rows) > 0 {
		t.Errorf("left behind: %v", rows)
	}
	c.expect("DBSIZE", ":2")
}

// TestScanPages scans collections that are too big for one page. Each constant element must occur once while other
// elements are added and removed.
func TestScanPages(t *testing.T) {
	for scan, add := range map[string]string{"SSCAN": "SADD", "HSCAN": "HSET"} {
		c := newClient(t)
		const n = 1000
		c.fill(add, "k", n)
		seen := map[string]int{}
		cursor, pages := "0", 0
		for ; pages == 0 || cursor != "0"; pages++ {
			page := c.do(scan, "k", cursor, "COUNT", "64")
			cursor = string(page.Elems[0].Str)
			step := 1
			if scan == "HSCAN" {
				step = 2
			}
			for i := 0; i < len(page.Elems[1].Elems); i += step {
				seen[string(page.Elems[1].Elems[i].Str)]++
			}
			more := []string{add, "k", fmt.Sprint("more", pages)}
			if step == 2 {
				more = append(more, "v")
			}
			c.do(more...)
		}
		if pages < n/64 || pages > n/64+3 {
			t.Errorf("%s takes %d pages", scan, pages)
		}
		for i := range n {
			if times := seen[strconv.Itoa(i)]; times != 1 {
				t.Errorf("%s returns %d %d times", scan, i, times)
			}
		}
	}
}

// TestScanTies checks that elements with the same hash are on one page.
func TestScanTies(t *testing.T) {
	c := newClient(t)
	c.fill("SADD", "k", 600)
	c.exec(`UPDATE OR IGNORE sets SET hash = 1 + hash / (1 << 46)`)
	defer c.exec(`DELETE FROM sets`) // otherwise they count as damaged
	defer c.do("DEL", "k")
	seen := 0
	cursor := "0"
	for range 100 {
		page := c.do("SSCAN", "k", cursor, "COUNT", "1")
		seen += len(page.Elems[1].Elems)
		if cursor = string(page.Elems[0].Str); cursor == "0" {
			break
		}
	}
	if cursor != "0" || seen != 600 {
		t.Errorf("%d members, then the cursor %s", seen, cursor)
	}
}
