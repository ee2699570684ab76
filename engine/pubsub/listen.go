package pubsub

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"sync"

	"github.com/meowdis/meowdis/redis/resp"
)

// Queue is a subscriber that buffers its messages for a reader. With more than 32 MB of unread messages it
// fails with ErrFull.
type Queue struct {
	mu      sync.Mutex
	waiting []resp.Value
	size    int
	full    bool
	some    chan struct{} // holds a value while messages are unread
}

const maxQueue = 32 << 20

// ErrFull reports a Queue with too many unread messages.
var ErrFull = errors.New("too many unread messages")

// NewQueue returns an empty queue.
func NewQueue() *Queue { return &Queue{some: make(chan struct{}, 1)} }

// Deliver implements Subscriber.
func (q *Queue) Deliver(m *Message) { q.add(copied(m.Value()), m.Weight()) }

// Add inserts a value between the messages.
func (q *Queue) Add(v resp.Value) { q.add(v, 0) }

func (q *Queue) add(v resp.Value, size int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	const each = 256 // approximate memory of a message without its text
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

// Ready returns a channel that holds a value when Next returns values.
func (q *Queue) Ready() <-chan struct{} { return q.some }

// Next removes and returns all unread values.
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

// copied returns a deep copy of v.
func copied(v resp.Value) resp.Value {
	if v.Str != nil {
		v.Str = append([]byte{}, v.Str...)
	}
	for i := range v.Elems {
		v.Elems[i] = copied(v.Elems[i])
	}
	return v
}

// Listen runs SUBSCRIBE, PSUBSCRIBE, SSUBSCRIBE or MONITOR, and calls each with the values that a client would
// get: confirmations, then messages. It ends with ctx, and returns its cause, or with an error of each. It
// calls notice with the reason if messages of other processes cannot arrive.
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
		case <-q.Ready():
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

// Follow subscribes a queue to names. The first values of the queue are the confirmations.
func (h *Hub) Follow(q *Queue, kind Kind, names [][]byte) {
	if kind == Commands {
		q.Add(resp.OK)
		h.Subscribe(q, Commands, nil)
		return
	}
	for i, name := range names {
		q.Add(Subscribed(kind, name, i+1)) // before any of its messages
		h.Subscribe(q, kind, name)
	}
}

// listening parses a call of SUBSCRIBE, PSUBSCRIBE, SSUBSCRIBE or MONITOR.
func listening(args [][]byte) (Kind, [][]byte) {
	name := string(bytes.ToUpper(args[0]))
	for kind, n := range names {
		if strings.EqualFold(name, n.subscribed) {
			return Kind(kind), args[1:]
		}
	}
	return Commands, nil
}
