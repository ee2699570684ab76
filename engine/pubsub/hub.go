package pubsub

import (
	"cmp"
	"container/list"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/meowdis/meowdis/redis/glob"
)

// Subscriber is told messages.
type Subscriber interface {
	// Deliver takes a message. It must not wait, nor call the hub. Messages come one at a time,
	// to all subscribers in the same order.
	Deliver(m *Message)
}

// Hub knows who listens to what in this process. It is safe for concurrent use.
type Hub struct {
	mu       sync.Mutex
	topics   [kinds]map[string]*topic
	patterns list.List // of *topic, in the order of their first subscriptions
	owned    map[Subscriber]*owned
	begun    uint64 // subscriptions so far

	watched atomic.Int64 // subscribers to Commands here
	others  atomic.Pointer[Others]
}

// topic is a name and its subscribers.
type topic struct {
	name        []byte
	subscribers map[Subscriber]bool
	place       *list.Element // among the patterns
}

// owned are the subscriptions of one subscriber: when each began.
type owned [kinds]map[string]uint64

// Counts is how many subscriptions there are of each Kind.
type Counts [kinds]int

// New makes a hub without subscribers.
func New() *Hub { return &Hub{owned: map[Subscriber]*owned{}} }

// Subscribe adds a subscription, unless the subscriber has it, and returns how many it has.
func (h *Hub) Subscribe(s Subscriber, kind Kind, name []byte) Counts {
	h.mu.Lock()
	defer h.mu.Unlock()
	own := h.owned[s]
	if own == nil {
		own = &owned{}
		h.owned[s] = own
	}
	if _, has := own[kind][string(name)]; has {
		return own.counts()
	}
	if own[kind] == nil {
		own[kind] = map[string]uint64{}
	}
	h.begun++
	own[kind][string(name)] = h.begun
	h.topic(kind, name).subscribers[s] = true
	if kind == Commands {
		h.watched.Add(1)
	}
	return own.counts()
}

// topic finds or makes one, under the lock.
func (h *Hub) topic(kind Kind, name []byte) *topic {
	if h.topics[kind] == nil {
		h.topics[kind] = map[string]*topic{}
	}
	t := h.topics[kind][string(name)]
	if t == nil {
		t = &topic{name: slices.Clone(name), subscribers: map[Subscriber]bool{}}
		h.topics[kind][string(name)] = t
		if kind == Pattern {
			t.place = h.patterns.PushBack(t)
		}
	}
	return t
}

// Unsubscribe ends a subscription, if the subscriber has it, and returns how many are left.
func (h *Hub) Unsubscribe(s Subscriber, kind Kind, name []byte) Counts {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.unsubscribe(s, kind, string(name))
}

func (h *Hub) unsubscribe(s Subscriber, kind Kind, name string) Counts {
	own := h.owned[s]
	if own == nil {
		return Counts{}
	}
	if _, has := own[kind][name]; !has {
		return own.counts()
	}
	delete(own[kind], name)
	left := own.counts()
	if left == (Counts{}) {
		delete(h.owned, s)
	}
	t := h.topics[kind][name]
	if delete(t.subscribers, s); len(t.subscribers) == 0 {
		delete(h.topics[kind], name)
		if t.place != nil {
			h.patterns.Remove(t.place)
		}
	}
	if kind == Commands {
		h.watched.Add(-1)
	}
	return left
}

// Leave ends all subscriptions of the subscriber. When it returns, no message is on its way.
func (h *Hub) Leave(s Subscriber) {
	h.mu.Lock()
	defer h.mu.Unlock()
	own := h.owned[s]
	if own == nil {
		return
	}
	for kind := range own {
		for name := range own[kind] {
			h.unsubscribe(s, Kind(kind), name)
		}
	}
}

// Names are those that the subscriber has subscriptions to, in the order in which it began them.
func (h *Hub) Names(s Subscriber, kind Kind) [][]byte {
	h.mu.Lock()
	defer h.mu.Unlock()
	own := h.owned[s]
	if own == nil {
		return nil
	}
	var all [][]byte
	for name := range own[kind] {
		all = append(all, []byte(name))
	}
	slices.SortFunc(all, func(a, b []byte) int { return cmp.Compare(own[kind][string(a)], own[kind][string(b)]) })
	return all
}

// Of counts the subscriptions of a subscriber.
func (h *Hub) Of(s Subscriber) Counts {
	h.mu.Lock()
	defer h.mu.Unlock()
	if own := h.owned[s]; own != nil {
		return own.counts()
	}
	return Counts{}
}

func (o *owned) counts() (c Counts) {
	for kind := range o {
		c[kind] = len(o[kind])
	}
	return c
}

// Topics counts the names that have subscribers in this process.
func (h *Hub) Topics() (c Counts) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for kind := range c {
		c[kind] = len(h.topics[kind])
	}
	return c
}

// Tell delivers a message to the subscribers in this process and counts the deliveries: one for
// each subscription that it meets.
func (h *Hub) Tell(kind Kind, channel, payload []byte) (n int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.each(kind, channel, func(of Kind, t *topic) {
		m := &Message{Kind: of, Channel: channel, Payload: payload}
		if of == Pattern {
			m.Pattern = t.name
		}
		for s := range t.subscribers {
			s.Deliver(m)
		}
		n += int64(len(t.subscribers))
	})
	return n
}

// here counts the deliveries that a message would have in this process.
func (h *Hub) here(kind Kind, channel []byte) (n int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.each(kind, channel, func(_ Kind, t *topic) { n += int64(len(t.subscribers)) })
	return n
}

// each visits the topics that a message meets, under the lock.
func (h *Hub) each(kind Kind, channel []byte, visit func(Kind, *topic)) {
	if t := h.topics[kind][string(channel)]; t != nil {
		visit(kind, t)
	}
	if kind != Channel {
		return
	}
	for e := h.patterns.Front(); e != nil; e = e.Next() {
		if t := e.Value.(*topic); glob.Match(t.name, channel, false) {
			visit(Pattern, t)
		}
	}
}
