package inspect

import (
	"context"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
)

// Signalled is the error of Run when a signal ended it.
type Signalled struct{ Signal syscall.Signal }

func (s Signalled) Error() string { return "ended by a signal: " + s.Signal.String() }

// untilSignalled returns a context that the first terminating signal cancels, with a Signalled as its
// cause. The second signal ends the process. While another program uses the terminal, ^C and ^\ are for the other
// program.
func untilSignalled(ctx context.Context, lent *atomic.Bool) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	go func() {
		defer signal.Stop(signals)
		for {
			select {
			case s := <-signals:
				number, _ := s.(syscall.Signal)
				if lent.Load() && (number == syscall.SIGINT || number == syscall.SIGQUIT) {
					continue
				}
				cancel(Signalled{number})
			case <-ctx.Done():
			}
			return
		}
	}()
	return ctx, func() { cancel(nil) }
}
