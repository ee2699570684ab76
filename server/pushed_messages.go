package server

import (
	"sync"

	"github.com/meowdis/meowdis/engine/pubsub"
	"github.com/meowdis/meowdis/server/tracking"
)

// inbox passes messages to the client's outbox. It holds them while a reply that must come first is being made or
// sent.
type inbox struct {
	client *client

	mu           sync.Mutex
	holding      bool
	early        bool // messages caused by the client's own command precede its reply
	reading      bool // a running command may have read the keys that messages invalidate
	replied      bool // its reply is about to be sent
	held         []message
	size         int
	resp3, muted bool // as the client's last command left them
}

// message holds a published message or an invalidation.
type message struct {
	published  *pubsub.Message
	invalid    *tracking.Message
	redirected bool   // redirected from another client
	to         *inbox // the receiver; nil for the inbox that holds it
	own        bool   // caused by the client's own command
}

// deliver passes a redirected message to its receiver, as a message of its own.
func (l message) deliver() {
	to := l.to
	l.to, l.own = nil, false
	to.invalidate(l, false)
}

func (l message) size() int {
	if l.invalid != nil {
		return l.invalid.Weight()
	}
	return l.published.Weight()
}

// Deliver queues a message. It makes the inbox a pubsub.Subscriber.
func (b *inbox) Deliver(m *pubsub.Message) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.enqueue(message{published: m})
}

// invalidate queues an invalidation. If own is set, it follows the reply to the command that caused it.
func (b *inbox) invalidate(l message, own bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if own && b.early {
		b.post(l)
		return
	}
	b.holding = b.holding || own
	b.enqueue(l)
}

// setReading sets whether a command that may read keys is running. Invalidations that arrive while it runs are sent
// now and again after its reply.
func (b *inbox) setReading(on bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.reading = on; !on && !b.holding {
		b.held, b.size = nil, 0
	}
}

// forward holds a message for another client if it may have to follow this client's reply.
func (b *inbox) forward(l message, own bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	l.own = own
	b.holding = b.holding || own
	if own || (b.holding || b.reading) && !b.replied {
		b.keep(l)
	}
}

// enqueue posts or keeps a message. The caller holds b.mu.
func (b *inbox) enqueue(l message) {
	if !b.holding {
		b.post(l)
	}
	if b.holding || b.reading && l.invalid != nil {
		b.keep(l)
	}
}

// keep holds a message until release. The caller holds b.mu.
func (b *inbox) keep(l message) {
	if b.size+l.size() > maxUnread {
		b.client.net.Close()
		return
	}
	b.held = append(b.held, l)
	b.size += l.size()
}

// post sends a message to the outbox. The caller holds b.mu.
func (b *inbox) post(l message) {
	switch {
	case l.invalid == nil:
		if !b.muted || l.published.Kind != pubsub.Commands {
			b.client.box.post(l.published.Wire(b.resp3))
		}
	case b.resp3 || l.redirected && b.client.isSubscribed.Load(): // RESP2 has no other message that differs from a reply
		if wire := l.invalid.Wire(b.resp3); len(wire) > 0 {
			b.client.box.post(wire)
		}
	}
}

// hold keeps messages until release.
func (b *inbox) hold() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.holding = true
}

// beforeReply is called before the reply is sent. It forwards messages to other clients first: once this client has its
// reply, the other clients have been notified.
func (b *inbox) beforeReply() {
	for _, l := range b.forwarded() {
		l.deliver()
	}
}

// forwarded returns the held messages for other clients. No goroutine locks two inboxes.
func (b *inbox) forwarded() (others []message) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.replied = true
	for _, l := range b.held {
		if l.to != nil {
			others = append(others, l)
		}
	}
	return others
}

// release sends the held messages, after the reply.
func (b *inbox) release() {
	for _, l := range b.sendHeld() {
		l.deliver()
	}
}

// sendHeld sends the held messages of this client and returns the messages for other clients. No goroutine locks two
// inboxes.
func (b *inbox) sendHeld() (others []message) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.resp3, b.muted = b.client.resp3, b.client.replyMode == repliesOff
	for _, l := range b.held {
		switch {
		case l.to == nil:
			b.post(l)
		case !l.own || !b.replied:
			others = append(others, l)
		}
	}
	b.holding, b.early, b.reading, b.replied, b.held, b.size = false, false, false, false, nil, 0
	return others
}

func (b *inbox) setEarly(early bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.early = early
}

// speak changes the protocol. A client that may get messages has this reply first.
func (c *client) speak(resp3 bool) {
	c.resp3 = resp3
	c.session.SetRESP2(!resp3)
	if c.getsMessages {
		return
	}
	c.inbox.mu.Lock()
	defer c.inbox.mu.Unlock()
	c.inbox.resp3 = resp3
}
