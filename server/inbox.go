package server

import (
	"sync"

	"github.com/meowdis/meowdis/pubsub"
)

// inbox is how messages come to a client: they go to its outbox, but not while a reply is made
// that they must follow, or in the middle of one.
type inbox struct {
	client *client

	mu           sync.Mutex
	holding      bool
	held         []*pubsub.Message
	size         int
	resp3, muted bool // as the client's last command left them
}

// Deliver takes a message: the client is a pubsub.Subscriber.
func (b *inbox) Deliver(m *pubsub.Message) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case !b.holding:
		b.post(m)
	case b.size+len(m.Payload) > maxWaiting:
		b.client.net.Close()
	default:
		b.held = append(b.held, m)
		b.size += len(m.Payload) + len(m.Channel) + len(m.Pattern)
	}
}

// post is under the lock.
func (b *inbox) post(m *pubsub.Message) {
	if !b.muted || m.Kind != pubsub.Commands {
		b.client.box.post(m.Wire(b.resp3))
	}
}

// hold keeps messages back until release.
func (b *inbox) hold() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.holding = true
}

// release sends what was kept back, after the reply.
func (b *inbox) release() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.resp3, b.muted = b.client.resp3, b.client.quiet == silent
	for _, m := range b.held {
		b.post(m)
	}
	b.holding, b.held, b.size = false, nil, 0
}
