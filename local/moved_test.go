package local_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/internal/test/race"
	"github.com/meowdis/meowdis/internal/test/storetest"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/store"
)

// TestMoved: no write is acknowledged for a file that is no longer under its name.
func TestMoved(t *testing.T) {
	if runtime.GOOS == "windows" {
		return // an open file cannot be moved
	}
	for what, take := range map[string]func(path string) error{
		"deleted": os.Remove,
		"moved":   func(path string) error { return os.Rename(path, path+".old") },
		"replaced": func(path string) error {
			return errors.Join(os.WriteFile(path+".new", nil, 0o600), os.Rename(path+".new", path))
		},
	} {
		path := filepath.Join(t.TempDir(), "t.sqlite")
		s := open(t, path, local.Options{IsolateSlowReads: true})
		e := storetest.NewEngine(s, storetest.NewClock())
		c := storetest.NewClient(t, e)
		c.Want("SET k v", "OK")
		c.Want("GET k", `"v"`)
		if err := s.Moved(); err != nil {
			t.Errorf("not yet %s: %v", what, err)
		}
		if err := take(path); err != nil {
			t.Fatal(err)
		}
		for _, command := range [][][]byte{{[]byte("DEL"), []byte("k")}, {[]byte("INCRBYFLOAT"), []byte("n"), []byte("1")}} {
			if v, err := e.Session().Do(context.Background(), command...); !errors.Is(err, local.ErrMoved) {
				t.Errorf("%s, %s: %v, %v", what, command[0], v, err)
			}
		}
		if err := s.Moved(); !errors.Is(err, local.ErrMoved) {
			t.Errorf("%s: %v", what, err)
		}
		readTogether(t, s, 4)
		if what == "moved" {
			if err := os.Rename(path+".old", path); err != nil {
				t.Fatal(err)
			}
			c.Want("SET k w", "OK")
		}
	}
}

