package local_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/internal/test/storetest"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/store"
)

// With a path in this variable, the test binary is a process that writes to that file.
const childPath = "MEOWDIS_TEST_CHILD"

// childBrief makes such a process not wait for other processes.
const childBrief = "MEOWDIS_TEST_BRIEF"

func TestMain(m *testing.M) {
	if os.Getenv(childBrief) != "" {
		local.WaitBriefly()
	}
	if path := os.Getenv(childPath); path != "" {
		if err := child(path, os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

const (
	childClients = 8

	wide     = -1 // instead of a round: all write the same keys, each with pages of its own
	wideKeys = 40
)

// child increments n and sets keys from several clients, and prints each acknowledged write. It stops after the
// number of rounds that in says.
func child(path string, in io.Reader, out io.Writer) error {
	var each, round int
	if _, err := fmt.Fscan(in, &each, &round); err != nil {
		return err
	}
	s, err := local.Open(path, local.Options{})
	if err != nil {
		return err
	}
	defer s.Close()
	e := engine.New(s)
	var wg sync.WaitGroup
	var mu sync.Mutex
	var failed error
	for id := range childClients {
		wg.Go(func() {
			session := e.Session()
			for i := range each {
				key := fmt.Sprintf("r%d:c%d:%d", round, id, i)
				n, err := session.Do(context.Background(), []byte("INCR"), []byte("n"))
				switch {
				case err != nil:
				case round == wide:
					_, err = session.Do(context.Background(), setWide(n.Int)...)
				default:
					_, err = session.Do(context.Background(), []byte("SET"), []byte(key), []byte(strconv.FormatInt(n.Int, 10)))
				}
				mu.Lock()
				if err != nil {
					failed = err
				} else {
					fmt.Fprintln(out, key, n.Int)
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	return failed
}

// setWide sets all wide keys to n, a page long.
func setWide(n int64) [][]byte {
	args := [][]byte{[]byte("MSET")}
	for i := range wideKeys {
		args = append(args, fmt.Appendf(nil, "w:%d", i), fmt.Appendf(nil, "%05000d", n))
	}
	return args
}

// TestNoTornRead: a process writes in commits that take several WAL writes; other processes never see part of a
// commit, even if they open the file in between.
func TestNoTornRead(t *testing.T) {
	path := t.TempDir() + "/db.sqlite"
	s := open(t, path, local.Options{})
	get := [][]byte{[]byte("MGET")}
	for i := range wideKeys {
		get = append(get, fmt.Appendf(nil, "w:%d", i))
	}
	cmd, lines := startChild(t, path, 10, wide)
	reads := 0
	for lines.Scan() {
		for _, s := range []*local.Store{s, open(t, path, local.Options{ReadOnly: true})} {
			v, err := engine.New(s).Session().Do(t.Context(), get...)
			if err != nil {
				t.Fatal(err)
			}
			for i, w := range v.Elems {
				if !bytes.Equal(w.Str, v.Elems[0].Str) {
					t.Fatalf("w:%d is %s, and w:0 is %s", i, w.Str, v.Elems[0].Str)
				}
			}
			if len(v.Elems) == wideKeys && len(v.Elems[0].Str) > 0 {
				reads++
			}
		}
	}
	if err := cmd.Wait(); err != nil || reads == 0 {
		t.Fatalf("%d reads found something, and the process ended with %v", reads, err)
	}
}

// startChild starts the process and returns its output.
func startChild(t *testing.T, path string, each, round int) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), childPath+"="+path)
	cmd.Stdin = strings.NewReader(fmt.Sprintln(each, round))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, bufio.NewScanner(out)
}

// TestCrash kills a writing process at random moments, repeatedly, on one file: every acknowledged write is in
// the file, and the file is not damaged.
func TestCrash(t *testing.T) {
	path := t.TempDir() + "/db.sqlite"
	random := rand.New(rand.NewPCG(1, 2))
	acknowledged := map[string]string{}
	for round := range 5 {
		cmd, lines := startChild(t, path, 1_000_000, round)
		kill := 1 + random.IntN(400)
		for lines.Scan() {
			key, value, ok := strings.Cut(lines.Text(), " ")
			if !ok {
				t.Fatalf("the process says %q", lines.Text())
			}
			acknowledged[key] = value
			if kill--; kill == 0 {
				if err := cmd.Process.Kill(); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := cmd.Wait(); err == nil || kill > 0 {
			t.Fatalf("the process ended by itself, %d lines before its end: %v", kill, err)
		}
		s := open(t, path, local.Options{})
		c := storetest.NewClient(t, engine.New(s))
		for key, value := range acknowledged {
			c.Want("GET "+key, strconv.Quote(value))
		}
		n, err := strconv.Atoi(strings.Trim(c.Do("GET n"), `"`))
		if err != nil || n < len(acknowledged) {
			t.Errorf("%d increments were acknowledged, n is %d (%v)", len(acknowledged), n, err)
		}
		checkFile(t, s)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// checkFile runs storetest.Check and SQLite's own check.
func checkFile(t *testing.T, s *local.Store) {
	t.Helper()
	storetest.Check(t, s)
	r, err := s.Apply(context.Background(), []store.Batch{{ReadOnly: true, Stmts: []store.Stmt{
		{SQL: `SELECT * FROM pragma_integrity_check WHERE integrity_check <> 'ok'`},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, rows := range r[0].Rows {
		if len(rows) > 0 {
			t.Errorf("the file is damaged: %v", rows)
		}
	}
}

// TestTwoProcesses counts the writes of another process and of two stores in this process, all at once.
func TestTwoProcesses(t *testing.T) {
	const each = 25
	path := t.TempDir() + "/db.sqlite"
	s := open(t, path, local.Options{})
	cmd, lines := startChild(t, path, each, 0)
	var here sync.WaitGroup
	for _, s := range []*local.Store{s, open(t, path, local.Options{})} {
		e := engine.New(s)
		here.Go(func() {
			c := storetest.NewClient(t, e)
			for range each * childClients {
				c.Do("INCR n")
				c.Do("SET m 1 XX GET")
			}
		})
	}
	for lines.Scan() {
	}
	here.Wait()
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	c := storetest.NewClient(t, engine.New(s))
	c.Want("GET n", strconv.Quote(strconv.Itoa(3*each*childClients)))
	checkFile(t, s)
}

// TestOpenTogether creates one new file from several processes and stores at once.
func TestOpenTogether(t *testing.T) {
	path := t.TempDir() + "/db.sqlite"
	const processes = 4
	var running sync.WaitGroup
	for i := range processes {
		cmd, lines := startChild(t, path, 1, i)
		running.Go(func() {
			for lines.Scan() {
			}
			if err := cmd.Wait(); err != nil {
				t.Error(err)
			}
		})
		running.Go(func() {
			s, err := local.Open(path, local.Options{SweepEvery: -1})
			if err != nil {
				t.Error(err)
				return
			}
			storetest.NewClient(t, engine.New(s)).Do("INCR n")
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	running.Wait()
	s := open(t, path, local.Options{})
	storetest.NewClient(t, engine.New(s)).Want("GET n", strconv.Quote(strconv.Itoa(processes*(childClients+1))))
	checkFile(t, s)
}

// TestTwoStores: two stores see each other's writes at once, also through WATCH.
func TestTwoStores(t *testing.T) {
	path := t.TempDir() + "/db.sqlite"
	clock := storetest.NewClock()
	a := storetest.NewClient(t, storetest.NewEngine(open(t, path, local.Options{}), clock))
	b := storetest.NewClient(t, storetest.NewEngine(open(t, path, local.Options{}), clock))
	a.Want("SET k 1", "OK")
	b.Want("GET k", `"1"`)
	b.Want("INCR k", "(integer) 2")
	a.Want("GET k", `"2"`)
	a.Want("WATCH k", "OK")
	b.Want("SET k 3", "OK")
	a.Want("MULTI", "OK")
	a.Want("SET k lost", "QUEUED")
	a.Want("EXEC", "(nil)")
	b.Want("GET k", `"3"`)

	reader := storetest.NewClient(t, storetest.NewEngine(open(t, path, local.Options{ReadOnly: true}), clock))
	reader.Want("GET k", `"3"`)
	reader.Want("WATCH k", "OK")
	reader.Want("MULTI", "OK")
	reader.Want("GET k", "QUEUED")
	reader.Want("EXEC", `1) "3"`)
	a.Want("INCR k", "(integer) 4")
	reader.Want("GET k", `"4"`)
}
