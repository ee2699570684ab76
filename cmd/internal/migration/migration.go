package migration

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/meowdis/meowdis/cmd/internal/targets"
	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/remote"
	"github.com/meowdis/meowdis/remote/psync"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/transfer"
	"github.com/meowdis/meowdis/transfer/follow"
)

// Options configures a Migration.
type Options struct {
	Existing transfer.Existing // treatment of the keys that the target already has
	// OpenTarget opens the target again. The first call of a migration has load set, if a load can be faster.
	OpenTarget func(ctx context.Context, load bool) (*targets.Conn, error)

	UntilCaughtUp bool
	CutOver       func(ctx context.Context) error // switches the clients; nil to follow without end
	VerifyAll     bool                            // the cut-over compares all keys, and not a sample
	Pause         time.Duration                   // longest pause of writes at the source
	PassEvery     time.Duration                   // pause between passes, if the source refuses replicas

	Stream psync.Options
	// The functions are never called concurrently.
	Notify transfer.Notify                  // receives the keys that cannot be copied
	Say    func(format string, args ...any) // receives a line for the user
	Status func(Status)                     // receives the status each second; nil for none
}

// Status is the progress of a migration.
type Status struct {
	Action   string  `json:"action"` // "copying" or "following"
	Keys     int64   `json:"keys"`   // copied
	Commands int64   `json:"commands"`
	LagBytes int64   `json:"lag_bytes"` // of the stream; -1 if the source has none
	Seconds  float64 `json:"seconds"`   // since the start
}

// Result is the outcome of a migration.
type Result struct {
	Status
	Refused     int64 `json:"refused"` // commands that the target refused
	Verified    int64 `json:"verified"`
	Repaired    int   `json:"repaired"` // keys that differed, and were copied again
	Differences int   `json:"differences"`
	PausedMs    int64 `json:"paused_ms"` // from the pause of writes at the source to the end of the user's command
	CutOver     bool  `json:"cut_over"`

	Rest time.Duration `json:"-"` // of the pause, after the user's command
}

// Migration is one run of copy --follow.
type Migration struct {
	o        Options
	src, dst *targets.Conn
	key      []byte // of the target's position
	dial     func(ctx context.Context) (net.Conn, error)
	began    time.Time

	reporting sync.Mutex

	apply    *follow.Applier // nil before all keys have arrived
	before   int64           // commands of earlier appliers
	followed bool            // this process has applied commands: no other process has used the target since
	passing  atomic.Bool     // the source refuses replicas

	keys, commands, refused atomic.Int64
	offset                  atomic.Int64 // applied
	source                  atomic.Int64 // of the source, when it was last asked
	moved                   chan struct{}
	stream                  atomic.Pointer[psync.Stream]
	leavesOut               atomic.Bool // the stream lacks the keys of some types
	loaded                  atomic.Bool
	loads                   atomic.Int64 // snapshots that have arrived; each may begin with a lower offset
	result                  Result
	paused, pausedUntil     time.Time // of writes at the source, for a cut-over
	retried                 string    // the last error of the target that was reported
}

// errCaughtUp ends following: the target has everything that it should wait for.
var errCaughtUp = errors.New("the target has caught up")

// New returns a migration from src to a target. The caller closes src, and the migration closes the target.
func New(src *targets.Conn, o Options) *Migration {
	m := &Migration{o: o, src: src, began: time.Now(), moved: make(chan struct{}, 1)}
	m.key = follow.Key(src.Target.String())
	if d, ok := targets.Plain(src.Session).(interface {
		Dial(ctx context.Context) (net.Conn, error)
	}); ok {
		m.dial = d.Dial
	}
	return m
}

// takesStream reports whether the target has transactions for any keys. A cluster has them for one slot.
func (m *Migration) takesStream() bool {
	switch targets.Plain(m.dst.Session).(type) {
	case *engine.Session, *remote.Redis, *remote.REST:
		return true
	}
	return false
}

