package translator_test

import (
	"testing"

	"github.com/meowdis/meowdis/internal/test/storetest"
)

// TestSetReusesRow overwrites keys of every type, live and expired: a live string keeps its creation time, any other
// key starts over, and no element remains.
func TestSetReusesRow(t *testing.T) {
	for _, test := range []struct {
		make, expire, set string
		anew              bool
	}{
		{"SET k old", "PERSIST k", "SET k new", false},
		{"SET k old", "PERSIST k", "MSET other v k new", false},
		{"SET k old", "PEXPIRE k 5", "SET k new", true},
		{"SET k old", "PEXPIRE k 5", "SET k new KEEPTTL", true},
		{"SET k old", "PEXPIRE k 5", "MSET k old k new", true},
		{"RPUSH k a b", "PERSIST k", "SET k new", true},
		{"SADD k a b", "PERSIST k", "MSET k old other v k new", true},
		{"ZADD k 1 a", "PEXPIRE k 5", "SET k new KEEPTTL", true},
		{"HSET k a 1 b 2", "HPEXPIRE k 5 FIELDS 1 a", "SET k new", true},
		{"HSET k a 1 b 2", "HPEXPIRE k 5000 FIELDS 2 a b", "SET k new KEEPTTL", true},
		{"HSET k a 1", "HPEXPIRE k 5 FIELDS 1 a", "MSETEX 1 k new KEEPTTL", true},
		{"XADD k 1-1 a b", "XGROUP CREATE k g 0", "SET k new", true},
		{"JSON.SET k $ 1", "PERSIST k", "SET k new", true},
		{"ARINSERT k a", "PERSIST k", "SET k new", true},
	} {
		c := newClient(t)
		c.show(test.make)
		c.show(test.expire)
		made := c.exec(`SELECT version FROM keys`)[0][0].Int()
		c.now += 10
		c.show(test.set)
		c.expect("GET k", "$3 new", "PTTL k", ":-1")
		row := c.exec(`SELECT created_at, version, (SELECT count(*) FROM keys WHERE value IS NOT NULL) = (SELECT count(*) FROM keys) FROM keys WHERE key = CAST('k' AS BLOB)`)[0]
		if anew := row[0].Int() == c.now; anew != test.anew {
			t.Errorf("%s, %s, %s: started over: %v", test.make, test.expire, test.set, anew)
		}
		if row[1].Int() <= made || row[2].Int() != 1 {
			t.Errorf("%s, %s, %s: version %v after %d, and keys without a value", test.make, test.expire, test.set, row[1], made)
		}
		storetest.Check(t, c.store)
	}
}

// TestSetKeepsTTL keeps the TTL of a key of another type, too.
func TestSetKeepsTTL(t *testing.T) {
	c := newClient(t)
	c.show("RPUSH k a b")
	c.show("PEXPIRE k 500")
	c.expect("SET k new KEEPTTL", "+OK", "PTTL k", ":500", "MSETEX 1 k newer KEEPTTL", ":1", "PTTL k", ":500", "LLEN k", "-WRONGTYPE Operation against a key holding the wrong kind of value")
	storetest.Check(t, c.store)
}
