package engine_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/internal/test/corpus"
	"github.com/meowdis/meowdis/internal/test/race"
	"github.com/meowdis/meowdis/internal/test/storetest"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/store/sweep"
	"github.com/meowdis/meowdis/translator"
)

// manyGo stages the removal of more than n elements until the test ends.
func manyGo(t *testing.T, n int64) {
	old := translator.MaxUnstagedChanges
	translator.MaxUnstagedChanges = n
	t.Cleanup(func() { translator.MaxUnstagedChanges = old })
}

// numbered returns a command with every step-th of n names.
func numbered(command, name string, n, step int) string {
	for i := 0; i < n; i += step {
		command += fmt.Sprintf(" %s%d", name, i)
	}
	return command
}

// lessenings holds calls that remove elements of the key to, by its type, and how many of them run in slices.
var lessenings = map[string][]string{
	"list": {
		"LTRIM to 100 -100", "LTRIM to 0 200", "LTRIM to -180 -1", "LTRIM to 5 4", "LTRIM to 0 -1", "LTRIM to 3000 4000", "LTRIM to -9223372036854775808 9223372036854775807", "LTRIM to 9223372036854775807 -9223372036854775808",
		"LREM to 0 even", "LREM to 100 even", "LREM to -100 even", "LREM to 1 even", "LREM to 0 none",
		"LPOP to 150", "RPOP to 150", "LPOP to 5000", "RPOP to 1", "LPOP to 0", "LPOP none 150", "LMPOP 3 none to other LEFT COUNT 150", "LMPOP 1 to RIGHT COUNT 150", "LMPOP 1 to LEFT COUNT 5000", "LMPOP 2 none none2 LEFT COUNT 300", "LMPOP 1 to LEFT",
	},
	"set": {
		numbered("SREM to", "m", 400, 2) + " m2 none m4", numbered("SREM to", "m", 400, 1), "SREM to none", numbered("SREM to", "m", 400, 2) + " " + strings.Repeat("x", 70_000),
	},
	"zset": {
		"ZREMRANGEBYRANK to 100 -100", "ZREMRANGEBYRANK to 0 200", "ZREMRANGEBYRANK to 200 -1", "ZREMRANGEBYRANK to 7 3", "ZREMRANGEBYRANK to 9223372036854775807 -9223372036854775808", "ZREMRANGEBYRANK to 9223372036854775807 -405",
		"ZREMRANGEBYRANK to 0 -1",
		"ZREMRANGEBYSCORE to 100 (300", "ZREMRANGEBYSCORE to -inf 200", "ZREMRANGEBYSCORE to (200 +inf", "ZREMRANGEBYSCORE to -inf +inf", "ZREMRANGEBYSCORE to 5000 6000",
		"ZPOPMIN to 250", "ZPOPMAX to 250", "ZPOPMIN to 5000", "ZPOPMAX to 1", "ZPOPMIN to 0", "ZMPOP 2 none to MIN COUNT 250", "ZMPOP 1 to MAX COUNT 250", "ZMPOP 1 to MAX COUNT 5000", "ZMPOP 1 to MIN", "ZMPOP 1 none MIN COUNT 300", numbered("ZREM to", "m", 400, 3) + " none low",
	},
	"hash": {"HDEL to f1 f2 f2", "HPERSIST to FIELDS 3 f1 f2 f399", numbered("HDEL to", "f", 400, 2) + " f2 none", numbered("HDEL to", "f", 400, 1)},
}

