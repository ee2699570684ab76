package replicate

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/meowdis/meowdis/local"
)

// testClock is the clock of one server.
type testClock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *testClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *testClock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

func newLease(p *Place, clock *testClock) *Lease {
	l := NewLease(p, LeaseOptions{Now: clock.Now, Log: slog.New(slog.DiscardHandler)})
	l.wait = func(_ context.Context, d time.Duration) error {
		clock.advance(d)
		return nil
	}
	return l
}

func (l *Lease) renewNow(t *testing.T) {
	t.Helper()
	if err := l.renew(context.Background()); err != nil {
		t.Fatal(err)
	}
}

func look(t *testing.T, s *Standby) bool {
	t.Helper()
	took, err := s.look(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return took
}

func acquire(t *testing.T, l *Lease) {
	t.Helper()
	if err := l.Acquire(context.Background(), nil); err != nil {
		t.Fatal(err)
	}
}

func TestLease(t *testing.T) { testLease(t, directoryPlace) }

// testLease passes a lease from server to server.
func testLease(t *testing.T, place func(*testing.T) *Place) {
	p := place(t)
	clock := &testClock{now: time.Now()}
	a := newLease(p, clock)
	acquire(t, a)
	clock.advance(time.Hour)
	if err := a.Err(); err != nil || a.Fence() != 1 {
		t.Errorf("without a standby, an outage refuses writes: %v (fence %d)", err, a.Fence())
	}

	first, second := NewStandby(newLease(p, clock), 15*time.Second), NewStandby(newLease(p, clock), 0)
	if look(t, first) || look(t, second) {
		t.Fatal("the lease was taken although its holder has not agreed")
	}
	a.renewNow(t)
	if s := a.Status(); !s.Failover || s.Left <= 0 || s.Left > 10*time.Second-margin(10*time.Second) {
		t.Errorf("the holder has not agreed to failover: %+v", s)
	}
	clock.advance(7499 * time.Millisecond)
	if err := a.Err(); err != nil {
		t.Error(err)
	}
	clock.advance(time.Millisecond)
	if err := a.Err(); !errors.Is(err, errLeaseEnded) {
		t.Errorf("the holder does not stop before others may take the lease: %v", err)
	}
	a.renewNow(t)
	if err := a.Err(); err != nil {
		t.Errorf("a renewed lease is of no use: %v", err)
	}

	if look(t, first) || look(t, second) {
		t.Fatal("a renewed lease was taken")
	}
	clock.advance(9999 * time.Millisecond)
	if look(t, second) {
		t.Fatal("the lease was taken early")
	}
	clock.advance(time.Millisecond)
	if look(t, first) {
		t.Fatal("the lease was taken before --promote-after")
	}
	if !look(t, second) || second.lease.Fence() != 2 {
		t.Fatalf("the lease was not taken: fence %d", second.lease.Fence())
	}
	clock.advance(14 * time.Second)
	if look(t, first) {
		t.Fatal("the lease was taken from its new holder at once")
	}
	var held *HeldError
	if err := a.renew(context.Background()); !errors.As(err, &held) || held.Fence != 2 {
		t.Errorf("the old holder renews: %v", err)
	}
	if a.Err() == nil || a.Lost() == nil {
		t.Error("the old holder accepts writes")
	}
	acquire(t, newLease(p, clock)) // waits by its clock
	if err := second.lease.Release(context.Background()); err == nil {
		t.Error("a lease was released that another server has")
	}

	c := newLease(p, clock)
	renewing := newLease(p, clock)
	acquire(t, renewing)
	c.wait = func(context.Context, time.Duration) error {
		clock.advance(time.Second)
		return renewing.renew(context.Background())
	}
	if err := c.Acquire(context.Background(), nil); !errors.As(err, &held) {
		t.Errorf("a lease that is renewed was taken: %v", err)
	}
	c.o.Previous = renewing.owner
	c.wait = func(context.Context, time.Duration) error { return errors.New("it waits") }
	acquire(t, c)
	if err := c.Release(context.Background()); err != nil {
		t.Error(err)
	}
	c = newLease(p, clock)
	c.wait = func(context.Context, time.Duration) error { return errors.New("it waits") }
	acquire(t, c)
}

func TestLeaseRace(t *testing.T) { testLeaseRace(t, directoryPlace(t)) }

// testLeaseRace lets servers replace one version at the same time: one succeeds.
func testLeaseRace(t *testing.T, p *Place) {
	version := ""
	for round := range 20 {
		var (
			running sync.WaitGroup
			mu      sync.Mutex
			won     []string
			before  = version
		)
		for i := range 4 {
			running.Go(func() {
				got, err := p.swap(context.Background(), &record{Fence: uint64(round), Owner: fmt.Sprint(i)}, before)
				mu.Lock()
				defer mu.Unlock()
				switch {
				case err == nil:
					won, version = append(won, fmt.Sprint(i)), got
				case !errors.Is(err, errExists):
					t.Error(err)
				}
			})
		}
		running.Wait()
		r, now, err := p.lease(context.Background())
		if err != nil || len(won) != 1 || r.Owner != won[0] || now != version || r.Fence != uint64(round) {
			t.Fatalf("round %d: %v won, and %+v is there (%v)", round, won, r, err)
		}
	}
}

// lossy loses replies of lease writes.
type lossy struct {
	files
	lose bool
}

func (l *lossy) writeLease(ctx context.Context, record []byte, version string) (string, error) {
	version, err := l.files.writeLease(ctx, record, version)
	if l.lose && err == nil {
		l.lose = false
		return "", errors.New("the reply is lost")
	}
	return version, err
}

// TestLeaseReplyLost renews although the reply is lost.
func TestLeaseReplyLost(t *testing.T) {
	p := directoryPlace(t)
	l := &lossy{p.files, true}
	p.files = l
	clock := &testClock{now: time.Now()}
	a := newLease(p, clock)
	acquire(t, a)
	l.lose = true
	a.renewNow(t)
	standby := NewStandby(newLease(p, clock), 0)
	look(t, standby)
	l.lose = true
	a.renewNow(t)
	if s := a.Status(); !s.Failover || s.Fence != 1 {
		t.Errorf("%+v", s)
	}
}

// TestStandbyLeaves ends failover when no standby asks for it any more, so that outages of the place refuse no writes.
func TestStandbyLeaves(t *testing.T) {
	p := directoryPlace(t)
	clock := &testClock{now: time.Now()}
	a := newLease(p, clock)
	acquire(t, a)
	s := NewStandby(newLease(p, clock), 0)
	for range 20 {
		look(t, s)
		a.renewNow(t)
		clock.advance(time.Minute)
	}
	if a.Err() == nil {
		t.Error("writes are accepted although the lease has ended")
	}
	clock.advance(forgetStandby)
	a.renewNow(t)
	clock.advance(time.Hour)
	if err := a.Err(); err != nil || a.Status().Failover {
		t.Errorf("the standby has left: %v", err)
	}
	if look(t, s) {
		t.Error("a standby took a lease whose holder acknowledges writes after its end")
	}
}

// startLease makes a master with a lease.
func startLease(t *testing.T, p *Place, clock *testClock) *master {
	m := openMaster(t, filepath.Join(t.TempDir(), "cats.sqlite"), p)
	m.shipper.o.Lease = newLease(p, clock)
	m.shipper.o.Commits = func() int64 { return m.file.Stats().Commits }
	acquire(t, m.shipper.o.Lease)
	m.file.SetGuard(m.shipper.o.Lease.Err)
	return m
}

// becomeWriter makes a copy the writer that its follower's standby has become.
func (c *copied) becomeWriter(lease *Lease) *Shipper {
	c.t.Helper()
	c.file.SetGuard(lease.Err)
	if err := c.file.Promote(); err != nil {
		c.t.Fatal(err)
	}
	tail, err := c.file.Tail()
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { tail.Close() })
	return NewShipper(c.follower.place, tail, Options{Path: c.path, CreatedAt: 7, Lease: lease, Log: slog.New(slog.DiscardHandler)})
}

