package tracking

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"
)

// Peer is a client's connection. Its methods must not wait and must not call the table.
type Peer interface {
	// Send queues a message for the client. If own is set, the message follows the reply to the client's running
	// command.
	Send(m *Message, own bool)
	// Redirect queues a message for the redirection target to, which may be this peer. If own is set, the message
	// follows the reply to the running command. Otherwise it is sent now, and again after a reply in progress.
	Redirect(m *Message, to Peer, own bool)
	// Hold defers messages until the reply in progress is sent.
	Hold()
}

// Table records which clients have read which keys, and which clients track all keys with a prefix. A key name stands
// for the key in every database. It is safe for concurrent use.
type Table struct {
	find    func(id int64) Peer
	maxKeys atomic.Int64 // limit of keys; 0 for none

	mu       sync.Mutex
	clients  map[int64]*client
	readers  map[string][]int64 // client IDs by key, sorted, including clients that have left
	items    int                // total length of readers
	prefixes map[string]*prefix
	lengths  map[int]int // number of prefixes by length

	running runningReads
}

// client holds the state of a client that tracks.
type client struct {
	id   int64
	peer Peer
	Mode
	caching  bool // CLIENT CACHING was called for the next command
	broken   bool // the redirection target has left
	prefixes map[string]bool
	pending  map[string]map[string]bool // own changes not yet sent, by prefix
}

// DefaultMaxKeys is the initial limit of keys in a table.
const DefaultMaxKeys = 1_000_000

// New returns an empty table. find returns the peer with an ID, or nil.
func New(find func(id int64) Peer) *Table {
	t := &Table{
		find: find, clients: map[int64]*client{}, readers: map[string][]int64{},
		prefixes: map[string]*prefix{}, lengths: map[int]int{},
	}
	t.SetMaxKeys(DefaultMaxKeys)
	return t
}

// Event is a read or a change of keys.
type Event struct {
	Client int64 // ID of the client that acts, 0 for none
	// Read marks a read; otherwise the keys have changed.
	Read bool
	Keys [][]byte // nil for all
}

// Record records events in order and notifies clients. It must be called before the acting clients get replies.
func (t *Table) Record(events []Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, e := range events {
		switch {
		case e.Read:
			t.read(t.clients[e.Client], e.Keys)
		case e.Keys == nil:
			t.invalidateAll(e.Client)
		default:
			for _, key := range e.Keys {
				t.change(key, e.Client)
			}
		}
	}
	t.broadcast()
	t.dropSome()
}

// read records a read. The caller holds t.mu, as for all methods below.
func (t *Table) read(c *client, keys [][]byte) {
	if c == nil {
		return
	}
	if c.peer.Hold(); !c.caches() {
		return
	}
	for _, key := range keys {
		t.add(c, key)
	}
}

// caches reports whether the client tracks the keys that it reads now.
func (c *client) caches() bool {
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

// change notifies the readers of a key that the client by has changed.
func (t *Table) change(key []byte, by int64) {
	t.running.change(key)
	t.recordChange(key, by)
	t.invalidate(string(key), by)
}

// invalidate removes a key and notifies its readers. They get no further message until they read the key again.
func (t *Table) invalidate(key string, by int64) {
	readers := t.readers[key]
	if len(readers) == 0 {
		return
	}
	delete(t.readers, key)
	t.items -= len(readers)
	m := &Message{Keys: [][]byte{[]byte(key)}}
	for _, id := range readers {
		if c := t.clients[id]; c != nil && !c.Bcast && !(c.NoLoop && id == by) {
			t.send(c, m, id == by)
		}
	}
}

// invalidateAll invalidates all keys for all clients.
func (t *Table) invalidateAll(by int64) {
	t.running.changeAll()
	clear(t.readers)
	t.items = 0
	m := &Message{}
	for _, id := range slices.Sorted(maps.Keys(t.clients)) {
		t.send(t.clients[id], m, id == by)
	}
}

func (t *Table) send(c *client, m *Message, own bool) {
	if c.Redirect == 0 {
		c.peer.Send(m, own)
		return
	}
	to := t.find(c.Redirect)
	if c.broken = to == nil; c.broken {
		c.peer.Send(&Message{gone: c.Redirect}, own)
		return
	}
	c.peer.Redirect(m, to, own)
}

// Clear removes all keys without notifying clients.
func (t *Table) Clear() {
	t.mu.Lock()
	defer t.mu.Unlock()
	clear(t.readers)
	t.items = 0
}

// dropsAtOnce limits the keys dropped under one lock.
const dropsAtOnce = 100

// dropSome drops up to dropsAtOnce keys over the limit. It reports whether more are left.
func (t *Table) dropSome() bool {
	most := t.maxKeys.Load()
	for n := 0; most > 0 && int64(len(t.readers)) > most; n++ {
		if n == dropsAtOnce {
			return true
		}
		for key := range t.readers {
			t.invalidate(key, 0)
			break
		}
	}
	return false
}

// SetMaxKeys sets the limit of keys; 0 means none. Excess keys are dropped on the next reads, or at once by DropExcess.
func (t *Table) SetMaxKeys(n int64) { t.maxKeys.Store(n) }

// DropExcess drops keys over the limit.
func (t *Table) DropExcess() {
	for more := true; more; {
		t.mu.Lock()
		more = t.dropSome()
		t.mu.Unlock()
	}
}

// Counts holds the sizes of a table.
type Counts struct{ Clients, Keys, Items, Prefixes int }

// Counts returns the number of tracking clients, keys, readers over all keys, and prefixes.
func (t *Table) Counts() Counts {
	t.mu.Lock()
	defer t.mu.Unlock()
	return Counts{Clients: len(t.clients), Keys: len(t.readers), Items: t.items, Prefixes: len(t.prefixes)}
}
