package script

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/meowdis/meowdis/cmd/internal/exit"
	"github.com/meowdis/meowdis/keyspace"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/transfer/cmdfile"
)

// Run runs the commands of a Reader in one of three ways: Script prints their replies, Transaction runs all or none,
// and Load counts the replies. It reports failed commands on Notes and returns exit.ErrReported. If the context ends
// or the session fails, its error names the line and how to continue.
type Run struct {
	sendState

	In         *cmdfile.Reader
	Out, Notes io.Writer
	Session    keyspace.Session

	// Print prints the reply to a command. Suggest prints a suggestion for a refused command. Load needs neither.
	Print   func(out io.Writer, args [][]byte, reply resp.Value) error
	Suggest func(args [][]byte, reply resp.Value)

	Seen      func(commands int64) // receives the number of newly replied or queued commands; may be nil
	Wait      func() (over func()) // called before Transaction waits for EXEC, and over after it; may be nil
	KeepGoing bool                 // continue after an error reply or an invalid line
	JSON      bool                 // Load prints its counts as JSON
	Exact     bool                 // the replies tell exactly what took effect: the session is a file's

	Sorted *Sorted // for Load; nil runs the commands in their order

	sorted       *sortedLoad
	continueWith string                                      // the command line that continues
	independent  bool                                        // an error reply does not stop the other commands
	answer       func(c cmdfile.Command, v resp.Value) error // handles a reply
}

// sendState holds the progress of the run.
type sendState struct {
	out             *bufio.Writer
	unit            string // the unit of numbers: "line" or "command"
	next            int    // the number of the first unsent command
	multi           int    // the number of the open MULTI, 0 for none
	replies, errors int
	ended           bool // the input was read to its end
	startDB         int  // the database of the session at the start
}

// Script runs the commands and prints their replies. Lines that have already arrived are sent together. It stops at
// the first error unless KeepGoing is set.
func (r *Run) Script(ctx context.Context) error {
	r.continueWith, r.independent, r.answer = "meowdis exec", r.KeepGoing, r.print
	r.out = bufio.NewWriterSize(r.Out, cmdfile.BufferSize)
	return r.run(ctx, streaming)
}

func (r *Run) run(ctx context.Context, p batchLimits) error {
	r.unit, r.next, r.startDB = "line", 1, r.Session.DB()
	from := batches(ctx, r.In, p)
	for {
		b, err := receive(ctx, from)
		if err != nil {
			return r.position(r.next, false).wrap(err)
		}
		r.unit = b.unit
		goOn, err := r.sendBatch(ctx, b)
		if err != nil {
			return err
		}
		if goOn && b.wrong != nil {
			r.errors++
			r.note("%v", b.wrong)
			goOn = r.KeepGoing && b.wrong.Line
		}
		switch {
		case !goOn:
			return exit.ErrReported
		case errors.Is(b.err, io.EOF):
			return r.end()
		case b.err != nil:
			return fmt.Errorf("reading the script: %w", b.err)
		}
	}
}

func (r *Run) sendBatch(ctx context.Context, b batch) (goOn bool, err error) {
	if r.sorted != nil {
		return r.loadSorted(ctx, b)
	}
	if goOn, err = r.send(ctx, b.commands); err == nil {
		r.next = b.next
	}
	return goOn, err
}

// note writes a line to Notes.
func (r *Run) note(format string, args ...any) {
	fmt.Fprintf(r.Notes, "meowdis: "+format+"\n", args...)
}

// failed reports a command that returned an error.
func (r *Run) failed(c cmdfile.Command, more string) {
	r.note("%s %d failed: %s%s", r.unit, c.Number, c, more)
}

// position returns the current position.
func (r *Run) position(to int, unknown bool) position {
	again := r.continueWith
	if n := r.Session.DB(); n != r.startDB {
		again += fmt.Sprintf(" -n %d", n)
	}
	return position{unit: r.unit, from: r.next, to: to, unknown: unknown, multi: r.multi, continueWith: again + " …"}
}

// end returns the result of a run that read all its input.
func (r *Run) end() error {
	r.ended = true
	if r.Session.InMulti() {
		r.errors++
		r.note("the script ended inside MULTI: the queued commands did not run")
	}
	if r.errors > 0 {
		return exit.ErrReported
	}
	return nil
}

// send runs commands and handles their replies. goOn is false after an error that stops the run.
func (r *Run) send(ctx context.Context, commands []cmdfile.Command) (goOn bool, err error) {
	if len(commands) == 0 {
		return true, nil
	}
	run, sending := r.Session.PipelineUntilError, ctx
	if r.independent {
		run = r.Session.Pipeline
		if r.Exact { // a batch on a file is short
			sending = context.WithoutCancel(ctx)
		}
	}
	replies, err := run(sending, calls(commands))
	goOn = true
	for i, v := range replies {
		c := commands[i]
		if err := r.answer(c, v); err != nil {
			return false, err
		}
		r.next = c.Number + 1
		r.multi = openMulti(r.multi, c.Args, v, c.Number)
		goOn = goOn && (!v.HasError() || r.independent && !changesContext(c.Args))
	}
	if r.out != nil {
		if err := r.out.Flush(); err != nil {
			return false, err
		}
	}
	if r.Seen != nil {
		r.Seen(int64(len(replies)))
	}
	if err != nil {
		r.next = commands[min(len(replies), len(commands)-1)].Number
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		err = r.position(commands[len(commands)-1].Number, !r.Exact).wrap(err)
	}
	return goOn, err
}

func calls(commands []cmdfile.Command) [][][]byte {
	calls := make([][][]byte, len(commands))
	for i := range commands {
		calls[i] = commands[i].Args
	}
	return calls
}

// print handles a reply of Script.
func (r *Run) print(c cmdfile.Command, v resp.Value) error {
	if err := r.Print(r.out, c.Args, v); err != nil || !v.HasError() {
		return err
	}
	if err := r.out.Flush(); err != nil {
		return err
	}
	r.errors++
	r.failed(c, "")
	r.Suggest(c.Args, v)
	return nil
}
