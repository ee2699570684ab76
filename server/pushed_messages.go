package server

import (
	"sync"

	"github.com/meowdis/meowdis/engine/pubsub"
	"github.com/meowdis/meowdis/server/tracking"
)

// inbox is how messages come to a client: they go to its outbox, but not while a reply is made
// that they must follow, or in the middle of one.
type inbox struct {
	client *client

	mu           sync.Mutex
	holding      bool
	early        bool // what the client's own command tells comes before its reply
	reading      bool // a command is under way that may have read what messages are about
	replied      bool // it has its reply, about
	held         []message
	size         int
	resp3, muted bool // as the client's last command left them
}

// message is a message of one kind or another.
type message struct {
	published *pubsub.Message
	invalid   *tracking.Message
	passed    bool   // in place of another client
	to        *inbox // whose it is, nil for that which holds it
	own       bool   // the client's own command tells it
}

func (l message) size() int {
	if l.invalid != nil {
		return l.invalid.Weight()
	}
	return l.published.Weight()
}

// Deliver takes a message: the client is a pubsub.Subscriber.
func (b *inbox) Deliver(m *pubsub.Message) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.take(message{published: m})
}

// invalidate takes a message about keys. With own it is held back until the client has the reply to
// the command that has told of them.
func (b *inbox) invalidate(l message, own bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if own && b.early {
		b.post(l)
		return
	}
	b.holding = b.holding || own
	b.take(l)
}

// read has messages about keys come again after the reply to a command that may read them, or no
// longer.
func (b *inbox) read(on bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.reading = on; !on && !b.holding {
		b.held, b.size = nil, 0
	}
}

// forward takes a message for another client that may have to come after this one's reply.
func (b *inbox) forward(l message, own bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	l.own = own
	b.holding = b.holding || own
	if own || (b.holding || b.reading) && !b.replied {
		b.keep(l)
	}
}

// take is under the lock.
func (b *inbox) take(l message) {
	if !b.holding {
		b.post(l)
	}
	if b.holding || b.reading && l.invalid != nil {
		b.keep(l)
	}
}

// keep keeps a message until release. It is under the lock, too.
func (b *inbox) keep(l message) {
	if b.size+l.size() > maxWaiting {
		b.client.net.Close()
		return
	}
	b.held = append(b.held, l)
	b.size += l.size()
}

// post is under the lock.
func (b *inbox) post(l message) {
	switch {
	case l.invalid == nil:
		if !b.muted || l.published.Kind != pubsub.Commands {
			b.client.box.post(l.published.Wire(b.resp3))
		}
	case b.resp3 || l.passed && b.client.hears.Load(): // RESP2 has nothing else that could be told from a reply
		if wire := l.invalid.Wire(b.resp3); len(wire) > 0 {
			b.client.box.post(wire)
		}
	}
}

// hold keeps messages back until release.
func (b *inbox) hold() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.holding = true
}

// replies says that the reply is on its way. Another client is told first, so that who has the reply
// and then hears from that one knows all.
func (b *inbox) replies() {
	for _, l := range b.others() {
		l.to.invalidate(l, false)
	}
}

// others are the messages for other clients: no one has two inboxes locked.
func (b *inbox) others() (others []message) {
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

// release sends what was kept back, after the reply.
func (b *inbox) release() {
	for _, l := range b.open() {
		l.to.invalidate(l, false)
	}
}

// open is release but for the messages of others, which it returns: no one has two inboxes locked.
func (b *inbox) open() (others []message) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.resp3, b.muted = b.client.resp3, b.client.quiet == silent
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

// speak changes the protocol. A client to which messages may come has this reply first.
func (c *client) speak(resp3 bool) {
	c.resp3 = resp3
	if c.listens {
		return
	}
	c.inbox.mu.Lock()
	defer c.inbox.mu.Unlock()
	c.inbox.resp3 = resp3
}
