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

// untilSignalled is a context that ends with the first signal that asks the program
// to end, with a Signalled as its cause; the second signal ends the process. While the
// terminal is lent, ^C and ^\ are meant for somebody else.
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
