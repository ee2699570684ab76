package soak

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/meowdis/meowdis/internal/histogram"
)

var crowdSize = flag.Int("clients", 60, "of TestSoak, at once")

// The server is killed and started again so often; the last of its lives ends well.
const lives = 2

// longest is how long a life may take until all that is to be seen in it was.
const longest = 10 * time.Minute

// crowd is the clients of one life of a server.
type crowd struct {
	t      *testing.T
	server *process
	here   context.Context // ends when they are to leave
	ending atomic.Bool     // of the server: connections break
	wrong  atomic.Int64    // errors that were not meant
	seen   sightings

	locks  atomic.Int64 // how often the file was locked and freed: odd while it is locked
	timing sync.Mutex
	writes histogram.Distribution // of acknowledged ones, but for those beside a locked file
}

// timed runs a write that is acknowledged unless there is an error.
func (c *crowd) timed(write func() error) error {
	began, locks := time.Now(), c.locks.Load()
	err := write()
	took := time.Since(began)
	if err == nil && locks%2 == 0 && c.locks.Load() == locks {
		c.timing.Lock()
		defer c.timing.Unlock()
		c.writes.Add(took)
	}
	return err
}

// sightings count what must happen before a life is over.
type sightings struct {
	acknowledged, // writes
	used, // commands of all types
	tooMuch, // requests refused for their own size
	noRoom, // requests refused for that of all
	hungUp, // clients that left in the middle
	givenUp, // clients that never read, and were closed
	unlocked, // writes after another process has kept the file locked
	handed, // elements of queues at which somebody waits
	heard, // messages of channels
	memory atomic.Int64 // samples after the warm-up
}

// missing names what has not happened, "" when all has.
func (s *sightings) missing() string {
	for _, sight := range []struct {
		of    *atomic.Int64
		least int64
		name  string
	}{
		{&s.acknowledged, 100, "acknowledged writes"}, {&s.used, 100, "commands of all types"},
		{&s.tooMuch, 1, "requests that are too large"}, {&s.noRoom, 1, "requests without room"},
		{&s.hungUp, 10, "clients that hang up"}, {&s.givenUp, 1, "clients that never read"},
		{&s.unlocked, 1, "writes after a lock"}, {&s.handed, 100, "elements handed over"}, {&s.heard, 100, "messages heard"}, {&s.memory, 20, "samples of memory"},
	} {
		if n := sight.of.Load(); n < sight.least {
			return fmt.Sprintf("%d %s", n, sight.name)
		}
	}
	return ""
}

// TestSoak has a crowd use a server as meowdis starts it, for some lives of the server.
func TestSoak(t *testing.T) {
	path := t.TempDir() + "/db.sqlite"
	var ledgers []*client
	for i := range max(len(writers), *crowdSize*4/10) {
		w := writers[i%len(writers)]
		overREST := i/len(writers)%2 == 1
		if !w.speaks(overREST) {
			overREST = !overREST
		}
		ledgers = append(ledgers, &client{writer: w, name: fmt.Sprintf("%s:%d", w.kind, i), onREST: overREST})
	}
	room := max(4, *crowdSize/20) // MB; half of those who never read fill it
	for life := range lives {
		p := startVerb(t, path, 0, "--max-request-memory", "3mb", "--max-memory", fmt.Sprintf("%dmb", room), "--write-timeout", "3s")
		live(t, p, path, ledgers, *runFor/lives, life == lives-1)
		p.kill()
		if log := p.log.String(); log != "" {
			t.Errorf("the server logged\n%.3000s", log)
		}
		findWritten(t, path, ledgers)
		if t.Failed() {
			return
		}
	}
}

