package migration

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/meowdis/meowdis/cmd/internal/exit"
	"github.com/meowdis/meowdis/cmd/internal/move"
	"github.com/meowdis/meowdis/keyspace"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/transfer"
	"github.com/meowdis/meowdis/transfer/follow"
)

// A cut-over compares sampleKeys keys, unless it compares all.
const sampleKeys = 1000

// errPauseEnded reports a cut-over that took too long. Clients may have written to the source since.
var errPauseEnded = errors.New("writes at the source were paused for too long; give a longer --pause")

// lastWrites explains an error before the last writes have arrived.
func lastWrites(err error) error { return fmt.Errorf("the last writes did not arrive: %w", err) }

// writers returns the sessions that pause writes at the source: on each master of a cluster.
func (m *Migration) writers() (all []keyspace.Session) {
	for _, f := range m.list() {
		all = append(all, f.ask)
	}
	whole := targetsCluster(m.src)
	switch {
	case len(all) > 0:
		return all
	case whole == nil:
		return []keyspace.Session{m.src}
	case m.pausing == nil:
		for _, address := range whole.Masters() {
			m.pausing = append(m.pausing, whole.At(address))
		}
	}
	return m.pausing
}

// pause pauses writes at the source.
func (m *Migration) pause(ctx context.Context) error {
	m.paused = time.Now()
	return m.extendPause(ctx)
}

// extendPause lets the pause of writes last for Options.Pause from now.
func (m *Migration) extendPause(ctx context.Context) error {
	asked := time.Now()
	for _, s := range m.writers() {
		v, err := s.Do(ctx, []byte("CLIENT"), []byte("PAUSE"), strconv.AppendInt(nil, m.o.Pause.Milliseconds(), 10), []byte("WRITE"))
		if err == nil && v.IsError() {
			err = fmt.Errorf("%s cannot pause writes: %s", m.src.Target, v.Str)
		}
		if err != nil {
			return err
		}
	}
	m.pausedUntil = asked.Add(m.o.Pause)
	return nil
}

// switchClients runs the user's command. Writes stay paused while it runs, however long it takes. The command may stop
// the source.
func (m *Migration) switchClients(ctx context.Context) error {
	extending, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() {
		ended <- store.Caught(func() error {
			tick := time.NewTicker(m.o.Pause / 3)
			defer tick.Stop()
			for {
				select {
				case <-tick.C:
				case <-extending.Done():
					return nil
				}
				if err := m.extendPause(extending); err != nil && extending.Err() == nil {
					return err
				}
			}
		})
	}()
	err := m.o.CutOver(ctx)
	stop()
	if lost := <-ended; lost != nil && err == nil && time.Now().After(m.pausedUntil) {
		m.say("the pause of writes ended before the command did, unless the command stopped the source (%v): compare both with diff", lost)
	}
	return err
}

// pauseEnded returns an error when too little of the pause is left.
func (m *Migration) pauseEnded() error {
	if time.Since(m.paused) > m.o.Pause*9/10 {
		return errPauseEnded
	}
	return nil
}

