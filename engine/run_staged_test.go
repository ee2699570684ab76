package engine_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/engine/keyevents"
	"github.com/meowdis/meowdis/internal/test/corpus"
	"github.com/meowdis/meowdis/internal/test/race"
	"github.com/meowdis/meowdis/internal/test/storetest"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/store/keytype"
	"github.com/meowdis/meowdis/translator"
)

// sliced is a file that counts the slices of staged calls. It calls before ahead of each slice, with its number
// from 0.
type sliced struct {
	*local.Store
	slices int
	before func(slice int) error
	dead   error // of each call from now on; nil as long as the process lives
}

func (s *sliced) Apply(ctx context.Context, batches []store.Batch) ([]store.Result, error) {
	if last := batches[0].Stmts[len(batches[0].Stmts)-1].SQL; !batches[0].ReadOnly && batches[0].Keys != nil && len(batches[0].Keys) == 0 && strings.HasPrefix(last, "UPDATE keys SET expires_at") {
		s.slices++
		if s.before != nil {
			if err := s.before(s.slices - 1); err != nil {
				return nil, err
			}
		}
	}
	if s.dead != nil {
		return nil, s.dead
	}
	return s.Store.Apply(ctx, batches)
}

// aside returns a file and an engine over it that stages every call that may be staged.
func aside(t *testing.T, more ...engine.Option) (*sliced, *engine.Engine, *storetest.Clock) {
	t.Helper()
	inner, err := local.Open(t.TempDir()+"/db.sqlite", local.Options{SweepEvery: -1, RowCacheBytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { inner.Close() })
	storetest.CheckAtEnd(t, inner)
	s, clock := &sliced{Store: inner}, storetest.NewClock()
	return s, storetest.NewEngine(s, clock, more...), clock
}

// fill returns commands that add n elements to a key.
func fill(command, element string, n int) (lines []string) {
	for i := 0; i < n; i += 500 {
		line := command
		for j := i; j < min(i+500, n); j++ {
			line += " " + strings.ReplaceAll(element, "%d", fmt.Sprint(j))
		}
		lines = append(lines, line)
	}
	return lines
}

// each returns one line for each of n.
func each(line string, n int) (lines []string) {
	for i := range n {
		lines = append(lines, strings.ReplaceAll(line, "%d", fmt.Sprint(i+1)))
	}
	return lines
}

// made creates keys of every type, with several slices of elements each.
func made() (lines []string) {
	for _, more := range [][]string{
		fill("HSET hash", "f%d v%d", 1200), {"HSET hash large " + large64, "HEXPIRE hash 1000 FIELDS 4 f1 f2 f1199 large"},
		fill("RPUSH list", "e%d", 1200), {"LINSERT list BEFORE e7 here", "EXPIRE list 500"},
		fill("SADD set", "m%d", 1200), fill("SADD set2", "%d m%d", 500), {"SADD set " + large64, "SADD set3 m5 m7 9 none"},
		fill("ZADD zset", "%d m%d", 1200), {"ZADD zset -inf low +inf high 0.1 tenth"},
		each("XADD stream %d-1 f v%d", 1000),
		{"XGROUP CREATE stream g 0", "XREADGROUP GROUP g c COUNT 300 STREAMS stream >", "XDEL stream 3-1"},
		{"SETRANGE string 5000000 end", "SETRANGE string 70000 middle", "SET other bits"},
		each("ARSET array %d v%d", 150), each("VADD vectors VALUES 3 %d 1 1 e%d", 150),
		{"GEOADD geo 13.361389 38.115556 Palermo 15.087269 37.502669 Catania", "SET to old", "SADD to2 old"},
		each("GEOADD geo 13.3%d 38.1 p%d", 900),
	} {
		lines = append(lines, more...)
	}
	return lines
}

// stored holds calls that may be staged. Most of them create the key to.
var stored = strings.Split(`COPY hash to REPLACE
COPY list to REPLACE
COPY set to REPLACE
COPY zset to REPLACE
COPY stream to REPLACE
COPY string to REPLACE
COPY array to REPLACE
COPY vectors to REPLACE
COPY hash to
COPY hash to DB 1
COPY none to
SUNIONSTORE to set set2 set3 none set
SINTERSTORE to set set2
SINTERSTORE to set none
SINTERSTORE to set2 set set2
SINTERSTORE to list set
SDIFFSTORE to set set2 set3
SDIFFSTORE to set set2 set
SDIFFSTORE to none set
SUNIONSTORE set2 set2 set
SUNIONSTORE to set zset
SUNIONSTORE to none
ZUNIONSTORE to 2 zset set WEIGHTS 2 3
ZINTERSTORE to 2 zset set AGGREGATE MAX
ZDIFFSTORE to 2 zset set3
ZRANGESTORE to zset 5 1100
ZRANGESTORE to zset 5 6
ZUNIONSTORE to 1 list
GEOSEARCHSTORE to geo FROMMEMBER Palermo BYRADIUS 300 km ASC
GEORADIUS geo 13 38 3000 km STORE to
SORT list ALPHA DESC STORE to
SORT list ALPHA LIMIT 0 3
SORT set BY nosort STORE to
SORT zset BY w_* ALPHA GET # GET w_* LIMIT 0 1000 STORE to
BITOP NOT to string
BITOP XOR to string other
PFMERGE to none`, "\n")

// witness is a session on a file that records everything it receives.
type witness struct {
	*sliced
	*storetest.Client
	session *engine.Session
	told    []string
}

func newWitness(t *testing.T, options ...engine.Option) *witness {
	s, e, _ := aside(t, options...)
	w := &witness{sliced: s, Client: storetest.NewClient(t, e), session: e.Session()}
	e.SetNotify(func(events []keyevents.Event) { w.told = append(w.told, fmt.Sprint(events)) })
	t.Cleanup(e.Listen(func(changes []engine.Change) {
		for _, c := range changes {
			if c.Command != nil {
				w.told = append(w.told, fmt.Sprintf("%s %q", c.Command.Name, c.Keys))
			}
		}
	}))
	return w
}

// TestStagedIsTheSame compares each staged call with the same call in one transaction: the reply, the messages
// to other clients, and the contents afterwards.
func TestStagedIsTheSame(t *testing.T) {
	race.Skip(t)
	defer func(few, parts int) { translator.MaxUnstagedStmts, translator.MaxUnstagedParts = few, parts }(translator.MaxUnstagedStmts, translator.MaxUnstagedParts)
	translator.MaxUnstagedStmts, translator.MaxUnstagedParts = 0, 0
	one, two := newWitness(t, engine.WithStaging(1<<40)), newWitness(t, engine.WithStaging(-1))
	both := func(args ...[]byte) string {
		t.Helper()
		one.told, two.told, two.slices = nil, nil, 0
		x, err := one.session.Do(context.Background(), args...)
		if err != nil {
			t.Fatal(err)
		}
		y, err := two.session.Do(context.Background(), args...)
		if err != nil {
			t.Fatal(err)
		}
		if corpus.Show(x) != corpus.Show(y) {
			t.Errorf("%.100q: %s, aside %s", args, corpus.Show(x), corpus.Show(y))
		}
		if !slices.Equal(one.told, two.told) {
			t.Errorf("%.100q: tells %q, aside %q", args, one.told, two.told)
		}
		return string(x.Str)
	}
	for _, call := range words(t, made()...) {
		both(call...)
	}
	sliced := 0
	for i, call := range words(t, stored...) {
		both(call...)
		if d := difference(contents(t, one, "to", "set2"), contents(t, two, "to", "set2")); d != "" {
			t.Errorf("%s: in one transaction and in %d slices: %s", stored[i], two.slices, d)
		}
		sliced += min(two.slices, 1)
	}
	for _, key := range []string{"hash", "list", "set", "zset", "stream", "string", "vectors"} {
		payload := both([]byte("DUMP"), []byte(key))
		for _, how := range []string{"REPLACE", "IDLETIME 10 REPLACE", ""} {
			call := append(words(t, "RESTORE to 5000")[0], []byte(payload))
			if how != "" {
				call = append(call, words(t, how)[0]...)
			}
			both(call...)
			if d := difference(contents(t, one, "to"), contents(t, two, "to")); d != "" {
				t.Errorf("RESTORE of a %s %s: in one transaction and in %d slices: %s", key, how, two.slices, d)
			}
			sliced += min(two.slices, 1)
		}
	}
	if one.slices > 0 || sliced < 40 {
		t.Errorf("%d calls were carried out aside, and %d slices of what may not", sliced, one.slices)
	}
	if d := difference(contents(t, one), contents(t, two)); d != "" {
		t.Error(d)
	}
}

// contents returns the contents of a file as one line for each key and each of its rows, without the columns
// that may differ. With names it returns only those keys.
func contents(t *testing.T, s engine.Store, names ...string) (lines []string) {
	t.Helper()
	read := func(sql string, args ...store.Value) []store.Row {
		results, err := s.Apply(context.Background(), []store.Batch{{ReadOnly: true, Stmts: []store.Stmt{{SQL: sql, Args: args}}}})
		if err != nil {
			t.Fatal(err)
		}
		return results[0].Rows[0]
	}
	for _, key := range read(`SELECT id, type, db, key, hash, count, iif(type = 'set', 0, seq), expires_at, updated_at, volatile, last_field, value FROM keys ORDER BY db, key`) {
		if len(names) > 0 && !slices.Contains(names, string(key[3].Bytes())) {
			continue
		}
		name := fmt.Sprint(key[2:4])
		lines = append(lines, fmt.Sprint(name, key[1:]))
		for _, table := range keytype.Of(string(key[1].Bytes())).Tables {
			columns := strings.Join(table.Columns[1:], ", ")
			for _, row := range read(`SELECT `+columns+` FROM `+table.Name+` WHERE key_id = ?1 ORDER BY `+columns, key[0]) {
				lines = append(lines, fmt.Sprint(name, table.Name, row))
			}
		}
	}
	return lines
}

// difference returns the first line that only one of them has.
func difference(a, b []string) string {
	for i := range max(len(a), len(b)) {
		switch {
		case i >= len(a):
			return "no more, " + b[i]
		case i >= len(b):
			return a[i] + ", no more"
		case a[i] != b[i]:
			return fmt.Sprintf("%.200s, %.200s", a[i], b[i])
		}
	}
	return ""
}

// TestStagedOfManyKeys names more keys than a statement may have arguments.
func TestStagedOfManyKeys(t *testing.T) {
	_, e, _ := aside(t)
	c := storetest.NewClient(t, e)
	c.Do("SADD a x y")
	c.Want("SUNIONSTORE to a b c d e f g h i j k l", "(integer) 2")
}

// TestRestoreWritesInOrder restores large keys in slices. A slice of a hash or a set must change neighbouring pages: in
// the order of a payload, each element would change another page.
func TestRestoreWritesInOrder(t *testing.T) {
	s, e, _ := aside(t)
	c, session := storetest.NewClient(t, e), e.Session()
	const n, page = 20_000, 4096
	element := "%d" + strings.Repeat("x", 100)
	for _, line := range slices.Concat(fill("HSET hash", element+" v", n), fill("SADD set", element, n), fill("RPUSH list", element, n)) {
		c.Do(line)
	}
	for _, key := range []string{"hash", "set", "list"} {
		dump, err := session.Do(context.Background(), words(t, "DUMP "+key)[0]...)
		if err != nil {
			t.Fatal(err)
		}
		restore := append(words(t, "RESTORE to 0")[0], dump.Str)
		err = s.Transact(context.Background(), true, func(run engine.Run) error { // while it reads, the WAL only grows
			if _, err := run(store.Batch{ReadOnly: true, Stmts: []store.Stmt{{SQL: `SELECT count(*) FROM keys`}}}); err != nil {
				return err
			}
			before, err := s.WALSize()
			if err != nil {
				return err
			}
			s.slices = 0
			if v, err := session.Do(context.Background(), restore...); err != nil || string(v.Str) != "OK" {
				return fmt.Errorf("%v: %w", corpus.Show(v), err)
			}
			after, err := s.WALSize()
			pages, most := (after-before)/page, int64(2*n*len(element)/page+10*s.slices)
			if s.slices < 3 || pages > most {
				t.Errorf("RESTORE of a %s in %d slices wrote %d pages, more than %d", key, s.slices, pages, most)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		c.Want("DEL to", "(integer) 1")
	}
}