// live has the crowd at work until all was seen, and for at least some time. Then the
// server is killed or, in its last life, left by all and asked to end.
func live(t *testing.T, p *process, path string, ledgers []*client, atLeast time.Duration, last bool) {
	here, leave := context.WithCancel(t.Context())
	defer leave()
	c := &crowd{t: t, server: p, here: here}
	prepare(t, p)
	var present sync.WaitGroup
	began := time.Now()
	for i := range *crowdSize {
		if i < len(ledgers) {
			present.Go(func() { c.keepLedger(ledgers[i]) })
			continue
		}
		present.Go(func() { c.kind(i)(i) })
	}
	var memory []int64
	present.Go(func() { c.lockOften(path) })
	present.Go(func() { memory = c.watchMemory(max(atLeast, 6*time.Second)) })
	for c.wrong.Load() == 0 && (time.Since(began) < atLeast || c.seen.missing() != "") {
		if time.Since(began) > max(longest, 2*atLeast) {
			t.Errorf("after %v there were only %s", time.Since(began).Round(time.Second), c.seen.missing())
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	if last {
		leave()
		present.Wait()
		allLeft(t, p)
		p.cmd.Process.Signal(syscall.SIGTERM)
		if err := p.cmd.Wait(); err != nil {
			t.Errorf("the server ended with %v", err)
		}
	} else {
		c.ending.Store(true)
		p.kill()
		leave()
		present.Wait()
	}
	if err := flat(memory); err != nil && c.wrong.Load() == 0 {
		t.Error(err)
	}
	s := &c.seen
	t.Logf("%v: %d writes acknowledged, %d commands of all types, %d handed over, %d heard, %d too large, %d without room, %d hung up, %d given up, memory %s",
		time.Since(began).Round(time.Second), s.acknowledged.Load(), s.used.Load(), s.handed.Load(), s.heard.Load(), s.tooMuch.Load(), s.noRoom.Load(), s.hungUp.Load(), s.givenUp.Load(), inMB(memory))
	ms := func(q float64) time.Duration { return c.writes.Quantile(q).Round(time.Millisecond / 10) }
	t.Logf("a write took %v at the median, %v at p99 and %v at most, but for those beside a locked file", ms(0.5), ms(0.99), ms(1))
}

// kind is what client number i of the crowd does.
func (c *crowd) kind(i int) func(int) {
	switch i % 8 {
	case 0:
		return c.hangUp
	case 1:
		return c.neverRead
	case 2:
		return c.askTooMuch
	case 3:
		return c.handOver
	case 4:
		return c.listen
	}
	return c.useAllTypes
}

// unexpected reports whether a client must leave because of an error, and fails the test
// when it is not that the server ends.
func (c *crowd) unexpected(who string, err error) bool {
	if err != nil && (!c.ending.Load() || errors.As(err, new(errorReply))) && c.wrong.Add(1) <= 5 {
		c.t.Errorf("%s: %v", who, err)
	}
	return err != nil
}

// keepLedger writes one number after the other.
func (c *crowd) keepLedger(l *client) {
	s, err := c.server.dial(l.onREST)
	if c.unexpected(l.name, err) {
		return
	}
	defer s.Close()
	for c.here.Err() == nil {
		if c.unexpected(l.name, c.timed(func() error { return l.write(s, l.name, l.acknowledged+1) })) {
			return
		}
		l.acknowledged++
		c.seen.acknowledged.Add(1)
	}
}

const big = 1 << 20 // bytes of the key of that name

// prepare makes what the crowd asks for.
func prepare(t *testing.T, p *process) {
	t.Helper()
	s, err := p.dial(false)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, args := range [][][]byte{
		{[]byte("SET"), []byte("big"), bytes.Repeat([]byte("x"), big)},
		words("DEL group"), words("XGROUP CREATE group g $ MKSTREAM"),
	} {
		if err := do(s, args); err != nil {
			t.Fatal(err)
		}
	}
}

// lockOften keeps others from writing, as another process does, for part of the time, and
// for less than they wait.
func (c *crowd) lockOften(path string) {
	s, err := c.server.dial(false)
	if c.unexpected("after a lock", err) {
		return
	}
	defer s.Close()
	for c.here.Err() == nil {
		c.pause(time.Second + rand.N(2*time.Second))
		c.locks.Add(1)
		free, err := lock(path)
		if c.unexpected("another process", err) {
			return
		}
		c.pause(200*time.Millisecond + rand.N(2*time.Second))
		err = free()
		c.locks.Add(1)
		if c.unexpected("another process", err) || c.unexpected("after a lock", do(s, words("INCR unlocked"))) {
			return
		}
		c.seen.unlocked.Add(1)
	}
}

// pause waits for that long, or until all leave.
func (c *crowd) pause(d time.Duration) {
	select {
	case <-time.After(d):
	case <-c.here.Done():
	}
}
