package survey

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/meowdis/meowdis/resp"
)

// Client runs commands: engine.Session and the clients of servers.
type Client interface {
	Do(ctx context.Context, args ...[]byte) (resp.Value, error)
	Pipeline(ctx context.Context, calls [][][]byte) ([]resp.Value, error)
}

// Refusal is an error reply to a command that the work could not do without.
type Refusal string

func (r Refusal) Error() string { return string(r) }

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

// Walk goes through the keys of the client's database by SCAN: a key that is
// there from start to end is met, others may be. A server may give a key twice.
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
	cursor := "0"
	for {
		reply, err := one(ctx, w.Client, w.scan(cursor))
		if err != nil {
			return err
		}
		next, names, err := page(reply)
		if err != nil {
			return err
		}
		keys := make([]Key, len(names))
		for i, n := range names {
			keys[i] = Key{Name: n.Str, TTL: -1, Count: -1, Bytes: -1}
		}
		if w.Facts > Names && len(keys) > 0 {
			if keys, err = w.describe(ctx, keys); err != nil {
				return err
			}
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

func (w Walk) scan(cursor string) [][]byte {
	size := w.Page
	if size == 0 {
		size = defaultPage
	}
	args := []string{"SCAN", cursor, "COUNT", strconv.Itoa(size)}
	if w.Match != "" {
		args = append(args, "MATCH", w.Match)
	}
	if w.Type != "" {
		args = append(args, "TYPE", w.Type)
	}
	return call(args...)
}

// describe finds out the facts of keys in two round trips, since the command
// that counts depends on the type. Keys that are gone are left out.
func (w Walk) describe(ctx context.Context, keys []Key) ([]Key, error) {
	var calls [][][]byte
	for _, k := range keys {
		calls = append(calls, [][]byte{[]byte("TYPE"), k.Name}, [][]byte{[]byte("PTTL"), k.Name})
	}
	replies, err := w.Client.Pipeline(ctx, calls)
	if err != nil {
		return nil, err
	}
	live := keys[:0]
	for i, k := range keys {
		typ, ttl := replies[2*i], replies[2*i+1]
		if typ.IsError() {
			return nil, Refusal(typ.Str)
		}
		if k.Type = string(typ.Str); k.Type != "none" {
			k.TTL = max(number(ttl), -1)
			live = append(live, k)
		}
	}
	if w.Facts >= Measured && w.Bytes != nil {
		if err := w.Bytes(ctx, live); err != nil {
			return nil, err
		}
	}
	return live, w.measure(ctx, live)
}

func (w Walk) measure(ctx context.Context, keys []Key) error {
	var calls [][][]byte
	var into []*int64
	for i := range keys {
		k := &keys[i]
		if kind, ok := kinds[k.Type]; ok {
			calls, into = append(calls, [][]byte{[]byte(kind.count), k.Name}), append(into, &k.Count)
		}
		if w.Facts >= Measured && w.Bytes == nil {
			usage := [][]byte{[]byte("MEMORY"), []byte("USAGE"), k.Name, []byte("SAMPLES"), strconv.AppendInt(nil, w.Samples, 10)}
			calls, into = append(calls, usage), append(into, &k.Bytes)
		}
	}
	if len(calls) == 0 {
		return nil
	}
	replies, err := w.Client.Pipeline(ctx, calls)
	if err != nil {
		return err
	}
	for i, v := range replies {
		// An error: the key has changed its type, or the target does not
		// measure. Then the number is not known.
		if v.Kind == resp.Int {
			*into[i] = v.Int
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

// page takes the reply of the SCAN family apart.
func page(v resp.Value) (next string, elems []resp.Value, err error) {
	if len(v.Elems) != 2 {
		return "", nil, fmt.Errorf("a reply to SCAN of %d parts", len(v.Elems))
	}
	return string(v.Elems[0].Str), v.Elems[1].Elems, nil
}

func call(args ...string) [][]byte {
	out := make([][]byte, len(args))
	for i, a := range args {
		out[i] = []byte(a)
	}
	return out
}

// number is an integer, or a string that some endpoints make of one.
func number(v resp.Value) int64 {
	if v.Kind == resp.Int {
		return v.Int
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(v.Str)), 10, 64)
	if err != nil {
		return -1
	}
	return n
}
