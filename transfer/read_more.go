package transfer

import (
	"context"
	"errors"
	"math"
	"strconv"

	"github.com/meowdis/meowdis/rdb"
	"github.com/meowdis/meowdis/resp"
)

// complete adds to values what the command that reads them does not tell: when
// the fields of hashes expire, everything about streams but their entries, and
// where arrays go on. A value that is not there any more becomes nil, and so does one
// of which something was refused, which is its error in bad.
func (r *reader) complete(ctx context.Context, keys []*Key, values []Value) (bad []error, err error) {
	bad, err = r.fieldExpiries(ctx, keys, values)
	if err != nil {
		return nil, err
	}
	for i, v := range values {
		var err error
		switch v := v.(type) {
		case *rdb.Stream:
			err = r.streamState(ctx, keys[i], v)
		case *Array:
			err = r.nextSlot(ctx, keys[i], v)
		}
		var no Refusal
		switch {
		case errors.Is(err, ErrGone):
			values[i] = nil
		case errors.As(err, &no):
			values[i], bad[i] = nil, no
		case err != nil:
			return nil, err
		}
	}
	return bad, nil
}

// nextSlot reads where an array goes on; at the end of all indexes behind them.
func (r *reader) nextSlot(ctx context.Context, k *Key, a *Array) error {
	v, err := r.session.Do(ctx, call("ARNEXT", k.Name)...)
	switch {
	case err != nil:
		return err
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

// fieldExpiries asks for the expiries of all fields of the hashes, where the
// server knows such a thing. One that it refuses to tell of becomes nil, with its error in bad.
func (r *reader) fieldExpiries(ctx context.Context, keys []*Key, values []Value) (bad []error, err error) {
	bad = make([]error, len(keys))
	var calls [][][]byte
	var at []int
	for i, v := range values {
		if h, ok := v.(rdb.Hash); ok && len(h) > 0 && !r.lacks[fieldExpiry] {
			args := append(call(fieldExpiry, keys[i].Name, []byte("FIELDS")), decimal(int64(len(h))))
			for _, f := range h {
				args = append(args, f.Name)
			}
			calls, at = append(calls, args), append(at, i)
		}
	}
	if len(calls) == 0 {
		return bad, nil
	}
	replies, err := r.session.Pipeline(ctx, calls)
	if err != nil {
		return nil, err
	}
	for j, v := range replies {
		switch h := values[at[j]].(rdb.Hash); {
		case unknown(v):
			r.lacks[fieldExpiry] = true
		case v.IsError() && !wrongType(v):
			values[at[j]], bad[at[j]] = nil, refused(v)
		case len(v.Elems) != len(h):
			values[at[j]] = nil
		default:
			if h = withExpiries(h, v.Elems); len(h) == 0 {
				values[at[j]] = nil
				continue
			}
			values[at[j]] = h
		}
	}
	return bad, nil
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
