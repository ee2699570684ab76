package storetest

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/store/keytype"
	"github.com/meowdis/meowdis/store/sweep"
)

// mirror is the expected content of hashes: the expiry of each field and of the key, 0 for
// never.
type mirror struct {
	now    int64
	fields map[string]map[string]int64
	keys   map[string]int64
}

// forget drops expired entries.
func (m mirror) forget() {
	gone := func(_ string, at int64) bool { return at > 0 && at <= m.now }
	for key, fields := range m.fields {
		if maps.DeleteFunc(fields, gone); len(fields) == 0 || gone(key, m.keys[key]) {
			delete(m.fields, key)
			delete(m.keys, key)
		}
	}
}

// change changes the hash at key in the mirror, and returns the command that makes the same
// change. Expiries come from a small set, and often coincide.
func (m mirror) change(key, field string, ttl int64, what int) string {
	fields := m.fields[key]
	switch what {
	case 0, 1, 2:
		if fields == nil {
			fields = map[string]int64{}
			m.fields[key] = fields
		}
		fields[field] = 0
		return fmt.Sprintf("HSET %s %s v", key, field)
	case 3:
		delete(fields, field)
		return fmt.Sprintf("HDEL %s %s", key, field)
	case 4:
		if fields != nil {
			m.keys[key] = m.now + 2*ttl
		}
		return fmt.Sprintf("PEXPIRE %s %d", key, 2*ttl)
	case 5:
		if _, ok := fields[field]; ok {
			fields[field] = 0
		}
		return fmt.Sprintf("HPERSIST %s FIELDS 1 %s", key, field)
	}
	if _, ok := fields[field]; ok {
		fields[field] = m.now + ttl
	}
	return fmt.Sprintf("HPEXPIRE %s %d FIELDS 1 %s", key, ttl, field)
}

// live returns the live keys and their fields, one key per line.
func (m mirror) live() string {
	var out strings.Builder
	for _, key := range slices.Sorted(maps.Keys(m.fields)) {
		fmt.Fprintln(&out, key, slices.Sorted(maps.Keys(m.fields[key])))
	}
	return out.String()
}

// sweeping sweeps in slices of every size between commands on a few hashes, and checks that
// exactly the expired entries are deleted.
func sweeping(t *testing.T, s engine.Store) {
	random := rand.New(rand.NewPCG(10, 1))
	clock := NewClock()
	c := NewClient(t, NewEngine(s, clock))
	m := mirror{clock.Now(), map[string]map[string]int64{}, map[string]int64{}}
	swept := 0
	for round := range 150 {
		for range random.IntN(8) {
			key, field := fmt.Sprint("h", random.IntN(4)), fmt.Sprint("f", random.IntN(5))
			line := m.change(key, field, 1+3*random.Int64N(3), random.IntN(10))
			if reply := c.Do(line); strings.HasPrefix(reply, "(error)") {
				t.Fatalf("%s: %s", line, reply)
			}
			m.forget()
		}
		step := random.Int64N(3)
		clock.Advance(step)
		m.now += step
		m.forget()
		for range random.IntN(3) {
			limit := 1 + random.IntN(4)
			n := sweepSlice(t, s, m.now, limit)
			if swept += n; n > limit {
				t.Errorf("a slice of %d swept %d", limit, n)
			}
		}
		if got, want := hashesOf(t, c), m.live(); got != want {
			t.Fatalf("round %d: there is\n%swant\n%s", round, got, want)
		}
		Check(t, s)
	}
	for sweepSlice(t, s, m.now, 3) > 0 {
	}
	if got, want := query(t, s, `SELECT count(*) FROM hashes`)[0][0].Int(), int64(strings.Count(m.live(), "f")); got != want || swept == 0 {
		t.Errorf("%d fields are left of %d that live, %d were swept", got, want, swept)
	}
}

// sweepSlice sweeps at most limit rows and returns their number. It checks that a sweep was due if it deletes any.
func sweepSlice(t *testing.T, s engine.Store, now int64, limit int) int {
	at, some, err := sweep.Due(context.Background(), s.Apply)
	if err != nil {
		t.Fatal(err)
	}
	n, err := sweep.Slice(context.Background(), s.Apply, now, limit)
	if err != nil {
		t.Fatal(err)
	}
	if due := some && at <= now; due != (n.Rows > 0) {
		t.Errorf("at %d the next sweep is due at %d (%v), and deletes %d", now, at, some, n.Rows)
	}
	return n.Rows
}