// unpause lets the source take writes again.
func (m *Migration) unpause(ctx context.Context) error {
	var errs []error
	for _, s := range m.writers() {
		_, err := s.Do(ctx, []byte("CLIENT"), []byte("UNPAUSE"))
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// cutOver verifies the target while writes at the source are paused, and switches the clients. If it fails, the source
// takes writes again.
func (m *Migration) cutOver(ctx context.Context) (err error) {
	p, _, err := follow.ReadPosition(ctx, m.dst, m.key)
	if err == nil {
		err = m.copyDefinitions(ctx)
	}
	if err == nil {
		err = m.verify(ctx, p.Whole)
	}
	if err == nil {
		err = errors.Join(m.pauseEnded(), m.sameMasters(ctx))
	}
	if err == nil {
		// After a crash, a copy must not overwrite what clients have written to the target.
		done := p
		done.State = follow.Done
		err = follow.WritePosition(ctx, m.dst, m.key, done)
	}
	if err != nil {
		return errors.Join(err, m.unpause(context.WithoutCancel(ctx)))
	}
	if err := m.switchClients(ctx); err != nil {
		ctx := context.WithoutCancel(ctx)
		return errors.Join(fmt.Errorf("the command of --cut-over failed: %w; the source takes writes again", err),
			follow.WritePosition(ctx, m.dst, m.key, p), m.unpause(ctx))
	}
	m.result.CutOver, m.result.PausedMs = true, time.Since(m.paused).Milliseconds()
	m.result.Rest = max(0, time.Until(m.pausedUntil))
	return m.forgetPositions(ctx)
}

// verify compares keys of the source with the target. No client writes to the source.
func (m *Migration) verify(ctx context.Context, whole bool) error {
	kept, err := follow.ReadKept(ctx, m.dst, m.key)
	if err != nil {
		return err
	}
	keeps := func(db int, name []byte) bool { _, keeps := kept[follow.KeptName(db, name)]; return keeps }
	o := transfer.DiffOptions{
		A: move.List(m.src, transfer.ReadOptions{}), B: move.List(m.dst, transfer.ReadOptions{}), Find: move.Find(m.dst), Tolerance: time.Second,
		Notify: m.notify, Seen: func(transfer.Part) {},
	}
	if !whole { // the target may have other keys
		o.ExpectedChange = &transfer.Change{Wanted: func(k *transfer.Key) bool { return !keeps(k.DB, k.Name) }}
	}
	found := differing{keys: map[int][][]byte{}, only: map[int][][]byte{}}
	o.Found = found.add
	if m.o.VerifyAll || m.leavesOut.Load() {
		m.result.Verified, err = transfer.Diff(ctx, m.src, m.dst, o)
	} else {
		m.result.Verified, err = m.verifySample(ctx, o, keeps)
	}
	if err != nil || found.n == 0 {
		return err
	}
	if found.n > passKeys {
		m.say("more than %d keys differ; the clients were not switched", passKeys)
		return exit.ErrReported
	}
	if err := m.repair(ctx, found, o); err != nil {
		return err
	}
	if m.result.Differences > 0 {
		m.say("%s of %s; the clients were not switched", move.Count(int64(m.result.Differences), "difference"), move.Count(m.result.Verified, "compared key"))
		return exit.ErrReported
	}
	return nil
}

// differing collects keys that differ, by database.
type differing struct {
	n          int
	keys, only map[int][][]byte // only: keys that the source does not have
}

func (d *differing) add(f transfer.Difference) {
	if d.n++; d.n > passKeys {
		return
	}
	to := d.keys
	if f.What == transfer.OnlyInB {
		to = d.only
	}
	to[f.Key.DB] = append(to[f.Key.DB], f.Key.Name)
}

// repair copies the keys that differ, and compares them again. While no client writes to the source, a copy is exact. Keys
// differ if the stream lacks something, such as consumers that have read nothing, or if a server expired a key before a
// late command extended its expiry.
func (m *Migration) repair(ctx context.Context, found differing, o transfer.DiffOptions) error {
	if err := errors.Join(m.copyKeys(ctx, found.keys), m.deleteKeys(ctx, found.only)); err != nil {
		return err
	}
	m.result.Repaired = found.n
	m.say("copied again because they differed: %s", move.Count(int64(found.n), "key"))
	o.Found = func(d transfer.Difference) {
		if m.result.Differences++; m.result.Differences <= move.MaxListed {
			m.say("%s differs: %s", d.Key, d.What)
		}
	}
	for db, names := range found.keys {
		if err := transfer.Select(ctx, m.src, db); err != nil {
			return err
		}
		if _, err := transfer.DiffSource(ctx, transfer.FromKeysWithRules(ctx, m.src, names...), m.dst, o); err != nil {
			return err
		}
	}
	return nil
}

func (m *Migration) verifySample(ctx context.Context, o transfer.DiffOptions, keeps func(db int, name []byte) bool) (compared int64, err error) {
	dbs, err := transfer.Databases(ctx, m.src)
	if err != nil {
		return 0, err
	}
	for _, db := range dbs {
		if err := transfer.Select(ctx, m.src, db); err != nil {
			return compared, err
		}
		calls := make([][][]byte, sampleKeys/len(dbs)+1)
		for i := range calls {
			calls[i] = [][]byte{[]byte("RANDOMKEY")}
		}
		replies, err := m.src.Pipeline(ctx, calls)
		if err != nil {
			return compared, err
		}
		var names [][]byte
		seen := map[string]bool{}
		for _, v := range replies {
			if !v.IsNull() && !v.IsError() && !seen[string(v.Str)] && !keeps(db, v.Str) {
				seen[string(v.Str)] = true
				names = append(names, v.Str)
			}
		}
		n, err := transfer.DiffSource(ctx, transfer.FromKeysWithRules(ctx, m.src, names...), m.dst, o)
		compared += n
		if err != nil {
			return compared, err
		}
	}
	return compared, nil
}
