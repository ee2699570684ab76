package migration

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/meowdis/meowdis/transfer/follow"
)

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
