package migration

import (
	"bytes"
	"context"
	"errors"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/remote"
	"github.com/meowdis/meowdis/remote/psync"
	"github.com/meowdis/meowdis/transfer/follow"
)

// feed follows the stream of one server: the source, or one master of a cluster.
type feed struct {
	key []byte // of the target's position in this stream

	apply  *follow.Applier // nil before all keys have arrived
	before int64           // commands of earlier appliers
	stream atomic.Pointer[psync.Stream]

	commands atomic.Int64
	offset   atomic.Int64 // applied
	source   atomic.Int64 // of the server, when it was last asked
	loaded   atomic.Bool
	loads    atomic.Int64 // snapshots that have arrived; each may begin with a lower offset

	at *remote.Redis // never connected; its copies are. The master of a cluster changes, under Migration.feeding

	// Used by watch, and after its end.
	ask          *remote.Redis // on the same server; changes with at
	asked        int64         // loads when it was last asked for its offset
	goal, goalOf int64         // the offset to reach, and the loads when it was set

	shard // of a master
}

// list returns the feeds.
func (m *Migration) list() []*feed {
	m.feeding.Lock()
	defer m.feeding.Unlock()
	return slices.Clone(m.feeds)
}

func (m *Migration) closeFeeds() error {
	var errs []error
	for _, f := range m.list() {
		errs = append(errs, f.ask.Close())
	}
	if m.shards != nil {
		errs = append(errs, m.shards.topology.Close())
		for _, ask := range m.shards.former {
			errs = append(errs, ask.Close())
		}
	}
	return errors.Join(errs...)
}

// dial connects to the server of a feed.
func (m *Migration) dial(ctx context.Context, f *feed) (net.Conn, error) {
	m.feeding.Lock()
	at := f.at
	m.feeding.Unlock()
	return at.Dial(ctx)
}

// forget makes the next connection read the position that the target has.
func (f *feed) forget() {
	if f.apply != nil {
		f.before += f.apply.Commands
		f.apply = nil
	}
}

// reached publishes the applied position.
func (m *Migration) reached(f *feed, s *psync.Stream) {
	at := f.apply.Position().Offset
	s.Applied(at)
	f.commands.Store(f.before + f.apply.Commands)
	f.offset.Store(at)
	select {
	case m.moved <- struct{}{}:
	default:
	}
}

// watch asks the source for its offsets, and ends following when the goal is reached.
func (m *Migration) watch(ctx context.Context, end context.CancelCauseFunc) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		feeds := m.list()
		for _, f := range feeds {
			f.asked = f.loads.Load()
			if at, err := m.sourceOffset(ctx, f); err == nil {
				f.source.Store(at)
			} else if s := f.stream.Load(); s != nil {
				f.source.Store(s.Received())
			}
		}
		if m.loaded.Load() && (m.o.UntilCaughtUp || m.o.CutOver != nil) && caughtUp(feeds) {
			end(m.drain(ctx))
			return
		}
		select {
		case <-tick.C:
		case <-m.moved:
			if !caughtUp(feeds) {
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

// caughtUp reports whether each feed has reached the offset that its server had when the snapshot had arrived.
func caughtUp(feeds []*feed) bool {
	all := len(feeds) > 0
	for _, f := range feeds {
		loads := f.loads.Load()
		switch {
		case !f.loaded.Load() || f.asked != loads:
			all = false
			continue
		case f.goal == 0 || f.goalOf != loads:
			f.goal, f.goalOf = max(f.source.Load(), 1), loads
		}
		all = all && (f.offset.Load() >= f.goal || f.source.Load() == 0)
	}
	return all
}

// drain pauses writes at the source for a cut-over, and waits for the last ones. It returns errCaughtUp.
func (m *Migration) drain(ctx context.Context) error {
	if m.o.CutOver == nil {
		return errCaughtUp
	}
	if err := m.pause(ctx); err != nil {
		return errors.Join(err, m.unpause(context.WithoutCancel(ctx)))
	}
	feeds := m.list()
	goals := make([]int64, len(feeds))
	var err error
	for i := 0; err == nil && i < len(feeds); i++ {
		goals[i], err = m.sourceOffset(ctx, feeds[i])
	}
	arrived := func() bool {
		for i, f := range feeds {
			if f.offset.Load() < goals[i] {
				return false
			}
		}
		return true
	}
	for ; err == nil && !arrived(); err = m.pauseEnded() {
		select {
		case <-m.moved:
		case <-time.After(time.Second):
		case <-ctx.Done():
			err = context.Cause(ctx)
		}
	}
	if err == nil {
		err = m.sameMasters(ctx)
	}
	if err != nil {
		return errors.Join(lastWrites(err), m.unpause(context.WithoutCancel(ctx)))
	}
	return errCaughtUp
}

// sourceOffset returns the offset of a server's stream.
func (m *Migration) sourceOffset(ctx context.Context, f *feed) (at int64, err error) {
	m.feeding.Lock()
	ask := f.ask
	m.feeding.Unlock()
	v, err := ask.Do(ctx, []byte("INFO"), []byte("replication"))
	if err != nil {
		return 0, err
	}
	if n := fact(v, "repl_skipped_arrays"); n != "" && n != "0" && !m.leavesOut.Swap(true) { // meowdis
		m.say("the stream of %s leaves out arrays; --cut-over compares all keys, and copies them", m.src.Target)
	}
	text := fact(v, "master_repl_offset")
	if text == "" {
		return 0, errors.New("the source does not report the offset of its stream: INFO replication has no master_repl_offset")
	}
	return strconv.ParseInt(text, 10, 64)
}

// fact returns a value of a reply to INFO, or "".
func fact(info resp.Value, name string) string {
	for line := range bytes.Lines(info.Str) {
		if text, is := strings.CutPrefix(string(line), name+":"); is {
			return strings.TrimSpace(text)
		}
	}
	return ""
}
