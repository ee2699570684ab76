package engine_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/internal/test/race"
	"github.com/meowdis/meowdis/internal/test/storetest"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/store/sweep"
	"github.com/meowdis/meowdis/translator"
)

// large returns commands that create a set, a list and a sorted set of a few slices each.
func large() (lines []string) {
	return slices.Concat(fill("SADD set", "m%d", 3000), fill("RPUSH list", "%d", 3000), fill("ZADD zset", "%d m%d", 3000))
}

// larges holds calls that are staged in several slices.
var larges = []string{"COPY set to REPLACE", "SUNIONSTORE to set none", "ZUNIONSTORE to 2 zset set", "SORT list ALPHA STORE to"}

// TestStagedLetsOthersBetween lets another client write and read between the slices of a call: it sees no part
// of the result until the call is done.
func TestStagedLetsOthersBetween(t *testing.T) {
	s, e, _ := aside(t)
	c, other := storetest.NewClient(t, e), storetest.NewClient(t, e)
	for _, line := range large() {
		c.Do(line)
	}
	for _, line := range larges {
		c.Do("SET to old")
		s.slices = 0
		s.before = func(n int) error {
			other.Do("INCR between")
			other.Want("GET to", `"old"`)
			other.Want("DBSIZE", "(integer) 5")
			other.Want("KEYS *o*", "1) \"to\"")
			if info := other.Do("INFO keyspace") + other.Do("INFO keysizes"); !strings.Contains(info, "db0:keys=5") || strings.Contains(info, "-2") {
				t.Errorf("%s: %s", line, info)
			}
			return nil
		}
		c.Do("DEL between")
		c.Do("SET between 0")
		c.Do(line)
		s.before = nil
		if got := c.Do("GET between"); s.slices < 3 || got != `"`+strconv.Itoa(s.slices)+`"` {
			t.Errorf("%s: %d slices, between which others wrote %s times", line, s.slices, got)
		}
		if c.Do("TYPE to") == "string" {
			t.Errorf("%s: to is the old one", line)
		}
	}
}

// TestStagedBeginsAgain changes a source between slices: once, so that the call starts again, and each time, so
// that it finally runs as one transaction.
func TestStagedBeginsAgain(t *testing.T) {
	s, e, _ := aside(t)
	c, other := storetest.NewClient(t, e), storetest.NewClient(t, e)
	for _, line := range large() {
		c.Do(line)
	}
	changes := 0
	for _, times := range []int{1, 1 << 30} {
		for _, line := range larges {
			left, added := times, 0
			s.before = func(n int) error {
				if n%2 == 1 && left > 0 {
					left--
					added++
					changes++
					for _, add := range []string{"SADD set x" + strconv.Itoa(changes), "RPUSH list 7", "ZADD zset 1 x" + strconv.Itoa(changes)} {
						other.Do(add)
					}
				}
				return nil
			}
			s.slices = 0
			c.Do(line)
			s.before = nil
			switch {
			case added == 0:
				t.Errorf("%s: nothing was changed meanwhile", line)
			case times > 1 && added < 3:
				t.Errorf("%s: tried %d times", line, added)
			}
			card := map[string]string{"COPY": "SCARD", "SUNI": "SCARD", "ZUNI": "ZCARD", "SORT": "LLEN"}[line[:4]]
			from := map[string]string{"COPY": "set", "SUNI": "set", "ZUNI": "zset", "SORT": "list"}[line[:4]]
			if got, want := c.Do(card+" to"), c.Do(card+" "+from); got != want {
				t.Errorf("%s, changed %d times meanwhile: %s elements of %s", line, added, got, want)
			}
			wantHiddenKeys(t, s, 0)
		}
	}
}

// TestStagedMeetsFlush deletes everything between two slices.
func TestStagedMeetsFlush(t *testing.T) {
	for _, flush := range []string{"FLUSHALL", "FLUSHDB", "SWAPDB 0 3", "RENAME set away"} {
		s, e, _ := aside(t)
		c, other := storetest.NewClient(t, e), storetest.NewClient(t, e)
		for _, line := range large() {
			c.Do(line)
		}
		s.before = func(n int) error {
			if n == 2 {
				other.Want(flush, "OK")
			}
			return nil
		}
		c.Want("COPY set to", "(integer) 0")
		c.Want("EXISTS to", "(integer) 0")
		wantHiddenKeys(t, s, 0)
	}
}

