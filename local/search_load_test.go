package local_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/internal/test/storetest"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/store/sweep"
)

// TestSearchAfterBulkLoad checks that a bulk load leaves no key to index, whatever time that takes.
func TestSearchAfterBulkLoad(t *testing.T) {
	defer local.NoSweepOnClose()()
	path := filepath.Join(t.TempDir(), "load.sqlite")
	clock := storetest.NewClock()
	pending := func(bulk bool) (n int64) {
		s, err := local.Open(path, local.Options{SweepEvery: -1, SingleConn: true, BulkLoad: bulk, Now: clock.Now})
		if err != nil {
			t.Fatal(err)
		}
		results, err := s.Apply(context.Background(), []store.Batch{{ReadOnly: true, Stmts: []store.Stmt{{SQL: `SELECT count(*) FROM search_pending`}}}})
		if err != nil {
			t.Fatal(err)
		}
		session := storetest.NewEngine(s, clock).Session()
		calls := [][][]byte{bytes.Fields([]byte("FT.CREATE i SCHEMA n TEXT"))}
		for i := range 2500 {
			calls = append(calls, bytes.Fields(fmt.Appendf(nil, "HSET key:%d n word%d", i, i)))
		}
		if _, err := session.Pipeline(context.Background(), calls); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		return results[0].Rows[0][0][0].Int()
	}
	pending(true)
	if n := pending(false); n != 0 {
		t.Errorf("after a bulk load %d keys wait for the index", n)
	}
	if n := pending(false); n != 2500 {
		t.Errorf("without time %d keys wait, not 2500: the test proves nothing", n)
	}
}

// TestIndexOnClose checks that a process that creates an index over existing keys ends when all are indexed.
func TestIndexOnClose(t *testing.T) {
	defer local.NoSweepOnClose()()
	path := filepath.Join(t.TempDir(), "shop.sqlite")
	clock := storetest.NewClock()
	run := func(calls ...[][]byte) string {
		s, err := local.Open(path, local.Options{SweepEvery: -1, SingleConn: true, Now: clock.Now})
		if err != nil {
			t.Fatal(err)
		}
		replies, err := storetest.NewEngine(s, clock).Session().Pipeline(context.Background(), calls)
		if err := errors.Join(err, s.Close()); err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(replies[len(replies)-1])
	}
	var calls [][][]byte
	for i := range 3000 {
		calls = append(calls, bytes.Fields(fmt.Appendf(nil, "HSET key:%d n cat", i)))
	}
	run(calls...)
	run(bytes.Fields([]byte("FT.CREATE i SCHEMA n TEXT")))
	if found := run(bytes.Fields([]byte("FT.SEARCH i cat LIMIT 0 0"))); !strings.Contains(found, "3000") {
		t.Error(found)
	}
}

// TestIndexingEnds checks that nothing is left to index after keys have left database 0, or have expired and the sweep
// has not deleted them.
func TestIndexingEnds(t *testing.T) {
	clock := storetest.NewClock()
	s, err := local.Open(local.Memory, local.Options{SweepEvery: -1, Now: clock.Now})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	session := storetest.NewEngine(s, clock).Session()
	do := func(line string) resp.Value {
		v, err := session.Do(context.Background(), bytes.Fields([]byte(line))...)
		if err != nil || v.IsError() {
			t.Fatalf("%s: %s %v", line, v.Str, err)
		}
		return v
	}
	for _, line := range []string{
		"FT.CREATE i SCHEMA n TEXT", "HSET moved n cat", "HSET expired n cat", "HSET field n cat m dog", "HSET stays n cat",
		"PEXPIRE expired 1000", "HPEXPIRE field 1000 FIELDS 1 n", "MOVE moved 1", "SELECT 2", "HSET other n cat", "SELECT 0", "SWAPDB 1 2",
	} {
		do(line)
	}
	clock.Advance(2000)
	for n, slices := 1, 0; n > 0; slices++ {
		if n, err = s.BuildIndexes(context.Background(), 100); err != nil {
			t.Fatal(err)
		}
		if slices == 10 {
			t.Fatal("the same keys are indexed again and again")
		}
	}
	if found := do("FT.SEARCH i cat NOCONTENT").Elems; len(found) != 2 || string(found[1].Str) != "stays" {
		t.Error(found)
	}
}

// TestSearchSliceBytes checks that a slice of large values ends before it has read all keys, and that the next ones
// index the rest, also of an initial scan.
func TestSearchSliceBytes(t *testing.T) {
	clock := storetest.NewClock()
	s, err := local.Open(local.Memory, local.Options{SweepEvery: -1, Now: clock.Now})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	session := storetest.NewEngine(s, clock).Session()
	do := func(line string) string {
		v, err := session.Do(context.Background(), bytes.Fields([]byte(line))...)
		if err != nil || v.IsError() {
			t.Fatalf("%s: %s %v", line, v.Str, err)
		}
		return fmt.Sprint(v)
	}
	index := func() (slices int) {
		for n := 1; n > 0; slices++ {
			if n, err = sweep.Index(context.Background(), s.Apply, clock.Now(), 10_000); err != nil {
				t.Fatal(err)
			}
		}
		return slices
	}
	long := strings.Repeat("x", 20_000)
	for i := range 600 {
		do(fmt.Sprintf("HSET key:%d n %s", i, long))
	}
	do("FT.CREATE scanned SCHEMA n TEXT")
	if n := index(); n < 3 {
		t.Errorf("12 MB were indexed in %d slices", n-1)
	}
	for i := range 600 {
		do(fmt.Sprintf("HSET key:%d n %s", i, long))
	}
	if n := index(); n < 3 {
		t.Errorf("12 MB of changed keys were indexed in %d slices", n-1)
	}
	if all := do("FT.SEARCH scanned * LIMIT 0 0"); !strings.Contains(all, "600") {
		t.Error(all)
	}
	if found := do("FT.SEARCH scanned " + long + " LIMIT 0 0"); !strings.Contains(found, "600") {
		t.Error(found)
	}
}
