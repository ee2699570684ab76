package tracking

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"
)

// Peer is the connection of a client. Its methods must neither wait nor call the table.
type Peer interface {
	// Tell takes a message for the client; with own, one that comes after the reply to the command that
	// the client has under way.
	Tell(m *Message, own bool)
	// Pass takes a message that another peer is to be told in place of this one, or this one as if it
	// were another. With own it comes after the reply to the command under way; without, it comes now,
	// and again after a reply that is on its way.
	Pass(m *Message, to Peer, own bool)
	// Hold says that a reply is on its way: messages come after it.
	Hold()
}

// Table knows which clients have read which keys, and which want to hear of all keys with a prefix.
// Keys are names, in whichever database. It is safe for concurrent use.
type Table struct {
	find func(id int64) Peer
	most atomic.Int64 // keys; 0 for any number

	mu       sync.Mutex
	clients  map[int64]*client
	readers  map[string][]int64 // by key: in order, also of clients that are gone
	items    int                // of all readers
	prefixes map[string]*prefix
	lengths  map[int]int // of prefixes: how many have it

	flights flights
}

// client is one that tracks.
type client struct {
	id   int64
	peer Peer
	Mode
	caching  bool // CLIENT CACHING was called for the next command
	broken   bool // it is gone to whom messages are redirected
	prefixes map[string]bool
	pending  map[string]map[string]bool // keys that it has changed itself, by prefix
}

// DefaultMost is how many keys a table has at most unless SetMost is called.
const DefaultMost = 1_000_000

// New makes a table. find is the peer that has an ID, nil for none.
func New(find func(id int64) Peer) *Table {
	t := &Table{
		find: find, clients: map[int64]*client{}, readers: map[string][]int64{},
		prefixes: map[string]*prefix{}, lengths: map[int]int{},
	}
	t.SetMost(DefaultMost)
	return t
}

// Event is something that happens to keys.
type Event struct {
	Client int64 // who does it, 0 for none
	// Read says that the keys are read; else they are changed.
	Read bool
	Keys [][]byte // nil for all
}

// Happen tells clients of what has happened, in order, before whoever did it has a reply.
func (t *Table) Happen(events []Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, e := range events {
		switch {
		case e.Read:
			t.read(t.clients[e.Client], e.Keys)
		case e.Keys == nil:
			t.forget(e.Client)
		default:
			for _, key := range e.Keys {
				t.change(key, e.Client)
			}
		}
	}
	t.broadcast()
	t.limit()
}

// read is under the lock, as is all that follows.
func (t *Table) read(c *client, keys [][]byte) {
	if c == nil {
		return
	}
	if c.peer.Hold(); !c.keeps() {
		return
	}
	for _, key := range keys {
		t.add(c, key)
	}
}

// keeps reports whether the client is told of what it reads now.
func (c *client) keeps() bool {
	switch {
	case c.Bcast:
		return false
	case c.OptIn:
		return c.caching
	case c.OptOut:
		return !c.caching
	}
	return true
}

func (t *Table) add(c *client, key []byte) {
	readers := t.readers[string(key)]
	if at, has := slices.BinarySearch(readers, c.id); !has {
		t.readers[string(key)] = slices.Insert(readers, at, c.id)
		t.items++
	}
}

// change tells those who have read a key that by has changed it.
func (t *Table) change(key []byte, by int64) {
	t.flights.note(key)
	t.touch(key, by)
	t.drop(string(key), by)
}

// drop tells the readers of a key, who have to read it again to hear more of it.
func (t *Table) drop(key string, by int64) {
	readers := t.readers[key]
	if len(readers) == 0 {
		return
	}
	delete(t.readers, key)
	t.items -= len(readers)
	m := &Message{Keys: [][]byte{[]byte(key)}}
	for _, id := range readers {
		if c := t.clients[id]; c != nil && !c.Bcast && !(c.NoLoop && id == by) {
			t.tell(c, m, id == by)
		}
	}
}

// forget tells all clients to forget what they keep.
func (t *Table) forget(by int64) {
	t.flights.noteAll()
	clear(t.readers)
	t.items = 0
	m := &Message{}
	for _, id := range slices.Sorted(maps.Keys(t.clients)) {
		t.tell(t.clients[id], m, id == by)
	}
}

func (t *Table) tell(c *client, m *Message, own bool) {
	if c.Redirect == 0 {
		c.peer.Tell(m, own)
		return
	}
	to := t.find(c.Redirect)
	if c.broken = to == nil; c.broken {
		c.peer.Tell(&Message{gone: c.Redirect}, own)
		return
	}
	c.peer.Pass(m, to, own)
}

// Clear forgets who has read what, and tells no one.
func (t *Table) Clear() {
	t.mu.Lock()
	defer t.mu.Unlock()
	clear(t.readers)
	t.items = 0
}

// slice is how many keys are dropped at a time when there are too many.
const slice = 100

// limit drops some keys when there are too many, and reports whether that is still so.
func (t *Table) limit() bool {
	most := t.most.Load()
	for n := 0; most > 0 && int64(len(t.readers)) > most; n++ {
		if n == slice {
			return true
		}
		for key := range t.readers {
			t.drop(key, 0)
			break
		}
	}
	return false
}

// SetMost changes how many keys the table has at most; 0 is for any number. What is too much goes with
// the next reads, or at once by Limit.
func (t *Table) SetMost(n int64) { t.most.Store(n) }

// Limit drops keys until there are not too many.
func (t *Table) Limit() {
	for more := true; more; {
		t.mu.Lock()
		more = t.limit()
		t.mu.Unlock()
	}
}

// Counts is what there is in a table.
type Counts struct{ Clients, Keys, Items, Prefixes int }

// Counts counts the clients that track, the keys that were read, by whom, and the prefixes.
func (t *Table) Counts() Counts {
	t.mu.Lock()
	defer t.mu.Unlock()
	return Counts{Clients: len(t.clients), Keys: len(t.readers), Items: t.items, Prefixes: len(t.prefixes)}
}