// hashesOf returns the same as live, read by commands.
func hashesOf(t *testing.T, c *Client) string {
	t.Helper()
	m := mirror{fields: map[string]map[string]int64{}}
	for i := range 4 {
		key := fmt.Sprint("h", i)
		v, err := c.session.Do(context.Background(), []byte("HKEYS"), []byte(key))
		if err != nil || v.IsError() {
			t.Fatalf("HKEYS %s: %s, %v", key, v.Str, err)
		}
		for _, field := range v.Elems {
			if m.fields[key] == nil {
				m.fields[key] = map[string]int64{}
			}
			m.fields[key][string(field.Str)] = 0
		}
		c.Want("HLEN "+key, fmt.Sprintf("(integer) %d", len(v.Elems)))
	}
	return m.live()
}

// sweepingConcurrently sweeps while clients change hashes whose fields expire.
func sweepingConcurrently(t *testing.T, s engine.Store) {
	const clients, each = 8, 20
	clock := NewClock()
	e := NewEngine(s, clock)
	done, swept := make(chan struct{}), make(chan error)
	go func() {
		for {
			select {
			case <-done:
				swept <- nil
				return
			default:
			}
			if _, err := sweep.Slice(context.Background(), s.Apply, clock.Now(), 3); err != nil {
				swept <- err
				return
			}
		}
	}()
	var running sync.WaitGroup
	for i := range clients {
		running.Go(func() {
			c := NewClient(t, e)
			key, shared := fmt.Sprint("h", i), fmt.Sprint("s", i)
			for range each {
				c.Do(fmt.Sprintf("HSET %s keep v a v b v", key))
				c.Do(fmt.Sprintf("HSET all %s v own%d v", shared, i))
				c.Do(fmt.Sprintf("HPEXPIRE %s 1 FIELDS 2 a b", key))
				c.Do(fmt.Sprintf("HPEXPIRE all 1 FIELDS 1 %s", shared))
				clock.Advance(1)
				c.Want("HGETALL "+key, "1) \"keep\"\n2) \"v\"")
				c.Want(fmt.Sprintf("HMGET all %s own%d", shared, i), "1) (nil)\n2) \"v\"")
			}
		})
	}
	running.Wait()
	close(done)
	if err := <-swept; err != nil {
		t.Error(err)
	}
	NewClient(t, e).Want("HLEN all", fmt.Sprintf("(integer) %d", clients))
}

// sweepingLarge checks that a slice ends before it has deleted too many elements.
func sweepingLarge(t *testing.T, s engine.Store) {
	clock := NewClock()
	c := NewClient(t, NewEngine(s, clock))
	for i, n := range []int{1, 250, 250, 250, 250, 250, 250, 250, 250, 11000, 250} {
		c.Do(fmt.Sprintf("SADD k%d m", i))
		apply(t, s, batch(`UPDATE keys SET count = ?2 WHERE key = ?1`, []store.Value{store.Bytes(fmt.Appendf(nil, "k%d", i)), store.Int(int64(n))}))
		c.Want(fmt.Sprintf("PEXPIRE k%d %d", i, i+1), "(integer) 1")
	}
	clock.Advance(100)
	// The first seven; the other two with that of 11,000, which leaves its member; and that.
	for _, want := range []int{8, 3, 2, 0} {
		if n, err := sweep.Slice(context.Background(), s.Apply, clock.Now(), 100); n.Rows != want || err != nil {
			t.Errorf("a slice swept %d rows, want %d (%v)", n, want, err)
		}
	}
}

// crowds holds commands that create a key k with more elements than are deleted at once, and
// one of its elements.
var crowds = [][2]string{
	{"HSET k", "f%d v"}, {"HSETEX k PX 1 FIELDS 300", "f%d v"}, {"RPUSH k", "e%d"}, {"SADD k", "m%d"}, {"ZADD k", "1 m%d"}, {"ARINSERT k", "v%d"},
}

