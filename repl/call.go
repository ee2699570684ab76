package repl

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"time"

	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
)

// Replies that take slowReply or longer show their time.
const slowReply = 500 * time.Millisecond

// call runs one command, which Ctrl-C interrupts. It returns false if repeating the
// command makes no sense.
func (l *loop) call(ctx context.Context, args [][]byte, out *output) bool {
	v, took, err := l.do(ctx, args)
	if err != nil {
		l.printError(err.Error())
		return false
	}
	l.failed = l.failed || v.HasError()
	if err := out.reply(args, v); err != nil {
		return false // the pager or the pipe was closed
	}
	if l.Suggest != nil && v.IsError() {
		l.Suggest(args, v)
	}
	if l.Terminal && (l.Timing || took >= slowReply) {
		l.note("(" + duration(took) + ")")
	}
	return true
}

// do runs one command on the session. No completion query runs at the same time.
func (l *loop) do(ctx context.Context, args [][]byte) (resp.Value, time.Duration, error) {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt)
	defer stop()
	l.asker.mu.Lock()
	defer l.asker.mu.Unlock()
	began, multi := time.Now(), l.multi
	v, err := l.doPolling(ctx, args)
	took := time.Since(began)
	if v.Kind == resp.Status && string(v.Str) == "QUEUED" {
		l.queue = append(l.queue, args)
	}
	again := l.readState()
	lost := err != nil && l.Target.Connections != nil
	l.willAbort = l.multi && (l.willAbort || multi && (lost || v.IsError() && !keepsTransaction(args)))
	switch {
	case ctx.Err() != nil && err != nil:
		return v, took, l.interrupted(args, err)
	case err != nil && l.Target.Connections != nil:
		return v, took, fmt.Errorf("Error: %w\nThe next command reconnects.", err)
	case err != nil:
		return v, took, fmt.Errorf("Error: %w", err)
	}
	if text := l.pushes.take(); text != "" && !l.NoPushes && l.Terminal {
		l.note(strings.TrimSuffix(text, "\n"))
	}
	if again {
		l.note("reconnected: the connection was lost")
	}
	return v, took, nil
}

// keepsTransaction reports whether MULTI stays valid after this command is refused in it.
func keepsTransaction(args [][]byte) bool {
	cmd := commands.Known(args)
	return cmd != nil && (cmd.Name == "MULTI" || cmd.Name == "WATCH") && cmd.Accepts(len(args))
}

// aborts asks the target whether EXEC would run nothing. It gives up after Target.LookupTime.
func (l *loop) aborts(ctx context.Context) bool {
	if l.Target.Aborts == nil {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, l.Target.lookupTime())
	defer cancel()
	l.asker.mu.Lock()
	defer l.asker.mu.Unlock()
	aborts, err := l.Target.Aborts(ctx)
	return err == nil && aborts
}

// errInterruptedCall is returned for a command that Ctrl-C stopped before it did anything.
var (
	errInterruptedCall = errors.New("interrupted")
	errUnknown         = errors.New("interrupted: whether the command took effect is not known")
)

// interrupted returns the error for a command that Ctrl-C stopped. The connection that this
// cost is not reported as lost.
func (l *loop) interrupted(args [][]byte, err error) error {
	if l.Terminal {
		fmt.Fprintln(l.Err) // after the terminal's ^C
	}
	if l.Target.Connections != nil {
		l.connections = l.Target.Connections() + 1
	}
	ended := l.Target.Connections == nil && errors.Is(err, context.Canceled) // on a file, before it did anything
	if cmd, _ := commands.Find(args); ended || cmd != nil && cmd.Flags&commands.ReadOnly != 0 {
		return errInterruptedCall
	}
	return errUnknown
}

// readState reads the state of the session. It reports whether the target has reconnected
// since the last call.
func (l *loop) readState() (again bool) {
	l.db, l.multi = l.Target.DB(), l.Target.InMulti()
	if !l.multi {
		l.queue = nil
	}
	if l.Target.Connections == nil {
		return false
	}
	before := l.connections
	l.connections = max(before, l.Target.Connections())
	return l.connections > before && before > 0
}

func duration(d time.Duration) string {
	switch {
	case d >= time.Second:
		return fmt.Sprintf("%.2f s", d.Seconds())
	case d >= time.Millisecond:
		return fmt.Sprintf("%.1f ms", float64(d)/1e6)
	}
	return fmt.Sprintf("%d µs", d.Microseconds())
}

// opensStream reports whether a command makes the target send messages.
func opensStream(args [][]byte) bool {
	cmd := commands.Known(args)
	return cmd.Has(commands.OpensStream) && cmd.Accepts(len(args))
}

// listen prints messages until Ctrl-C.
func (l *loop) listen(ctx context.Context, args [][]byte, out *output) bool {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt)
	defer stop()
	if l.Terminal {
		l.note("showing messages as they arrive; Ctrl-C ends")
	}
	err := l.Target.Listen(ctx, args, func(v resp.Value) error {
		l.failed = l.failed || v.HasError()
		return out.reply(args, v)
	})
	switch {
	case ctx.Err() != nil && l.Terminal:
		fmt.Fprintln(l.Err) // after the terminal's ^C
	case err != nil && !out.writeFailed:
		l.printError("Error: " + err.Error())
	}
	return false
}
