package migration

import (
	"context"
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

// connection follows over one connection, until it is lost.
func (m *Migration) connection(ctx context.Context) error {
	if m.apply == nil {
		if err := m.resume(ctx); err != nil {
			return err
		}
	}
	from := psync.Position{}
	if m.apply != nil {
		m.apply.Reset()
		from.ID, from.Offset = m.apply.Position().ID, m.apply.Position().Offset
	}
	conn, err := m.dial(ctx)
	if err != nil {
		return &lostError{err}
	}
	s, err := psync.Start(ctx, conn, from, m.o.Stream)
	if err != nil {
		return &lostError{fmt.Errorf("following %s: %w", m.src.Target, err)}
	}
	m.stream.Store(s)
	defer s.Close()
	if s.Full {
		if err := m.load(ctx, s); err != nil {
			return err
		}
	} else {
		m.apply.Renamed(s.At.ID)
	}
	m.reached(s)
	if s.Full {
		m.loads.Add(1)
	}
	m.loaded.Store(true)
	for {
		if !s.Ready() {
			if err := m.flush(ctx, s); err != nil {
				return err
			}
		}
		c, err := s.Next()
		if err != nil {
			// Apply the commands that have arrived, so that the next connection continues after them.
			if flushed := m.flush(ctx, s); flushed != nil {
				return flushed
			}
			return &lostError{fmt.Errorf("following %s: %w", m.src.Target, err)}
		}
		if err := m.apply.Add(ctx, c.Args, c.End); err != nil {
			return err
		}
		m.followed = true
		if strings.EqualFold(string(c.Args[0]), "REPLCONF") {
			if err := m.flush(ctx, s); err != nil {
				return err
			}
			if err := s.Acknowledge(); err != nil {
				return &lostError{err}
			}
		}
		m.reached(s)
	}
}

func (m *Migration) flush(ctx context.Context, s *psync.Stream) error {
	if err := m.apply.Flush(ctx); err != nil {
		return err
	}
	m.reached(s)
	return nil
}

// resume continues at the position that the target has, if any.
func (m *Migration) resume(ctx context.Context) error {
	p, ok, err := follow.ReadPosition(ctx, m.dst, m.key)
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
	return m.applier(ctx, p)
}

func (m *Migration) errDone() error {
	return fmt.Errorf("clients use %s since the cut-over; to migrate again, empty it first", m.dst.Target)
}

// applier makes the applier for the open target.
func (m *Migration) applier(ctx context.Context, p follow.Position) error {
	o := follow.Options{Refused: m.noteRefused, Retry: m.retry, Now: func() int64 { return time.Now().UnixMilli() }}
	if !p.Whole {
		var err error
		if o.Kept, err = follow.ReadKept(ctx, m.dst, m.key); err != nil {
			return err
		}
	}
	m.apply = follow.NewApplier(m.target(1), p, o)
	return nil
}

// target returns the open target with its clock at a time in Unix ms, if it is a file.
func (m *Migration) target(clock int64) follow.Target {
	to := follow.Target{Session: m.dst, Key: m.key}
	if m.dst.File != nil {
		to.Transaction = move.NewTransaction(m.dst.File, 0, engine.WithClock(func() int64 { return clock }))
		return to
	}
	_, rest := targets.Plain(m.dst.Session).(*remote.REST)
	to.Watches = !rest
	return to
}

// noteRefused reports a command that the target refused.
func (m *Migration) noteRefused(command string, err error) {
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
