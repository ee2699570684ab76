package cmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/meowdis/meowdis/resp"
)

// stoppedBy is the cause of a context that a signal ended, and the error of a run
// that it ended, too.
type stoppedBy syscall.Signal

func (s stoppedBy) Error() string {
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

// untilInterrupted is a context that ends with the first Ctrl-C or SIGTERM, so that
// the verb can say what it has done; a second one ends the process.
func untilInterrupted(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		defer signal.Stop(signals)
		select {
		case s := <-signals:
			if s, ok := s.(syscall.Signal); ok {
				cancel(stoppedBy(s))
			}
		case <-ctx.Done():
		}
	}()
	return ctx, func() { cancel(nil) }
}

// wasStopped reports whether err is what became of work when a signal ended ctx.
func wasStopped(ctx context.Context, err error) bool {
	return err != nil && ctx.Err() != nil && (errors.Is(err, ctx.Err()) || errors.Is(err, context.Cause(ctx)))
}

// stopped is the end of work by a signal: what became of it, and how to go on.
func stopped(ctx context.Context, what string) error {
	return fmt.Errorf("%w; %s", context.Cause(ctx), what)
}

// place is where a script broke off: at the line from. What lies before it has run.
// When unknown, nobody knows whether it took effect, nor the lines up to to that
// were sent along.
type place struct {
	from, to int
	unknown  bool
	multi    int    // the line of the MULTI that is open there, 0 for none
	again    string // the command line that takes the rest
}

// brokeOff is cause with what has run, and how to go on.
func (p place) brokeOff(cause error) error {
	where, goOn := "the lines before it have run, it has not", p.from
	switch {
	case p.multi > 0:
		where, goOn = fmt.Sprintf("the lines before %d have run, the transaction that it begins has not", p.multi), p.multi
	case p.unknown && p.to > p.from:
		where = fmt.Sprintf("the lines before it have run; whether lines %d to %d took effect is not known", p.from, p.to)
	case p.unknown:
		where = "the lines before it have run; whether it took effect is not known"
	}
	return fmt.Errorf("line %d: %w: %s; to go on: tail -n +%d SCRIPT | %s", p.from, cause, where, goOn, p.again)
}

// againIn is the command line that goes on where a session has come to that began
// in the database began.
func againIn(line string, s session, began int) string {
	if n := s.DB(); n != began {
		line += fmt.Sprintf(" -n %d", n)
	}
	return line + " …"
}

// openMulti is the line of the MULTI that is open behind a call at a line, 0 for
// none; before is that in front of it.
func openMulti(before int, args [][]byte, v resp.Value, line int) int {
	switch name := args[0]; {
	case len(name) > len("DISCARD") || v.IsError() && before == 0:
	case strings.EqualFold(string(name), "MULTI") && !v.IsError():
		return line
	case strings.EqualFold(string(name), "EXEC"), strings.EqualFold(string(name), "DISCARD"):
		return 0
	}
	return before
}