// TestStagedIsKilled ends a process between two slices: clients do not see its hidden key, doctor reports no
// problem, and the sweep deletes the key.
func TestStagedIsKilled(t *testing.T) {
	race.Skip(t)
	s, e, clock := aside(t, engine.WithStaging(-1))
	c := storetest.NewClient(t, e)
	for _, line := range append(made(), large()...) {
		c.Do(line)
	}
	c.Do("DEL to")
	before := contents(t, s.Store)
	killed := errors.New("killed")
	for _, line := range append(larges, "COPY stream to", "COPY hash to", "COPY vectors to", "COPY zset to", "BITOP NOT to string") {
		s.slices = 0
		s.before = func(n int) error {
			if n >= 1 {
				s.dead = killed
			}
			return s.dead
		}
		if _, err := e.Session().Do(context.Background(), words(t, line)[0]...); !errors.Is(err, killed) {
			t.Fatalf("%s: %v", line, err)
		}
		s.dead, s.before = nil, nil
		wantHiddenKeys(t, s, 1)
		storetest.Check(t, s)
		c.Want("EXISTS to", "(integer) 0")
		clock.Advance(61_000)
		for n := 1; n > 0; {
			swept, err := sweep.Slice(context.Background(), s.Store.Apply, clock.Now(), 10)
			if err != nil {
				t.Fatal(err)
			}
			if n = swept.Rows; swept.Keys > 0 {
				t.Errorf("%s: %d keys have expired", line, swept.Keys)
			}
		}
		wantHiddenKeys(t, s, 0)
		clock.Advance(-61_000) // a key has a TTL
		if d := difference(before, contents(t, s.Store)); d != "" {
			t.Errorf("%s: %s", line, d)
		}
	}
}

// TestStagedEnds ends the call's context between two slices.
func TestStagedEnds(t *testing.T) {
	s, e, _ := aside(t)
	c := storetest.NewClient(t, e)
	for _, line := range large() {
		c.Do(line)
	}
	ctx, cancel := context.WithCancel(context.Background())
	s.before = func(n int) error {
		if n == 1 {
			cancel()
		}
		return nil
	}
	if _, err := e.Session().Do(ctx, words(t, "COPY set to")[0]...); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	c.Want("EXISTS to", "(integer) 0")
	wantHiddenKeys(t, s, 0)
}

// ageing is a file whose clock advances with each batch of the transaction after the slices.
type ageing struct {
	*sliced
	clock *storetest.Clock
	by    int64 // ms
}

func (s *ageing) Transact(ctx context.Context, readOnly bool, fn func(func(store.Batch) (store.Result, error)) error) error {
	return s.sliced.Transact(ctx, readOnly, func(run func(store.Batch) (store.Result, error)) error {
		return fn(func(b store.Batch) (store.Result, error) {
			if !readOnly && s.slices > 0 {
				defer s.clock.Advance(s.by)
			}
			return run(b)
		})
	})
}

// TestStagedExpires lets a copied key expire in the last transaction: its copy expires, too.
func TestStagedExpires(t *testing.T) {
	s, e, clock := aside(t)
	c := storetest.NewClient(t, e)
	for _, line := range large() {
		c.Do(line)
	}
	c.Do("PEXPIRE set 1000")
	late := storetest.NewClient(t, storetest.NewEngine(&ageing{s, clock, 2000}, clock))
	late.Want("COPY set to", "(integer) 1")
	c.Want("EXISTS set to", "(integer) 0")
}

// TestStagedFieldsGo lets another process delete expired fields of a hash under construction, as doctor does.
func TestStagedFieldsGo(t *testing.T) {
	for _, field := range []string{"f1", "f1 f2 f3"} {
		s, e, clock := aside(t, engine.WithStaging(-1))
		c := storetest.NewClient(t, e)
		for _, line := range fill("HSET hash", "f%d v%d", 1200) {
			c.Do(line)
		}
		c.Do("HPEXPIRE hash 100000 FIELDS 1 f4")
		c.Do(fmt.Sprintf("HPEXPIRE hash 1000 FIELDS %d %s", len(strings.Fields(field)), field))
		s.before = func(n int) error {
			if n != 2 {
				return nil
			}
			clock.Advance(2000)
			now := []store.Value{store.Int(clock.Now())}
			_, err := s.Store.Apply(context.Background(), []store.Batch{{Stmts: []store.Stmt{
				{SQL: `UPDATE keys SET count = count - n FROM (SELECT key_id, count(*) AS n FROM hashes WHERE expires_at <= ?1 GROUP BY key_id) WHERE id = key_id`, Args: now},
				{SQL: `DELETE FROM hashes WHERE expires_at <= ?1`, Args: now},
			}}})
			return err
		}
		c.Want("COPY hash to", "(integer) 1")
		if s.slices < 4 {
			t.Fatalf("%d slices", s.slices)
		}
		storetest.Check(t, s)
	}
}

