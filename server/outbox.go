package server

import (
	"errors"
	"sync"
	"time"
)

// outbox is what is on its way to a client, in order: the replies to its commands, which
// wait for their turn (write), and what anybody else tells it, who never waits (post).
type outbox struct {
	client *client
	now    immediate // the client's connection, nil when it is none

	mu        sync.Mutex
	done      sync.Cond // when sending ends
	waiting   []byte
	replies   int       // bytes of waiting that are replies to the client's own commands
	overSince time.Time // more has waited than the soft limit; zero when it does not
	flight    int       // of what has waited: bytes that a goroutine writes to the connection
	sending   bool      // a goroutine writes to the connection, and goes on with what waits
	broken    error     // why nothing is sent any more
}

// maxWaiting is what may wait for a client that does not read, unless client-output-buffer-limit says
// otherwise: with more it is closed.
const maxWaiting = 32 << 20

var errNotRead = errors.New("the client does not read what it is sent")

// immediate is a connection that can write without waiting. writeNow returns how many bytes
// it took; that it cannot take more now is no error.
type immediate interface {
	writeNow(b []byte) (n int, err error)
}

// write sends b after what waits. It returns when all of it is sent, or why it was not. It is
// for the goroutine that carries out the client's commands.
func (o *outbox) write(b []byte) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.settle()
	o.sending = true
	o.send(b)
	o.flush()
	return o.broken
}

// post sends a message after what waits, and never waits for the client. It reports whether nothing waits
// any more; otherwise a goroutine sends it. A client that has not read too many messages is closed. Any
// goroutine may call it.
func (o *outbox) post(b []byte) bool { return o.enqueue(b, false) }

// reply is post for replies to the client's own commands, which no limit of messages applies to.
func (o *outbox) reply(b []byte) bool { return o.enqueue(b, true) }

func (o *outbox) enqueue(b []byte, reply bool) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.now != nil && !o.sending && o.broken == nil {
		n, err := o.now.writeNow(b)
		o.client.server.traffic.wrote(n)
		o.broken, b = err, b[n:]
	}
	switch {
	case o.broken != nil:
		return true
	case len(b) == 0:
		return !o.sending
	case !reply && o.full(len(b)):
		o.giveUp()
		return true
	}
	o.waiting = append(o.waiting, b...)
	if reply {
		o.replies += len(b)
	}
	if !o.sending {
		o.sending = true
		go func() {
			defer o.client.server.contain(func() { o.client.net.Close() })
			o.mu.Lock()
			defer o.mu.Unlock()
			o.flush()
		}()
	}
	return false
}

// full reports whether the client has not read so much that it is given up, with more on its way: by
// client-output-buffer-limit, or what may wait for any.
func (o *outbox) full(more int) bool {
	limit := o.client.server.live.outputs.Load()[o.client.class.Load()]
	waits := int64(len(o.waiting) - o.replies + more)
	if limit.soft <= 0 || waits+int64(o.flight) <= limit.soft {
		o.overSince = time.Time{}
	} else if o.overSince.IsZero() {
		o.overSince = time.Now()
		time.AfterFunc(limit.over, o.late)
	}
	switch {
	case limit.hard > 0 && waits > limit.hard, limit.hard == 0 && waits > maxWaiting:
		return true
	}
	return !o.overSince.IsZero() && time.Since(o.overSince) > limit.over
}

// late closes the connection of a client that has been over the soft limit for its time, though nothing more
// was sent to it.
func (o *outbox) late() {
	o.mu.Lock()
	defer o.mu.Unlock()
	limit := o.client.server.live.outputs.Load()[o.client.class.Load()]
	over := time.Since(o.overSince)
	switch {
	case o.overSince.IsZero() || o.broken != nil:
	case limit.soft <= 0 || int64(len(o.waiting)-o.replies+o.flight) <= limit.soft:
		o.overSince = time.Time{}
	case over < limit.over:
		time.AfterFunc(limit.over-over, o.late)
	default:
		o.giveUp()
	}
}

// giveUp closes the connection of a client that does not read.
func (o *outbox) giveUp() {
	o.broken = errNotRead
	o.client.server.counts.fullOutputs.Add(1)
	o.client.net.Close()
}

// waits is how many bytes the client has yet to take, and whether some are on their way.
func (o *outbox) waits() (bytes int, sending bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.waiting), o.sending
}

// settled waits until nothing is sent, and returns why nothing can be any more.
func (o *outbox) settled() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.settle()
	return o.broken
}

// settle is settled under the lock.
func (o *outbox) settle() {
	for o.sending {
		o.done.Wait()
	}
}

// flush sends what waits, and ends the sending.
func (o *outbox) flush() {
	for len(o.waiting) > 0 && o.broken == nil {
		b := o.waiting
		o.flight = len(b) - o.replies
		o.waiting, o.replies = nil, 0
		o.send(b)
	}
	o.flight, o.sending = 0, false
	o.done.Broadcast()
}

// send writes b to the connection, in pieces, outside the lock.
func (o *outbox) send(b []byte) {
	for len(b) > 0 && o.broken == nil {
		piece := b[:min(len(b), writePiece)]
		o.mu.Unlock()
		o.client.timeWrite()
		_, err := o.client.net.Write(piece)
		o.mu.Lock()
		if o.broken == nil {
			o.broken = err
		}
		b, o.flight = b[len(piece):], max(o.flight-len(piece), 0)
	}
}

func newOutbox(c *client) *outbox {
	o := &outbox{client: c}
	o.done.L = &o.mu
	return o
}
