package inspect

import (
	"context"
	"io"
	"os"
	"os/exec"
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

// borrower is a command that gets the terminal. While it has it, the signals that keys
// send to all who are in the foreground are meant for it.
type borrower struct {
	*exec.Cmd
	lent *atomic.Bool
}

func (b borrower) Run() error {
	b.lent.Store(true)
	defer b.lent.Store(false)
	return b.Cmd.Run()
}

func (b borrower) SetStdin(r io.Reader) {
	if b.Stdin == nil {
		b.Stdin = r
	}
}

func (b borrower) SetStdout(w io.Writer) { b.Stdout = w }
func (b borrower) SetStderr(w io.Writer) { b.Stderr = w }
