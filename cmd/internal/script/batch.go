package script

import (
	"context"
	"errors"
	"io"
	"strings"

	"github.com/meowdis/meowdis/transfer/cmdfile"
)

// batchLimits limits the commands that are sent to the session together.
type batchLimits struct {
	commands, bytes int
	fill            bool // wait until the batch is full or the input ends
}

// streaming sends the commands that have arrived and never waits for more, so that a slow script shows each reply at
// once.
var streaming = batchLimits{commands: 4096, bytes: 1 << 20}

// batch holds a run of commands, and the reason for its end.
type batch struct {
	commands []cmdfile.Command
	unit     string               // the unit of numbers: "line" or "command"
	next     int                  // the number of the next command
	wrong    *cmdfile.SyntaxError // the next line is not a command
	err      error                // io.EOF at the end
}

// batches reads ahead while the session works, so that a signal is handled while the input is idle. It stops after a
// batch with an err.
func batches(ctx context.Context, r *cmdfile.Reader, p batchLimits) <-chan batch {
	out := make(chan batch)
	go func() {
		for {
			b := nextBatch(r, p)
			select {
			case out <- b:
			case <-ctx.Done():
				return
			}
			if b.err != nil {
				return
			}
		}
	}()
	return out
}

// receive returns the next batch, or the cause of ctx's end.
func receive(ctx context.Context, batches <-chan batch) (b batch, err error) {
	select {
	case b = <-batches:
	case <-ctx.Done():
	}
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return b, err
}

// nextBatch waits for one command, and adds further commands up to the pace.
func nextBatch(r *cmdfile.Reader, p batchLimits) (b batch) {
	if p.fill {
		b.commands = make([]cmdfile.Command, 0, p.commands)
	}
	defer func() { b.unit, b.next = r.Unit(), r.Number()+1 }()
	size := 0
	for len(b.commands) < p.commands && size < p.bytes && (p.fill || len(b.commands) == 0 || r.Ready()) {
		c, err := r.Next()
		switch {
		case errors.As(err, &b.wrong):
			if !b.wrong.Line {
				b.err = io.EOF // the input cannot be read further
			}
			return b
		case err != nil:
			b.err = err
			return b
		case len(c.Args) == 0:
			continue
		}
		size += c.Size()
		if b.commands = append(b.commands, c); changesContext(c.Args) {
			return b
		}
	}
	return b
}

// changesContext reports whether the commands after this one depend on its success: otherwise they would run on another
// database or as another user.
func changesContext(args [][]byte) bool {
	for _, name := range []string{"SELECT", "AUTH", "HELLO"} {
		if strings.EqualFold(string(args[0]), name) {
			return true
		}
	}
	return false
}