// errNoPause reports a source whose writes cannot be paused with one command: other processes write to a file, and each
// node of a cluster pauses for itself.
var errNoPause = errors.New("--cut-over needs a source that is one server: stop its writers, and use --until-caught-up")

// Run migrates until the goal of the options is reached, ctx ends, or an error that does not pass.
func (m *Migration) Run(ctx context.Context) (r Result, err error) {
	switch targets.Plain(m.src.Session).(type) {
	case *remote.Redis, *remote.REST:
	default:
		if m.o.CutOver != nil {
			return r, errNoPause
		}
	}
	if m.dst, err = m.o.OpenTarget(ctx, true); err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, m.dst.Close()) }()
	stop := m.report()
	defer stop()
	if err := m.follow(ctx); err != nil && !errors.Is(err, errCaughtUp) {
		return m.resultNow(), err
	}
	if m.o.CutOver != nil {
		if err := m.cutOver(ctx); err != nil {
			return m.resultNow(), err
		}
	}
	return m.resultNow(), nil
}

func (m *Migration) say(format string, args ...any) {
	m.reporting.Lock()
	defer m.reporting.Unlock()
	m.o.Say(format, args...)
}

func (m *Migration) notify(k *transfer.Key, err error) {
	m.reporting.Lock()
	defer m.reporting.Unlock()
	m.o.Notify(k, err)
}

// report reports the status each second until stop is called.
func (m *Migration) report() (stop func()) {
	if m.o.Status == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		store.Guard(func(err error) { m.say("%v", err) }, func() {
			for tick := time.NewTicker(time.Second); ; {
				select {
				case <-tick.C:
					m.reporting.Lock()
					m.o.Status(m.status())
					m.reporting.Unlock()
				case <-ctx.Done():
					tick.Stop()
					return
				}
			}
		})
	}()
	return func() {
		cancel()
		<-ended
	}
}

func (m *Migration) resultNow() Result {
	m.result.Status, m.result.Refused = m.status(), m.refused.Load()
	return m.result
}

func (m *Migration) status() Status {
	s := Status{Action: "copying", Keys: m.keys.Load(), Commands: m.commands.Load(), LagBytes: -1, Seconds: time.Since(m.began).Seconds()}
	if m.loaded.Load() {
		s.Action = "following"
	}
	if !m.passing.Load() {
		s.LagBytes = max(0, m.source.Load()-m.offset.Load())
	}
	return s
}

// follow follows until ctx ends or the goal is reached.
func (m *Migration) follow(ctx context.Context) error {
	switch {
	case m.dial == nil:
		return m.passes(ctx, fmt.Sprintf("%s has no stream of its writes", m.src.Target))
	case !m.takesStream():
		return m.passes(ctx, fmt.Sprintf("%s has no transactions over all keys", m.dst.Target))
	}
	streaming, end := context.WithCancelCause(ctx)
	defer end(nil)
	watched := make(chan error, 1)
	go func() {
		watched <- store.Caught(func() error {
			m.watch(streaming, end)
			return nil
		})
	}()
	err := m.streams(streaming)
	end(err)
	err = errors.Join(err, <-watched)
	var refused *psync.RefusedError
	if errors.As(err, &refused) {
		return m.passes(ctx, fmt.Sprintf("%s refuses to serve a replica (%s)", m.src.Target, refused.Reply))
	}
	return err
}

// Waits between attempts after a failure.
const (
	firstWait = 100 * time.Millisecond
	lastWait  = 5 * time.Second
)

// streams follows over one connection after another.
func (m *Migration) streams(ctx context.Context) error {
	wait := firstWait
	for {
		before := m.offset.Load()
		err := m.connection(ctx)
		var refused *psync.RefusedError
		var lost *lostError
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case errors.As(err, &refused):
			return err
		case errors.As(err, &lost):
		case m.targetLost(err):
			err = fmt.Errorf("writing to %s: %w", m.dst.Target, err)
			m.forget()
		default:
			return err
		}
		if m.offset.Load() != before {
			wait = firstWait
		}
		if wait >= lastWait/4 {
			m.say("%v; trying again", err)
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		wait = min(2*wait, lastWait)
	}
}

