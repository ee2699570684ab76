package engine_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/internal/test/corpus"
	"github.com/meowdis/meowdis/internal/test/storetest"
	"github.com/meowdis/meowdis/local"
)

// mixture holds commands that succeed, that are refused before and after a change, that read first, and that
// act on the session.
const mixture = `SET k 1
INCR k
LPUSH k x
SET k 2 NX
SET k 2 GET
INCRBYFLOAT f 0.5
HSET h field text
HINCRBY h field 1
RPUSH l a b
SET l over
SET h 1 KEEPTTL
SADD l member
DEL l h
NOPE
GET k
SELECT 1
RPUSH l c
SELECT 0
MULTI
INCR k
LLEN k
EXEC
PFADD p a b
EXISTS l h p`

// TestBulk runs enough commands in one call to make them one transaction: the replies are the same as one by
// one.
func TestBulk(t *testing.T) {
	var lines []string
	for range 60 {
		lines = append(lines, strings.Split(mixture, "\n")...)
	}
	open := func() *transacted {
		s, err := local.Open(local.Memory, local.Options{SweepEvery: -1})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		storetest.CheckAtEnd(t, s)
		return &transacted{Store: s}
	}
	alone := storetest.NewClient(t, storetest.NewEngine(open(), storetest.NewClock()))
	s := open()
	replies, err := storetest.NewEngine(s, storetest.NewClock()).Session().Pipeline(context.Background(), words(t, lines...))
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range lines {
		if got, want := corpus.Show(replies[i]), alone.Do(line); got != want {
			t.Fatalf("command %d, %s: %s, want %s", i, line, got, want)
		}
	}
	storetest.Check(t, s)
	// Between two commands of the session lies one transaction.
	if most := 60 * (strings.Count(mixture, "SELECT") + strings.Count(mixture, "EXEC") + 2); s.writing > most {
		t.Errorf("%d transactions, want at most %d", s.writing, most)
	}
}

// TestBulkOfNewStrings sets strings in a bulk, some of whose keys exist, have expired, have another type or occur twice.
// The replies and the keys are the same as one by one.
func TestBulkOfNewStrings(t *testing.T) {
	var lines []string
	for i := range 2500 {
		form := []string{"SET s:%d %d", "SET s:%d %d NX", "SETNX s:%d %d", "SET s:%d %d EX 100", "SET s:%d %d PX 5 NX"}[i/200%5]
		name := i
		if i%97 == 0 {
			name = i / 2
		}
		lines = append(lines, fmt.Sprintf(form, name, i))
		if i%400 == 399 {
			lines = append(lines, "RPUSH list a", "SET list over", "SET s:long "+strings.Repeat("x", 20_000), "GET s:7")
		}
		if i == 1250 {
			lines = append(lines, "SELECT 1") // between two bulks
		}
	}
	lines = append(lines, "SELECT 0")
	open := func() (*engine.Engine, *storetest.Clock, *local.Store) {
		s, err := local.Open(local.Memory, local.Options{SweepEvery: -1})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		storetest.CheckAtEnd(t, s)
		clock := storetest.NewClock()
		return storetest.NewEngine(s, clock), clock, s
	}
	aloneEngine, aloneClock, _ := open()
	bulkEngine, bulkClock, s := open()
	alone, bulk := storetest.NewClient(t, aloneEngine), bulkEngine.Session()
	for round := range 3 { // the keys are new, exist, and some have expired
		replies, err := bulk.Pipeline(context.Background(), words(t, lines...))
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range lines {
			if got, want := corpus.Show(replies[i]), alone.Do(line); got != want {
				t.Fatalf("round %d, command %d, %s: %s, want %s", round, i, line, got, want)
			}
		}
		for i, line := range lines {
			if i%7 > 0 {
				continue
			}
			words := strings.Fields(line)
			v, err := bulk.Pipeline(context.Background(), [][][]byte{{[]byte("GET"), []byte(words[1])}, {[]byte("PTTL"), []byte(words[1])}})
			if err != nil {
				t.Fatal(err)
			}
			if got, want := corpus.Show(v[0])+corpus.Show(v[1]), alone.Do("GET "+words[1])+alone.Do("PTTL "+words[1]); got != want {
				t.Fatalf("round %d, after command %d, %s: %s, want %s", round, i, line, got, want)
			}
		}
		storetest.Check(t, s)
		aloneClock.Advance(10)
		bulkClock.Advance(10)
	}
}

// TestBulkOfReads checks that a bulk of reads does not wait for a writer.
func TestBulkOfReads(t *testing.T) {
	inner, err := local.Open(local.Memory, local.Options{SweepEvery: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer inner.Close()
	s := &transacted{Store: inner}
	lines := strings.Split(strings.TrimSpace(strings.Repeat("GET k\nEXISTS k\n", 1000)), "\n")
	if _, err := storetest.NewEngine(s, storetest.NewClock()).Session().Pipeline(context.Background(), words(t, lines...)); err != nil {
		t.Fatal(err)
	}
	if s.writing != 0 || s.reading != 1 {
		t.Errorf("%d transactions that write and %d that read", s.writing, s.reading)
	}
}

// TestWritesShareATransaction runs a few commands that read before they write: consecutive ones, without a read
// between them, share one transaction.
func TestWritesShareATransaction(t *testing.T) {
	inner, err := local.Open(local.Memory, local.Options{SweepEvery: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer inner.Close()
	s := &transacted{Store: inner}
	lines := strings.Split("SET k 1\nINCRBYFLOAT k 0.5\nINCRBYFLOAT k 0.5\nSET l 1\nGET k\nINCRBYFLOAT k 1\nAPPEND l x", "\n")
	replies, err := storetest.NewEngine(s, storetest.NewClock()).Session().Pipeline(context.Background(), words(t, lines...))
	if err != nil {
		t.Fatal(err)
	}
	if got := string(replies[4].Str) + " " + string(replies[5].Str); got != "2 3" {
		t.Errorf("the sums are %s", got)
	}
	if s.writing != 2 || s.reading != 0 {
		t.Errorf("%d transactions that write and %d that read", s.writing, s.reading)
	}
}
