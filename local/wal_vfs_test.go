package local_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/internal/test/race"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/store"
)

var errFull = errors.New("the disk is full")

// TestLogWrites checks, before and in the middle of each WAL write and after each transaction, the state that a
// process would find after a crash at that moment: all acknowledged writes, and all or nothing of the running
// transaction. Every third transaction fails on a full disk, at any of its writes; others are rolled back after
// they have written more than the cache holds.
func TestLogWrites(t *testing.T) {
	race.Skip(t)
	for full, rounds := range map[bool]int{false: 40, true: 10} {
		path := filepath.Join(t.TempDir(), "t.sqlite")
		s := open(t, path, local.Options{CacheBytes: 16 << 10, SweepEvery: -1, SyncFull: full})
		other := open(t, path, local.Options{SweepEvery: -1})
		random := rand.New(rand.NewPCG(1, 2))
		write(t, s, random, "SET k:1 first")
		model := contents(t, s)
		writes, fails := 0, -1
		s.OnLogWrite(func(p []byte, write func(n int)) error {
			short := random.IntN(len(p))
			write(short)
			if random.IntN(10) == 0 {
				if found := afterCrash(t, path); found != model {
					t.Errorf("in the middle of write %d of a transaction there is %.200s, and there was %.200s", writes, found, model)
				}
			}
			if writes++; writes == fails {
				return errFull
			}
			write(len(p))
			return nil
		})
		for i := range rounds {
			writes, fails = 0, -1
			if i%3 == 0 {
				fails = 1 + random.IntN(4)
			}
			line, err := write(t, s, random, "")
			failed := writes >= fails && fails > 0
			switch {
			case failed && err == nil:
				t.Fatalf("%.50s: write %d of %d failed, and there is no error", line, fails, writes)
			case !failed && err != nil && !errors.Is(err, errGivenUp):
				t.Fatalf("%.50s: %v", line, err)
			case err != nil && contents(t, s) != model:
				t.Fatalf("%.50s failed and left something", line)
			}
			if err != nil || i%4 == 0 { // rolled-back frames must not follow the writes of another process
				write(t, other, random, "")
			}
			model = contents(t, other)
			if found := afterCrash(t, path); found != model {
				t.Fatalf("after %.50s (%v) there is %.200s, and it was %.200s", line, err, found, model)
			}
		}
		checkFile(t, s)
	}
}

var errGivenUp = errors.New("given up")

// write runs a random command or line, or rolls back a transaction of several commands.
func write(t *testing.T, s *local.Store, random *rand.Rand, line string) (string, error) {
	t.Helper()
	n := random.IntN(30)
	if line == "" {
		line = []string{
			fmt.Sprintf("SET k:%d %d", n, random.IntN(1000)),
			fmt.Sprintf("SET k:%d %d", n, random.IntN(1000)),
			fmt.Sprintf("SET large:%d %s", n%5, strings.Repeat("x", 1+random.IntN(200_000))),
			fmt.Sprintf("MSET a:%d x b:%d y c:%d z", n, n, n),
			fmt.Sprintf("DEL large:%d a:%d", n%5, n),
			fmt.Sprintf("RPUSH list:%d %s", n%3, strings.Repeat("y", 3000)),
			"", "",
		}[random.IntN(8)]
	}
	if line == "" {
		times, parts, end := 1+random.IntN(3), int64(random.IntN(3)), []error{nil, errGivenUp}[random.IntN(2)]
		return "a transaction", s.Transact(context.Background(), false, func(run func(store.Batch) (store.Result, error)) error {
			for range times {
				if _, err := run(store.Batch{Stmts: []store.Stmt{
					{SQL: "UPDATE string_parts SET value = randomblob(length(value)) WHERE part <= ?1", Args: []store.Value{store.Int(parts)}},
					{SQL: "UPDATE keys SET version = version + 1"},
				}}); err != nil {
					return err
				}
			}
			return end
		})
	}
	var args [][]byte
	for _, arg := range strings.Fields(line) {
		args = append(args, []byte(arg))
	}
	v, err := engine.New(s).Session().Do(context.Background(), args...)
	if err == nil && v.IsError() {
		t.Fatalf("%.50s: %s", line, v.Str)
	}
	return line, err
}

// contents returns all keys and values.
func contents(t *testing.T, s *local.Store) string {
	t.Helper()
	results, err := s.Apply(context.Background(), []store.Batch{{ReadOnly: true, Stmts: []store.Stmt{
		{SQL: "SELECT key, version, count, value FROM keys ORDER BY key"},
		{SQL: "SELECT key_id, part, length(value), substr(value, 1, 9) FROM string_parts ORDER BY 1, 2"},
		{SQL: "SELECT count(*) FROM lists"},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(results[0].Rows)
}

// afterCrash returns the contents that a process finds if it opens the files as they are on the disk now.
func afterCrash(t *testing.T, path string) string {
	t.Helper()
	copied := filepath.Join(t.TempDir(), "t.sqlite")
	for _, end := range []string{"", "-wal"} {
		data, err := os.ReadFile(path + end)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(copied+end, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s, err := local.Open(copied, local.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	return contents(t, s)
}
