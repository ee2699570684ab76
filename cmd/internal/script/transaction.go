package script

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/meowdis/meowdis/cmd/internal/exit"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/transfer/cmdfile"
)

// Transaction runs all commands as one MULTI and EXEC, and prints their replies. Nothing runs if a command cannot be
// queued or a line is invalid.
func (r *Run) Transaction(ctx context.Context) error {
	if v, err := r.Session.Do(ctx, []byte("MULTI")); err != nil || v.IsError() {
		return r.refused(v, err)
	}
	var queued []cmdfile.Command
	from := batches(ctx, r.In, streaming)
	for {
		b, err := receive(ctx, from)
		if err != nil {
			return errors.Join(fmt.Errorf("%w: nothing was run", err), r.drop(ctx))
		}
		r.unit = b.unit
		ok, err := r.queue(ctx, b.commands)
		if err != nil {
			return err
		}
		queued = append(queued, b.commands...)
		switch {
		case !ok:
			return r.discard(ctx)
		case b.wrong != nil:
			r.note("%v", b.wrong)
			return r.discard(ctx)
		case errors.Is(b.err, io.EOF):
			return r.exec(ctx, queued)
		case b.err != nil:
			return errors.Join(fmt.Errorf("reading the script: %w: nothing was run", b.err), r.drop(ctx))
		}
	}
}

// queue queues commands, and reports whether all were queued.
func (r *Run) queue(ctx context.Context, commands []cmdfile.Command) (ok bool, err error) {
	for _, c := range commands {
		if EndsTransaction(c.Args) {
			r.note("%s %d: %s cannot be part of --transaction", r.unit, c.Number, c.Args[0])
			return false, nil
		}
	}
	if len(commands) == 0 {
		return true, nil
	}
	replies, err := r.Session.PipelineUntilError(ctx, calls(commands))
	if err != nil {
		return false, fmt.Errorf("%s %d: %w: nothing was run", r.unit, commands[min(len(replies), len(commands)-1)].Number, err)
	}
	if r.Seen != nil {
		r.Seen(int64(len(replies)))
	}
	for i, v := range replies {
		if v.IsError() {
			r.failed(commands[i], fmt.Sprintf(": %s", v.Str))
			return false, nil
		}
	}
	return true, nil
}

// EndsTransaction reports whether a command cannot be queued: it begins, ends or watches a transaction.
func EndsTransaction(args [][]byte) bool {
	switch strings.ToUpper(string(args[0])) {
	case "MULTI", "EXEC", "DISCARD", "WATCH", "RESET", "QUIT":
		return true
	}
	return false
}

func (r *Run) discard(ctx context.Context) error {
	r.note("nothing was run")
	if err := r.drop(ctx); err != nil {
		return err
	}
	return exit.ErrReported
}

// drop discards the queue, even after ctx has ended.
func (r *Run) drop(ctx context.Context) error {
	_, err := r.Session.Do(context.WithoutCancel(ctx), []byte("DISCARD"))
	return err
}

// refused reports that the session refused the transaction.
func (r *Run) refused(v resp.Value, err error) error {
	if err != nil {
		return err
	}
	r.note("the transaction was refused, and nothing was run: %s", v.Str)
	return exit.ErrReported
}

// exec runs the queue and prints the replies.
func (r *Run) exec(ctx context.Context, queued []cmdfile.Command) error {
	over := func() {}
	if r.Wait != nil {
		over = r.Wait()
	}
	v, err := r.Session.Do(ctx, []byte("EXEC"))
	over()
	switch {
	case err != nil:
		return fmt.Errorf("%w: it is unknown whether the transaction took effect", err)
	case v.IsError():
		return r.refused(v, nil)
	case len(v.Elems) != len(queued):
		return fmt.Errorf("the transaction of %d commands returned %d replies", len(queued), len(v.Elems))
	}
	out := bufio.NewWriterSize(r.Out, cmdfile.BufferSize)
	for i, reply := range v.Elems {
		if err := r.Print(out, queued[i].Args, reply); err != nil {
			return err
		}
		if reply.HasError() {
			r.errors++
			r.failed(queued[i], "")
		}
	}
	if err := out.Flush(); err != nil {
		return err
	}
	return r.end()
}
