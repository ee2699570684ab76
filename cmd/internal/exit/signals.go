package exit

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

// StoppedBy is the error of a run that a signal ended, and the cause of its context.
type StoppedBy syscall.Signal

func (s StoppedBy) Error() string {
	switch syscall.Signal(s) {
	case syscall.SIGTERM:
		return "terminated"
	case syscall.SIGHUP:
		return "hung up"
	case syscall.SIGQUIT:
		return "quit"
	}
	return "interrupted"
}

// UntilInterrupted returns a context that the first Ctrl-C or SIGTERM cancels, so that the verb can report its
// progress. A second signal ends the process.
func UntilInterrupted(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		defer signal.Stop(signals)
		select {
		case s := <-signals:
			if s, ok := s.(syscall.Signal); ok {
				cancel(StoppedBy(s))
			}
		case <-ctx.Done():
		}
	}()
	return ctx, func() { cancel(nil) }
}

// WasStopped reports whether work failed with err because a signal ended ctx.
func WasStopped(ctx context.Context, err error) bool {
	return err != nil && ctx.Err() != nil && (errors.Is(err, ctx.Err()) || errors.Is(err, context.Cause(ctx)))
}

// Stopped returns the error of work that a signal ended. what reports the progress and how to continue.
func Stopped(ctx context.Context, what string) error {
	return fmt.Errorf("%w; %s", context.Cause(ctx), what)
}
