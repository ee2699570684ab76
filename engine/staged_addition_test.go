package engine_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/internal/test/race"
	"github.com/meowdis/meowdis/internal/test/storetest"
	"github.com/meowdis/meowdis/store/sweep"
)

// pairs returns a command that adds the elements from first on, each with the form of two words.
func pairs(command, form string, first, n int) string {
	var b strings.Builder
	b.WriteString(command)
	for i := first; i < first+n; i++ {
		b.WriteString(" " + strings.ReplaceAll(form, "%d", fmt.Sprint(i)))
	}
	return b.String()
}

var large64 = strings.Repeat("x", 70_000)

// additions holds calls that add to the key to, or change its elements.
var additions = []string{
	"SADD to m1 m2 new m2 new", pairs("SADD to", "m%d", 300, 300), "SADD to m1 m2", "SADD to a " + large64,
	"HSET to f1 new f2 v2 f500 x f1 again", pairs("HSET to", "f%d w%d", 200, 300), pairs("HMSET to", "f%d w%d", 350, 200), "HSET to f1 v1 f1", "HMSET to a b c " + large64,
	"ZADD to 1 m1 2 new 3 m1 4 new", pairs("ZADD to", "%d m%d", 300, 300), "ZADD to NX 5 m1 6 other 7 other", "ZADD to XX 5 m1 6 other",
	"ZADD to GT CH 5 m1 6 m2 700 m3", "ZADD to GT 5 m1 900 m2 7 m2", "ZADD to LT -5 m1 6 m2", "ZADD to 1 m1 2 m2", "ZADD to 1 a x b", "ZADD to INCR 1 m1", "ZADD to inf m1 -inf m2 0 " + large64,
	"RPUSH to x y x", "LPUSH to x y x", pairs("RPUSH to", "e%d", 0, 300), pairs("LPUSH to", "e%d", 0, 300), "LPUSH to a b " + large64, "RPUSH to one",
	"HPEXPIRE to 500000 FIELDS 4 f1 none f2 f1", "HEXPIRE to 600 NX FIELDS 3 f1 f2 f1", "HEXPIRE to 600 GT FIELDS 3 f1 f2 f399", "HPEXPIREAT to 1 FIELDS 2 f1 f2",
	"HPEXPIRE to 500000 FIELDS 400" + pairs("", "f%d", 0, 400), "HEXPIRE to 100 LT FIELDS 2 f9 " + large64, "HEXPIRE none 100 FIELDS 1 a", "HPEXPIRE to 1 FIELDS 3 f1 f2",
}

// TestStagedAdditionIsTheSame compares each staged addition with the same call in one transaction.
func TestStagedAdditionIsTheSame(t *testing.T) {
	race.Skip(t)
	manyGo(t, 0)
	one, two := newWitness(t, engine.WithStaging(1<<40)), newWitness(t, engine.WithStaging(-1))
	both := func(line string) {
		t.Helper()
		one.told, two.told, two.slices = nil, nil, 0
		if x, y := one.Do(line), two.Do(line); x != y {
			t.Errorf("%.100q: %.300s, in slices %.300s", line, x, y)
		}
		if !slices.Equal(one.told, two.told) {
			t.Errorf("%.100q: tells %.300q, in slices %.300q", line, one.told, two.told)
		}
	}
	for _, line := range slices.Concat(fill("SADD set", "m%d", 400), fill("ZADD zset", "%d m%d", 400), fill("HSET hash", "f%d v%d", 400),
		fill("RPUSH list", "v%d", 400)) {
		both(line)
	}
	sliced := 0
	for _, line := range additions {
		for _, before := range [][]string{
			{"DEL to"}, {"SET to x"}, {"COPY set to REPLACE"}, {"COPY hash to REPLACE"}, {"COPY zset to REPLACE", "EXPIRE to 500"},
			{"COPY hash to REPLACE", "HEXPIRE to 300 FIELDS 2 f1 f3", "EXPIRE to 200"}, {"COPY list to REPLACE"},
			{"DEL to", "SADD to m1 m2 m3"}, {"DEL to", "RPUSH to a b"}, {"DEL to", "ZADD to 1 m1 800 m2"}, {"DEL to", "HSET to f1 v f2 v f3 v"},
		} {
			for _, first := range before {
				both(first)
			}
			both(line)
			sliced += min(two.slices, 1)
			if d := difference(contents(t, one, "to"), contents(t, two, "to")); d != "" {
				t.Errorf("%.100q after %q: in one transaction and in %d slices: %s", line, before, two.slices, d)
			}
		}
		storetest.Check(t, two)
	}
	if one.slices > 0 || sliced < 30 {
		t.Errorf("%d calls were staged, and %d slices of calls that may not be", sliced, one.slices)
	}
}