// sweepingDeleted deletes keys in every possible way, with many elements. Their names are free
// at once, and new keys of these names have none of the old elements; the old elements are
// deleted step by step.
func sweepingDeleted(t *testing.T, s engine.Store) {
	clock := NewClock()
	c := NewClient(t, NewEngine(s, clock))
	fill := func(command, element string) {
		t.Helper()
		for i := range 300 {
			command += " " + fmt.Sprintf(element, i)
		}
		if got := c.Do(command); strings.Contains(got, "error") {
			t.Fatal(got)
		}
	}
	for i := range 300 {
		c.Do(fmt.Sprintf("XADD k %d-1 f v", i+1))
	}
	c.Want("XGROUP CREATE k g 0", "OK")
	c.Do("XREADGROUP GROUP g me COUNT 270 STREAMS k >")
	saved, err := c.session.Do(context.Background(), []byte("DUMP"), []byte("k"))
	if err != nil {
		t.Fatal(err)
	}
	c.Want("DEL k", "(integer) 1")
	for sweepSlice(t, s, clock.Now(), 300) > 0 {
	}
	stream := func() {
		t.Helper()
		if v, err := c.session.Do(context.Background(), []byte("RESTORE"), []byte("k"), []byte("0"), saved.Str); err != nil || v.IsError() {
			t.Fatalf("RESTORE: %s, %v", v.Str, err)
		}
	}
	fillings := []func(){stream, func() { stream(); c.Want("XTRIM k MAXLEN 2", "(integer) 298") }, func() { c.Do("SETBIT k 80000000 1") }, func() { c.Do("SETBIT k 70000000 1") }}
	for _, crowd := range crowds {
		fillings = append(fillings, func() { fill(crowd[0], crowd[1]) })
	}
	goings := []string{
		"DEL k", "UNLINK k", "SET k v", "MSET k v", "RENAME other k", "COPY other k REPLACE", "SUNIONSTORE k few", "SINTERSTORE k none few",
		"ZUNIONSTORE k 1 few", "SORT few BY nosort STORE k", "PEXPIRE k -1", "PEXPIRE k 1", "FLUSHDB", "FLUSHALL", "BITOP NOT k other", "SETEX k 100 v",
	}
	for i, make := range fillings {
		for j, going := range goings {
			if (i+j)%4 > 0 && going != "DEL k" && going != "SET k v" {
				continue
			}
			reusedName(t, s, c, clock, make, going)
		}
	}
}

// reusedName is one case of sweepingDeleted.
func reusedName(t *testing.T, s engine.Store, c *Client, clock *Clock, make func(), going string) {
	t.Helper()
	c.Do("SET other o")
	c.Do("SADD few a b")
	make()
	c.Do(going)
	clock.Advance(2)
	left := c.Do("DUMP k")
	c.Do("DEL taken")
	c.Want("SADD taken x y", "(integer) 2") // the highest id is free, except in pending_deletes
	c.Want("HSET h f v", "(integer) 1")
	Check(t, s)
	for slices := 0; ; slices++ {
		n, err := sweep.Slice(context.Background(), s.Apply, clock.Now(), 80)
		if err != nil || slices > 200 {
			t.Fatalf("%s: %d slices, %v", going, slices, err)
		}
		Check(t, s)
		if n.Rows == 0 {
			break
		}
	}
	if got := c.Do("DUMP k"); got != left {
		t.Errorf("%s: the sweep makes %s of %s", going, got, left)
	}
	c.Want("SCARD taken", "(integer) 2")
	c.Want("HGETALL h", "1) \"f\"\n2) \"v\"")
	c.Do("DEL k other few taken h")
	tables := []string{"pending_deletes"}
	for _, kind := range keytype.Types {
		for _, table := range kind.Tables {
			tables = append(tables, table.Name)
		}
	}
	counts := store.Batch{ReadOnly: true}
	for _, table := range tables {
		counts.Stmts = append(counts.Stmts, store.Stmt{SQL: `SELECT count(*) FROM ` + table})
	}
	for i, rows := range apply(t, s, counts)[0].Rows {
		if n := rows[0][0].Int(); n != 0 {
			t.Errorf("%s: %d rows are left in %s", going, n, tables[i])
		}
	}
}
