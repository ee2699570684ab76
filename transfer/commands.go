package transfer

import (
	"bytes"
	"context"
	"io"

	"github.com/meowdis/meowdis/resp"
)

// CommandWriter is the sink that writes the commands which make the keys, where
// there are none yet.
type CommandWriter struct {
	out    io.Writer
	append func(out []byte, args [][]byte) []byte
	buf    []byte
	db     int
}

// NewScriptWriter makes a sink that writes lines in redis-cli's quoting.
func NewScriptWriter(out io.Writer) *CommandWriter {
	return &CommandWriter{out: out, append: appendLine}
}

// NewProtocolWriter makes a sink that writes commands as clients send them to a
// server.
func NewProtocolWriter(out io.Writer) *CommandWriter {
	return &CommandWriter{out: out, append: func(out []byte, args [][]byte) []byte { return resp.AppendCommand(out, args...) }}
}

func appendLine(out []byte, args [][]byte) []byte {
	for i, a := range args {
		if i > 0 {
			out = append(out, ' ')
		}
		if isPlain(a) {
			out = append(out, a...)
		} else {
			out = resp.AppendQuoted(out, a, true)
		}
	}
	return append(out, '\n')
}

// isPlain reports whether a word needs no quotes.
func isPlain(word []byte) bool {
	return len(word) > 0 && !bytes.ContainsFunc(word, func(r rune) bool {
		return r <= ' ' || r > '~' || r == '"' || r == '\'' || r == '\\' || r == '#'
	})
}

// Put writes the commands of a part; where a key could not be read to its end, one
// that deletes it again.
func (w *CommandWriter) Put(_ context.Context, p Part) error {
	w.buf = w.buf[:0]
	if p.Key.DB != w.db {
		w.db = p.Key.DB
		w.add(call("SELECT", decimal(int64(w.db))))
	}
	switch at := p.Key.ExpiresAt; {
	case p.Err != nil:
		w.add(call("DEL", p.Key.Name))
	case at > 0 && p.Key.Type == StringType && p.First && p.Last:
		for args := range p.Calls(p.Key.Name) {
			w.add(append(args, []byte("PXAT"), decimal(at)))
		}
	default:
		for args := range p.Calls(p.Key.Name) {
			w.add(args)
		}
		if p.Last && at > 0 {
			w.add(ExpiryCall(p.Key.Name, at))
		}
	}
	_, err := w.out.Write(w.buf)
	return err
}

func (w *CommandWriter) add(args [][]byte) { w.buf = w.append(w.buf, args) }

// Close has nothing to do.
func (w *CommandWriter) Close(_ context.Context, cause error) error { return cause }
