package server

import (
	"errors"
	"sync"
	"time"
)

// outbox queues bytes for a client, in order. Replies to the client's commands may wait for the client (write).
// Messages from other goroutines never wait (post).
type outbox struct {
	client *client
	direct directWriter // the client's connection if it can write without waiting, or nil

	mu        sync.Mutex
	done      sync.Cond // signaled when sending ends
	waiting   []byte
	replies   int       // bytes of waiting that are replies to the client's own commands
	overSince time.Time // when waiting exceeded the soft limit, or zero
	inFlight  int       // message bytes that a goroutine is writing to the connection
	sending   bool      // a goroutine is writing, and will write waiting next
	broken    error     // the error that ended sending
}

// maxUnread limits the unread messages of a client, in bytes, unless client-output-buffer-limit is set. The server
// closes a client that exceeds it.
const maxUnread = 32 << 20

var errUnread = errors.New("the client does not read its output")

// directWriter writes to a connection without waiting. writeNow returns the number of bytes written. A full socket is
// not an error.
type directWriter interface {
	writeNow(b []byte) (n int, err error)
}

// write sends b after the queued bytes. It returns when b is sent, or the error that ended sending. Only the goroutine
// that runs the client's commands may call it.
func (o *outbox) write(b []byte) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.drainLocked()
	o.sending = true
	o.send(b)
	o.flush()
	return o.broken
}

// post sends a message after the queued bytes without waiting for the client. It reports whether the queue is empty;
// if not, a goroutine sends the rest. It closes a client with too many unread messages. Any goroutine may call it.
func (o *outbox) post(b []byte) bool { return o.enqueue(b, false) }

// reply is like post, for replies to the client's own commands, which have no message limit.
func (o *outbox) reply(b []byte) bool { return o.enqueue(b, true) }

func (o *outbox) enqueue(b []byte, reply bool) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.direct != nil && !o.sending && o.broken == nil {
		n, err := o.direct.writeNow(b)
		o.client.server.traffic.wrote(n)
		o.broken, b = err, b[n:]
	}
	switch {
	case o.broken != nil:
		return true
	case len(b) == 0:
		return !o.sending
	case !reply && o.full(len(b)):
		o.disconnect()
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

// full reports whether more bytes would exceed the client's limit: client-output-buffer-limit, or maxUnread.
func (o *outbox) full(more int) bool {
	limit := o.client.server.live.outputs.Load()[o.client.class.Load()]
	waits := int64(len(o.waiting) - o.replies + more)
	if limit.soft <= 0 || waits+int64(o.inFlight) <= limit.soft {
		o.overSince = time.Time{}
	} else if o.overSince.IsZero() {
		o.overSince = time.Now()
		o.checkSoftLimitAfter(limit.over)
	}
	switch {
	case limit.hard > 0 && waits > limit.hard, limit.hard == 0 && waits > maxUnread:
		return true
	}
	return !o.overSince.IsZero() && time.Since(o.overSince) > limit.over
}

// checkSoftLimitAfter calls checkSoftLimit after d.
func (o *outbox) checkSoftLimitAfter(d time.Duration) {
	time.AfterFunc(d, func() {
		defer o.client.server.contain(func() { o.client.net.Close() })
		o.checkSoftLimit()
	})
}

// checkSoftLimit closes a client that has been over the soft limit for too long, even if nothing more was sent to it.
func (o *outbox) checkSoftLimit() {
	o.mu.Lock()
	defer o.mu.Unlock()
	limit := o.client.server.live.outputs.Load()[o.client.class.Load()]
	over := time.Since(o.overSince)
	switch {
	case o.overSince.IsZero() || o.broken != nil:
	case limit.soft <= 0 || int64(len(o.waiting)-o.replies+o.inFlight) <= limit.soft:
		o.overSince = time.Time{}
	case over < limit.over:
		o.checkSoftLimitAfter(limit.over - over)
	default:
		o.disconnect()
	}
}

// disconnect closes the connection of a client that does not read.
func (o *outbox) disconnect() {
	o.broken = errUnread
	o.client.server.counts.fullOutputs.Add(1)
	o.client.net.Close()
}

// unsent returns the number of unsent bytes and whether a goroutine is sending.
func (o *outbox) unsent() (bytes int, sending bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.waiting), o.sending
}

// drain waits until nothing is being sent. It returns the error that ended sending, if any.
func (o *outbox) drain() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.drainLocked()
	return o.broken
}

// drainLocked waits until nothing is being sent. The caller holds o.mu.
func (o *outbox) drainLocked() {
	for o.sending {
		o.done.Wait()
	}
}

// flush sends the queued bytes and marks sending as done. The caller holds o.mu.
func (o *outbox) flush() {
	for len(o.waiting) > 0 && o.broken == nil {
		b := o.waiting
		o.inFlight = len(b) - o.replies
		o.waiting, o.replies = nil, 0
		o.send(b)
	}
	o.inFlight, o.sending = 0, false
	o.done.Broadcast()
}

// send writes b to the connection in pieces. It unlocks o.mu while it writes.
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
		b, o.inFlight = b[len(piece):], max(o.inFlight-len(piece), 0)
	}
}

func newOutbox(c *client) *outbox {
	o := &outbox{client: c}
	o.done.L = &o.mu
	return o
}
