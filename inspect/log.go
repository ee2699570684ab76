package inspect

import (
	"slices"
	"sync"

	"github.com/meowdis/meowdis/resp"
)

// logEntry is a command that was sent.
type logEntry struct {
	call [][]byte
	took int64 // ms, of the call that it was part of
	bad  bool  // its reply was an error, or there was none
}

// commandLog is the last commands that were sent.
type commandLog struct {
	mu   sync.Mutex
	last []logEntry
}

// How many commands the log keeps, and how many words and bytes of each.
const (
	loggedCommands = 500
	loggedWords    = 20
	loggedBytes    = 200
)

func (l *commandLog) add(calls [][][]byte, values []resp.Value, took int64, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, call := range calls {
		if string(call[0]) == "SELECT" {
			continue // the browser's own way to the database of a call
		}
		e := logEntry{took: took, bad: err != nil || failed(values, i)}
		for _, w := range call[:min(len(call), loggedWords)] {
			e.call = append(e.call, slices.Clone(w[:min(len(w), loggedBytes)]))
		}
		l.last = append(l.last, e)
	}
	if len(l.last) > 2*loggedCommands {
		l.last = slices.Clone(l.last[len(l.last)-loggedCommands:])
	}
}

// failed reports whether the reply to command i is an error. Within a transaction it
// is EXEC that brings it.
func failed(values []resp.Value, i int) bool {
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

// entries is the log, the last command last.
func (l *commandLog) entries() []logEntry {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.last)
}
