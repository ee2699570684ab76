package keyspace

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/meowdis/meowdis/redis/resp"
)

// Key is what was found out about a key.
type Key struct {
	Name      []byte
	Type      string
	ExpiresAt int64 // Unix ms, 0 for never; of a Lister that is Absolute
	TTL       int64 // ms, -1 for none; of another Lister
	Count     int64 // elements, or bytes of a string; -1 where it is not known
	Bytes     int64 // of name and value; -1 where they were not measured
	Err       error // what keeps its type from being known
	NoExpiry  error // what keeps it from being known when it expires
	NoCount   error // what keeps it from being counted
}

// Failed is what keeps a key from being described, but for its count.
func (k Key) Failed() error { return errors.Join(k.Err, k.NoExpiry) }

// Detail is what is found out about a key beside its type.
type Detail int

// Names alone need no question about a key.
const (
	Names    Detail = 0
	Expiries Detail = 1 << (iota - 1)
	Counts
	Sizes // bytes

	Described = Expiries | Counts
	Measured  = Described | Sizes
)

// Pages gives the keys of a database, a page at a time.
type Pages func(ctx context.Context, each func([]Key) error) error

// Lister lists the keys of one database of a client. It is for one goroutine.
type Lister struct {
	Client   Client
	Match    string                 // a pattern; "" for all
	Type     string                 // "" for all
	Wants    func(name []byte) bool // nil: all
	Page     int                    // how many keys a page has, 0 for 500
	Detail   Detail
	Absolute bool  // says when keys expire, not in how many ms
	Samples  int64 // elements of a key that are measured; 0: as many as the server does
	// Bytes finds out the bytes of keys; nil asks MEMORY USAGE.
	Bytes func(ctx context.Context, keys []Key) error
	// Now is the clock, in Unix ms; nil is that of the machine.
	Now func() int64
	// Refusals may be shared by all who ask the server for the same client; nil: they are
	// the Lister's own, which knows the commands that the server does not have.
	Refusals *Refusals

	names [][]byte // all of them in order, where there is no SCAN
}

// Again is a Lister for another database of the same server.
func (l *Lister) Again() *Lister {
	l.refusals()
	other := *l
	other.names = nil
	return &other
}

// AllSamples measures all elements of a key.
const AllSamples = -1

const defaultPage = 500

// Lacks reports whether a command is known to be refused.
func (l *Lister) Lacks(command string) bool { return l.refusals().Has(command) }

// Lack notes that the server does not have a command.
func (l *Lister) Lack(command string) { l.refusals().Add(command) }

func (l *Lister) refusals() *Refusals {
	if l.Refusals == nil {
		l.Refusals = &Refusals{}
	}
	return l.Refusals
}

func (l *Lister) now() int64 {
	if l.Now != nil {
		return l.Now()
	}
	return time.Now().UnixMilli()
}

// Keys calls each for pages of keys, none of them empty, until it fails. A key that is
// there from start to end is met, others may be, and some servers list one twice.
func (l *Lister) Keys(ctx context.Context, each func([]Key) error) error {
	w := l.Walk("0")
	for {
		page, err := w.Next(ctx)
		if err != nil {
			return err
		}
		for _, k := range page.Keys {
			if err := k.Failed(); err != nil {
				return err
			}
		}
		if len(page.Keys) > 0 {
			if err := each(page.Keys); err != nil {
				return err
			}
		}
		if page.Next == "0" {
			return nil
		}
	}
}

// askScan asks for the names at a cursor, "0" for the beginning. took gets them, with the
// cursor of the next page, "0" for none. Where there is neither SCAN's TYPE nor TYPE, keys
// of other types are listed, too: describing leaves them out.
func (l *Lister) askScan(t *Trip, cursor string, took func(names [][]byte, next string)) {
	took = l.filtered(took)
	if l.refusals().lacks("SCAN") {
		t.Ask(nil, func(ctx context.Context, _ []resp.Value) error { return l.listed(ctx, cursor, took) })
		return
	}
	args := []string{"SCAN", cursor, "COUNT", strconv.Itoa(l.size())}
	if l.Match != "" {
		args = append(args, "MATCH", l.Match)
	}
	typed := l.Type != "" && !l.Lacks("SCAN TYPE")
	if typed {
		args = append(args, "TYPE", l.Type)
	}
	t.Ask([][][]byte{Call(args...)}, func(ctx context.Context, replies []resp.Value) error {
		switch v := replies[0]; {
		case Unknown(v):
			l.Lack("SCAN")
		case v.IsError() && typed: // TYPE came with Redis 6
			l.Lack("SCAN TYPE")
		default:
			elems, next, err := Scanned(v)
			if err == nil {
				took(Texts(elems), next)
			}
			return err
		}
		var again Trip
		l.askScan(&again, cursor, took)
		return again.Go(ctx, l.Client)
	})
}

// filtered is took for the names that are wanted.
func (l *Lister) filtered(took func(names [][]byte, next string)) func(names [][]byte, next string) {
	if l.Wants == nil {
		return took
	}
	return func(names [][]byte, next string) {
		took(slices.DeleteFunc(slices.Clone(names), func(name []byte) bool { return !l.Wants(name) }), next)
	}
}

func (l *Lister) size() int {
	if l.Page > 0 {
		return l.Page
	}
	return defaultPage
}

// listed is a page of the reply to KEYS, which has all names. The cursor counts them.
func (l *Lister) listed(ctx context.Context, cursor string, took func(names [][]byte, next string)) error {
	if l.names == nil {
		pattern := l.Match
		if pattern == "" {
			pattern = "*"
		}
		v, err := l.Client.Do(ctx, Call("KEYS", pattern)...)
		if err != nil {
			return err
		}
		if v.IsError() {
			return Refusal(v.Str)
		}
		l.names = Texts(v.Elems)
		slices.SortFunc(l.names, bytes.Compare)
	}
	at, err := strconv.Atoi(cursor)
	if err != nil || at < 0 || at > len(l.names) {
		at = len(l.names)
	}
	end := min(at+l.size(), len(l.names))
	next := strconv.Itoa(end)
	if end == len(l.names) {
		next = "0"
	}
	took(l.names[at:end], next)
	return nil
}
