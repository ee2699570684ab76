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

// askRest requests the data that the value's command does not return: the metadata of streams,
// the next index of arrays and the rules of series. It sets the value to nil if the key is missing or a request is
// refused.
func (r *reader) askRest(t *keyspace.RoundTrip, read *reading) {
	switch read.key.Type {
	case StreamType:
		r.askStream(t, read.key.Name, func(ctx context.Context, about, groups resp.Value) error {
			if s, ok := read.value.(*rdb.Stream); ok {
				return read.settle(r.streamState(ctx, read.key, s, about, groups))
			}
			return nil
		})
	case SeriesType:
		if !r.plain {
			r.askRules(t, read)
		}
	case ArrayType:
		t.Add([][][]byte{call("ARNEXT", read.key.Name)}, func(_ context.Context, replies []resp.Value) error {
			if a, ok := read.value.(*Array); ok {
				return read.settle(nextSlot(a, replies[0]))
			}
			return nil
		})
	}
}

// settle records an error of the key, and returns any other error.
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

// nextSlot reads an array's next index. At the end of the index range it is one past the last
// index.
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

// askFieldExpiries requests the expiries of all fields of a hash, if the server supports them.
// It sets the value to nil if the hash was replaced or the server refuses the request.
func (r *reader) askFieldExpiries(t *keyspace.RoundTrip, read *reading) {
	h, ok := read.value.(rdb.Hash)
	if !ok || len(h) == 0 || r.lister.Lacks(fieldExpiry) {
		return
	}
	args := append(call(fieldExpiry, read.key.Name, []byte("FIELDS")), decimal(int64(len(h))))
	for _, f := range h {
		args = append(args, f.Name)
	}
	t.Add([][][]byte{args}, func(_ context.Context, replies []resp.Value) error {
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

// fieldGone replaces the expiry of a missing field in the reply.
const fieldGone = -2

// withExpiries returns the hash with field expiries, without missing fields.
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
