package metrics

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
)

// SlowLog keeps the newest calls that took at least a threshold, newest first.
type SlowLog struct {
	from, max atomic.Int64 // from: threshold in ns, below 0 for none; max: number of entries

	mu      sync.Mutex
	entries []slowCall // oldest first
	last    int64      // number of calls added so far
}

type slowCall struct {
	id   int64
	at   time.Time
	took time.Duration
	args []resp.Value
	addr string
	name string
}

func (l *SlowLog) set(from time.Duration, most int64) {
	l.from.Store(int64(from))
	l.max.Store(most)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.trim()
}

// trim drops the oldest entries. The caller holds the lock.
func (l *SlowLog) trim() {
	if over := int64(len(l.entries)) - l.max.Load(); over > 0 {
		l.entries = slices.Delete(l.entries, 0, int(over))
	}
}

func (l *SlowLog) wants(took time.Duration) bool {
	from := l.from.Load()
	return from >= 0 && int64(took) >= from && l.max.Load() > 0
}

// Add adds a call of c, from a client with an address and a name.
func (l *SlowLog) Add(at time.Time, c *commands.Command, args [][]byte, took time.Duration, addr, name string) {
	shown := shorten(Redacted(c, args))
	l.mu.Lock()
	defer l.mu.Unlock()
	l.entries = append(l.entries, slowCall{l.last, at, took, shown, addr, name})
	l.last++
	l.trim()
}

// Limits of a logged call: the number of args, and the bytes of an arg.
const (
	maxSlowArgs = 32
	maxSlowArg  = 128
)

// shorten copies args within the limits of a logged call.
func shorten(args [][]byte) []resp.Value {
	var shown []resp.Value
	for i, arg := range args {
		if i == maxSlowArgs-1 && len(args) > maxSlowArgs {
			return append(shown, resp.MakeString(fmt.Sprintf("... (%d more arguments)", len(args)-i)))
		}
		text := string(arg[:min(len(arg), maxSlowArg)])
		if more := len(arg) - maxSlowArg; more > 0 {
			text += fmt.Sprintf("... (%d more bytes)", more)
		}
		shown = append(shown, resp.MakeString(text))
	}
	return shown
}

// secretParameters are parameters with values that are never shown.
var secretParameters = []string{"requirepass", "masterauth", "masteruser", "tls-key-file-pass", "tls-client-key-file-pass"}

var redacted = []byte("(redacted)")

// Redacted returns args without secrets; args itself if it has none.
func Redacted(c *commands.Command, args [][]byte) [][]byte {
	hide := func(from, to int) {
		for i := from; i < min(to, len(args)); i++ {
			args[i] = redacted
		}
	}
	switch c.Name {
	case "AUTH":
		args = slices.Clone(args)
		hide(1, len(args))
	case "ACL SETUSER", "ACL RESTTOKEN":
		args = slices.Clone(args)
		hide(2, len(args))
	case "HELLO":
		args = slices.Clone(args)
		for i := 2; i < len(args); i++ {
			if commands.Is(args[i], "AUTH") {
				hide(i+1, i+3)
				i += 2
			}
		}
	case "CONFIG SET":
		args = slices.Clone(args)
		for i := 2; i < len(args); i += 2 {
			if slices.Contains(secretParameters, strings.ToLower(string(args[i]))) {
				hide(i+1, i+2)
			}
		}
	}
	return args
}

// Get returns the reply to SLOWLOG GET: the newest entries; all of them if most is below 0.
func (l *SlowLog) Get(most int64) resp.Value {
	l.mu.Lock()
	defer l.mu.Unlock()
	reply := resp.EmptyArray
	for i := len(l.entries) - 1; i >= 0 && (most < 0 || int64(len(reply.Elems)) < most); i-- {
		e := &l.entries[i]
		reply.Elems = append(reply.Elems, resp.MakeArray(
			resp.MakeInt(e.id), resp.MakeInt(e.at.Unix()), resp.MakeInt(e.took.Microseconds()),
			resp.MakeArray(e.args...), resp.MakeString(e.addr), resp.MakeString(e.name)))
	}
	return reply
}

// Len returns the number of entries.
func (l *SlowLog) Len() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return int64(len(l.entries))
}

// Reset deletes all entries. IDs continue.
func (l *SlowLog) Reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.entries = nil
}
