package migration

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/redis/slot"
	"github.com/meowdis/meowdis/remote"
	"github.com/meowdis/meowdis/remote/cluster"
	"github.com/meowdis/meowdis/remote/psync"
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
	byAddress := map[string]*feed{}
	lost := 0
	for _, master := range masters {
		f := &feed{at: topology.At(master.address), ask: topology.At(master.address), shard: shard{id: master.id, initial: true}}
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
		s.owner[i] = byAddress[topology.Owner(i)]
	}
	if again && main.State == follow.Following {
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
	p, err := m.prepare(ctx, follow.Position{State: follow.Loading, ID: shardsID}, false)
	s.whole, s.fresh = p.Whole, true
	return err
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

// master holds a master's facts about its stream.
type master struct {
	address, id, older string // replication IDs: its own, and the one of the master that it replaced
}

// askMasters asks all masters for their replication IDs, and waits for a failover.
func (m *Migration) askMasters(ctx context.Context) (all []master, err error) {
	for attempt := 0; ; attempt++ {
		all, err = m.tryMasters(ctx)
		if err == nil || attempt == 100 || ctx.Err() != nil {
			return all, err
		}
		select {
		case <-time.After(300 * time.Millisecond):
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

func (m *Migration) tryMasters(ctx context.Context) (all []master, err error) {
	if err := m.shards.topology.Refresh(ctx); err != nil {
		return nil, err
	}
	for _, address := range m.shards.topology.Masters() {
		node := m.shards.topology.At(address)
		v, err := node.Do(ctx, []byte("INFO"), []byte("replication"))
		node.Close()
		if err == nil && v.IsError() {
			err = fmt.Errorf("%s: %s", address, v.Str)
		}
		if err != nil {
			return nil, err
		}
		if role := fact(v, "role"); role != "master" {
			return nil, fmt.Errorf("%s is a %s now", address, role)
		}
		all = append(all, master{address, fact(v, "master_replid"), fact(v, "master_replid2")})
	}
	if len(all) == 0 {
		return nil, errors.New("the cluster has no masters")
	}
	return all, nil
}

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

// watchMasters asks for the masters of the cluster each lookEvery.
const lookEvery = time.Second

// watchMasters follows replicas that take over, and new masters.
func (m *Migration) watchMasters(ctx context.Context, running *sync.WaitGroup) error {
	for {
		select {
		case <-time.After(lookEvery):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		masters, err := m.tryMasters(ctx)
		if err != nil {
			continue // in the middle of a failover: the streams tell the user
		}
		for _, f := range m.match(masters) {
			m.run(ctx, f, running)
		}
		if err := m.dropGone(ctx, masters); err != nil {
			return err
		}
	}
}

// match gives each master a feed, and returns the new ones.
func (m *Migration) match(masters []master) (fresh []*feed) {
	m.feeding.Lock()
	defer m.feeding.Unlock()
	at := map[string]*feed{}
	for _, f := range m.feeds {
		at[f.at.Address()] = f
	}
	current := func(f *feed) bool {
		return slices.ContainsFunc(masters, func(ma master) bool { return ma.address == f.at.Address() })
	}
	for _, ma := range masters {
		if at[ma.address] != nil {
			at[ma.address].id = ma.id
			continue
		}
		follows := func(f *feed) bool { return !current(f) && (f.id == ma.id || f.id == ma.older) }
		if i := slices.IndexFunc(m.feeds, follows); i >= 0 {
			f := m.feeds[i]
			m.shards.former = append(m.shards.former, f.ask)
			f.at, f.ask, f.id = m.shards.topology.At(ma.address), m.shards.topology.At(ma.address), ma.id
			if s := f.stream.Load(); s != nil {
				s.Hangup()
			}
			continue
		}
		m.shards.next++
		f := &feed{key: m.feedKey(m.shards.next), at: m.shards.topology.At(ma.address), ask: m.shards.topology.At(ma.address), shard: shard{id: ma.id}}
		m.feeds = append(m.feeds, f)
		fresh = append(fresh, f)
	}
	return fresh
}

// dropGone ends the feeds of former masters that no master continues, and copies the keys of their slots again.
func (m *Migration) dropGone(ctx context.Context, masters []master) error {
	m.feeding.Lock()
	var gone []*feed
	m.feeds = slices.DeleteFunc(slices.Clone(m.feeds), func(f *feed) bool {
		is := !slices.ContainsFunc(masters, func(ma master) bool { return ma.address == f.at.Address() })
		if is {
			gone, m.shards.former = append(gone, f), append(m.shards.former, f.ask)
		}
		return is
	})
	m.feeding.Unlock()
	for _, f := range gone {
		f.cancel(errGone)
		if err := m.drop(ctx, f); err != nil {
			return err
		}
	}
	return nil
}

func (m *Migration) drop(ctx context.Context, f *feed) error {
	m.writing.Lock()
	defer m.writing.Unlock()
	var slots []int
	for at, owner := range m.shards.owner {
		if owner == f {
			slots = append(slots, at)
		}
	}
	if err := errors.Join(m.markMoved(ctx, slots), m.copySlots(ctx, slots)); err != nil {
		return err
	}
	if f.initial {
		f.loaded.Store(true)
	}
	return errors.Join(follow.Forget(ctx, m.dst, f.key), m.nowLoaded(ctx))
}

// sameMasters returns an error if the masters that pause their writes are not all masters of the cluster any more.
func (m *Migration) sameMasters(ctx context.Context) error {
	if m.shards == nil {
		return nil
	}
	at := map[string]bool{}
	for _, f := range m.list() {
		at[f.at.Address()] = true
	}
	now, err := targetsCluster(m.src).Again(ctx)
	if err != nil {
		return err
	}
	defer now.Close()
	for _, address := range now.Masters() {
		if !at[address] {
			return fmt.Errorf("%s has become a master, and its writes are not paused", address)
		}
	}
	return nil
}

// loadShard replaces the keys of one master's slots by its snapshot. Keys of other slots, which are moving, are copied
// from the cluster.
func (m *Migration) loadShard(ctx context.Context, f *feed, s *psync.Stream) error {
	next, all, stop := m.snapshot(s)
	defer stop()
	first, err, any := next()
	if err != nil {
		return m.snapshotError(ctx, err)
	}
	p := follow.Position{State: follow.Loading, Whole: m.shards.whole, ID: s.At.ID, Offset: s.At.Offset}
	if f.tried || !m.shards.fresh {
		if err := m.emptyShard(ctx, f, any); err != nil {
			return err
		}
	}
	f.tried = true
	f.loaded.Store(false)
	f.forget()
	if err := follow.WritePosition(ctx, m.dst, f.key, p); err != nil {
		return err
	}
	foreign := map[int]bool{}
	source, broken := m.parts(first, any, next, func(name []byte) bool {
		at := slot.Of(name)
		if m.shards.owner[at] == f && !m.shards.moved[at] {
			return true
		}
		foreign[at] = true
		return false
	})
	if err := m.write(ctx, source, p.Whole); err != nil {
		if *broken {
			return m.snapshotError(ctx, err)
		}
		return err
	}
	if err := m.loadDefinitions(ctx, *all); err != nil {
		return err
	}
	slots := sortedKeys(foreign)
	if err := errors.Join(m.markMoved(ctx, slots), m.copySlots(ctx, slots)); err != nil {
		return err
	}
	p.State = follow.Following
	if err := follow.WritePosition(ctx, m.dst, f.key, p); err != nil {
		return err
	}
	f.loaded.Store(true)
	return m.nowLoaded(ctx)
}

// emptyShard deletes the keys of a master's slots before they are copied again.
func (m *Migration) emptyShard(ctx context.Context, f *feed, any bool) error {
	switch {
	case !slices.Contains(m.shards.owner[:], f):
		return nil
	case !m.shards.whole && !m.loaded.Load():
		m.say("the copy of %s was interrupted, and the target had other keys: keys that the source has deleted since may remain", m.name(f))
		return nil
	case !m.shards.whole:
		return fmt.Errorf("%s no longer has the commands since the last one that arrived, and which keys were deleted since is unknown: %s had other keys; copy into an empty target", m.name(f), m.dst.Target)
	case m.loaded.Load() && !m.replaces():
		return fmt.Errorf("%s no longer has the commands since the last one that arrived, so its keys must be copied again; give --on-conflict replace to delete them in %s first", m.name(f), m.dst.Target)
	}
	m.say("copying all keys of %s again", m.name(f))
	return m.eachTargetKey(ctx, func(names [][]byte) error {
		names = slices.DeleteFunc(names, func(name []byte) bool {
			at := slot.Of(name)
			return m.shards.owner[at] != f || m.shards.moved[at]
		})
		if !any && len(names) > 0 && m.o.Existing != replace {
			return errEmptied
		}
		return m.deleteKeys(ctx, map[int][][]byte{0: names})
	})
}

// nowLoaded records that all keys have arrived, if they have.
func (m *Migration) nowLoaded(ctx context.Context) error {
	if m.loaded.Load() {
		return nil
	}
	for _, f := range m.list() {
		if f.initial && !f.loaded.Load() {
			return nil
		}
	}
	main := follow.Position{State: follow.Following, ID: shardsID, Whole: m.shards.whole}
	if err := m.begin(ctx, nil, main); err != nil {
		return err
	}
	for _, f := range m.list() {
		f.forget() // a file was opened again
	}
	m.loaded.Store(true)
	m.shards.once.Do(func() { close(m.shards.allFull) })
	return nil
}

// untilLoaded waits until the keys of all masters have arrived, so that the target takes commands.
func (m *Migration) untilLoaded(ctx context.Context, f *feed, s *psync.Stream) error {
	if m.shards == nil {
		return nil
	}
	m.writing.Lock()
	f.loaded.Store(true) // it continues, or loadShard has ended
	err := m.nowLoaded(ctx)
	m.writing.Unlock()
	if err != nil {
		return err
	}
	select {
	case <-m.shards.allFull:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	m.writing.Lock()
	defer m.writing.Unlock()
	if f.apply == nil {
		if err := m.resume(ctx, f); err != nil {
			return err
		}
	}
	if f.apply == nil {
		return follow.ErrTaken
	}
	f.apply.Renamed(s.At.ID)
	return nil
}

// markMoved records that slots have moved.
func (m *Migration) markMoved(ctx context.Context, slots []int) error {
	args := [][]byte{[]byte("SADD"), m.movedKey()}
	for _, at := range slots {
		if !m.shards.moved[at] {
			args = append(args, strconv.AppendInt(nil, int64(at), 10))
		}
	}
	if len(args) == 2 {
		return nil
	}
	v, err := m.dst.Do(ctx, args...)
	if err == nil {
		err = refusal(v)
	}
	if err != nil {
		return err
	}
	for _, at := range slots {
		m.shards.moved[at] = true
	}
	return nil
}

func refusal(v resp.Value) error {
	if v.IsError() {
		return errors.New(string(v.Str))
	}
	return nil
}
