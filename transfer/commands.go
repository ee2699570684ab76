package transfer

import (
	"bytes"
	"context"
	"io"
	"strconv"

	"github.com/meowdis/meowdis/redis/rdb"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/redis/timeseries"
)

// CommandWriter is a sink that writes the commands that create the keys in an empty database.
type CommandWriter struct {
	bufferedWriter
	protocol bool
	notify   Notify
	db       int
	ids      idList // ids of the entries of a stream in several parts
	ruled    []ruledSeries
}

// NewScriptWriter returns a sink that writes lines in redis-cli's quoting.
func NewScriptWriter(out io.Writer, notify Notify) *CommandWriter {
	return &CommandWriter{bufferedWriter: bufferedWriter{out: out}, notify: notify}
}

// NewProtocolWriter returns a sink that writes commands in the Redis protocol.
func NewProtocolWriter(out io.Writer, notify Notify) *CommandWriter {
	return &CommandWriter{bufferedWriter: bufferedWriter{out: out}, notify: notify, protocol: true}
}

// line writes a command in redis-cli's quoting.
func (w *CommandWriter) line(args [][]byte) {
	for i, a := range args {
		if i > 0 {
			w.text(" ")
		}
		if needsNoQuotes(a) {
			w.bytes(a)
			continue
		}
		w.text(`"`)
		w.pieces(a, true, func(out, b []byte) []byte { return resp.AppendQuotedText(out, b, true) })
		w.text(`"`)
	}
	w.text("\n")
}

// writeProtocol writes a command in the Redis protocol.
func (w *CommandWriter) writeProtocol(args [][]byte) {
	w.text("*", strconv.Itoa(len(args)), "\r\n")
	for _, a := range args {
		w.text("$", strconv.Itoa(len(a)), "\r\n")
		w.bytes(a)
		w.text("\r\n")
	}
}

// needsNoQuotes reports whether a word needs no quotes.
func needsNoQuotes(word []byte) bool {
	return len(word) > 0 && !bytes.ContainsFunc(word, func(r rune) bool {
		return r <= ' ' || r > '~' || r == '"' || r == '\'' || r == '\\' || r == '#'
	})
}

// Put writes the commands of a part. For a key that could not be read completely, it writes a
// DEL.
func (w *CommandWriter) Put(_ context.Context, p Part) error {
	w.selectDB(p.Key.DB)
	if m, ok := p.Value.(*rdb.Module); ok && p.Err == nil {
		if _, rules := plainSeries(m); len(rules) > 0 {
			w.ruled = append(w.ruled, ruledSeries{p.Key, rules})
		}
	}
	switch at := p.Key.ExpiresAt; {
	case p.Err != nil:
		w.add(call("DEL", p.Key.Name))
	case at > 0 && p.Key.Type == StringType && p.First && p.Last && p.Value.Len() <= wholeBytes:
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
	if s, ok := p.Value.(*rdb.Stream); ok && p.Err == nil {
		w.stream(p, s)
	}
	w.flush()
	return w.err
}

func (w *CommandWriter) selectDB(db int) {
	if db != w.db {
		w.db = db
		w.add(call("SELECT", decimal(int64(db))))
	}
}

// stream counts the pending entries that were deleted from a stream of several parts. They
// cannot be written: only an existing entry can be claimed, and when they are known, later
// entries are already written.
func (w *CommandWriter) stream(p Part, s *rdb.Stream) {
	if p.First {
		w.ids = idList{}
	}
	if p.First && p.Last {
		return
	}
	for _, e := range s.Entries {
		w.ids.add(e.ID)
	}
	if !p.Last {
		return
	}
	lost := w.ids.missingPending(s.Groups)
	w.ids = idList{}
	if lost > 0 {
		w.notify(p.Key, notPending(lost))
	}
}

func (w *CommandWriter) add(args [][]byte) {
	if w.protocol {
		w.writeProtocol(args)
	} else {
		w.line(args)
	}
}

// Definitions writes the commands that create definitions.
func (w *CommandWriter) Definitions(all Definitions) error {
	for _, source := range all.Libraries {
		w.add(append(words("FUNCTION", "LOAD", "REPLACE"), source))
	}
	for _, command := range all.Indexes.Commands() {
		w.add(command)
	}
	w.flush()
	return w.err
}

// Close writes the commands that create compaction rules, after all keys, and returns cause. The first bucket of a rule is
// the one of the next sample.
func (w *CommandWriter) Close(_ context.Context, cause error) error {
	if cause != nil {
		return cause
	}
	for _, s := range w.ruled {
		w.selectDB(s.key.DB)
		for _, args := range timeseries.CreateCalls(s.key.Name, s.rules, nil) {
			w.add(args)
		}
	}
	w.flush()
	return w.err
}
