package client

import (
	"slices"
	"sync"

	"github.com/meowdis/meowdis/redis/resp"
)

// logEntry records a sent command.
type logEntry struct {
	Call [][]byte
	Took int64 // ms, of the whole call
	Bad  bool  // error reply, or no reply
}

// Log is the last commands that were sent.
type Log struct {
	mu   sync.Mutex
	last []logEntry
}

// Limits of the log: commands, arguments of each, and bytes of each argument.
const (
	loggedCommands = 500
	loggedWords    = 20
	loggedBytes    = 200
)

func (l *Log) add(calls [][][]byte, values []resp.Value, took int64, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, call := range calls {
		if string(call[0]) == "SELECT" {
			continue // sent by Conn itself
		}
		e := logEntry{Took: took, Bad: err != nil || replyFailed(values, i)}
		for _, w := range call[:min(len(call), loggedWords)] {
			e.Call = append(e.Call, slices.Clone(w[:min(len(w), loggedBytes)]))
		}
		l.last = append(l.last, e)
	}
	if len(l.last) > 2*loggedCommands {
		l.last = slices.Clone(l.last[len(l.last)-loggedCommands:])
	}
}

// replyFailed reports whether the reply to command i is an error. In a transaction, the
// reply is in EXEC's.
func replyFailed(values []resp.Value, i int) bool {
	if values[i].Kind != resp.Status || string(values[i].Str) != string(resp.Queued.Str) {
		return values[i].IsError()
	}
	queued := func(i int) bool { return string(values[i].Str) == string(resp.Queued.Str) }
	first, exec := i, i
	for first > 0 && queued(first-1) {
		first--
	}
	for exec < len(values)-1 && queued(exec) {
		exec++
	}
	done := values[exec].Elems
	return i-first < len(done) && done[i-first].IsError()
}

// Entries returns the log, the last command last.
func (l *Log) Entries() []logEntry {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.last)
}