// targetLost reports whether err is a failure of a server as the target that may pass: it restarts, or loads its data.
func (m *Migration) targetLost(err error) bool {
	if m.dst == nil || m.dst.File != nil {
		return false
	}
	var no transfer.Refusal
	return remote.Lost(err) || errors.As(err, &no) && strings.HasPrefix(string(no), "LOADING ")
}

// forget makes the next connection read the position that the target has.
func (m *Migration) forget() {
	if m.apply != nil {
		m.before += m.apply.Commands
		m.apply = nil
	}
}

// lostError wraps a failure of the source that may pass.
type lostError struct{ error }

func (e *lostError) Unwrap() error { return e.error }

// watch asks the source for its offset, reports the status each second, and ends following when the goal is reached.
func (m *Migration) watch(ctx context.Context, end context.CancelCauseFunc) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	goal, goalOf := int64(-1), int64(0)
	for {
		loads := m.loads.Load()
		if loads != goalOf {
			goal, goalOf = -1, loads
		}
		if at, err := m.sourceOffset(ctx); err == nil {
			m.source.Store(at)
		} else if s := m.stream.Load(); s != nil {
			m.source.Store(s.Received())
		}
		if m.loaded.Load() && m.loads.Load() == loads && (m.o.UntilCaughtUp || m.o.CutOver != nil) {
			if goal < 0 {
				goal = m.source.Load()
			}
			if m.offset.Load() >= goal {
				end(m.drain(ctx))
				return
			}
		}
		select {
		case <-tick.C:
		case <-m.moved:
			if goal < 0 || m.offset.Load() < goal {
				select {
				case <-tick.C:
				case <-ctx.Done():
					return
				}
			}
		case <-ctx.Done():
			return
		}
	}
}

// drain pauses writes at the source for a cut-over, and waits for the last ones. It returns errCaughtUp.
func (m *Migration) drain(ctx context.Context) error {
	if m.o.CutOver == nil {
		return errCaughtUp
	}
	if err := m.pause(ctx); err != nil {
		return err
	}
	goal, err := m.sourceOffset(ctx)
	for ; err == nil && m.offset.Load() < goal; err = m.pauseEnded() {
		select {
		case <-m.moved:
		case <-time.After(time.Second):
		case <-ctx.Done():
			err = context.Cause(ctx)
		}
	}
	if err != nil {
		return errors.Join(fmt.Errorf("the last writes did not arrive: %w", err), m.unpause(context.WithoutCancel(ctx)))
	}
	return errCaughtUp
}

// sourceOffset returns the offset of the source's stream.
func (m *Migration) sourceOffset(ctx context.Context) (at int64, err error) {
	v, err := m.src.Do(ctx, []byte("INFO"), []byte("replication"))
	if err != nil {
		return 0, err
	}
	found := false
	for line := range bytes.Lines(v.Str) {
		if bytes.HasPrefix(line, []byte("repl_skipped_keys:")) && !m.leavesOut.Swap(true) { // meowdis
			m.say("the stream of %s leaves out types that Redis does not have, such as JSON; --cut-over copies their keys", m.src.Target)
		}
		if text, is := strings.CutPrefix(string(line), "master_repl_offset:"); is {
			at, err = strconv.ParseInt(strings.TrimSpace(text), 10, 64)
			found = true
		}
	}
	if !found {
		err = errors.New("the source does not report the offset of its stream: INFO replication has no master_repl_offset")
	}
	return at, err
}

// reached publishes the applied position.
func (m *Migration) reached(s *psync.Stream) {
	at := m.apply.Position().Offset
	s.Applied(at)
	m.commands.Store(m.before + m.apply.Commands)
	m.offset.Store(at)
	select {
	case m.moved <- struct{}{}:
	default:
	}
}
