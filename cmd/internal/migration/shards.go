package migration

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"

	"github.com/meowdis/meowdis/redis/slot"
	"github.com/meowdis/meowdis/remote"
	"github.com/meowdis/meowdis/remote/cluster"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/transfer/follow"
)

// shardsID takes the place of a replication ID in the position of a target that follows a cluster. Each master has a
// position of its own, in the keys that feedKey returns.
const shardsID = "cluster"

// shards holds the state of a migration from a cluster.
//
// A slot belongs to the feed of the master that had it at the beginning. If another feed changes a key of the slot, the
// slot has moved, and the streams do not say which master changed a key first. From then on the keys of
// the slot are not changed by the commands of a stream, but copied from the cluster again after each command.
type shards struct {
	topology *cluster.Session // of the goroutine that looks for masters
	allFull  chan struct{}    // closed when all masters' keys have arrived for the first time
	once     sync.Once
	ended    chan error // of the feeds
	whole    bool       // the target had no other keys
	fresh    bool       // this process has begun with an empty target, or with the keys that it had before

	// Guarded by Migration.writing.
	owner [slot.Count]*feed
	moved map[int]bool
	last  *feed // whose applier used the target last

	// Guarded by Migration.feeding.
	next   int             // number of the last feed
	former []*remote.Redis // on masters that no feed follows any more
}

// shard holds the part of a feed that only masters of a cluster have.
type shard struct {
	id      string // replication ID when the feed began
	initial bool   // the target takes no commands before this master's keys have arrived
	tried   bool   // some keys of its snapshot may have arrived
	cancel  context.CancelCauseFunc
}

// feedKey returns the key of the target's position in the stream of the n-th master.
func (m *Migration) feedKey(n int) []byte { return fmt.Appendf(nil, "%s:%d", m.key, n) }

// movedKey returns the key of the set of the slots that have moved.
func (m *Migration) movedKey() []byte { return fmt.Appendf(nil, "%s:slots", m.key) }

// turn says that the applier of a feed uses the target.
func (m *Migration) turn(f *feed) {
	if m.shards != nil && m.shards.last != f {
		m.shards.last = f
		f.apply.Unwatched()
	}
}

// findShards makes a feed for each master. A feed continues at the position whose replication ID the master knows.
func (m *Migration) findShards(ctx context.Context, whole *cluster.Session) error {
	topology, err := whole.Again(ctx)
	if err != nil {
		return err
	}
	s := &shards{topology: topology, allFull: make(chan struct{}), ended: make(chan error, 1), moved: map[int]bool{}}
	m.shards = s
	main, again, err := follow.ReadPosition(ctx, m.dst, m.key)
	switch {
	case err != nil:
		return err
	case again && main.State == follow.Done:
		return m.errDone()
	case again && main.ID != shardsID && main.State == follow.Following:
		return errors.New("the target followed one server before; give an empty target")
	}
	known := map[string]int{} // by replication ID: the number of the position
	if again && main.State == follow.Following {
		if known, err = m.readShards(ctx); err != nil {
			return err
		}
	}
	masters, err := m.askMasters(ctx)
	if err != nil {
		return err
	}
	lost := m.addFeeds(masters, known)
	if !again || main.State != follow.Following {
		p, err := m.prepare(ctx, follow.Position{State: follow.Loading, ID: shardsID}, false)
		s.whole, s.fresh = p.Whole, true
		return err
	}
	s.whole = main.Whole
	if lost > 0 && (!main.Whole || !m.replaces()) {
		return fmt.Errorf("%s no longer has the commands since the last one that arrived for %d of %d masters, so their keys must be copied again; give --on-conflict replace, or an empty target", m.src.Target, lost, len(masters))
	}
	for _, n := range known { // of masters that are gone
		if err := follow.Forget(ctx, m.dst, m.feedKey(n)); err != nil {
			return err
		}
	}
	return nil
}

// addFeeds adds a feed for each master. A master continues at a known position and removes it from known; lost counts
// the other masters.
func (m *Migration) addFeeds(masters []master, known map[string]int) (lost int) {
	s := m.shards
	byAddress := map[string]*feed{}
	for _, master := range masters {
		f := &feed{at: s.topology.At(master.address), ask: s.topology.At(master.address), shard: shard{id: master.id, initial: true}}
		n, has := known[master.id]
		if !has {
			n, has = known[master.older]
		}
		if has {
			delete(known, master.id)
			delete(known, master.older)
		} else {
			lost++
			s.next++
			n = s.next
		}
		f.key = m.feedKey(n)
		byAddress[master.address] = f
		m.feeding.Lock()
		m.feeds = append(m.feeds, f)
		m.feeding.Unlock()
	}
	for i := range s.owner {
		s.owner[i] = byAddress[s.topology.Owner(i)]
	}
	return lost
}

// readShards reads the positions of a target, by replication ID, and the slots that have moved.
func (m *Migration) readShards(ctx context.Context) (known map[string]int, err error) {
	known = map[string]int{}
	v, err := m.dst.Do(ctx, []byte("SMEMBERS"), m.movedKey())
	if err != nil {
		return nil, err
	}
	for _, e := range v.Elems {
		if n, err := strconv.Atoi(string(e.Str)); err == nil {
			m.shards.moved[n] = true
		}
	}
	for gaps, n := 0, 1; gaps < mostGaps; n++ {
		p, ok, err := follow.ReadPosition(ctx, m.dst, m.feedKey(n))
		if err != nil {
			return nil, err
		}
		if !ok {
			gaps++
			continue
		}
		gaps, m.shards.next = 0, n
		if p.State == follow.Following {
			known[p.ID] = n
		}
	}
	return known, nil
}

// mostGaps limits how many consecutive positions of masters that are gone are expected.
const mostGaps = 64

func (m *Migration) replaces() bool { return m.followed || m.o.Existing == replace }

// followShards follows all masters until one feed fails.
func (m *Migration) followShards(ctx context.Context) error {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	var running sync.WaitGroup
	for _, f := range m.list() {
		m.run(ctx, f, &running)
	}
	running.Go(func() {
		err := store.Caught(func() error { return m.watchMasters(ctx, &running) })
		m.shards.fail(err)
	})
	var err error
	select {
	case err = <-m.shards.ended:
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	end(err)
	running.Wait()
	return err
}

func (s *shards) fail(err error) {
	select {
	case s.ended <- err:
	default:
	}
}

// errGone ends the feed of a master that has no slots any more.
var errGone = errors.New("the master has no slots any more")

// run starts a feed.
func (m *Migration) run(ctx context.Context, f *feed, running *sync.WaitGroup) {
	ctx, f.cancel = context.WithCancelCause(ctx)
	running.Go(func() {
		err := store.Caught(func() error { return m.streams(ctx, f) })
		if !errors.Is(err, errGone) {
			m.shards.fail(err)
		}
	})
}
