package repl

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"time"

	"github.com/meowdis/meowdis/commands"
	"github.com/meowdis/meowdis/resp"
)

// Replies that took this long say so.
const slowReply = 500 * time.Millisecond

// call runs one command, which Ctrl-C interrupts. It returns false when
// repeating it makes no sense.
func (l *loop) call(ctx context.Context, args [][]byte, out *output) bool {
	v, took, err := l.do(ctx, args)
	if err != nil {
		l.printError(err.Error())
		return false
	}
	l.failed = l.failed || v.HasError()
	if err := out.reply(args, v); err != nil {
		return false // the reader has had enough
	}
	if l.Suggest != nil && v.IsError() {
		l.Suggest(args, v)
	}
	if l.Terminal && (l.Timing || took >= slowReply) {
		l.note("(" + duration(took) + ")")
	}
	return true
}

// do runs one command on the session, which has no other user meanwhile.
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
	l.willAbort = l.multi && (l.willAbort || multi && v.IsError() && !keepsTransaction(args))
	switch {
	case ctx.Err() != nil && err != nil:
		return v, took, l.interrupted(args, err)
	case err != nil && l.Target.Connections != nil:
		return v, took, fmt.Errorf("Error: %w\nThe next command connects again.", err)
	case err != nil:
		return v, took, fmt.Errorf("Error: %w", err)
	}
	if again {
		l.note("The connection was lost, and is there again.")
	}
	return v, took, nil
}

// keepsTransaction reports whether a command that is refused inside MULTI leaves the transaction
// as it is.
func keepsTransaction(args [][]byte) bool {
	cmd := commands.Known(args)
	return cmd != nil && (cmd.Name == "MULTI" || cmd.Name == "WATCH") && cmd.Accepts(len(args))
}

// aborts asks the target whether EXEC would run nothing. One that takes its time is not
// waited for.
func (l *loop) aborts(ctx context.Context) bool {
	if l.Target.Aborts == nil {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, lookupTime)
	defer cancel()
	l.asker.mu.Lock()
	defer l.asker.mu.Unlock()
	aborts, err := l.Target.Aborts(ctx)
	return err == nil && aborts
}

// errInterruptedCall ends a command that Ctrl-C stopped; nothing has happened.
var (
	errInterruptedCall = errors.New("interrupted")
	errUnknown         = errors.New("interrupted: whether the command took effect is not known")
)

// interrupted is the error of a command that Ctrl-C stopped. The connection that
// it cost was not lost: it was given up.
func (l *loop) interrupted(args [][]byte, err error) error {
	if l.Terminal {
		fmt.Fprintln(l.Err) // after the ^C of the terminal
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

// readState asks for the state of the session. It reports whether a connection was made since it
// was last asked, not counting the first.
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
	return cmd.Has(commands.Listens) && cmd.Accepts(len(args))
}

// listen shows messages until Ctrl-C.
func (l *loop) listen(ctx context.Context, args [][]byte, out *output) bool {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt)
	defer stop()
	if l.Terminal {
		l.note("Messages are shown as they come; Ctrl-C ends.")
	}
	err := l.Target.Listen(ctx, args, func(v resp.Value) error {
		l.failed = l.failed || v.HasError()
		return out.reply(args, v)
	})
	switch {
	case ctx.Err() != nil && l.Terminal:
		fmt.Fprintln(l.Err) // after the ^C of the terminal
	case err != nil && !out.writeFailed:
		l.printError("Error: " + err.Error())
	}
	return false
}

// confirmed asks before a command that the target wants confirmed, where a user
// can answer.
func (l *loop) confirmed(args [][]byte) bool {
	if l.Target.Confirm == nil || l.editor == nil {
		return true
	}
	question, accepts := l.Target.Confirm(args)
	if question == "" {
		return true
	}
	if answer, err := l.editor.ask(l.coloured("1;31", question)); err == nil && accepts(answer) {
		return true
	}
	l.note("Nothing was run.")
	return false
}