// TestFailover promotes a copy while the old writer hangs. What the old one uploads afterwards is not part of the stream,
// and it acknowledges nothing.
func TestFailover(t *testing.T) {
	p := directoryPlace(t)
	clock, old := &testClock{now: time.Now()}, &testClock{now: time.Now()}
	m := startLease(t, p, old)
	m.do("SET", "tom", "1")
	m.ship()
	b, c := openFollower(t, p), openFollower(t, p)
	b.follow()
	c.follow()
	b.follower.o.Standby = NewStandby(newLease(p, clock), 0)
	if b.follower.standBy(t.Context(), b.follower.o.Standby) {
		t.Fatal("promoted without the writer's consent")
	}
	m.shipper.o.Lease.renewNow(t)
	m.do("SET", "tom", "2")
	m.ship() // after the last poll of the copies
	if b.follower.standBy(t.Context(), b.follower.o.Standby) {
		t.Fatal("promoted while the lease is renewed")
	}
	clock.advance(defaultTTL)
	if !b.follower.standBy(t.Context(), b.follower.o.Standby) {
		t.Fatal("not promoted")
	}
	lease := b.follower.o.Standby.lease
	lease.Stop()
	shipper := b.becomeWriter(lease)
	if got := get(t, b.session, "tom"); got != "2" {
		t.Errorf("the new writer has %q", got)
	}

	// The clock of the old writer stands still: it believes that it has the lease.
	m.do("SET", "only", "here")
	m.ship()
	m.do("SET", "only", "here again")
	m.ship()
	c.follow()
	if err := m.shipper.o.Lease.Verify(t.Context()); err == nil {
		t.Error("the old writer finds its lease in the place")
	}
	do(t, b.session, "SET", "tom", "3")
	if err := shipper.Ship(t.Context()); err != nil {
		t.Fatal(err)
	}
	do(t, b.session, "SET", "felix", "4")
	if err := shipper.Ship(t.Context()); err != nil {
		t.Fatal(err)
	}
	c.follow()
	for _, session := range []func(key string) string{
		func(key string) string { return get(t, c.session, key) },
		func(key string) string { return get(t, restored(t, p, time.Time{}), key) },
	} {
		if session("tom") != "3" || session("felix") != "4" || session("only") != "" {
			t.Errorf("the stream has tom %q, felix %q, and of the old writer %q", session("tom"), session("felix"), session("only"))
		}
	}
	c.examine()

	v, err := m.session.Do(context.Background(), []byte("SET"), []byte("tom"), []byte("9"))
	if err != nil || !strings.HasPrefix(string(v.Str), "READONLY ") || !strings.Contains(string(v.Str), "fencing number 2") {
		t.Errorf("the old writer replies %s, %v", v.Str, err)
	}
	if err := m.shipper.Ship(t.Context()); err == nil {
		t.Error("the old writer uploads")
	}
	if held := m.shipper.o.Lease.held(&p.latest); !held.Sealed || m.shipper.Unsent(held.After) != 2 {
		t.Errorf("%d writes are only in the old file, after %+v", m.shipper.Unsent(held.After), held)
	}
	if got := get(t, m.session, "only"); got != "here again" {
		t.Errorf("the old file has lost a write: %q", got)
	}

	shipper.swept = time.Time{}
	if err := shipper.Ship(t.Context()); err != nil {
		t.Fatal(err)
	}
	left, err := p.listAll(t.Context())
	for _, f := range left {
		if p.isSealed(f.MaxTXID) {
			t.Errorf("%v of the old writer was not removed (%v)", f, err)
		}
	}
}

