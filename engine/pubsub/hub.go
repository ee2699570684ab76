package pubsub

import (
	"cmp"
	"container/list"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/meowdis/meowdis/redis/glob"
)

// Subscriber receives messages.
type Subscriber interface {
	// Deliver receives a message. It must neither wait nor call the hub. Messages arrive one at a time, in the
	// same order for all subscribers.
	Deliver(m *Message)
}

// Hub holds the subscriptions of this process. It is safe for concurrent use.
type Hub struct {
	mu       sync.Mutex
	topics   [kinds]map[string]*topic
	patterns list.List // *topic, in the order of their first subscriptions
	listed   []*topic  // the elements of patterns, nil after a change; never changed
	owned    map[Subscriber]*subscriptions
	begun    uint64 // number of the last subscription

	watched atomic.Int64 // number of subscribers to Commands in this process
	peers   atomic.Pointer[Peers]
}

// topic is a name and its subscribers.
type topic struct {
	name        []byte
	subscribers map[Subscriber]bool
	place       *list.Element // its element in Hub.patterns, nil for other kinds
}

// subscriptions holds the subscriptions of one subscriber: the number of each, which is their order.
type subscriptions [kinds]map[string]uint64

// Counts holds the number of subscriptions of each Kind.
type Counts [kinds]int

// New returns a hub without subscribers.
func New() *Hub { return &Hub{owned: map[Subscriber]*subscriptions{}} }

// Subscribe adds a subscription, unless the subscriber has it already, and returns the subscriber's counts.
func (h *Hub) Subscribe(s Subscriber, kind Kind, name []byte) Counts {
	h.mu.Lock()
	defer h.mu.Unlock()
	own := h.owned[s]
	if own == nil {
		own = &subscriptions{}
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

// topic returns the topic of a name, and creates it if it is missing. The caller holds the lock.
func (h *Hub) topic(kind Kind, name []byte) *topic {
	if h.topics[kind] == nil {
		h.topics[kind] = map[string]*topic{}
	}
	t := h.topics[kind][string(name)]
	if t == nil {
		t = &topic{name: slices.Clone(name), subscribers: map[Subscriber]bool{}}
		h.topics[kind][string(name)] = t
		if kind == Pattern {
			t.place, h.listed = h.patterns.PushBack(t), nil
		}
	}
	return t
}

// Unsubscribe ends a subscription, if the subscriber has it, and returns the subscriber's counts.
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
			h.listed = nil
		}
	}
	if kind == Commands {
		h.watched.Add(-1)
	}
	return left
}

// Leave ends all subscriptions of the subscriber. After it returns, no message is delivered.
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

// Names returns the names that the subscriber has subscribed to, in the order of subscription.
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

// CountsOf returns the counts of a subscriber.
func (h *Hub) CountsOf(s Subscriber) Counts {
	h.mu.Lock()
	defer h.mu.Unlock()
	if own := h.owned[s]; own != nil {
		return own.counts()
	}
	return Counts{}
}

func (o *subscriptions) counts() (c Counts) {
	for kind := range o {
		c[kind] = len(o[kind])
	}
	return c
}

// Topics returns the numbers of names with subscribers in this process.
func (h *Hub) Topics() (c Counts) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for kind := range c {
		c[kind] = len(h.topics[kind])
	}
	return c
}

// DeliverLocal delivers a message to the subscribers in this process and returns the number of deliveries: one for each
// matching subscription.
func (h *Hub) DeliverLocal(kind Kind, channel, payload []byte) (n int64) {
	return h.deliverLocal(kind, channel, payload, nil)
}

// deliverLocal is DeliverLocal; it calls step, if not nil, with the steps of matching patterns.
func (h *Hub) deliverLocal(kind Kind, channel, payload []byte, step func(n int)) (n int64) {
	matching := h.matching(kind, channel, step)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.each(kind, channel, matching, func(of Kind, t *topic) {
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

// localReceivers returns the number of deliveries that a message would have in this process.
func (h *Hub) localReceivers(kind Kind, channel []byte) (n int64) {
	matching := h.matching(kind, channel, nil)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.each(kind, channel, matching, func(_ Kind, t *topic) { n += int64(len(t.subscribers)) })
	return n
}

// matching returns the patterns that match a message. Other clients use the hub while it compares.
func (h *Hub) matching(kind Kind, channel []byte, step func(n int)) (found []*topic) {
	if kind != Channel {
		return nil
	}
	h.mu.Lock()
	if h.listed == nil && h.patterns.Len() > 0 {
		h.listed = make([]*topic, 0, h.patterns.Len())
		for e := h.patterns.Front(); e != nil; e = e.Next() {
			h.listed = append(h.listed, e.Value.(*topic))
		}
	}
	all := h.listed
	h.mu.Unlock()
	for _, t := range all {
		if glob.MatchCounted(t.name, channel, false, step) {
			found = append(found, t)
		}
	}
	return found
}

// each calls visit for the topic of a message's channel and for the matching patterns. The caller holds the lock.
func (h *Hub) each(kind Kind, channel []byte, matching []*topic, visit func(Kind, *topic)) {
	if t := h.topics[kind][string(channel)]; t != nil {
		visit(kind, t)
	}
	for _, t := range matching {
		visit(Pattern, t)
	}
}
