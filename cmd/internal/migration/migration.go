package migration

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/meowdis/meowdis/cmd/internal/targets"
	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/keyspace"
	"github.com/meowdis/meowdis/remote"
	"github.com/meowdis/meowdis/remote/cluster"
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

	Nodes []NodeStatus `json:"nodes,omitempty"` // of the masters, if the source is a cluster
}

// NodeStatus is the progress of following one master of a cluster.
type NodeStatus struct {
	Node     string `json:"node"`
	Loaded   bool   `json:"loaded"` // its keys have arrived
	Commands int64  `json:"commands"`
	LagBytes int64  `json:"lag_bytes"`
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
	began    time.Time

	reporting sync.Mutex
	writing   sync.Mutex // held by the goroutine that uses src and dst, or a feed's applier

	feeding sync.Mutex
	feeds   []*feed // one for a server, and one for each master of a cluster; guarded by feeding
	shards  *shards // nil unless the source is a cluster

	followed bool        // this process has applied commands: no other process has used the target since
	passing  atomic.Bool // the source refuses replicas

	progress
	definitionState
	writePause

	kept map[string]struct{} // cache of follow.ReadKept; guarded by writing
}

// progress counts the keys and commands that have arrived.
type progress struct {
	keys, refused atomic.Int64
	moved         chan struct{}
	leavesOut     atomic.Bool // the stream lacks the keys of some types
	loaded        atomic.Bool // all keys have arrived
	result        Result
	retried       string // the last error of the target that was reported
}

// definitionState concerns function libraries and indexes of search.
type definitionState struct {
	searches     bool            // the source has or had indexes of search
	refusedNames map[string]bool // the definitions that the target refused, and why
	notShown     string          // the definitions of the source that could not be read, as last reported
}

// writePause describes how writes pause at the source, for a cut-over.
type writePause struct {
	paused      time.Time
	pausedUntil time.Time
	pausing     []keyspace.Session // on the masters of a cluster that is compared in passes
}

// errCaughtUp ends following: the target has everything that it should wait for.
var errCaughtUp = errors.New("the target has caught up")

// New returns a migration from src to a target. The caller closes src, and the migration closes the target.
func New(src *targets.Conn, o Options) *Migration {
	m := &Migration{o: o, src: src, began: time.Now()}
	m.moved, m.refusedNames = make(chan struct{}, 1), map[string]bool{}
	m.key = follow.Key(src.Target.String())
	if r, ok := targets.Plain(src.Session).(*remote.Redis); ok {
		m.feeds = []*feed{{key: m.key, at: r.Again(), ask: r.Again()}}
	}
	return m
}

// takesStream reports whether the target can follow a stream: it has transactions, or is a cluster, which gets whole keys.
func (m *Migration) takesStream() bool {
	switch targets.Plain(m.dst.Session).(type) {
	case *engine.Session, *remote.Redis, *remote.REST, *cluster.Session:
		return true
	}
	return false
}

// errNoPause reports a source whose writes cannot be paused: other processes write to a file.
var errNoPause = errors.New("--cut-over needs a source that is a server: stop its writers, and use --until-caught-up")

// Run migrates until the goal of the options is reached, ctx ends, or an error that does not pass.
func (m *Migration) Run(ctx context.Context) (r Result, err error) {
	switch targets.Plain(m.src.Session).(type) {
	case *remote.Redis, *remote.REST, *cluster.Session:
	default:
		if m.o.CutOver != nil {
			return r, errNoPause
		}
	}
	if m.dst, err = m.o.OpenTarget(ctx, true); err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, m.dst.Close(), m.closeFeeds()) }()
	stop := m.report()
	defer stop()
	m.restoreNotifications(ctx)
	if err := m.follow(ctx); err != nil && !errors.Is(err, errCaughtUp) {
		return m.resultNow(), err
	}
	if m.o.CutOver != nil {
		err = m.cutOver(ctx)
	} else { // the pause of a cut-over is too short to index many keys
		err = m.buildIndexes(ctx)
	}
	return m.resultNow(), err
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
	s := Status{Action: "copying", Keys: m.keys.Load(), LagBytes: -1, Seconds: time.Since(m.began).Seconds()}
	if m.loaded.Load() {
		s.Action = "following"
	}
	if !m.passing.Load() {
		s.LagBytes = 0
	}
	for _, f := range m.list() {
		commands, lag := f.commands.Load(), max(0, f.source.Load()-f.offset.Load())
		s.Commands += commands
		if m.passing.Load() {
			continue
		}
		s.LagBytes += lag
		if m.src.IsCluster() {
			s.Nodes = append(s.Nodes, NodeStatus{m.address(f), f.loaded.Load(), commands, lag})
		}
	}
	return s
}

// follow follows until ctx ends or the goal is reached.
func (m *Migration) follow(ctx context.Context) error {
	whole, isCluster := targets.Plain(m.src.Session).(*cluster.Session)
	switch {
	case !isCluster && len(m.feeds) == 0:
		return m.passes(ctx, fmt.Sprintf("%s has no stream of its writes", m.src.Target))
	case !m.takesStream():
		return m.passes(ctx, fmt.Sprintf("%s has no transactions over all keys", m.dst.Target))
	}
	if isCluster {
		p, ok, err := follow.ReadPosition(ctx, m.dst, m.key)
		if err != nil {
			return err
		}
		if ok && p.ID == passesID && p.State == follow.Following {
			return m.passes(ctx, fmt.Sprintf("%s was compared in passes before", m.dst.Target))
		}
	}
	streaming, end := context.WithCancelCause(ctx)
	defer end(nil)
	follows := func() error { return m.streams(streaming, m.feeds[0]) }
	if isCluster {
		if err := m.findShards(streaming, whole); err != nil {
			return err
		}
		follows = func() error { return m.followShards(streaming) }
	}
	watched := make(chan error, 1)
	go func() {
		watched <- store.Caught(func() error {
			m.watch(streaming, end)
			return nil
		})
	}()
	err := follows()
	end(err)
	err = errors.Join(err, <-watched)
	var refused *psync.RefusedError
	if errors.As(err, &refused) {
		return m.passes(ctx, fmt.Sprintf("%s refuses to serve a replica (%s)", m.src.Target, refused.Reply))
	}
	return err
}

// targetLost reports whether err is a failure of a server as the target that may pass: it restarts, or loads its data.
func (m *Migration) targetLost(err error) bool {
	if m.dst == nil || m.dst.File != nil {
		return false
	}
	var no transfer.Refusal
	return remote.Lost(err) || errors.As(err, &no) && strings.HasPrefix(string(no), "LOADING ")
}