// TestOldWriterStartsFirst starts the old writer after another server took over, wrote, and died.
func TestOldWriterStartsFirst(t *testing.T) {
	p := directoryPlace(t)
	clock := &testClock{now: time.Now()}
	dir := t.TempDir()
	// run lets a server write once, and returns its shipper's error. It remembers the fencing number as LeaseFile does.
	fences := map[string]uint64{}
	run := func(path, value string) error {
		m := openMaster(t, path, p)
		defer m.close()
		m.shipper.o.Fence = fences[path]
		m.shipper.o.Began = func(fence uint64) error { fences[path] = fence; return nil }
		checked := m.shipper.Check(t.Context())
		m.shipper.o.Lease = newLease(p, clock)
		acquire(t, m.shipper.o.Lease)
		if value != "" {
			m.do("SET", "tom", value)
		}
		err := m.shipper.Ship(t.Context())
		if errors.Is(err, ErrSuperseded) != errors.Is(checked, ErrSuperseded) {
			t.Errorf("before the lease: %v, and with it: %v", checked, err)
		}
		return err
	}
	a, b := filepath.Join(dir, "a.sqlite"), filepath.Join(dir, "b.sqlite")
	for _, value := range []string{"1", "2"} {
		if err := run(a, value); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := p.Restore(t.Context(), b, time.Time{}, nil); err != nil {
		t.Fatal(err)
	}
	if err := run(b, "3"); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time, too, although it had the lease
		if err := run(a, "4"); !errors.Is(err, ErrSuperseded) {
			t.Fatalf("the old writer streams its file: %v", err)
		}
		if got := get(t, restored(t, p, time.Time{}), "tom"); got != "3" {
			t.Fatalf("the place has %q", got)
		}
	}
	// The other server goes on, and the old writer's file may be restored.
	if err := run(b, "5"); err != nil {
		t.Error(err)
	}
	for _, suffix := range []string{"", "-wal", "-shm"} {
		os.Remove(a + suffix)
	}
	if _, err := p.Restore(t.Context(), a, time.Time{}, nil); err != nil {
		t.Fatal(err)
	}
	if err := run(a, ""); err != nil {
		t.Error(err)
	}
	if err := run(a, "6"); err != nil {
		t.Error(err)
	}
	// Without its number, a file replaces the stream.
	fences[b] = 0
	if err := run(b, "7"); err != nil {
		t.Error(err)
	}
	if got := get(t, restored(t, p, time.Time{}), "tom"); got != "7" {
		t.Errorf("the place has %q", got)
	}
}

