package cmd

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/meowdis/meowdis/cmd/internal/exit"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/local/replicate"
	"github.com/meowdis/meowdis/server"
)

// replication writes a stream to a place, or follows it, and may change from a copy to the writer (docs/design/failover.md).
type replication struct {
	o        *replicateOptions
	place    *replicate.Place
	file     *local.Store
	path     string
	log      *slog.Logger
	grace    time.Duration
	held     *replicate.LeaseFile // nil for a copy that is never promoted
	copied   *local.Copy          // nil unless the server began as a copy
	follower *replicate.Follower

	mu      sync.Mutex
	lease   *replicate.Lease   // nil while the server is a copy
	shipper *replicate.Shipper // nil while the server is a copy
	tail    *local.Tail
	standby *replicate.Standby
}

// state returns the server's view of the replication.
func (r *replication) state() (s server.Replication) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.shipper != nil:
		stream, lease := server.Stream(r.shipper.Status()), server.Lease(r.lease.Status())
		s.Stream, s.Lease = &stream, &lease
	case r.standby != nil:
		lease := server.Lease(r.standby.Status())
		s.Lease = &lease
		fallthrough
	default:
		following := server.Following(r.follower.Status())
		s.Following = &following
	}
	return s
}

// writable returns why the server refuses writes because of its lease.
func (r *replication) writable() error {
	r.mu.Lock()
	lease := r.lease
	r.mu.Unlock()
	if lease == nil {
		return nil
	}
	return lease.Err()
}

// newLease returns a lease that is not held.
func (r *replication) newLease() *replicate.Lease {
	return replicate.NewLease(r.place, replicate.LeaseOptions{
		TTL: time.Duration(r.o.lease), Previous: r.held.Previous(r.place), Alone: r.held.Alone(r.place), Lost: r.lost, Log: r.log,
		Remember: func(h replicate.Held) error { return r.held.Remember(r.place, h) },
	})
}

// lost logs the number of writes that no other file has, after another server has taken over.
func (r *replication) lost(to *replicate.HeldError) {
	r.mu.Lock()
	shipper := r.shipper
	r.mu.Unlock()
	if shipper == nil { // it was not the writer yet
		return
	}
	unsent := shipper.Unsent(to.After)
	r.log.Error("another server has taken over, and this one refuses writes; its file is unchanged",
		"file", r.path, "transactions_only_here", unsent, "after_transaction", to.After, "writer", to.Server, "fence", to.Fence, "to_rejoin", "end this server, "+r.rejoin())
}

// rejoin says how the file's server, which does not run, becomes a copy of the writer.
func (r *replication) rejoin() string {
	return fmt.Sprintf("move %s away (meowdis diff compares it), and run: meowdis serve %[1]s --follow %s --promote-after 10s", r.path, r.place)
}

// write makes the server the writer. lease is held already, or nil to take it.
func (r *replication) write(ctx context.Context, lease *replicate.Lease) (err error) {
	made, err := madeAt(ctx, r.file)
	if err != nil {
		return err
	}
	tail, err := r.file.Tail()
	if err != nil {
		return fmt.Errorf("--replicate: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, tail.Close())
		}
	}()
	taken := lease != nil
	if !taken {
		lease = r.newLease()
	}
	shipper := replicate.NewShipper(r.place, tail, replicate.Options{
		Path: r.path, CreatedAt: made, Every: time.Duration(r.o.every), Keep: time.Duration(r.o.keep), Log: r.log,
		Lease: lease, Commits: func() int64 { return r.file.Stats().Commits },
		Fence: r.held.Fence(r.place), Began: r.held.RememberFence,
	})
	if !taken {
		if err := r.acquire(ctx, lease, shipper); err != nil {
			return err
		}
		lease.Start()
	}
	if r.o.sync {
		r.file.SetConfirm(func(ctx context.Context) error {
			if err := shipper.Sync(ctx); err != nil {
				return err
			}
			return lease.Verify(ctx)
		})
	}
	r.mu.Lock()
	r.lease, r.shipper, r.tail = lease, shipper, tail
	r.mu.Unlock()
	r.file.SetGuard(lease.Err) // last, since it admits writes
	return nil
}

// acquire takes the lease when the server starts. It returns an error if another server has it. If the place cannot be
// reached, the lease is taken later.
func (r *replication) acquire(ctx context.Context, lease *replicate.Lease, shipper *replicate.Shipper) error {
	soon, cancel := context.WithTimeout(ctx, placeTimeout)
	defer cancel()
	superseded := shipper.Check(soon)
	if superseded != nil && !errors.Is(superseded, replicate.ErrSuperseded) {
		return superseded
	}
	err := lease.Acquire(ctx, func(holder string, atMost time.Duration) {
		r.log.Info("waiting until the lease of another server ends", "place", r.place, "holder", holder, "at_most", atMost.Round(time.Millisecond))
	})
	var held *replicate.HeldError
	switch {
	case errors.As(err, &held):
		differs, unread := shipper.Compare(ctx, held.After)
		if unread != nil {
			differs = unread.Error()
		}
		return fmt.Errorf("%w. %s: %s. To rejoin, %s", held, r.path, differs, r.rejoin())
	case ctx.Err() != nil:
		return ctx.Err()
	case superseded != nil:
		if err == nil {
			lease.Release(ctx) // if that fails, the next server waits until the lease ends
		}
		return fmt.Errorf("%w. Start that server; or, to rejoin, %s; or delete %s-lease to send this file all the same", superseded, r.rejoin(), r.path)
	case err != nil:
		r.log.Warn("the lease cannot be taken yet; meowdis tries again", "place", r.place, "error", err, "writes_accepted", lease.Err() == nil)
	}
	return nil
}

