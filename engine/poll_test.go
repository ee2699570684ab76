package engine_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/internal/test/storetest"
	"github.com/meowdis/meowdis/store"
)

// TestWaitsForOtherProcesses blocks clients of one engine until another engine writes to a store that sends no
// notifications.
func TestWaitsForOtherProcesses(t *testing.T) {
	s := openHostile(t)
	clock := storetest.NewClock()
	here, there := storetest.NewEngine(s, clock), storetest.NewEngine(s, clock)
	other := storetest.NewClient(t, there)
	first := ask(t, here.Session(), "BLPOP l 0")
	untilBlocked(t, here, 1)
	second := ask(t, here.Session(), "BLMPOP 0 2 x l LEFT COUNT 2")
	untilBlocked(t, here, 2)
	other.Want("RPUSH l a b c d", "(integer) 4")
	first.want(t, `1) "l"`+"\n"+`2) "a"`)
	second.want(t, `1) "l"`+"\n"+`2) 1) "b"`+"\n"+`   2) "c"`)
	other.Want("LRANGE l 0 -1", `1) "d"`)

	other.Want("XADD s 1-1 f v", `"1-1"`)
	read := ask(t, here.Session(), "XREAD BLOCK 0 STREAMS s $")
	untilBlocked(t, here, 1)
	moved := ask(t, here.Session(), "BLMOVE from to LEFT LEFT 0")
	untilBlocked(t, here, 2)
	chained := ask(t, here.Session(), "BLPOP to 0")
	untilBlocked(t, here, 3)
	other.Want("SET from x", "OK") // which is another type
	other.Want("DEL from", "(integer) 1")
	other.Want("RPUSH from e", "(integer) 1")
	moved.want(t, `"e"`)
	chained.want(t, `1) "to"`+"\n"+`2) "e"`)
	other.Want("XADD s 2-1 f w", `"2-1"`)
	read.want(t, "1) \"s\"\n2) 1) 1) \"2-1\"\n      2) 1) \"f\"\n         2) \"w\"")

	// What the process itself writes is served at once, in the order of arrival.
	third := ask(t, here.Session(), "BZPOPMIN z 0")
	untilBlocked(t, here, 1)
	storetest.NewClient(t, here).Want("ZADD z 1 m", "(integer) 1")
	third.want(t, `1) "z"`+"\n"+`2) "m"`+"\n"+`3) (double) 1`)
	storetest.Check(t, s)
}

// looks counts the statements sent to a store while nothing happens.
type looks struct {
	engine.Store
	seen chan int
	off  atomic.Bool
}

func (s *looks) Apply(ctx context.Context, batches []store.Batch) ([]store.Result, error) {
	if !s.off.Load() {
		n := 0
		for _, b := range batches {
			n += len(b.Stmts)
		}
		select {
		case s.seen <- n:
		default: // the test has seen enough
		}
	}
	return s.Store.Apply(ctx, batches)
}

// TestPollIsOneStatement waits for many keys, and reads their versions by one statement a database.
func TestPollIsOneStatement(t *testing.T) {
	s := &looks{Store: openHostile(t), seen: make(chan int, 1000)}
	s.off.Store(true)
	e := storetest.NewEngine(s, storetest.NewClock())
	var waiting []asked
	for _, line := range []string{"BLPOP a b c d 0", "BLPOP b e 0", "BRPOP f 0"} {
		waiting = append(waiting, ask(t, e.Session(), line))
		untilBlocked(t, e, len(waiting))
	}
	// The first look at a key tries its type, in case it has come meanwhile.
	s.off.Store(false)
	for calm := 0; calm < 3; {
		if n := <-s.seen; n == 1 {
			calm++
		} else {
			t.Errorf("a look takes %d statements", n)
		}
	}
	s.off.Store(true)
	for len(s.seen) > 0 {
		<-s.seen
	}
	storetest.NewClient(t, e).Want("RPUSH f 1", "(integer) 1")
	waiting[2].want(t, `1) "f"`+"\n"+`2) "1"`)
	storetest.NewClient(t, e).Want("RPUSH b 1 2", "(integer) 2")
	waiting[0].want(t, `1) "b"`+"\n"+`2) "1"`)
	waiting[1].want(t, `1) "b"`+"\n"+`2) "2"`)
}