// TestStagedRemovalIsTheSame compares each staged removal with the same removal in one transaction, as
// TestStagedIsTheSame does. The random members of SPOP are only counted.
func TestStagedRemovalIsTheSame(t *testing.T) {
	race.Skip(t)
	manyGo(t, 0)
	one, two := newWitness(t, engine.WithStaging(1<<40)), newWitness(t, engine.WithStaging(-1))
	both := func(line string) {
		t.Helper()
		one.told, two.told, two.slices = nil, nil, 0
		x, y := one.Do(line), two.Do(line)
		if strings.HasPrefix(line, "SPOP") {
			x, y = fmt.Sprint(strings.Count(x, "\n")), fmt.Sprint(strings.Count(y, "\n"))
		}
		if x != y {
			t.Errorf("%.100q: %.300s, aside %.300s", line, x, y)
		}
		// In one transaction, LMPOP of several keys tells of all of them.
		if !slices.Equal(one.told, two.told) && !strings.HasPrefix(line, "LMPOP 3") {
			t.Errorf("%.100q: tells %.300q, aside %.300q", line, one.told, two.told)
		}
	}
	for _, line := range slices.Concat(
		fill("RPUSH list", "even e%d", 200), []string{"LINSERT list BEFORE e7 here"}, fill("SADD set", "m%d", 400),
		fill("ZADD zset", "%d m%d", 400), []string{"ZADD zset -inf low +inf high 0.1 tenth"}, fill("HSET hash", "f%d v%d", 400),
	) {
		both(line)
	}
	sliced := 0
	for typ, calls := range lessenings {
		for _, line := range calls {
			for _, before := range []string{"COPY " + typ + " to REPLACE", "EXPIRE to 500", "HPERSIST to FIELDS 3 f1 f2 f399"} {
				if typ == "hash" || before[0] != 'H' {
					both(before)
				}
			}
			both(line)
			sliced += min(two.slices, 1)
			if d := difference(contents(t, one, "to"), contents(t, two, "to")); d != "" {
				t.Errorf("%.100q: in one transaction and in %d slices: %s", line, two.slices, d)
			}
		}
		storetest.Check(t, two)
		both("DEL to")
	}
	for _, n := range []int{20, 150, 390, 400} {
		both("COPY set to REPLACE")
		both(fmt.Sprintf("SPOP to %d", n))
		sliced += min(two.slices, 1)
		both("SCARD to")
	}
	if one.slices > 0 || sliced < 20 {
		t.Errorf("%d calls were carried out aside, and %d slices of what may not", sliced, one.slices)
	}
}

// TestStagedSPop checks that the popped and the remaining members together are the set, in its order.
func TestStagedSPop(t *testing.T) {
	manyGo(t, 100)
	s, e, _ := aside(t, engine.WithStaging(100))
	c, session := storetest.NewClient(t, e), e.Session()
	var want []string
	for _, line := range fill("SADD set", "m%d", 16_000) {
		want = append(want, strings.Fields(line)[2:]...)
		c.Do(line)
	}
	members := func(line string) (all []string) {
		v, err := session.Do(context.Background(), words(t, line)[0]...)
		if err != nil || v.IsError() {
			t.Fatal(err, corpus.Show(v))
		}
		for _, e := range v.Elems {
			all = append(all, string(e.Str))
		}
		return all
	}
	for _, n := range []int{1000, 8_000} { // drawn one by one, and of all
		s.slices = 0
		popped := map[string]bool{}
		for _, m := range members(fmt.Sprintf("SPOP set %d", n)) {
			popped[m] = true
		}
		if len(popped) != n || s.slices < 3 {
			t.Errorf("SPOP of %d: %d different ones in %d slices", n, len(popped), s.slices)
		}
		want = slices.DeleteFunc(want, func(m string) bool { return popped[m] })
		if left := members("SMEMBERS set"); !slices.Equal(left, want) {
			t.Errorf("SPOP of %d: %d members are left, or in another order, want %d", n, len(left), len(want))
		}
	}
}

// lessens holds calls that remove elements of large's keys in several slices, with their replies and the state
// that other clients see during and after them.
var lessens = []struct{ line, reply, see, during, after string }{
	{"LTRIM list 0 1499", "OK", "LLEN list", "(integer) 3000", "(integer) 1500"},
	{"ZREMRANGEBYSCORE zset 500 1999", "(integer) 1500", "ZCARD zset", "(integer) 3000", "(integer) 1500"},
	{numbered("SREM set", "m", 3000, 2), "(integer) 1500", "SCARD set", "(integer) 3000", "(integer) 1500"},
}

// TestStagedRemovalLetsOthersBetween lets other clients read and write between the slices of a removal. They change
// its key once, or every time.
func TestStagedRemovalLetsOthersBetween(t *testing.T) {
	manyGo(t, 100)
	for _, times := range []int{0, 1, 1 << 30} {
		s, e, _ := aside(t, engine.WithStaging(100))
		c, other, watcher := storetest.NewClient(t, e), storetest.NewClient(t, e), storetest.NewClient(t, e)
		for _, line := range large() {
			c.Do(line)
		}
		for _, l := range lessens {
			key := strings.Fields(l.see)[1]
			left := times
			s.slices = 0
			s.before = func(n int) error {
				other.Do("INCR between")
				other.Want(l.see, l.during)
				if n%2 == 1 && left > 0 {
					left--
					for _, line := range map[string][]string{
						"list": {"RPUSH list x", "RPOP list"}, "zset": {"ZADD zset 1 x", "ZREM zset x"}, "set": {"SADD set x", "SREM set x"},
					}[key] {
						other.Do(line)
					}
				}
				return nil
			}
			watcher.Do("WATCH " + key)
			c.Do("EXPIRE " + key + " 100")
			c.Want(l.line, l.reply)
			s.before = nil
			c.Want(l.see, l.after)
			c.Want("TTL "+key, "(integer) 100")
			watcher.Do("MULTI")
			watcher.Do("PING")
			watcher.Want("EXEC", "(nil)")
			if s.slices < 3 || times > 0 && left == times {
				t.Errorf("%.30s: %d slices, %d changes", l.line, s.slices, times-left)
			}
			wantHiddenKeys(t, s, 0)
			storetest.Check(t, s)
		}
	}
}