// adds holds calls that add elements in several slices, with the state that other clients see during and after them.
var adds = []struct{ line, reply, see, during, after, change string }{
	{pairs("SADD set", "n%d", 0, 1500), "(integer) 1500", "SCARD set", "(integer) 3000", "(integer) 4500", "SADD set x"},
	{pairs("ZADD zset", "7 m%d", 0, 3000), "(integer) 0", "ZSCORE zset m2999", `"2999"`, `"7"`, "ZADD zset 3 x"},
	{pairs("ZADD fresh", "7 m%d", 0, 1500), "(integer) 1500", "ZCARD fresh", "(integer) 0", "(integer) 1500", "PFADD fresh x"},
	{pairs("LPUSH list", "n%d", 0, 1500), "(integer) 4500", "LINDEX list 0", `"0"`, `"n1499"`, "LSET list 5 x"},
	{pairs("HSET hash", "f%d new", 100, 3000), "(integer) 100", "HGET hash f2999", `"v2999"`, `"new"`, "HSET hash x y"},
	{"HEXPIRE hash 50 FIELDS 2000" + pairs("", "f%d", 0, 2000), "", "HPTTL hash FIELDS 1 f7", "1) (integer) -1", "1) (integer) 50000", "HDEL hash f2500"},
}

// addedTo creates the keys of adds.
var addedTo = map[string][]string{
	"set": fill("SADD set", "m%d", 3000), "list": fill("RPUSH list", "%d", 3000), "zset": fill("ZADD zset", "%d m%d", 3000),
	"hash": fill("HSET hash", "f%d v%d", 3000),
}

// TestStagedAdditionLetsOthersBetween lets other clients read and write between the slices of an addition. They change
// its key never, once, or every time.
func TestStagedAdditionLetsOthersBetween(t *testing.T) {
	manyGo(t, 100)
	for _, times := range []int{0, 1, 1 << 30} {
		for _, l := range adds {
			s, e, _ := aside(t, engine.WithStaging(100))
			c, other, watcher := storetest.NewClient(t, e), storetest.NewClient(t, e), storetest.NewClient(t, e)
			key, left := strings.Fields(l.see)[1], times
			for _, line := range addedTo[key] {
				c.Do(line)
			}
			s.slices = 0
			s.before = func(n int) error {
				other.Do("INCR between")
				if left == times {
					other.Want(l.see, l.during)
				}
				if n%2 == 1 && left > 0 {
					left--
					other.Do(l.change)
					if key == "fresh" {
						other.Do("DEL fresh")
					}
				}
				return nil
			}
			watcher.Do("WATCH " + key)
			if got := c.Do(l.line); l.reply != "" && got != l.reply {
				t.Errorf("%.30s: %s", l.line, got)
			}
			s.before = nil
			if times == 0 {
				c.Want(l.see, l.after)
			}
			watcher.Do("MULTI")
			watcher.Do("PING")
			watcher.Want("EXEC", "(nil)")
			if s.slices < 2 || times > 0 && left == times {
				t.Errorf("%.30s: %d slices, %d changes", l.line, s.slices, times-left)
			}
			wantHiddenKeys(t, s, 0)
		}
	}
}

// TestStagedAdditionIsKilled ends a process between two slices of an addition: nothing has been added.
func TestStagedAdditionIsKilled(t *testing.T) {
	manyGo(t, 100)
	for _, l := range adds {
		s, e, clock := aside(t, engine.WithStaging(100))
		c := storetest.NewClient(t, e)
		for _, line := range addedTo[strings.Fields(l.see)[1]] {
			c.Do(line)
		}
		before := contents(t, s.Store)
		killed := errors.New("killed")
		s.slices = 0
		s.before = func(n int) error {
			if n == 1 {
				s.dead = killed
			}
			return s.dead
		}
		if _, err := e.Session().Do(context.Background(), words(t, l.line)[0]...); !errors.Is(err, killed) {
			t.Fatalf("%.30s: %v", l.line, err)
		}
		s.dead = nil
		wantHiddenKeys(t, s, 1)
		clock.Advance(61_000)
		for n := 1; n > 0; {
			swept, err := sweep.Slice(t.Context(), s.Store.Apply, clock.Now(), 100)
			if err != nil {
				t.Fatal(err)
			}
			n = swept.Rows
		}
		if d := difference(before, contents(t, s.Store)); d != "" {
			t.Errorf("%.30s: %s", l.line, d)
		}
	}
}

// TestStagedAdditionServes serves a client that waits for the key of a staged addition.
func TestStagedAdditionServes(t *testing.T) {
	manyGo(t, 100)
	s, e, _ := aside(t, engine.WithStaging(100))
	c := storetest.NewClient(t, e)
	waiting := make(chan string, 1)
	blocking := storetest.NewClient(t, e)
	go func() { waiting <- blocking.Do("BZPOPMIN fresh 0") }()
	untilBlocked(t, e, 1)
	c.Want(pairs("ZADD fresh", "%d m%d", 0, 1500), "(integer) 1500")
	if got, want := <-waiting, "1) \"fresh\"\n2) \"m0\"\n3) \"0\""; got != want || s.slices < 2 {
		t.Errorf("after %d slices: %s", s.slices, got)
	}
	c.Want("ZCARD fresh", "(integer) 1499")
}
