package migration

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/meowdis/meowdis/cmd/internal/move"
	"github.com/meowdis/meowdis/cmd/internal/targets"
	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/remote"
	"github.com/meowdis/meowdis/remote/psync"
	"github.com/meowdis/meowdis/transfer/follow"
)

// Waits between attempts after a failure.
const (
	firstWait = 100 * time.Millisecond
	lastWait  = 5 * time.Second
)

// streams follows over one connection after another.
func (m *Migration) streams(ctx context.Context, f *feed) error {
	wait := firstWait
	for {
		before := f.offset.Load()
		err := m.connection(ctx, f)
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
			f.forget()
		default:
			return err
		}
		if f.offset.Load() != before {
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

// lostError wraps a failure of the source that may pass.
type lostError struct{ error }

func (e *lostError) Unwrap() error { return e.error }

// connection follows over one connection, until it is lost.
func (m *Migration) connection(ctx context.Context, f *feed) error {
	from, err := m.from(ctx, f)
	if err != nil {
		return err
	}
	conn, err := m.dial(ctx, f)
	if err != nil {
		return &lostError{err}
	}
	s, err := psync.Start(ctx, conn, from, m.o.Stream)
	if err != nil {
		return &lostError{fmt.Errorf("following %s: %w", m.name(f), err)}
	}
	f.stream.Store(s)
	defer s.Close()
	if err := m.arrive(ctx, f, s); err != nil {
		return err
	}
	for {
		if err := m.nextCommand(ctx, f, s); err != nil {
			return err
		}
		m.reached(f, s)
	}
}

// nextCommand adds the next command to the batch, which is applied before it waits for one.
func (m *Migration) nextCommand(ctx context.Context, f *feed, s *psync.Stream) error {
	if !s.Ready() {
		if err := m.flush(ctx, f, s); err != nil {
			return err
		}
	}
	c, err := s.Next()
	if err != nil {
		// Apply the commands that have arrived, so that the next connection continues after them.
		if flushed := m.flush(ctx, f, s); flushed != nil {
			return flushed
		}
		return &lostError{fmt.Errorf("following %s: %w", m.name(f), err)}
	}
	if err := m.add(ctx, f, c); err != nil || !strings.EqualFold(string(c.Args[0]), "REPLCONF") {
		return err
	}
	if err := m.flush(ctx, f, s); err != nil {
		return err
	}
	if err := s.Acknowledge(); err != nil {
		return &lostError{err}
	}
	return nil
}

// name names the server of a feed in messages.
func (m *Migration) name(f *feed) string {
	if m.shards == nil {
		return m.src.Target.String()
	}
	return m.address(f)
}

// address returns the address of the server of a feed.
func (m *Migration) address(f *feed) string {
	m.feeding.Lock()
	defer m.feeding.Unlock()
	return f.at.Address()
}

// from returns the position to continue at, the zero one without any.
func (m *Migration) from(ctx context.Context, f *feed) (from psync.Position, err error) {
	m.writing.Lock()
	defer m.writing.Unlock()
	if f.apply == nil {
		if err := m.resume(ctx, f); err != nil {
			return from, err
		}
	}
	if f.apply != nil {
		f.apply.Reset()
		from.ID, from.Offset = f.apply.Position().ID, f.apply.Position().Offset
	}
	return from, nil
}

// arrive makes the feed ready for the commands of a connection: it loads the snapshot, if there is one.
func (m *Migration) arrive(ctx context.Context, f *feed, s *psync.Stream) error {
	if err := m.loadFrom(ctx, f, s); err != nil {
		return err
	}
	if err := m.untilLoaded(ctx, f, s); err != nil {
		return err
	}
	m.reached(f, s)
	if s.Full {
		f.loads.Add(1)
	}
	f.loaded.Store(true)
	if m.shards == nil {
		m.loaded.Store(true)
	}
	return nil
}

func (m *Migration) loadFrom(ctx context.Context, f *feed, s *psync.Stream) error {
	m.writing.Lock()
	defer m.writing.Unlock()
	switch {
	case !s.Full:
		f.apply.Renamed(s.At.ID)
		return nil
	case m.shards != nil:
		return m.loadShard(ctx, f, s)
	}
	return m.load(ctx, f, s)
}

func (m *Migration) add(ctx context.Context, f *feed, c psync.Command) error {
	m.writing.Lock()
	defer m.writing.Unlock()
	m.followed = true
	m.searches = m.searches || definesSearch(c.Args)
	m.turn(f)
	return f.apply.Add(ctx, c.Args, c.End)
}

func (m *Migration) flush(ctx context.Context, f *feed, s *psync.Stream) error {
	m.writing.Lock()
	defer m.writing.Unlock()
	m.turn(f)
	if err := f.apply.Flush(ctx); err != nil {
		return err
	}
	m.reached(f, s)
	if m.dst.File == nil || !m.searches {
		return nil
	}
	_, err := m.dst.File.BuildIndexes(ctx, move.IndexedKeys)
	return err
}

// resume continues at the position that the target has, if any.
func (m *Migration) resume(ctx context.Context, f *feed) error {
	p, ok, err := follow.ReadPosition(ctx, m.dst, f.key)
	switch {
	case err != nil:
		return err
	case !ok || p.State == follow.Loading:
		return nil
	case p.State == follow.Done:
		return m.errDone()
	case p.ID == passesID:
		return nil
	}
	return m.applier(ctx, f, p)
}

func (m *Migration) errDone() error {
	return fmt.Errorf("clients use %s since the cut-over; to migrate again, empty it first", m.dst.Target)
}

// applier makes the applier for the open target.
func (m *Migration) applier(ctx context.Context, f *feed, p follow.Position) error {
	o := follow.Options{Refused: m.noteRefused, Retry: m.retry, Now: func() int64 { return time.Now().UnixMilli() }}
	if !p.Whole {
		var err error
		if o.Kept, err = follow.ReadKept(ctx, m.dst, m.key); err != nil {
			return err
		}
	}
	if m.shards != nil || m.dst.IsCluster() {
		o.Divert = func(ctx context.Context, calls [][][]byte) ([][][]byte, error) { return m.divert(ctx, f, calls) }
	}
	to := m.target(1)
	to.Key = f.key
	f.apply = follow.NewApplier(to, p, o)
	return nil
}

// target returns the open target with its clock at a time in Unix ms, if it is a file.
func (m *Migration) target(clock int64) follow.Target {
	to := follow.Target{Session: m.dst, Key: m.key}
	if m.dst.File != nil {
		to.Transaction = move.NewTransaction(m.dst.File, 0, engine.WithClock(func() int64 { return clock }), engine.WithErrorsOnly())
		return to
	}
	_, to.Watches = targets.Plain(m.dst.Session).(*remote.Redis)
	return to
}

// noteRefused reports a command that the target refused.
func (m *Migration) noteRefused(command string, err error) {
	if isDefined(command, err) {
		return
	}
	if n := m.refused.Add(1); n <= move.MaxListed {
		m.say("%s was refused: %v: the target differs from the source", command, err)
	}
}

// retry waits before another attempt to write to the target.
func (m *Migration) retry(ctx context.Context, err error) error {
	if text := err.Error(); text != m.retried {
		m.retried = text
		m.say("writing to %s: %v; trying again", m.dst.Target, err)
	}
	select {
	case <-time.After(time.Second):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
