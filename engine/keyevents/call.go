package keyevents

import (
	"slices"
	"strconv"
	"strings"

	"github.com/meowdis/meowdis/redis/resp"
)

// Event is a keyspace event. Class is its letter in notify-keyspace-events.
type Event struct {
	DB    int
	Class byte
	Name  string
	Key   []byte
}

// State holds the state of a key at one point in time.
type State struct {
	Exists  bool  // it exists for clients
	Dead    bool  // it has expired, but is not deleted yet
	ByField bool  // it expired with the last field of its hash
	Version int64 // 0 without a row
	Count   int64 // number of elements
	TTL     bool
	// Consumers is the number of consumers in all groups of a stream.
	Consumers int64
}

// Key is a key of a call.
type Key struct {
	DB            int
	Name          []byte
	Before, After State
}

// Call is a call that has run without an error.
type Call struct {
	Command string // includes the subcommand
	Args    [][]byte
	Reply   resp.Value
	Now     int64 // Unix ms
	DB      int
	Keys    []Key // keys that the call names

	events    []Event
	announced map[*Key]bool // keys that have their "new" event
	places    map[place]int // indexes of Keys
}

// place identifies a key.
type place struct {
	db   int
	name string
}

// Events returns the events of a call. Commands newer than Redis 8.0, and commands of modules, cause none.
func Events(c Call) []Event {
	c.announced, c.places = map[*Key]bool{}, make(map[place]int, len(c.Keys))
	for i := range c.Keys {
		c.places[place{c.Keys[i].DB, string(c.Keys[i].Name)}] = i
		c.emitExpired(&c.Keys[i])
	}
	if tell := rules[c.Command]; tell != nil && !c.Reply.IsError() {
		tell(&c)
	}
	return c.events
}

// Evicted returns the events of evicted keys.
func Evicted(c Call) (events []Event) {
	for _, k := range c.Keys {
		if k.Before.Exists && !k.After.Exists {
			events = append(events, Event{k.DB, 'e', "evicted", k.Name})
		}
	}
	return events
}

// Expired returns the events of a key that reached its expiry or, with byField, the expiry of the last field of
// its hash.
func Expired(db int, key []byte, byField bool) []Event {
	if byField {
		return []Event{{db, 'h', "hexpired", key}, {db, 'g', "del", key}}
	}
	return []Event{{db, 'x', "expired", key}}
}

// FieldsExpired returns the event of a hash that loses some fields.
func FieldsExpired(db int, key []byte) []Event { return []Event{{db, 'h', "hexpired", key}} }

// emitExpired adds the events of a key that had expired before the call.
func (c *Call) emitExpired(k *Key) {
	if k.Before.Dead && k.Before.Version != k.After.Version {
		c.events = append(c.events, Expired(k.DB, k.Name, k.Before.ByField)...)
	}
}

func (c *Call) emit(class byte, name string, k *Key) {
	if k != nil {
		c.events = append(c.events, Event{k.DB, class, name, k.Name})
	}
}

// emitAfterNew adds an event, after the event "new" if the key is new.
func (c *Call) emitAfterNew(class byte, name string, k *Key) {
	if k != nil && !k.Before.Exists && !c.announced[k] {
		c.emitNew(k)
	}
	c.emit(class, name, k)
}

func (c *Call) emitNew(k *Key) {
	c.announced[k] = true
	c.emit('n', "new", k)
}

// emitIfGone adds the event of a key that was deleted with its last element.
func (c *Call) emitIfGone(k *Key) {
	if k != nil && k.Before.Exists && !k.After.Exists {
		c.emit('g', "del", k)
	}
}

// key returns the key at a position of the args, or nil.
func (c *Call) key(at int) *Key {
	if at <= 0 || at >= len(c.Args) {
		return nil
	}
	return c.named(c.DB, c.Args[at])
}

func (c *Call) named(db int, name []byte) *Key {
	if i, is := c.places[place{db, string(name)}]; is {
		return &c.Keys[i]
	}
	return nil
}

// word returns an argument in upper case, "" for a missing one.
func (c *Call) word(at int) string {
	if at <= 0 || at >= len(c.Args) {
		return ""
	}
	return strings.ToUpper(string(c.Args[at]))
}

// has returns the position of the first of the words among the args from a position on, or 0.
func (c *Call) has(from int, words ...string) int {
	for i := from; i < len(c.Args); i++ {
		if slices.Contains(words, c.word(i)) {
			return i
		}
	}
	return 0
}

func (c *Call) number(at int) int {
	n, _ := strconv.Atoi(c.word(at))
	return n
}

// expiry returns the position of an option that sets an expiry, and whether that time has passed already.
func (c *Call) expiry(from, to int) (at int, over bool) {
	for i := from; i < min(to, len(c.Args)); i++ {
		ms, err := strconv.ParseInt(c.word(i+1), 10, 64)
		switch c.word(i) {
		case "EX", "PX":
			return i, err == nil && ms <= 0
		case "EXAT":
			return i, err == nil && ms <= c.Now/1000
		case "PXAT":
			return i, err == nil && ms <= c.Now
		}
	}
	return 0, false
}

func (k *Key) changed() bool { return k != nil && k.Before.Version != k.After.Version }

// positive reports whether the reply is an integer above 0.
func (c *Call) positive() bool { return c.Reply.Int > 0 }

// some reports whether the reply is not empty.
func (c *Call) some() bool {
	switch c.Reply.Kind {
	case resp.Array, resp.Scored, resp.Map, resp.Set:
		return len(c.Reply.Elems) > 0
	}
	return !c.Reply.IsNull()
}

func (c *Call) any(is func(resp.Value) bool) bool { return slices.ContainsFunc(c.Reply.Elems, is) }
