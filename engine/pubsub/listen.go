package pubsub

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"sync"

	"github.com/meowdis/meowdis/redis/resp"
)

// Queue is a subscriber that reads its messages when it likes. It is bounded: with more than 32 MB
// that wait it ends.
type Queue struct {
	mu      sync.Mutex
	waiting []resp.Value
	size    int
	full    bool
	some    chan struct{} // has one when something waits
}

const maxQueue = 32 << 20

// ErrFull ends a Queue whose messages were not read.
var ErrFull = errors.New("too many messages wait to be read")

// NewQueue makes a queue.
func NewQueue() *Queue { return &Queue{some: make(chan struct{}, 1)} }

// Deliver is for a Hub.
func (q *Queue) Deliver(m *Message) { q.add(copied(m.Value()), m.Weight()) }

// Add puts something else in its place among the messages.
func (q *Queue) Add(v resp.Value) { q.add(v, 0) }

func (q *Queue) add(v resp.Value, size int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	const each = 256 // about what a message takes beside its text
	if q.size += size + each; q.size > maxQueue {
		q.waiting, q.full = nil, true
	}
	if !q.full {
		q.waiting = append(q.waiting, v)
	}
	select {
	case q.some <- struct{}{}:
	default:
	}
}

// Some has a value when Next has something.
func (q *Queue) Some() <-chan struct{} { return q.some }

// Next takes what waits.
func (q *Queue) Next() ([]resp.Value, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.full {
		return nil, ErrFull
	}
	all := q.waiting
	q.waiting, q.size = nil, 0
	return all, nil
}

// copied is v with bytes of its own.
func copied(v resp.Value) resp.Value {
	if v.Str != nil {
		v.Str = append([]byte{}, v.Str...)
	}
	for i := range v.Elems {
		v.Elems[i] = copied(v.Elems[i])
	}
	return v
}

// Listen carries SUBSCRIBE, PSUBSCRIBE, SSUBSCRIBE or MONITOR out, and gives what a client would get
// to each: confirmations, then messages. It ends with ctx, whose cause it returns, or with an error
// of each. Notice is told why the messages of other processes do not come, if they do not.
func (h *Hub) Listen(ctx context.Context, args [][]byte, notice func(error), each func(resp.Value) error) error {
	kind, names := listening(args)
	if err := h.Join(kind); err != nil {
		notice(err)
	}
	q := NewQueue()
	defer h.Leave(q)
	h.Follow(q, kind, names)
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-q.Some():
		}
		all, err := q.Next()
		if err != nil {
			return err
		}
		for _, v := range all {
			if err := each(v); err != nil {
				return err
			}
		}
	}
}

// Follow subscribes a queue, whose first values are the confirmations.
func (h *Hub) Follow(q *Queue, kind Kind, names [][]byte) {
	if kind == Commands {
		q.Add(resp.OK)
		h.Subscribe(q, Commands, nil)
		return
	}
	for i, name := range names {
		q.Add(Subscribed(kind, name, i+1)) // before any message of it
		h.Subscribe(q, kind, name)
	}
}

// listening reads a call of one of the commands that listen.
func listening(args [][]byte) (Kind, [][]byte) {
	name := string(bytes.ToUpper(args[0]))
	for kind, n := range names {
		if strings.EqualFold(name, n.subscribed) {
			return Kind(kind), args[1:]
		}
	}
	return Commands, nil
}