var errPromoting = errors.New(readOnlyError)

// promote makes the copy the writer, with a lease that is held.
func (r *replication) promote(ctx context.Context, lease *replicate.Lease) error {
	r.file.SetGuard(func() error { return errPromoting })
	if err := forgetSource(r.path); err != nil {
		return err
	}
	if err := r.file.Promote(); err != nil {
		return err
	}
	if err := r.write(ctx, lease); err != nil {
		return err
	}
	r.log.Warn("this server has taken over: the copy is the writer now", "file", r.path, "place", r.place, "fence", lease.Fence())
	return nil
}

// run runs until ctx ends.
func (r *replication) run(ctx context.Context) {
	if r.follower != nil {
		lease := r.follower.Run(ctx)
		if lease == nil {
			return
		}
		if err := r.promote(ctx, lease); err != nil {
			r.log.Error("the copy cannot be promoted; restart this server", "file", r.path, "error", err)
			lease.Stop()
			lease.Release(ctx)
			return
		}
	}
	r.shipper.Run(ctx, r.grace)
}

// start runs the replication in the background. end stops it after the remaining changes are sent.
func (r *replication) start(ctx context.Context, config *server.Config) (end func() error) {
	config.Replication = r.state
	moved := config.Writable
	config.Writable = func() error { return errors.Join(moved(), r.writable()) }
	life, stop := context.WithCancel(context.WithoutCancel(ctx)) // clients may write until the server has stopped
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.run(life)
	}()
	return func() (err error) {
		stop()
		<-done
		if r.lease != nil {
			r.lease.Stop()
			if r.shipper.Status().LastError == "" && r.lease.Held() {
				last, cancel := context.WithTimeout(context.Background(), r.grace)
				defer cancel()
				if unreleased := r.lease.Release(last); unreleased != nil {
					r.log.Warn("the lease is not released; it ends by itself", "place", r.place, "error", unreleased)
				}
			}
			err = r.tail.Close()
		}
		if r.copied != nil {
			err = errors.Join(err, r.copied.Close())
		}
		if r.held != nil {
			err = errors.Join(err, r.held.Close())
		}
		return err
	}
}

// newReplication returns the replication of the flags, and takes the lease of a writer.
func (o *replicateOptions) newReplication(ctx context.Context, s *streams, file *local.Store, copied *local.Copy, log *slog.Logger, grace time.Duration) (r *replication, err error) {
	where, flag := o.to, "--replicate"
	if copied != nil {
		where, flag = o.follow, "--follow"
	}
	r = &replication{o: o, file: file, path: file.Path(), copied: copied, log: log, grace: grace}
	if r.place, err = replicate.Open(where, s.getenv); err != nil {
		return nil, exit.Usagef("%s: %w", flag, err)
	}
	if r.path == local.Memory {
		return nil, fmt.Errorf("--replicate: %w", local.ErrNoWAL)
	}
	if copied == nil || o.promoteAfter > 0 {
		if r.held, err = openLeaseFile(ctx, r.path); err != nil {
			return nil, err
		}
	}
	if copied == nil {
		if err := r.write(ctx, nil); err != nil {
			return nil, errors.Join(err, r.held.Close())
		}
		return r, nil
	}
	follow := replicate.FollowOptions{Every: time.Duration(o.every), Log: log}
	if o.promoteAfter > 0 {
		r.standby = replicate.NewStandby(r.newLease(), time.Duration(o.promoteAfter))
		follow.Standby = r.standby
	}
	r.follower = replicate.NewFollower(r.place, copied, follow)
	return r, nil
}

// resume makes a server that was promoted earlier the writer again: with the same flags, it no longer is a copy.
func (o *replicateOptions) resume(ctx context.Context, s *streams, path string) error {
	if o.promoteAfter == 0 || path == local.Memory {
		return nil
	}
	if _, err := os.Stat(path + markSuffix); err == nil {
		return nil
	}
	place, err := replicate.Open(o.follow, s.getenv)
	if err != nil {
		return exit.Usagef("--follow: %w", err)
	}
	if _, err := os.Stat(path); err != nil {
		return nil
	}
	held, err := openLeaseFile(ctx, path)
	if err != nil {
		return err
	}
	defer held.Close()
	if held.Wrote(place) {
		o.to, o.follow = o.follow, ""
	}
	return nil
}

// endTimeout limits the time that a starting server waits until one that is shutting down has ended: its connections
// close before it has sent its last changes.
const endTimeout = 3 * time.Second

func openLeaseFile(ctx context.Context, path string) (*replicate.LeaseFile, error) {
	soon, cancel := context.WithTimeout(ctx, endTimeout)
	defer cancel()
	return replicate.OpenLeaseFile(soon, path)
}
