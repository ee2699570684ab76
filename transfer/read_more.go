package transfer

import (
	"context"
	"errors"
	"math"
	"strconv"

	"github.com/meowdis/meowdis/keyspace"
	"github.com/meowdis/meowdis/redis/rdb"
	"github.com/meowdis/meowdis/redis/resp"
)

// askRest asks for what the command that reads a value does not return: everything about
// streams but their entries, and where arrays go on. A value that is not there any more
// becomes nil, and so does one of which something is refused.
func (r *reader) askRest(t *keyspace.Trip, read *reading) {
	switch read.key.Type {
	case StreamType:
		r.askStream(t, read.key.Name, func(ctx context.Context, about, groups resp.Value) error {
			if s, ok := read.value.(*rdb.Stream); ok {
				return read.settle(r.streamState(ctx, read.key, s, about, groups))
			}
			return nil
		})
	case ArrayType:
		t.Ask([][][]byte{call("ARNEXT", read.key.Name)}, func(_ context.Context, replies []resp.Value) error {
			if a, ok := read.value.(*Array); ok {
				return read.settle(nextSlot(a, replies[0]))
			}
			return nil
		})
	}
}

// settle takes an error that is about the key, and returns any other.
func (read *reading) settle(err error) error {
	var no Refusal
	switch {
	case errors.Is(err, ErrGone):
		read.value = nil
	case errors.As(err, &no):
		read.value, read.err = nil, no
	default:
		return err
	}
	return nil
}

// nextSlot reads where an array goes on; at the end of all indexes that is after them.
func nextSlot(a *Array, v resp.Value) (err error) {
	switch {
	case isMissing(v) || wrongType(v):
		return ErrGone
	case v.IsError():
		return refused(v)
	case v.IsNull():
		a.Next = math.MaxUint64
		return nil
	}
	a.Next, err = strconv.ParseUint(string(text(v)), 10, 64)
	return err
}

// askFieldExpiries asks for the expiries of all fields of a hash, where the server knows
// such a thing. A hash that is another one by now becomes nil, and so does one of which
// the server refuses to show them.
func (r *reader) askFieldExpiries(t *keyspace.Trip, read *reading) {
	h, ok := read.value.(rdb.Hash)
	if !ok || len(h) == 0 || r.lister.Lacks(fieldExpiry) {
		return
	}
	args := append(call(fieldExpiry, read.key.Name, []byte("FIELDS")), decimal(int64(len(h))))
	for _, f := range h {
		args = append(args, f.Name)
	}
	t.Ask([][][]byte{args}, func(_ context.Context, replies []resp.Value) error {
		switch v := replies[0]; {
		case unknown(v):
			r.lister.Lack(fieldExpiry)
		case v.IsError() && !wrongType(v):
			read.value, read.err = nil, refused(v)
		case len(v.Elems) != len(h):
			read.value = nil
		default:
			if h = withExpiries(h, v.Elems); len(h) == 0 {
				read.value = nil
				return nil
			}
			read.value = h
		}
		return nil
	})
}

const fieldExpiry = "HPEXPIRETIME"

// fieldGone is what it answers of a field that is not there.
const fieldGone = -2

// withExpiries is the hash with the expiries of its fields, without those that
// are gone.
func withExpiries(h rdb.Hash, expiries []resp.Value) rdb.Hash {
	kept := h[:0]
	for i, f := range h {
		switch at, _ := integer(expiries[i]); {
		case at == fieldGone:
			continue
		case at > 0:
			f.ExpiresAt = at
		}
		kept = append(kept, f)
	}
	return kept
}
