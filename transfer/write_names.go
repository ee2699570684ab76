package transfer

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/meowdis/meowdis/redis/resp"
)

// finish renames the keys whose last part was received, and deletes the temporary keys that
// failed.
func (w *Writer) finish(ctx context.Context, keys []*keyWrite) error {
	var expiries, renames [][][]byte
	var expiring, renamed, direct []*keyWrite
	for _, k := range keys {
		switch {
		case !k.last || k.done:
			continue
		case k.err == nil && k.direct:
			direct = append(direct, k)
			continue
		case k.err != nil:
			w.countFailed(k)
			if k.temp != nil && k.started {
				expiries, expiring = append(expiries, call("DEL", k.temp)), append(expiring, nil)
			}
			continue
		case k.key.ExpiresAt > 0:
			expiries, expiring = append(expiries, ExpiryCall(k.temp, k.key.ExpiresAt)), append(expiring, k)
		case k.expires:
			expiries, expiring = append(expiries, call("PERSIST", k.temp)), append(expiring, k)
		}
		renames, renamed = append(renames, w.rename(k)), append(renamed, k)
	}
	if err := w.finishDirect(ctx, direct); err != nil {
		return err
	}
	replies, err := w.runInTransaction(ctx, append(slices.Clone(expiries), renames...))
	if err != nil {
		return err
	}
	if replies != nil {
		return w.finishRenames(ctx, renamed, replies[len(expiries):])
	}
	if replies, err = w.pipeline(ctx, expiries); err != nil {
		return err
	}
	for i, k := range expiring {
		if k != nil {
			k.err = refused(replies[i])
		}
	}
	renames = renames[:0]
	for _, k := range renamed {
		args := w.rename(k)
		if k.err != nil {
			args = call("DEL", k.temp)
		}
		renames = append(renames, args)
	}
	if replies, err = w.pipeline(ctx, renames); err != nil {
		return err
	}
	return w.finishRenames(ctx, renamed, replies)
}

// finishDirect completes keys written under their own names.
func (w *Writer) finishDirect(ctx context.Context, keys []*keyWrite) error {
	for _, k := range keys {
		if at := k.key.ExpiresAt; at > 0 {
			v, err := w.session.Do(ctx, ExpiryCall(k.temp, at)...)
			if err != nil {
				return err
			}
			if err := refused(v); err != nil {
				w.o.Notify(k.key, &Incomplete{fmt.Sprintf("it does not expire: %v", err)})
			}
		}
		w.countWritten(k)
	}
	return nil
}

// canRename reports whether the session has RENAME. No key may have the name temp.
func (w *Writer) canRename(ctx context.Context, temp []byte) (bool, error) {
	if w.renames == nil {
		v, err := w.session.Do(ctx, call("RENAMENX", temp, temp)...)
		if err != nil {
			return false, err
		}
		has := !unknown(v)
		w.renames = &has
	}
	return *w.renames, nil
}

func (w *Writer) rename(k *keyWrite) [][]byte {
	if w.o.Existing == Replace {
		return call("RENAME", k.temp, k.key.Name)
	}
	return call("RENAMENX", k.temp, k.key.Name)
}

// runInTransaction runs calls in one transaction if the session supports MULTI, so that no temporary
// key remains without an expiry. Otherwise it runs nothing and returns nil. It sends one
// pipeline, since other clients may use the session between two requests.
func (w *Writer) runInTransaction(ctx context.Context, calls [][][]byte) ([]resp.Value, error) {
	if w.o.Transaction != nil || w.noMulti || len(calls) == 0 {
		return nil, nil
	}
	multi, exec := call("MULTI"), call("EXEC")
	if !w.hasMulti { // test without calls: they would run after a refused MULTI
		replies, err := w.pipeline(ctx, [][][]byte{multi, exec})
		if err != nil || replies[0].IsError() {
			w.noMulti = true
			return nil, err
		}
		w.hasMulti = true
	}
	replies, err := w.pipeline(ctx, slices.Concat([][][]byte{multi}, calls, [][][]byte{exec}))
	if err != nil {
		return nil, err
	}
	if err := refused(replies[0]); err != nil {
		return nil, fmt.Errorf("MULTI: %w", err)
	}
	if all := replies[len(replies)-1]; all.Kind == resp.Array && len(all.Elems) == len(calls) {
		return all.Elems, nil
	}
	w.noMulti = true // no call ran
	return nil, nil
}

// finishRenames completes keys from the replies to their RENAMEs.
func (w *Writer) finishRenames(ctx context.Context, keys []*keyWrite, replies []resp.Value) error {
	for i, k := range keys {
		if k.err != nil {
			w.countFailed(k)
		} else if err := w.finishRename(ctx, k, replies[i]); err != nil {
			return err
		}
	}
	return nil
}

// finishRename completes a key from the reply to its RENAME or RENAMENX.
func (w *Writer) finishRename(ctx context.Context, k *keyWrite, v resp.Value) error {
	n, isNumber := integer(v)
	switch {
	case v.IsError() && k.key.ExpiresAt > 0 && k.key.ExpiresAt <= w.o.Now(),
		isMissing(v) && k.key.Type == HashType && k.lastFieldExpiry <= w.o.Now(): // all fields expired
		w.written.Expired++
		return nil
	case isMissing(v):
		k.err = errEvicted
		w.countFailed(k)
		return nil
	case v.IsError():
		k.err = refused(v)
		w.countFailed(k)
	case isNumber && n == 0:
		if err := w.exists(k); err != nil {
			return errors.Join(err, w.remove(ctx, k))
		}
	default:
		w.countWritten(k)
		return nil
	}
	return w.remove(ctx, k)
}

// isMissing reports whether v is the error for a missing key.
func isMissing(v resp.Value) bool { return v.IsError() && string(v.Str) == "ERR no such key" }

func (w *Writer) countFailed(k *keyWrite) {
	w.written.Failed++
	if k.err != errGivenUp {
		w.o.Notify(k.key, k.err)
	}
}

func (w *Writer) countWritten(k *keyWrite) {
	w.written.Keys++
	k.done = true
	if len(k.rules) > 0 {
		w.ruled = append(w.ruled, ruledSeries{k.key, k.rules})
	}
	if k.lost > 0 {
		w.o.Notify(k.key, notPending(k.lost))
	}
}

// notPending describes the loss of n pending entries that were deleted from the stream.
func notPending(n int) *Incomplete {
	return &Incomplete{fmt.Sprintf("of the entries that were deleted %d are no longer pending", n)}
}

func (w *Writer) remove(ctx context.Context, k *keyWrite) error {
	_, err := w.session.Do(ctx, call("DEL", k.temp)...)
	return err
}

var errEvicted = errors.New("the target evicted or deleted it before it was whole")
