package local

import (
	"context"
	"strconv"
	"strings"
	"testing"

	sqlite3 "modernc.org/sqlite/lib"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/internal/test/race"
	"github.com/meowdis/meowdis/store/sweep"
)

// TestStepsPerCommand bounds what a frequent write costs, in counts that do not depend on the machine: the programs of
// SQLite's virtual machine (statements and triggers), their steps, and Go's allocations. A trigger on a table of a
// frequent command is a program even if its condition is false. The command runs once, so the steps of SET of a new key
// and of an existing one differ.
func TestStepsPerCommand(t *testing.T) {
	race.Skip(t)
	s, err := Open(t.TempDir()+"/steps", Options{SweepEvery: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	session := engine.New(s).Session()
	do := func(line string) {
		t.Helper()
		var args [][]byte
		for _, word := range strings.Fields(line) {
			args = append(args, []byte(word))
		}
		if v, err := session.Do(context.Background(), args...); err != nil || v.IsError() {
			t.Fatal(line, v, err)
		}
	}
	for _, test := range []struct {
		first, line             string
		programs, steps, allocs int
	}{
		{"SET a 1", "SET a 2", 3, 74, 35},
		{"PING", "SET b 2", 6, 122, 35},
		{"SET n 1", "INCR n", 4, 97, 37},
		{"RPUSH l a", "RPUSH l b", 5, 162, 41},
		{"RPUSH l a", "LPOP l", 20, 360, 35},
		{"HSET h a 1", "HSET h a 2", 4, 115, 41},
		{"HSET h a 1", "HSET h b 2", 5, 176, 41},
		{"SADD s a", "SADD s b", 4, 121, 42},
		{"ZADD z 1 a", "ZADD z 2 a", 4, 133, 45},
		{"ZADD z 1 a", "ZADD z 2 b", 6, 220, 45},
	} {
		do(test.first)
		do(test.line)
		do("FLUSHALL")
		do(test.first)
		count := func(reset int32) (programs, steps int) {
			err := s.submit(&job{own: func(c *conn) error {
				programs, steps = c.work(reset)
				return nil
			}, done: make(chan struct{})})
			if err != nil {
				t.Fatal(err)
			}
			return programs, steps
		}
		count(1)
		idlePrograms, idleSteps := count(1)
		do(test.line)
		programs, steps := count(1)
		programs, steps = programs-idlePrograms, steps-idleSteps
		allocs := int(testing.AllocsPerRun(100, func() { do(test.line) }))
		if programs > test.programs || steps > test.steps || allocs > test.allocs+2 {
			t.Errorf("%s: %d programs with %d steps, and %d allocations; want at most %d, %d and %d", test.line, programs, steps, allocs, test.programs, test.steps, test.allocs)
		}
	}
}

// work returns how often the prepared statements of a connection have run, with their triggers, and the steps of
// SQLite's virtual machine that they took. reset 1 sets both to 0.
func (c *conn) work(reset int32) (programs, steps int) {
	for _, p := range c.prepared {
		programs += int(sqlite3.Xsqlite3_stmt_status(c.tls, p.stmt, sqlite3.SQLITE_STMTSTATUS_RUN, reset))
		steps += int(sqlite3.Xsqlite3_stmt_status(c.tls, p.stmt, sqlite3.SQLITE_STMTSTATUS_VM_STEP, reset))
	}
	return programs, steps
}

// TestStepsPerQuery holds that a query of an index costs the same however many keys and fields will expire later.
func TestStepsPerQuery(t *testing.T) {
	race.Skip(t)
	s, err := Open(t.TempDir()+"/steps", Options{SweepEvery: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	session := engine.New(s).Session()
	do := func(args ...string) {
		t.Helper()
		var line [][]byte
		for _, arg := range args {
			line = append(line, []byte(arg))
		}
		if v, err := session.Do(context.Background(), line...); err != nil || v.IsError() {
			t.Fatal(args, v, err)
		}
	}
	readerSteps := func() (steps int) {
		for _, c := range s.readers.idle {
			_, n := c.work(1)
			steps += n
		}
		return steps
	}
	steps := func(args ...string) int {
		t.Helper()
		do(args...) // compiles the statements
		readerSteps()
		do(args...)
		return readerSteps()
	}
	index := func() {
		t.Helper()
		for n := 1; n > 0; {
			var err error
			if n, err = sweep.Index(context.Background(), s.Apply, 1, 1000); err != nil {
				t.Fatal(err)
			}
		}
	}
	expiring := func(n int) {
		t.Helper()
		for i := range n {
			key := "session:" + strconv.Itoa(i)
			do("HSET", key, "user", "a", "token", "b")
			do("HEXPIRE", key, "1000", "FIELDS", "1", "token")
			do("SET", "text:"+strconv.Itoa(i), "a", "EX", "1000")
		}
		index()
	}
	do("FT.CREATE", "shop", "PREFIX", "1", "shop:", "SCHEMA", "name", "TEXT")
	do("HSET", "shop:1", "name", "red shoes")
	expiring(1)
	queries := [][]string{{"FT.SEARCH", "shop", "red"}, {"FT.AGGREGATE", "shop", "red"}, {"FT.SEARCH", "shop", "@name:shoes", "NOCONTENT"}}
	var before []int
	for _, query := range queries {
		before = append(before, steps(query...))
	}
	expiring(200)
	for i, query := range queries {
		if after := steps(query...); after != before[i] {
			t.Errorf("%q: %d steps, and %d with 200 times as many keys and fields that expire", query, before[i], after)
		}
	}
}
