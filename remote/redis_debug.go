package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/meowdis/meowdis/redis/resp"
)

// endOfDebugging ends the log of a debugging session.
const endOfDebugging = "<endsession>"

// Debug runs an EVAL in the server's Lua debugger. Unless keep is set, the server runs the script in a copy of its
// process and discards the changes; with keep it serves no other client until the end. ask shows the lines that the
// server logged and returns the next command; ok is false to abort the script. The last lines end with "<endsession>".
func (r *Redis) Debug(ctx context.Context, args [][]byte, keep bool, ask func(lines []string) (words []string, ok bool)) (resp.Value, error) {
	if r.multi {
		return resp.MakeError("ERR a script cannot be debugged inside MULTI"), nil
	}
	mode := "YES"
	if keep {
		mode = "SYNC"
	}
	v, err := r.Do(ctx, []byte("SCRIPT"), []byte("DEBUG"), []byte(mode))
	if err != nil || v.IsError() {
		return v, err
	}
	conn := r.conn
	conn.SetDeadline(time.Time{})
	defer context.AfterFunc(ctx, func() { conn.SetDeadline(time.Unix(1, 0)) })()
	reply, err := r.debug(args, ask)
	if !keep || err != nil {
		r.drop() // the copy of the server ends with the session
	}
	r.used = time.Now()
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return reply, err
}

// debug sends an EVAL, and then a command for each log of the server.
func (r *Redis) debug(args [][]byte, ask func(lines []string) (words []string, ok bool)) (reply resp.Value, err error) {
	if err := resp.WriteCommands(r.conn, [][][]byte{args}); err != nil {
		return reply, err
	}
	ended, replied := false, false
	for !ended || !replied {
		v, err := r.reply()
		if err != nil {
			if replied && (errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)) {
				return reply, nil
			}
			return reply, fmt.Errorf("debugging on %s: %w", r.server.address, err)
		}
		lines, isLog := logOf(v)
		if ended || !isLog {
			reply, replied = v, true
			if v.IsError() && !ended {
				return reply, nil // the script did not begin
			}
			continue
		}
		if ended, err = r.answerLog(lines, ask); err != nil {
			return reply, err
		}
	}
	return reply, nil
}

// answerLog passes a log to ask, and sends the command that ask returns unless the log was the last one.
func (r *Redis) answerLog(lines []string, ask func(lines []string) (words []string, ok bool)) (ended bool, err error) {
	words, ok := ask(lines)
	if len(lines) > 0 && lines[len(lines)-1] == endOfDebugging {
		return true, nil
	}
	return false, resp.WriteCommands(r.conn, [][][]byte{debuggerCall(words, ok)})
}

// debuggerCall returns the command of the debugger that the person entered; without one it aborts the script.
func debuggerCall(words []string, entered bool) [][]byte {
	if !entered {
		return [][]byte{[]byte("abort")}
	}
	call := make([][]byte, len(words))
	for i, w := range words {
		call[i] = []byte(w)
	}
	return call
}

// logOf returns the lines of a log of the debugger, which is an array of simple strings.
func logOf(v resp.Value) (lines []string, ok bool) {
	if v.Kind != resp.Array || v.IsNull() {
		return nil, false
	}
	for _, e := range v.Elems {
		if e.Kind != resp.Status {
			return nil, false
		}
		lines = append(lines, string(e.Str))
	}
	return lines, true
}
