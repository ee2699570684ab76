package engine_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/internal/test/storetest"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/translator"
)

// asked is a reply that is on its way.
type asked chan string

func ask(t *testing.T, s *engine.Session, line string) asked {
	t.Helper()
	args := words(t, line)[0]
	reply := make(asked, 1)
	go func() {
		v, err := s.Do(context.Background(), args...)
		if err != nil {
			reply <- "error: " + err.Error()
			return
		}
		reply <- string(resp.AppendTyped(nil, v, false))
	}()
	return reply
}

func (a asked) want(t *testing.T, want string) {
	t.Helper()
	select {
	case got := <-a:
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	case <-time.After(time.Minute):
		t.Fatalf("no reply, want %s", want)
	}
}

func blocked(e *engine.Engine) int {
	n, _, _ := e.Blocked()
	return n
}

func untilBlocked(t *testing.T, e *engine.Engine, n int) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); blocked(e) != n; {
		if time.Now().After(deadline) {
			t.Fatalf("%d sessions wait, want %d", blocked(e), n)
		}
		time.Sleep(time.Millisecond)
	}
}

func engines(t *testing.T) map[string]*engine.Engine {
	file, err := local.Open(filepath.Join(t.TempDir(), "t.sqlite"), local.Options{SweepEvery: -1, RowCacheBytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	memory, err := local.Open(local.Memory, local.Options{SweepEvery: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close(); memory.Close() })
	return map[string]*engine.Engine{
		"file": storetest.NewEngine(file, storetest.NewClock()), "memory": storetest.NewEngine(memory, storetest.NewClock()),
		"hostile": storetest.NewEngine(openHostile(t), storetest.NewClock()),
	}
}

func TestWaiters(t *testing.T) {
	for name, e := range engines(t) {
		t.Run(name, func(t *testing.T) {
			writer := e.Session()
			var replies []asked
			for i := range 5 {
				replies = append(replies, ask(t, e.Session(), "BLPOP a b 0"))
				untilBlocked(t, e, i+1)
			}
			ask(t, writer, "RPUSH b 1 2").want(t, "(integer) 2")
			for i := range 2 {
				replies[i].want(t, fmt.Sprintf("1) \"b\"\n2) \"%d\"", i+1))
			}
			ask(t, writer, "LLEN b").want(t, "(integer) 0")
			ask(t, writer, "EVAL \"redis.call('rpush','a',3);redis.call('rpush','a',4);return(redis.call('llen','a'))\" 0").want(t, "(integer) 2")
			replies[2].want(t, "1) \"a\"\n2) \"3\"")
			replies[3].want(t, "1) \"a\"\n2) \"4\"")
			ask(t, writer, "SET b x").want(t, "OK")
			ask(t, writer, "RPUSH a 5").want(t, "(integer) 1")
			replies[4].want(t, "1) \"a\"\n2) \"5\"")
			untilBlocked(t, e, 0)
		})
	}
}

// TestExactly waits for as many elements as it wants, while others take what it leaves.
func TestExactly(t *testing.T) {
	for name, e := range engines(t) {
		t.Run(name, func(t *testing.T) {
			writer := e.Session()
			all := ask(t, e.Session(), "BLMOVEM a b LEFT RIGHT 0 EXACTLY 3 BULK")
			untilBlocked(t, e, 1)
			ask(t, writer, "RPUSH a 1").want(t, "(integer) 1")
			ask(t, e.Session(), "BLPOP a 0").want(t, "1) \"a\"\n2) \"1\"")
			ask(t, writer, "RPUSH a 2 3").want(t, "(integer) 2")
			ask(t, writer, "RPUSH a 4 5").want(t, "(integer) 4")
			all.want(t, "1) \"2\"\n2) \"3\"\n3) \"4\"")
			ask(t, writer, "LLEN a").want(t, "(integer) 1")
		})
	}
}

// TestTimers waits by a timer of the test's own.
func TestTimers(t *testing.T) {
	s, err := local.Open(local.Memory, local.Options{SweepEvery: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	rung := make(chan time.Time)
	asked := make(chan time.Duration, 1)
	e := engine.New(s, engine.WithTimer(func(d time.Duration) (<-chan time.Time, func()) {
		asked <- d
		return rung, func() {}
	}))
	reply := ask(t, e.Session(), "BLPOP a 1.0005")
	if d := <-asked; d != 1001*time.Millisecond {
		t.Errorf("it waits for %v", d)
	}
	rung <- time.Time{}
	reply.want(t, "(nil)")
	reply = ask(t, e.Session(), "XREAD BLOCK 7 STREAMS s $")
	if d := <-asked; d != 7*time.Millisecond {
		t.Errorf("it waits for %v", d)
	}
	ask(t, e.Session(), "XADD s 1-1 f v").want(t, `"1-1"`)
	reply.want(t, "1) \"s\"\n2) 1) 1) \"1-1\"\n      2) 1) \"f\"\n         2) \"v\"")
	e.Pause(50, true)
	paused := ask(t, e.Session(), "PING")
	<-asked
	untilBlocked(t, e, 1)
	rung <- time.Time{}
	paused.want(t, "PONG")
}

// TestWaitingForSamples waits with TS.READ, whose page is https://redis.io/docs/latest/commands/ts.read.
func TestWaitingForSamples(t *testing.T) {
	s, err := local.Open(local.Memory, local.Options{SweepEvery: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	rung := make(chan time.Time)
	e := engine.New(s, engine.WithTimer(func(time.Duration) (<-chan time.Time, func()) { return rung, func() {} }))
	do := func(line, want string) { t.Helper(); ask(t, e.Session(), line).want(t, want) }
	waiting := func(line string) asked {
		t.Helper()
		reply := ask(t, e.Session(), line)
		untilBlocked(t, e, 1)
		return reply
	}
	do("TS.ADD s 100 1 DUPLICATE_POLICY LAST", "(integer) 100")
	tail := waiting("TS.READ s $ BLOCK 7 2 MAX_COUNT 2")
	do("TS.ADD s 200 2", "(integer) 200")
	do("TS.ADD s 300 3", "(integer) 300")
	tail.want(t, "1) 1) (integer) 200\n   2) 2\n2) 1) (integer) 300\n   2) 3")

	few := waiting("TS.READ s 101 BLOCK 7 9")
	rung <- time.Time{}
	few.want(t, "1) 1) (integer) 200\n   2) 2\n2) 1) (integer) 300\n   2) 3")
	latest := waiting("TS.READ s + BLOCK 7 2")
	do("TS.ADD s 150 9", "(integer) 150") // before the cursor
	do("TS.ADD s 301 4", "(integer) 301")
	latest.want(t, "1) 1) (integer) 300\n   2) 3\n2) 1) (integer) 301\n   2) 4")

	gone := waiting("TS.READ s $ BLOCK 0 1")
	do("DEL s", "(integer) 1")
	gone.want(t, "(empty array)")
	coming := waiting("TS.READ s 5 BLOCK 0 1")
	do("TS.ADD s 5 1", "(integer) 5")
	coming.want(t, "1) 1) (integer) 5\n   2) 1")

	do("TS.CREATE means", "OK")
	do("TS.CREATERULE s means AGGREGATION AVG 10", "OK")
	mean := waiting("TS.READ means 0 BLOCK 0 1")
	do("TS.ADD s 11 1", "(integer) 11")
	do("TS.ADD s 21 1", "(integer) 21")
	mean.want(t, "1) 1) (integer) 10\n   2) 1")

	other := waiting("TS.READ next 0 BLOCK 0 1")
	do("SET next x", "OK")
	other.want(t, "(error) WRONGTYPE Operation against a key holding the wrong kind of value")
	refusal := "(error) TSDB: blocking TS.READ (with BLOCK) is not allowed inside MULTI, EVAL, or a deny-blocking context"
	session := e.Session()
	ask(t, session, "MULTI").want(t, "OK")
	ask(t, session, "TS.READ s 1000 BLOCK 0 1").want(t, "QUEUED")
	ask(t, session, "EXEC").want(t, "1) "+refusal)
	session.NeverWait()
	ask(t, session, "TS.READ s 1000 BLOCK 0 1").want(t, refusal)
	ask(t, session, "TS.READ s 11 BLOCK 0 1 MAX_COUNT 1").want(t, "1) 1) (integer) 11\n   2) 1")
}

// TestWaitsEndWithTheirContext has a client go whose element another then gets.
func TestWaitsEndWithTheirContext(t *testing.T) {
	for name, e := range engines(t) {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan error)
			go func() {
				_, err := e.Session().Do(ctx, words(t, "BLPOP a 0")[0]...)
				ended <- err
			}()
			untilBlocked(t, e, 1)
			other := ask(t, e.Session(), "BLPOP a 0")
			untilBlocked(t, e, 2)
			cancel()
			if err := <-ended; !errors.Is(err, context.Canceled) {
				t.Errorf("it ends with %v", err)
			}
			ask(t, e.Session(), "RPUSH a 1").want(t, "(integer) 1")
			other.want(t, "1) \"a\"\n2) \"1\"")
		})
	}
}

// twice is a store whose transactions are undone once, and run again: their last batch is refused after
// it has changed something.
type twice struct{ *local.Store }

func (s twice) Apply(ctx context.Context, batches []store.Batch) ([]store.Result, error) {
	if batches[len(batches)-1].ReadOnly {
		return s.Store.Apply(ctx, batches)
	}
	results, err := s.Store.Apply(ctx, append(batches[:len(batches):len(batches)], store.Batch{Stmts: []store.Stmt{
		{SQL: "UPDATE keys SET updated_at = 1"}, translator.Abort(),
	}}))
	return results[:len(batches)], err
}

// TestUndone serves in a transaction that is undone before it is committed.
func TestUndone(t *testing.T) {
	s, err := local.Open(filepath.Join(t.TempDir(), "t.sqlite"), local.Options{SweepEvery: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	e := storetest.NewEngine(twice{s}, storetest.NewClock())
	writer := e.Session()
	ask(t, writer, "SET s x").want(t, "OK")
	ask(t, writer, "SET dst x").want(t, "OK")
	var told []engine.Change
	defer e.Listen(func(changes []engine.Change) { told = append(told, changes...) })()
	first := ask(t, e.Session(), "BLMOVE a dst LEFT LEFT 0")
	untilBlocked(t, e, 1)
	second := ask(t, e.Session(), "BLPOP a 0")
	untilBlocked(t, e, 2)
	replies, err := writer.Pipeline(t.Context(), words(t, "RPUSH a 1", "LLEN a", "RPUSH b 2", "MSETNX n 1 s 2", "LMOVE b s LEFT LEFT"))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"(integer) 1", "(integer) 0", "(integer) 1", "(integer) 0", "(error) WRONGTYPE Operation against a key holding the wrong kind of value"} {
		if got := string(resp.AppendTyped(nil, replies[i], false)); got != want {
			t.Errorf("reply %d is %s, want %s", i, got, want)
		}
	}
	first.want(t, "(error) WRONGTYPE Operation against a key holding the wrong kind of value")
	second.want(t, "1) \"a\"\n2) \"1\"")
	var lines []string
	for _, c := range told {
		lines = append(lines, fmt.Sprintf("%s %q", c.Command.Name, c.Keys))
	}
	if got, want := fmt.Sprint(lines), `[RPUSH ["a"] BLPOP ["a"] RPUSH ["b"]]`; got != want {
		t.Errorf("listeners hear of %s, want %s", got, want)
	}
}

// TestListen tells what commands, transactions, scripts, the sweep and other processes change.
func TestListen(t *testing.T) {
	clock := storetest.NewClock()
	s, err := local.Open(filepath.Join(t.TempDir(), "t.sqlite"), local.Options{SweepEvery: -1, Now: clock.Now})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	e := storetest.NewEngine(s, clock)
	session := e.Session()
	var told [][]string
	stop := e.Listen(func(changes []engine.Change) {
		var of []string
		for _, c := range changes {
			text := fmt.Sprintf("%d %q", c.DB, c.Keys)
			switch {
			case c.Expired:
				text += " expired"
			case c.Evicted:
				text += " evicted"
			case c.Session == session:
				text += " " + c.Command.Name + " " + string(c.Args[1])
			}
			of = append(of, text)
		}
		told = append(told, of)
	})
	do := func(want string, lines ...string) {
		t.Helper()
		told = nil
		if _, err := session.Pipeline(t.Context(), words(t, lines...)); err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(told); got != want {
			t.Errorf("%q: listeners hear %s, want %s", lines, got, want)
		}
	}
	do(`[[0 ["a"] SET a 0 ["b"] RPUSH b 0 ["a"] APPEND a]]`, "SET a 1", "RPUSH b x", "GET a", "APPEND a y", "DEL nosuch", "INCR a", "SADD b m")
	do(`[[0 ["a" "c"] MSET a]]`, "MSET a 1 c 2")
	do(`[[0 ["a" "d"] RENAME a]]`, "RENAME a d")
	do(`[]`, "GET a", "SETNX c 1", "LPOP nosuch", "EXPIRE nosuch 1")
	do(`[[0 ["c"] INCR c 0 ["c"] EXPIRE c]]`, "MULTI", "INCR c", "GET c", "EXPIRE c 1", "EXEC")
	do(`[[0 ["x"] SET x 0 ["y"] SET y]]`, `EVAL "redis.call('set','x',1) redis.call('set','y',1)" 0`)
	do(`[[1 ["x"] SET x]]`, "SELECT 1", "SET x 1", "SELECT 0")
	clock.Advance(2000)
	told = nil
	if _, err := s.Sweep(t.Context(), 10); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(told); got != `[[0 ["c"] expired]]` {
		t.Errorf("of the sweep listeners hear %s", got)
	}
	e.SetMaxMemory(1, translator.AllKeysRandom)
	told = nil
	if _, err := session.Pipeline(t.Context(), words(t, "SET z 1")); err != nil {
		t.Fatal(err)
	}
	evicted := 0
	for _, c := range told {
		for _, text := range c {
			if strings.HasSuffix(text, " evicted") {
				evicted++
			}
		}
	}
	if evicted == 0 {
		t.Errorf("of what is evicted listeners hear %s", told)
	}
	stop()
	do(`[]`, "SET a 1")
}

// TestServedInTime ends a blocked call that takes longer than one may while another client's write serves it.
func TestServedInTime(t *testing.T) {
	st, err := local.Open(local.Memory, local.Options{SweepEvery: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	e := engine.New(unhurried{st})
	waits := ask(t, e.Session(), "XREAD BLOCK 0 STREAMS x $")
	untilBlocked(t, e, 1)
	e.SetTimeLimit(1)
	args := words(t, "XADD x 1-1"+strings.Repeat(" f v", 5000))[0]
	if v, err := e.Session().Do(context.Background(), args...); err != nil || string(v.Str) != "1-1" {
		t.Errorf("the write: %+v, %v", v, err)
	}
	select {
	case got := <-waits:
		if !strings.Contains(got, "nothing was changed") {
			t.Errorf("got %.100s", got)
		}
	case <-time.After(time.Minute):
		t.Fatal("no reply")
	}
}
