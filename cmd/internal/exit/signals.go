package exit

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

// StoppedBy is the cause of a context that a signal ended, and the error of a run
// that it ended, too.
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

// UntilInterrupted is a context that ends with the first Ctrl-C or SIGTERM, so that
// the verb can say what it has done; a second one ends the process.
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

// WasStopped reports whether err is what became of work when a signal ended ctx.
func WasStopped(ctx context.Context, err error) bool {
	return err != nil && ctx.Err() != nil && (errors.Is(err, ctx.Err()) || errors.Is(err, context.Cause(ctx)))
}

// Stopped is the end of work by a signal: what became of it, and how to go on.
func Stopped(ctx context.Context, what string) error {
	return fmt.Errorf("%w; %s", context.Cause(ctx), what)
}
