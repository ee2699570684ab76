package transfer

import (
	"context"
	"errors"

	"github.com/meowdis/meowdis/rdb"
	"github.com/meowdis/meowdis/resp"
)

// complete adds to values what the command that reads them does not tell: when
// the fields of hashes expire, and everything about streams but their entries. A
// value that is not there any more becomes nil.
func (r *reader) complete(ctx context.Context, keys []*Key, values []Value) error {
	if err := r.fieldExpiries(ctx, keys, values); err != nil {
		return err
	}
	for i, v := range values {
		if s, ok := v.(*rdb.Stream); ok {
			err := r.streamState(ctx, keys[i], s)
			if errors.Is(err, ErrGone) {
				values[i] = nil
			} else if err != nil {
				return err
			}
		}
	}
	return nil
}

// fieldExpiries asks for the expiries of all fields of the hashes, where the
// server knows such a thing.
func (r *reader) fieldExpiries(ctx context.Context, keys []*Key, values []Value) error {
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
		return nil
	}
	replies, err := r.session.Pipeline(ctx, calls)
	if err != nil {
		return err
	}
	for j, v := range replies {
		switch h := values[at[j]].(rdb.Hash); {
		case unknown(v):
			r.lacks[fieldExpiry] = true
		case v.IsError() || len(v.Elems) != len(h):
			values[at[j]] = nil
		default:
			if h = withExpiries(h, v.Elems); len(h) == 0 {
				values[at[j]] = nil
				continue
			}
			values[at[j]] = h
		}
	}
	return nil
}

const fieldExpiry = "HPEXPIRETIME"

// withExpiries is the hash with the expiries of its fields, without those that
// are gone.
func withExpiries(h rdb.Hash, expiries []resp.Value) rdb.Hash {
	kept := h[:0]
	for i, f := range h {
		switch at, _ := integer(expiries[i]); {
		case at == expiryGone:
			continue
		case at > 0:
			f.ExpiresAt = at
		}
		kept = append(kept, f)
	}
	return kept
}
