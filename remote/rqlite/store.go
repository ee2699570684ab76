package rqlite

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/meowdis/meowdis/remote/lane"
	"github.com/meowdis/meowdis/store"
)

// Store is an rqlite cluster. It is safe for concurrent use.
type Store struct {
	cluster *cluster
	o       Options
	writer  writer

	writing  lane.Lane[*call] // one request at a time, so that requests reach the log in order
	reading  lane.Lane[*call]
	dryRuns  lane.Lane[*call] // batches that always roll back: a transaction can have only one of them
	sweeping sync.WaitGroup

	life context.Context // ends with Close
	end  context.CancelFunc
}

// Open creates the store of a cluster. It sends nothing.
func Open(o Options) (*Store, error) {
	if len(o.Nodes) == 0 {
		return nil, errors.New("an rqlite node is missing: give HOST:PORT")
	}
	if o.Now == nil {
		o.Now = func() int64 { return time.Now().UnixMilli() }
	}
	o.Timeout = cmp.Or(o.Timeout, DefaultTimeout)
	o.Level = cmp.Or(o.Level, linearizable)
	s := &Store{o: o, cluster: newCluster(o)}
	var id [8]byte
	rand.Read(id[:])
	s.writer.id = int64(binary.NativeEndian.Uint64(id[:]) >> 1)
	s.life, s.end = context.WithCancel(context.Background())
	for l, serve := range map[*lane.Lane[*call]]func([]*call){&s.writing: s.write, &s.reading: s.read, &s.dryRuns: s.try} {
		l.Width, l.MaxCalls, l.MaxBytes, l.Serve = 4, maxCalls, maxGroupBytes, serve
	}
	s.writing.Width, s.dryRuns.MaxCalls = 1, 1
	return s, nil
}

// PublicMessage describes err without addresses or SQL, for clients. It returns "" for errors that must not be shown to
// clients.
func (s *Store) PublicMessage(err error) string {
	switch {
	case errors.Is(err, errPartly):
		return "its cluster failed in the middle of several commands, and which of them took effect is unknown"
	case errors.Is(err, ErrReplyLost):
		return "the command took effect, but its reply was lost with a node of the cluster"
	case errors.Is(err, errUnknown):
		return "its cluster did not answer in time, and whether the command took effect is unknown"
	case errors.Is(err, errOutage):
		return "its cluster did not answer in time, and the command had no effect"
	}
	return ""
}

// maxCalls bounds the calls that share a request.
const maxCalls = 1000

// Close cancels requests in progress and waits for them.
func (s *Store) Close() error {
	s.end()
	s.sweeping.Wait()
	for _, l := range []*lane.Lane[*call]{&s.writing, &s.reading, &s.dryRuns} {
		l.Wait()
	}
	s.cluster.client.CloseIdleConnections()
	return nil
}

// Apply implements the engine's store contract. Batches that write, and the reads between them, share a
// transaction unless one of them is refused.
func (s *Store) Apply(ctx context.Context, batches []store.Batch) ([]store.Result, error) {
	if err := errors.Join(ctx.Err(), s.life.Err()); err != nil || len(batches) == 0 {
		return nil, err
	}
	forms, err := s.forms(ctx, batches)
	if err != nil {
		return nil, err
	}
	c := newCall(batches, forms)
	l := &s.reading
	for i := range batches {
		switch {
		case batches[i].ReadOnly:
		case len(batches) == 1 && alwaysAborts(&batches[i]):
			l = &s.dryRuns
		default:
			l = &s.writing
		}
	}
	err = l.Do(ctx, c)
	c.leave()
	if err != nil {
		return nil, err
	}
	return c.results, nil
}

// forms returns the form of each statement. If a text does not determine its number of columns, it asks the
// database.
func (s *Store) forms(ctx context.Context, batches []store.Batch) ([][]*form, error) {
	all := make([][]*form, len(batches))
	for i, b := range batches {
		all[i] = make([]*form, len(b.Stmts))
		for j, stmt := range b.Stmts {
			f := formOf(stmt.SQL)
			if f.star {
				n, err := s.width(ctx, f.read, stmt.Args)
				if err != nil {
					return nil, fmt.Errorf("running %q: %w", stmt.SQL, err)
				}
				f = reading(f.read, n)
			}
			if b.ReadOnly && f.kind != reads {
				return nil, fmt.Errorf("running %q: the batch is declared read-only", stmt.SQL)
			}
			all[i][j] = f
		}
	}
	return all, nil
}

// bounded returns the context of a request, which ends with the store or after Options.Timeout.
func (s *Store) bounded() (context.Context, context.CancelFunc) {
	return context.WithTimeout(s.life, s.o.Timeout)
}