// TestStagedMakesRoom evicts keys while a key is under construction, whose id is far above all other ids: only
// visible keys are evicted.
func TestStagedMakesRoom(t *testing.T) {
	s, e, _ := aside(t, engine.WithStaging(-1))
	c, other := storetest.NewClient(t, e), storetest.NewClient(t, e)
	for _, line := range []string{numbered("SADD set", "m", 1200, 1), "SET a 1", "SET b 1"} {
		c.Do(line)
	}
	filler := fill("MSET", "filler%d 1", 5000)
	for _, line := range filler {
		c.Do(line)
	}
	s.slices = 0
	s.before = func(n int) error {
		if n == 2 {
			for i := range filler {
				other.Do("DEL" + strings.ReplaceAll(strings.TrimPrefix(filler[i], "MSET"), " 1", ""))
			}
			e.SetMaxMemory(1, translator.AllKeysRandom)
			other.Do("SET c 1")
			e.SetMaxMemory(0, translator.AllKeysRandom)
		}
		return nil
	}
	c.Do("COPY set to")
	if e.Evicted() == 0 {
		t.Error("no key had to go")
	}
}

// TestStagedInOrder runs the calls in a pipeline and in MULTI, where they are not staged.
func TestStagedInOrder(t *testing.T) {
	s, e, _ := aside(t)
	c := storetest.NewClient(t, e)
	for _, line := range large() {
		c.Do(line)
	}
	lines := []string{"SADD set first", "COPY set to", "SCARD to", "SADD set second", "SUNIONSTORE to set", "SCARD to", "SORT list LIMIT 0 1", "DEL to", "ZUNIONSTORE to 1 zset", "ZCARD to"}
	for _, bulk := range []int{1, 200} {
		c.Do("DEL to")
		c.Do("SREM set first second")
		s.slices = 0
		var all []string
		for range bulk {
			all = append(all, lines...)
			if bulk > 1 && len(all) == len(lines) { // small ones from here on
				lines = []string{"SADD few a", "COPY few small REPLACE", "SUNIONSTORE small few", "ZUNIONSTORE small 1 few", "PING"}
			}
		}
		if bulk > 1 {
			all = append(all, slices.Repeat([]string{"PING"}, 1024)...)
		}
		replies, err := e.Session().Pipeline(context.Background(), words(t, all...))
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range []int64{1, 1, 3001, 1, 3002, 3002, -1, 1, 3000, 3000} {
			if want >= 0 && replies[i].Int != want {
				t.Errorf("%s: %v, want %d", all[i], replies[i], want)
			}
		}
		if s.slices < 9 {
			t.Errorf("%d slices in a pipeline of %d", s.slices, len(all))
		}
	}
	s.slices = 0
	for _, line := range []string{"MULTI", "COPY set other REPLACE", "SUNIONSTORE other set", "EXEC", `EVAL "return redis.call('COPY','set','other','REPLACE')" 2 set other`} {
		c.Do(line)
	}
	c.Want("SCARD other", "(integer) 3002")
	if s.slices > 0 {
		t.Errorf("%d slices in a transaction", s.slices)
	}
}

// TestStagedServes builds a list that one client waits for and another watches.
func TestStagedServes(t *testing.T) {
	s, e, _ := aside(t)
	c, watcher := storetest.NewClient(t, e), storetest.NewClient(t, e)
	for _, line := range large() {
		c.Do(line)
	}
	watcher.Do("WATCH to")
	popped := ask(t, e.Session(), "BLPOP to 0")
	untilBlocked(t, e, 1)
	c.Want("SORT list ALPHA STORE to", "(integer) 3000")
	popped.want(t, "1) \"to\"\n2) \"0\"")
	if s.slices < 3 {
		t.Errorf("%d slices", s.slices)
	}
	c.Want("LLEN to", "(integer) 2999")
	watcher.Do("MULTI")
	watcher.Do("PING")
	watcher.Want("EXEC", "(nil)")
}

// wantHiddenKeys checks the number of keys under construction.
func wantHiddenKeys(t *testing.T, s *sliced, want int64) {
	t.Helper()
	results, err := s.Store.Apply(context.Background(), []store.Batch{{ReadOnly: true, Stmts: []store.Stmt{{SQL: `SELECT count(*) FROM keys WHERE db < 0`}}}})
	if err != nil {
		t.Fatal(err)
	}
	if n := results[0].Rows[0][0][0].Int(); n != want {
		t.Errorf("%d keys are being made, want %d", n, want)
	}
}
