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

// Key holds the metadata of a key.
type Key struct {
	Name      []byte
	Type      string
	ExpiresAt int64 // Unix ms, 0 for never; with Lister.Absolute
	TTL       int64 // ms, -1 for none; without Lister.Absolute
	Count     int64 // elements, or bytes of a string; -1 if unknown
	Bytes     int64 // of name and value; -1 if not measured
	Err       error // why the type is unknown
	NoExpiry  error // why the expiry is unknown
	NoCount   error // why the count is unknown
}

// Failed returns the errors of the type and the expiry. An unknown count is not a failure.
func (k Key) Failed() error { return errors.Join(k.Err, k.NoExpiry) }

// Detail selects the metadata to read besides the type.
type Detail int

// Names needs no command per key.
const (
	Names    Detail = 0
	Expiries Detail = 1 << (iota - 1)
	Counts
	Sizes // bytes

	Described = Expiries | Counts
	Measured  = Described | Sizes
)

// Pages calls each with the pages of a database's keys.
type Pages func(ctx context.Context, each func([]Key) error) error

// Lister lists the keys of one database of a client. It must not be used concurrently.
type Lister struct {
	Client   Client
	Match    string                 // a pattern; "" for all
	Type     string                 // "" for all
	Wants    func(name []byte) bool // nil accepts all
	Page     int                    // keys per page; 0 for 500
	Detail   Detail
	Absolute bool  // reads ExpiresAt instead of TTL
	Samples  int64 // elements sampled by MEMORY USAGE; 0 for the server's default
	// Bytes measures keys; nil uses MEMORY USAGE.
	Bytes func(ctx context.Context, keys []Key) error
	// Now is the clock, in Unix ms; nil for the system clock.
	Now func() int64
	// Refusals may be shared by all Listers with the same server and permissions; nil for a
	// private one.
	Refusals *Refusals

	names [][]byte // all names in order, if the server lacks SCAN
}

// Clone returns a Lister for another database of the same server.
func (l *Lister) Clone() *Lister {
	l.refusals()
	other := *l
	other.names = nil
	return &other
}

// AllSamples makes MEMORY USAGE measure all elements of a key.
const AllSamples = -1

const defaultPage = 500

// Lacks reports whether the server is known to refuse a command.
func (l *Lister) Lacks(command string) bool { return l.refusals().Has(command) }

// Lack records that the server does not have a command.
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

// Keys calls each with nonempty pages of keys until it returns an error. Every key that exists
// during the whole listing is returned. A key that exists for part of it may be, and some
// servers list a key twice.
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

// addScan requests the names at a cursor, "0" for the beginning. took receives them with the
// next cursor, "0" at the end. If the server has neither SCAN's TYPE option nor TYPE, the names
// include keys of other types, which describing removes.
func (l *Lister) addScan(t *RoundTrip, cursor string, took func(names [][]byte, next string)) {
	took = l.filtered(took)
	if l.refusals().lacks("SCAN") {
		t.Add(nil, func(ctx context.Context, _ []resp.Value) error { return l.pageOfKeys(ctx, cursor, took) })
		return
	}
	args := []string{"SCAN", cursor, "COUNT", strconv.Itoa(l.pageSize())}
	if l.Match != "" {
		args = append(args, "MATCH", l.Match)
	}
	typed := l.Type != "" && !l.Lacks("SCAN TYPE")
	if typed {
		args = append(args, "TYPE", l.Type)
	}
	t.Add([][][]byte{Call(args...)}, func(ctx context.Context, replies []resp.Value) error {
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
		var again RoundTrip
		l.addScan(&again, cursor, took)
		return again.Run(ctx, l.Client)
	})
}

// filtered wraps took to pass only wanted names.
func (l *Lister) filtered(took func(names [][]byte, next string)) func(names [][]byte, next string) {
	if l.Wants == nil {
		return took
	}
	return func(names [][]byte, next string) {
		took(slices.DeleteFunc(slices.Clone(names), func(name []byte) bool { return !l.Wants(name) }), next)
	}
}

func (l *Lister) pageSize() int {
	if l.Page > 0 {
		return l.Page
	}
	return defaultPage
}

// pageOfKeys passes a page of the reply to KEYS, which has all names. The cursor is an index.
func (l *Lister) pageOfKeys(ctx context.Context, cursor string, took func(names [][]byte, next string)) error {
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
	end := min(at+l.pageSize(), len(l.names))
	next := strconv.Itoa(end)
	if end == len(l.names) {
		next = "0"
	}
	took(l.names[at:end], next)
	return nil
}