// readTogether holds n reads of k open at once.
func readTogether(t *testing.T, s *local.Store, n int) {
	t.Helper()
	var all, running sync.WaitGroup
	all.Add(n)
	for range n {
		running.Go(func() {
			inside := sync.OnceFunc(func() { all.Done(); all.Wait() })
			defer inside()
			err := s.Transact(context.Background(), true, func(run func(store.Batch) (store.Result, error)) error {
				r, err := run(store.Batch{ReadOnly: true, Stmts: []store.Stmt{{SQL: `SELECT value FROM keys LIMIT 1`}}})
				if err == nil && len(r.Rows[0]) != 1 {
					t.Errorf("got %v", r.Rows)
				}
				inside()
				return err
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	running.Wait()
}

// TestSubsets deletes or replaces each subset of the file, the WAL and the shared memory while a store has them
// open, and writes from another process, or another store of this process, with checkpoints or without. Each
// write acknowledged after that is in the file at the end. So is each earlier write, unless the file itself is
// gone.
func TestSubsets(t *testing.T) {
	race.Skip(t)
	if runtime.GOOS != "linux" {
		return // another process cannot see which WAL is in use
	}
	for subset := 1; subset < 1<<len(subsetEnds); subset++ {
		for _, replace := range []bool{false, true} {
			for round := range 4 {
				process, checkpoints := round&1 != 0, round&2 != 0
				what := subsetName(subset)
				t.Run(fmt.Sprintf("replace=%t,process=%t,checkpoints=%t%s", replace, process, checkpoints, what), func(t *testing.T) {
					path := filepath.Join(t.TempDir(), "t.sqlite")
					testSubset(t, path, subset, replace, process, checkpoints)
				})
			}
		}
	}
}

var subsetEnds = []string{"", "-wal", "-shm"}

func subsetName(subset int) (name string) {
	for i, end := range subsetEnds {
		if subset&(1<<i) != 0 {
			name += " file" + end
		}
	}
	return name
}

// takeSubset deletes a subset of the files of the database at path, or replaces them by copies. It passes over
// missing ones.
func takeSubset(t *testing.T, path string, subset int, replace bool) {
	for i, end := range subsetEnds {
		if subset&(1<<i) == 0 {
			continue
		}
		name := path + end
		data, err := os.ReadFile(name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err == nil && replace:
			err = errors.Join(os.WriteFile(name+".new", data, 0o600), os.Rename(name+".new", name))
		case err == nil:
			err = os.Remove(name)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func testSubset(t *testing.T, path string, subset int, replace, process, checkpoints bool) {
	fileGone := subset&1 != 0
	checkpoint := func(s *local.Store) {
		if checkpoints && s != nil {
			s.Checkpoint()
		}
	}
	s, err := local.Open(path, local.Options{IsolateSlowReads: true, SweepEvery: -1})
	if err != nil {
		t.Fatal(err)
	}
	var acknowledged []string
	write := func(s *local.Store, name string) (all bool) {
		session := engine.New(s).Session()
		all = true
		for i := range 5 {
			key := fmt.Sprintf("%s:%d", name, i)
			if _, err := session.Do(t.Context(), []byte("SET"), []byte(key), []byte(key)); err != nil {
				all = false
				continue
			}
			acknowledged = append(acknowledged, key)
		}
		return all
	}
	var second *local.Store
	elsewhere := func(round int) {
		if process {
			acknowledged = append(acknowledged, runBriefly(t, path, round)...)
			return
		}
		if second == nil {
			if second, err = local.Open(path, local.Options{SweepEvery: -1}); err != nil {
				second = nil
				return
			}
		}
		write(second, fmt.Sprint("second", round))
	}

	write(s, "before")
	if fileGone {
		acknowledged = nil
	}
	takeSubset(t, path, subset, replace)
	checkpoint(s)
	elsewhere(1)
	checkpoint(second)
	checkpoint(s)
	write(s, "between")
	checkpoint(s)
	elsewhere(2)
	checkpoint(second)
	if all := write(s, "after"); !all && process && !replace && !fileGone {
		t.Error("a store that alone has the file open does not write any more")
	}
	for _, s := range []*local.Store{second, s} {
		if s != nil {
			s.Close()
		}
	}
	c := storetest.NewClient(t, engine.New(open(t, path, local.Options{})))
	for _, key := range acknowledged {
		if got := c.Do("EXISTS " + key); got != "(integer) 1" {
			t.Errorf("%s was acknowledged and is lost: %s", key, got)
		}
	}
}

// TestSubsetsAtOpening deletes or replaces each subset after each opening of the file for a store. The store refuses to
// open, or loses no write that it acknowledges. What was written before stays, unless its file or log was deleted.
func TestSubsetsAtOpening(t *testing.T) {
	race.Skip(t)
	if runtime.GOOS != "linux" {
		return
	}
	whole := filepath.Join(t.TempDir(), "whole.sqlite")
	storetest.NewClient(t, engine.New(open(t, whole, local.Options{}))).Want("SET before 1", "OK")
	for subset := 1; subset < 1<<len(subsetEnds); subset++ {
		for _, replace := range []bool{false, true} {
			for opening := range 3 {
				t.Run(fmt.Sprintf("replace=%t,opening=%d%s", replace, opening, subsetName(subset)), func(t *testing.T) {
					path, opened := crash(t, whole), 0
					restore := local.OnOpen(func(name string) {
						if name == path {
							if opened++; opened == opening+1 {
								takeSubset(t, path, subset, replace)
							}
						}
					})
					s, err := local.Open(path, local.Options{SweepEvery: -1})
					restore()
					acknowledged := []string{}
					if replace || subset&3 == 0 {
						acknowledged = append(acknowledged, "before")
					}
					for round := range 2 {
						if err != nil {
							break
						}
						key := fmt.Sprint("after:", round)
						if _, failed := engine.New(s).Session().Do(t.Context(), []byte("SET"), []byte(key), []byte("1")); failed == nil {
							acknowledged = append(acknowledged, key)
						}
						acknowledged = append(acknowledged, runBriefly(t, path, round)...)
					}
					if err == nil {
						s.Close()
					}
					c := storetest.NewClient(t, engine.New(open(t, path, local.Options{})))
					for _, key := range acknowledged {
						if got := c.Do("EXISTS " + key); got != "(integer) 1" {
							t.Errorf("%s is lost: %s", key, got)
						}
					}
				})
			}
		}
	}
}

// TestReplacedDuringCommit deletes or replaces a file between the last check before a commit and the check
// after it. The write fails and says that it may be lost, and does not run again.
func TestReplacedDuringCommit(t *testing.T) {
	if runtime.GOOS == "windows" {
		return // where a file that is open stays
	}
	for i, end := range subsetEnds {
		for _, replace := range []bool{false, true} {
			path := filepath.Join(t.TempDir(), "t.sqlite")
			s := open(t, path, local.Options{IsolateSlowReads: true, SweepEvery: -1})
			c := storetest.NewClient(t, engine.New(s))
			c.Want("INCR n", "(integer) 1")
			take := sync.OnceFunc(func() { takeSubset(t, path, 1<<i, replace) })
			s.OnLogWrite(func(p []byte, write func(n int)) error {
				take()
				write(len(p))
				return nil
			})
			v, err := engine.New(s).Session().Do(t.Context(), []byte("INCR"), []byte("n"))
			if err == nil || !strings.HasPrefix(err.Error(), "the write may be lost: the ") {
				t.Errorf("file%s, replace=%t: %v, %v", end, replace, v, err)
			}
			c.Want("GET n", `"2"`)
			if end != "" && !replace {
				c.Want("INCR n", "(integer) 3") // what was deleted is repaired
			}
		}
	}
}

// TestGoneInTheMiddle replaces the log or the shared memory while a long transaction is written to the log before its
// commit. Not one more write goes to the log: another process may use it.
func TestGoneInTheMiddle(t *testing.T) {
	if runtime.GOOS == "windows" {
		return
	}
	for i, end := range subsetEnds {
		path := filepath.Join(t.TempDir(), "t.sqlite")
		s := open(t, path, local.Options{IsolateSlowReads: true, SweepEvery: -1, CacheBytes: 64 << 10})
		c := storetest.NewClient(t, engine.New(s))
		c.Want("SET before 1", "OK")
		writes := 0
		s.OnLogWrite(func(p []byte, write func(n int)) error {
			if writes++; writes == 1 {
				takeSubset(t, path, 1<<i, true)
			}
			write(len(p))
			return nil
		})
		long := [][]byte{[]byte("MSET")}
		for i := range 400 {
			long = append(long, fmt.Appendf(nil, "long:%d", i), make([]byte, 5000))
		}
		v, err := engine.New(s).Session().Do(t.Context(), long...)
		if want := map[bool]error{true: local.ErrMoved, false: local.ErrWALGone}[end == ""]; !errors.Is(err, want) || strings.Contains(err.Error(), "lost") {
			t.Errorf("file%s: %v, %v", end, v, err)
		}
		if writes != 1 {
			t.Errorf("file%s: %d writes to the log after it was replaced", end, writes-1)
		}
		c.Want("EXISTS before long:0", "(integer) 1")
	}
}

// TestCheckpointOfReplaced copies nothing back by shared memory that is no longer under its name.
func TestCheckpointOfReplaced(t *testing.T) {
	if runtime.GOOS == "windows" {
		return
	}
	for _, end := range subsetEnds[1:] {
		path := filepath.Join(t.TempDir(), "t.sqlite")
		s := open(t, path, local.Options{SweepEvery: -1})
		storetest.NewClient(t, engine.New(s)).Want("SET k v", "OK")
		before, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		takeSubset(t, path, map[string]int{"-wal": 2, "-shm": 4}[end], true)
		if err := s.Checkpoint(); !errors.Is(err, local.ErrWALGone) {
			t.Errorf("file%s: %v", end, err)
		}
		if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, before) {
			t.Errorf("file%s: the file was changed, %v", end, err)
		}
	}
}

// runBriefly runs a process that writes to the file if it can open it at once, and returns the acknowledged
// writes.
func runBriefly(t *testing.T, path string, round int) (acknowledged []string) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), childPath+"="+path, childBrief+"=1")
	cmd.Stdin = strings.NewReader(fmt.Sprintln(3, round))
	out, err := cmd.Output()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		key, _, _ := strings.Cut(line, " ")
		acknowledged = append(acknowledged, key)
	}
	return acknowledged
}
