package script

import (
	"context"
	"errors"
	"io"
	"strings"

	"github.com/meowdis/meowdis/transfer/cmdfile"
)

// pace says how many commands go to the session together.
type pace struct {
	commands, bytes int
	fill            bool // wait until there are as many, or the input ends
}

// asTheyCome takes what has arrived and never waits for more, so that a slow writer sees
// each reply at once.
var asTheyCome = pace{commands: 4096, bytes: 1 << 20}

// batch is a run of commands, and why it ended.
type batch struct {
	commands []cmdfile.Command
	unit     string         // what the commands are counted by: "line", or "command"
	next     int            // the number of the one that follows
	wrong    *cmdfile.Wrong // what follows is no command
	err      error          // io.EOF at the end
}

// batches reads ahead while the session works, so that a signal is heard while nothing
// comes. It ends with a batch that has an err.
func batches(ctx context.Context, r *cmdfile.Reader, p pace) <-chan batch {
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

// await is the next batch, or the cause of the end of ctx.
func await(ctx context.Context, batches <-chan batch) (b batch, err error) {
	select {
	case b = <-batches:
	case <-ctx.Done():
	}
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return b, err
}

// nextBatch waits for one command, and adds the commands after it that the pace allows.
func nextBatch(r *cmdfile.Reader, p pace) (b batch) {
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
				b.err = io.EOF // nothing can be read any more
			}
			return b
		case err != nil:
			b.err = err
			return b
		case len(c.Args) == 0:
			continue
		}
		size += c.Size()
		if b.commands = append(b.commands, c); movesAway(c.Args) {
			return b
		}
	}
	return b
}

// movesAway reports whether the commands that follow depend on this one as a whole: when
// it fails, they would run in another place than the one they were meant for.
func movesAway(args [][]byte) bool {
	for _, name := range []string{"SELECT", "AUTH", "HELLO"} {
		if strings.EqualFold(string(args[0]), name) {
			return true
		}
	}
	return false
}