// TestGuardLate refuses a write whose lease ends while it runs: before the commit it is undone, and after the commit its
// outcome is unknown.
func TestGuardLate(t *testing.T) {
	m := openMaster(t, filepath.Join(t.TempDir(), "cats.sqlite"), directoryPlace(t))
	m.do("SET", "tom", "1")
	for _, calls := range []int{1, 2} { // of the guard, before it refuses
		left := calls
		m.file.SetGuard(func() error {
			if left--; left < 0 {
				return errLeaseEnded
			}
			return nil
		})
		v, err := m.session.Do(context.Background(), []byte("INCR"), []byte("tom"))
		if err == nil || !errors.Is(err, errLeaseEnded) || local.PublicMessage(err) == "" {
			t.Errorf("a late lease replies %v %v", v, err)
		}
		m.file.SetGuard(func() error { return nil })
		want := []string{"1", "2"}[calls-1]
		if got := get(t, m.session, "tom"); got != want {
			t.Errorf("after %d checks, the file has %s", calls, got)
		}
	}
}

// TestVerifyWithoutStandby: a server started with --replicate takes the lease of a writer that hangs and has no
// standby. The old writer's upload then follows the seal, so it must not be acknowledged.
func TestVerifyWithoutStandby(t *testing.T) {
	p := directoryPlace(t)
	clock := &testClock{now: time.Now()}
	a, b := newLease(p, clock), newLease(p, clock)
	acquire(t, a)
	acquire(t, b) // waits for the end of a's lease
	if err := b.Seal(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	if held := (*HeldError)(nil); !errors.As(a.Verify(t.Context()), &held) {
		t.Error("the old writer acknowledges a write that follows the seal")
	}
}
