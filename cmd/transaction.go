package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/meowdis/meowdis/resp"
)

// transaction runs the whole script as one MULTI and EXEC. A line that cannot be
// queued keeps all of them from running.
func (s *script) transaction(ctx context.Context) error {
	if v, err := s.session.Do(ctx, []byte("MULTI")); err != nil || v.IsError() {
		return s.refused(v, err)
	}
	var queued []scriptLine
	chunks := s.chunks(ctx)
	for {
		c, err := s.await(ctx, chunks)
		if err != nil {
			return errors.Join(fmt.Errorf("%w: nothing was run", err), s.drop(ctx))
		}
		ok, err := s.queue(ctx, c.lines)
		if err != nil {
			return err
		}
		queued = append(queued, c.lines...)
		switch {
		case !ok:
			return s.discard(ctx)
		case c.wrong != nil:
			s.tellWrong(c)
			return s.discard(ctx)
		case errors.Is(c.err, io.EOF):
			return s.exec(ctx, queued)
		case c.err != nil:
			return errors.Join(fmt.Errorf("reading the script: %w", c.err), s.discard(ctx))
		}
	}
}

// queue queues lines, and reports whether all of them could be.
func (s *script) queue(ctx context.Context, lines []scriptLine) (ok bool, err error) {
	calls := make([][][]byte, len(lines))
	for i, line := range lines {
		if calls[i] = line.args; endsTransaction(line.args) {
			fmt.Fprintf(s.err, "meowdis: line %d: %s cannot be part of --transaction\n", line.number, line.args[0])
			return false, nil
		}
	}
	if len(calls) == 0 {
		return true, nil
	}
	replies, err := s.session.PipelineUntilError(ctx, calls)
	if err != nil {
		return false, fmt.Errorf("line %d: %w: nothing was run", lines[min(len(replies), len(lines)-1)].number, err)
	}
	for i, v := range replies {
		if v.IsError() {
			fmt.Fprintf(s.err, "meowdis: line %d failed: %s: %s\n", lines[i].number, clipped(string(lines[i].text)), v.Str)
			return false, nil
		}
	}
	return true, nil
}

// endsTransaction reports whether a command begins or ends transactions.
func endsTransaction(args [][]byte) bool {
	switch strings.ToUpper(string(args[0])) {
	case "MULTI", "EXEC", "DISCARD", "WATCH", "RESET", "QUIT":
		return true
	}
	return false
}

func (s *script) discard(ctx context.Context) error {
	fmt.Fprintln(s.err, "meowdis: nothing was run")
	if err := s.drop(ctx); err != nil {
		return err
	}
	return errAnswered
}

// drop forgets what is queued, also when ctx has ended.
func (s *script) drop(ctx context.Context) error {
	_, err := s.session.Do(context.WithoutCancel(ctx), []byte("DISCARD"))
	return err
}

// refused ends a transaction that the target does not want.
func (s *script) refused(v resp.Value, err error) error {
	if err != nil {
		return err
	}
	fmt.Fprintf(s.err, "meowdis: the transaction was refused, and nothing was run: %s\n", v.Str)
	return errAnswered
}

// exec runs the queue and prints the replies as those to its lines.
func (s *script) exec(ctx context.Context, queued []scriptLine) error {
	v, err := s.session.Do(ctx, []byte("EXEC"))
	switch {
	case err != nil:
		return fmt.Errorf("%w: whether the transaction took effect, as a whole, is not known", err)
	case v.IsError():
		return s.refused(v, nil)
	case len(v.Elems) != len(queued):
		return fmt.Errorf("the transaction of %d commands was answered with %d replies", len(queued), len(v.Elems))
	}
	var out []byte
	for i, reply := range v.Elems {
		out = s.printer.append(out, queued[i].args, reply)
		if reply.HasError() {
			s.failed = true
			fmt.Fprintf(s.err, "meowdis: line %d failed: %s\n", queued[i].number, clipped(string(queued[i].text)))
		}
	}
	if _, err := s.out.Write(out); err != nil {
		return err
	}
	return s.end()
}
