package local_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/meowdis/meowdis/engine"
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
// open, and writes from another process, or another store of this process. Each write acknowledged after that
// is in the file at the end. So is each earlier write, unless the file itself is gone.
func TestSubsets(t *testing.T) {
	if runtime.GOOS != "linux" {
		return // another process cannot see which WAL is in use
	}
	ends := []string{"", "-wal", "-shm"}
	for subset := 1; subset < 1<<len(ends); subset++ {
		for _, replace := range []bool{false, true} {
			for _, process := range []bool{false, true} {
				what := ""
				for i, end := range ends {
					if subset&(1<<i) != 0 {
						what += " file" + end
					}
				}
				t.Run(fmt.Sprintf("replace=%t,process=%t%s", replace, process, what), func(t *testing.T) {
					path := filepath.Join(t.TempDir(), "t.sqlite")
					testSubset(t, path, replace, process, func(fn func(path string) error) {
						for i, end := range ends {
							if subset&(1<<i) != 0 {
								if err := fn(path + end); err != nil {
									t.Fatal(err)
								}
							}
						}
					}, subset&1 != 0)
				})
			}
		}
	}
}

func testSubset(t *testing.T, path string, replace, process bool, each func(func(path string) error), fileGone bool) {
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
	if replace {
		each(func(path string) error {
			data, err := os.ReadFile(path)
			return errors.Join(err, os.WriteFile(path+".new", data, 0o600), os.Rename(path+".new", path))
		})
	} else {
		each(os.Remove)
	}
	elsewhere(1)
	write(s, "between")
	elsewhere(2)
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
