package migration

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/redis/slot"
	"github.com/meowdis/meowdis/remote/psync"
	"github.com/meowdis/meowdis/transfer/follow"
)

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
