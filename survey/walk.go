package survey

import (
	"context"
	"strconv"

	"github.com/meowdis/meowdis/keyspace"
	"github.com/meowdis/meowdis/resp"
)

// Client runs commands: engine.Session and the clients of servers.
type Client = keyspace.Client

// Refusal is an error reply to a command that the work could not do without.
type Refusal = keyspace.Refusal

// Key is what was found out about a key.
type Key struct {
	Name  []byte
	Type  string
	TTL   int64 // ms; -1 for none
	Count int64 // elements, or the bytes of a string; -1 where it cannot be told
	Bytes int64 // -1 where it cannot be told
}

// Facts says what a walk finds out about each key.
type Facts int

const (
	Names     Facts = iota // nothing else
	Described              // type, time to live and count
	Measured               // and bytes
)

// Pages gives the keys of a database, a page at a time.
type Pages func(ctx context.Context, each func([]Key) error) error

// Walk goes through the keys of the client's database as keyspace.Lister does: a key
// that is there from start to end is met, others may be. A server may give a key twice.
type Walk struct {
	Client  Client
	Match   string // a pattern; empty for all
	Type    string // empty for all
	Facts   Facts
	Samples int64 // of a key's elements that are measured, 0 for all
	// Bytes finds out the bytes of keys; nil asks MEMORY USAGE.
	Bytes func(ctx context.Context, keys []Key) error
	Page  int // how many keys to look at in one round trip; 0 for a good number
}

const defaultPage = 500

// Keys calls each for pages of keys, none of them empty, until it fails.
func (w Walk) Keys(ctx context.Context, each func([]Key) error) error {
	l := w.lister()
	for cursor := "0"; ; {
		names, next, err := l.Scan(ctx, cursor)
		if err != nil {
			return err
		}
		keys, err := w.find(ctx, l, names)
		if err != nil {
			return err
		}
		if len(keys) > 0 {
			if err := each(keys); err != nil {
				return err
			}
		}
		if cursor = next; cursor == "0" {
			return nil
		}
	}
}

func (w Walk) lister() *keyspace.Lister {
	return &keyspace.Lister{Client: w.Client, Match: w.Match, Type: w.Type, Page: w.Page}
}

// find finds out the facts of keys. Those that are gone are left out.
func (w Walk) find(ctx context.Context, l *keyspace.Lister, names [][]byte) ([]Key, error) {
	keys := make([]Key, 0, len(names))
	if w.Facts == Names && (w.Type == "" || !l.Lacks("SCAN") && !l.Lacks("SCAN TYPE")) {
		for _, n := range names {
			keys = append(keys, Key{Name: n, TTL: -1, Count: -1, Bytes: -1})
		}
		return keys, nil
	}
	described, err := l.Describe(ctx, names)
	if err != nil {
		return nil, err
	}
	for _, d := range described {
		if d.Err != nil {
			return nil, d.Err
		}
		keys = append(keys, Key{Name: d.Name, Type: d.Type, TTL: d.TTL, Count: d.Count, Bytes: -1})
	}
	if w.Facts < Measured {
		return keys, nil
	}
	if w.Bytes != nil {
		return keys, w.Bytes(ctx, keys)
	}
	return keys, w.measure(ctx, l, keys)
}

// measure asks for the bytes of keys, where the server measures them.
func (w Walk) measure(ctx context.Context, l *keyspace.Lister, keys []Key) error {
	if l.Lacks("MEMORY") || len(keys) == 0 {
		return nil
	}
	var calls [][][]byte
	for _, k := range keys {
		calls = append(calls, [][]byte{[]byte("MEMORY"), []byte("USAGE"), k.Name, []byte("SAMPLES"), strconv.AppendInt(nil, w.Samples, 10)})
	}
	replies, err := w.Client.Pipeline(ctx, calls)
	if err != nil {
		return err
	}
	for i, v := range replies {
		if n, ok := keyspace.Integer(v); ok {
			keys[i].Bytes = n
		} else if keyspace.Unknown(v) {
			l.Lack("MEMORY")
		}
	}
	return nil
}

// one runs a command whose error reply is an error here.
func one(ctx context.Context, c Client, args [][]byte) (resp.Value, error) {
	v, err := c.Do(ctx, args...)
	if err == nil && v.IsError() {
		err = Refusal(v.Str)
	}
	return resp.Downgrade(v), err
}
