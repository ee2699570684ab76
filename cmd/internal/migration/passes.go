package migration

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/meowdis/meowdis/cmd/internal/move"
	"github.com/meowdis/meowdis/redis/timeseries"
	"github.com/meowdis/meowdis/transfer"
	"github.com/meowdis/meowdis/transfer/follow"
)

// passesID takes the place of a replication ID in the position of a target that is compared in passes.
const passesID = "passes"

// passKeys limits the different keys that a pass collects. The next pass finds the others.
const passKeys = 100_000

// passes copies all keys, and then compares all of them again and again. It reports the reason.
func (m *Migration) passes(ctx context.Context, why string) error {
	m.passing.Store(true)
	var heard *notifications
	if m.o.CutOver == nil && !m.o.UntilCaughtUp {
		var stop func()
		heard, stop = m.notifications(ctx)
		defer stop()
	}
	m.guarantee(heard, why)
	p, err := m.beginPasses(ctx)
	if err != nil {
		return err
	}
	m.loaded.Store(true)
	kept, err := follow.ReadKept(ctx, m.dst, m.key)
	if err != nil {
		return err
	}
	for {
		began := time.Now()
		differences, err := m.passOrUnpause(ctx, p.Whole, kept)
		if err != nil {
			return err
		}
		switch {
		case m.o.CutOver != nil && !m.paused.IsZero():
			if differences == 0 {
				return errCaughtUp
			}
		case m.o.CutOver != nil:
			err = m.pause(ctx)
		case differences >= passKeys:
		case m.o.UntilCaughtUp:
			return errCaughtUp
		default:
			err = m.untilNextPass(ctx, heard, time.Since(began))
		}
		if err != nil {
			return err
		}
	}
}

// beginPasses copies all keys, unless a migration before has, and returns the position.
func (m *Migration) beginPasses(ctx context.Context) (follow.Position, error) {
	p, ok, err := follow.ReadPosition(ctx, m.dst, m.key)
	switch {
	case err != nil:
		return p, err
	case ok && p.State == follow.Done:
		return p, m.errDone()
	case !ok || p.State == follow.Loading:
		return m.copyAll(ctx, follow.Position{State: follow.Loading, ID: passesID}, ok)
	case p.ID != passesID:
		return p, errors.New("the target followed a stream before; give an empty target")
	}
	return p, m.begin(ctx, nil, p)
}

// passOrUnpause runs a pass. If it fails while the source is paused, or outlasts the pause, the source continues.
func (m *Migration) passOrUnpause(ctx context.Context, whole bool, kept map[string]struct{}) (differences int, err error) {
	differences, err = m.pass(ctx, whole, kept)
	if m.paused.IsZero() {
		return differences, err
	}
	if err == nil {
		err = m.pauseEnded()
	}
	if err != nil {
		err = errors.Join(err, m.unpause(context.WithoutCancel(ctx)))
	}
	return differences, err
}

// copyAll copies all keys to the target.
func (m *Migration) copyAll(ctx context.Context, p follow.Position, again bool) (follow.Position, error) {
	p, err := m.prepare(ctx, p, false)
	if err != nil {
		return p, err
	}
	if err := m.write(ctx, move.Keys(ctx, m.src, transfer.ReadOptions{}), p.Whole); err != nil {
		return p, err
	}
	return p, m.begin(ctx, nil, p)
}

// pass compares all keys, and copies or deletes the ones that differ.
func (m *Migration) pass(ctx context.Context, whole bool, kept map[string]struct{}) (differences int, err error) {
	changed, deleted := map[int][][]byte{}, map[int][][]byte{}
	full := errors.New("enough keys for one pass")
	inner, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	o := transfer.DiffOptions{A: move.List(m.src, transfer.ReadOptions{}), B: move.List(m.dst, transfer.ReadOptions{}), Find: move.Find(m.dst),
		Notify: func(*transfer.Key, error) {}, Seen: func(transfer.Part) {}}
	o.Found = func(d transfer.Difference) {
		if _, keeps := kept[follow.KeptName(d.Key.DB, d.Key.Name)]; keeps || d.What == transfer.OnlyInB && !whole {
			return
		}
		if d.What == transfer.OnlyInB {
			deleted[d.Key.DB] = append(deleted[d.Key.DB], d.Key.Name)
		} else {
			changed[d.Key.DB] = append(changed[d.Key.DB], d.Key.Name)
		}
		if differences++; differences == passKeys {
			stop(full)
		}
	}
	if _, err := transfer.Diff(inner, m.src, m.dst, o); err != nil && differences < passKeys {
		return differences, err
	}
	return differences, errors.Join(m.copyKeys(ctx, changed), m.deleteKeys(ctx, deleted), m.copyDefinitions(ctx))
}

// copyKeys copies keys by database. A key that the source has deleted since is left to the next pass. Writing a series
// ends the compaction rule that fills it, so the series with the rule is copied after it.
func (m *Migration) copyKeys(ctx context.Context, names map[int][][]byte) error {
	for db, list := range names {
		if err := transfer.Select(ctx, m.src, db); err != nil {
			return err
		}
		series, err := m.copyList(ctx, list)
		if err == nil {
			series, err = m.compactedInto(ctx, series)
		}
		if err == nil {
			_, err = m.copyList(ctx, series)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// copyList copies keys of the selected database, and returns the ones that are series.
func (m *Migration) copyList(ctx context.Context, names [][]byte) (series [][]byte, err error) {
	w := move.NewWriter(m.dst, transfer.Replace, nil, m.notify)
	return series, transfer.Run(ctx, transfer.FromKeysWithRules(ctx, m.src, names...), w, m.notify, func(p transfer.Part) {
		if !p.Last {
			return
		}
		m.keys.Add(1)
		if p.Key.Type == transfer.SeriesType {
			series = append(series, p.Key.Name)
		}
	})
}

// compactedInto returns the series of the source whose compaction rules fill series.
func (m *Migration) compactedInto(ctx context.Context, series [][]byte) (all [][]byte, err error) {
	calls := make([][][]byte, len(series))
	for i, name := range series {
		calls[i] = [][]byte{[]byte("TS.INFO"), name}
	}
	replies, err := m.src.Pipeline(ctx, calls)
	for _, v := range replies {
		if from, _ := timeseries.RulesOf(v); from != nil {
			all = append(all, from)
		}
	}
	slices.SortFunc(all, bytes.Compare)
	return slices.CompactFunc(all, bytes.Equal), err
}

// keysAtOnce limits the keys of a DEL.
const keysAtOnce = 512

func (m *Migration) deleteKeys(ctx context.Context, names map[int][][]byte) error {
	for db, list := range names {
		for len(list) > 0 {
			n := min(len(list), keysAtOnce)
			if err := transfer.Select(ctx, m.dst, db); err != nil {
				return err
			}
			v, err := m.dst.Do(ctx, append([][]byte{[]byte("DEL")}, list[:n]...)...)
			if err == nil && v.IsError() {
				err = transfer.Refusal(v.Str)
			}
			if err != nil {
				return err
			}
			list = list[n:]
		}
	}
	return nil
}
