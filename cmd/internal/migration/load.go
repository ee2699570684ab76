package migration

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/meowdis/meowdis/cmd/internal/move"
	"github.com/meowdis/meowdis/remote/psync"
	"github.com/meowdis/meowdis/transfer"
	"github.com/meowdis/meowdis/transfer/follow"
)

// errEmptied reports a source that has lost its keys.
var errEmptied = errors.New("the source has no keys any more: it may have restarted without its data; the target is unchanged; give --on-conflict replace to empty it, too")

// load replaces the keys of the target by the snapshot of a stream.
func (m *Migration) load(ctx context.Context, f *feed, s *psync.Stream) (err error) {
	next, all, stop := m.snapshot(s)
	defer stop()
	first, err, any := next()
	if err != nil {
		return m.snapshotError(ctx, err)
	}
	p, err := m.prepare(ctx, follow.Position{State: follow.Loading, ID: s.At.ID, Offset: s.At.Offset}, !any)
	if err != nil {
		return err
	}
	f.loaded.Store(false)
	f.forget() // its position is void
	source, broken := m.parts(first, any, next, nil)
	if err := m.write(ctx, source, p.Whole); err != nil {
		if *broken {
			return m.snapshotError(ctx, err)
		}
		return err
	}
	if err := m.loadDefinitions(ctx, *all); err != nil {
		return err
	}
	return m.begin(ctx, f, p)
}

type nextPart func() (transfer.Part, error, bool)

// snapshot reads the snapshot of a stream. all is complete at its end.
func (m *Migration) snapshot(s *psync.Stream) (next nextPart, all *transfer.Definitions, stop func()) {
	all = &transfer.Definitions{}
	next, stop = iter.Pull2(transfer.FromRDB(bufio.NewReaderSize(s.Snapshot(), 64<<10), transfer.RDBOptions{
		Note:        func(at int64, what string) { m.say("byte %d of the snapshot: skipped %s", at, what) },
		Definitions: all,
	}))
	return next, all, stop
}

// parts yields a snapshot from its first part, if any, without the keys that wanted refuses. broken is set if the snapshot
// cannot be read.
func (m *Migration) parts(first transfer.Part, any bool, next nextPart, wanted func(name []byte) bool) (source transfer.Source, broken *bool) {
	broken = new(bool)
	return func(yield func(transfer.Part, error) bool) {
		for part, err, ok := first, error(nil), any; ok; part, err, ok = next() {
			*broken = err != nil
			if err == nil && wanted != nil && !wanted(part.Key.Name) {
				continue
			}
			if !yield(part, err) {
				return
			}
		}
	}, broken
}

// snapshotError wraps an error of reading a snapshot: the connection may have been lost.
func (m *Migration) snapshotError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return &lostError{fmt.Errorf("reading the snapshot of %s: %w", m.src.Target, err)}
}

// begin copies the definitions, records that all keys have arrived, and begins with the commands of f, unless it is nil.
func (m *Migration) begin(ctx context.Context, f *feed, p follow.Position) error {
	if err := m.copyDefinitions(ctx); err != nil {
		return err
	}
	p.State = follow.Following
	if err := follow.WritePosition(ctx, m.dst, m.key, p); err != nil {
		return err
	}
	if m.dst.File != nil {
		if err := m.dst.Close(); err != nil {
			return err
		}
		var err error
		if m.dst, err = m.o.OpenTarget(ctx, false); err != nil {
			return err
		}
	}
	if f == nil {
		return nil
	}
	return m.applier(ctx, f, p)
}

// prepare makes the target ready for all keys of the source, and records that they are incomplete.
func (m *Migration) prepare(ctx context.Context, p follow.Position, empty bool) (follow.Position, error) {
	old, again, err := follow.ReadPosition(ctx, m.dst, m.key)
	if err != nil {
		return p, err
	}
	replace := m.o.Existing == transfer.Replace
	switch {
	case !again:
		n, err := transfer.CountKeys(ctx, m.dst, nil)
		if err != nil {
			return p, err
		}
		if was, err := follow.ReadSettings(ctx, m.dst, m.key); err != nil {
			return p, err
		} else if len(was) > 0 { // one key
			n--
		}
		p.Whole = n == 0
	case old.State == follow.Done:
		return p, m.errDone()
	case !old.Whole && old.State == follow.Following:
		return p, fmt.Errorf("%s no longer has the commands since the last one that arrived, and which keys were deleted since is unknown: %s had other keys; copy into an empty target", m.src.Target, m.dst.Target)
	case !old.Whole:
		m.say("an earlier copy was interrupted, and the target had other keys: keys that the source has deleted since may remain")
	case old.State == follow.Following && !m.followed && !replace:
		return p, fmt.Errorf("%s no longer has the commands since the last one that arrived, so all keys must be copied again; give --on-conflict replace to empty %s first", m.src.Target, m.dst.Target)
	case old.State == follow.Following && empty && !replace:
		return p, errEmptied
	case m.passing.Load(): // the passes delete keys that the source has deleted
		p.Whole = true
	default:
		m.say("copying all keys again")
		m.keys.Store(0)
		m.loaded.Store(false)
		for _, args := range [][][]byte{{[]byte("FLUSHALL")}, {[]byte("FUNCTION"), []byte("FLUSH")}} {
			if v, err := m.dst.Do(ctx, args...); err != nil {
				return p, err
			} else if v.IsError() && string(args[0]) == "FLUSHALL" {
				return p, transfer.Refusal(v.Str)
			}
		}
		p.Whole = true
	}
	return p, follow.WritePosition(ctx, m.dst, m.key, p)
}

// The clock of the source may be late by clockSkew: a key of the snapshot must not expire here before it does there.
const clockSkew = time.Minute

// write writes keys to the target.
func (m *Migration) write(ctx context.Context, source transfer.Source, whole bool) error {
	existing := m.o.Existing
	if whole {
		existing = transfer.Replace
	}
	o := move.WriteOptions(existing, m.notify)
	var kept [][]byte
	o.Skipped = func(k *transfer.Key) { kept = append(kept, []byte(follow.KeptName(k.DB, k.Name))) }
	o.Now = func() int64 { return 1 } // the stream deletes keys that have expired
	if m.dst.File != nil {
		move.ToFile(&o, m.target(time.Now().Add(-clockSkew).UnixMilli()).Transaction)
	}
	w := transfer.NewWriter(m.dst, o)
	sorted := move.Sorted(ctx, m.dst, source, func() error { return w.Flush(ctx) })
	err := transfer.Run(ctx, sorted, w, m.notify, func(p transfer.Part) {
		if p.Last {
			m.keys.Add(1)
		}
	})
	if errors.Is(err, transfer.ErrExists) {
		err = fmt.Errorf("%w in %s; give --on-conflict replace to replace such keys, or --on-conflict skip to keep them", err, m.dst.Target)
	}
	m.kept = nil
	if err == nil && len(kept) > 0 {
		err = follow.WriteKept(ctx, m.dst, m.key, kept)
	}
	return err
}