// TestStagedRemovalIsKilled ends a process between two slices of a removal: all elements still exist.
func TestStagedRemovalIsKilled(t *testing.T) {
	manyGo(t, 100)
	for _, l := range lessens {
		s, e, clock := aside(t, engine.WithStaging(100))
		c := storetest.NewClient(t, e)
		for _, line := range large() {
			c.Do(line)
		}
		before := contents(t, s.Store)
		killed := errors.New("killed")
		s.slices = 0
		s.before = func(n int) error {
			if n == 2 {
				s.dead = killed
			}
			return s.dead
		}
		if _, err := e.Session().Do(context.Background(), words(t, l.line)[0]...); !errors.Is(err, killed) {
			t.Fatalf("%.30s: %v", l.line, err)
		}
		s.dead = nil
		wantHiddenKeys(t, s, 1)
		c.Want(l.see, l.during)
		clock.Advance(61_000)
		for n := 1; n > 0; {
			swept, err := sweep.Slice(context.Background(), s.Store.Apply, clock.Now(), 100)
			if err != nil {
				t.Fatal(err)
			}
			n = swept.Rows
		}
		wantHiddenKeys(t, s, 0)
		if d := difference(before, contents(t, s.Store)); d != "" {
			t.Errorf("%.30s: %s", l.line, d)
		}
	}
}

// TestStagedRemovalOnItsOwn runs removals in pipelines, in MULTI and in scripts: each is one transaction.
func TestStagedRemovalOnItsOwn(t *testing.T) {
	manyGo(t, 100)
	s, e, _ := aside(t, engine.WithStaging(100))
	c := storetest.NewClient(t, e)
	for _, line := range large() {
		c.Do(line)
	}
	s.slices = 0
	if _, err := e.Session().Pipeline(context.Background(), words(t, "LTRIM list 1000 -1", "PING")); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"MULTI", "ZREMRANGEBYRANK zset 0 999", "EXEC", `EVAL "return redis.call('SPOP','set',1000)" 1 set`, "LTRIM none 0 100", "SREM list a", "ZPOPMIN zset 0"} {
		c.Do(line)
	}
	for _, see := range []string{"LLEN list", "ZCARD zset", "SCARD set"} {
		c.Want(see, "(integer) 2000")
	}
	if s.slices > 0 {
		t.Errorf("%d slices", s.slices)
	}
}

// TestStagedRemovalHasRoom stages removals only if the memory limit allows their copies.
func TestStagedRemovalHasRoom(t *testing.T) {
	manyGo(t, 100)
	for _, l := range lessens {
		s, e, _ := aside(t, engine.WithStaging(100))
		c := storetest.NewClient(t, e)
		for _, line := range large() {
			c.Do(line)
		}
		used, _, err := e.Used(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		c.Do("COPY " + strings.Fields(l.see)[1] + " twice")
		for _, limit := range []int64{used + used/2, used * 10} {
			s.slices = 0
			e.SetMaxMemory(limit, translator.NoEviction)
			c.Want(l.line, l.reply)
			c.Want(l.see, l.after)
			if (s.slices > 0) != (limit > 2*used) {
				t.Errorf("%.30s: %d slices with room for %d bytes, of which %d are used", l.line, s.slices, limit, used)
			}
			e.SetMaxMemory(0, translator.NoEviction)
			c.Do("COPY twice " + strings.Fields(l.see)[1] + " REPLACE")
		}
	}
}

// TestLRemReadsTooMuch runs LREM although the positions of the elements exceed the client's memory limit.
func TestLRemReadsTooMuch(t *testing.T) {
	manyGo(t, 100)
	s, e, _ := aside(t, engine.WithStaging(100))
	c := storetest.NewClient(t, e)
	for _, line := range append(fill("RPUSH list", "x", 3000), fill("RPUSH list", "y", 3000)...) {
		c.Do(line)
	}
	s.slices = 0
	session := e.Session()
	session.Bound(store.NewBudget(nil, 100_000, 0))
	v, err := session.Do(t.Context(), words(t, "LREM list 0 x")[0]...)
	if err != nil || v.Int != 3000 || s.slices > 0 {
		t.Errorf("%s, %v, after %d slices", corpus.Show(v), err, s.slices)
	}
	c.Want("LLEN list", "(integer) 3000")
}
