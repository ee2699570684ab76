package transfer

import (
	"context"
	"fmt"
	"slices"

	"github.com/meowdis/meowdis/redis/rdb"
	"github.com/meowdis/meowdis/redis/resp"
)

// noteUnclaimed records the ids that XCLAIM could not claim because their entries are missing.
func (k *keyWrite) noteUnclaimed(args [][]byte) {
	if id, ok := parseID(args[5]); ok {
		k.absent = append(k.absent, id)
	}
}

// rebuildStreams rebuilds streams with pending entries that are missing. The missing entries are
// known only at the end of a stream, when the entries before it are already written.
func (w *Writer) rebuildStreams(ctx context.Context, keys []*keyWrite) error {
	for _, k := range keys {
		if !k.last || k.done || k.err != nil || len(k.absent) == 0 {
			continue
		}
		if k.direct { // no RENAME
			k.lost = len(k.absent)
			continue
		}
		if err := w.rebuildStream(ctx, k); err != nil {
			return err
		}
	}
	return nil
}

// rebuildStream builds a stream from the written one, with placeholders for the missing entries, which
// it removes after claiming them.
func (w *Writer) rebuildStream(ctx context.Context, k *keyWrite) error {
	slices.SortFunc(k.absent, compareIDs)
	left := slices.Compact(k.absent)
	var placeholders, beginning []rdb.Entry
	for _, id := range left {
		placeholders = append(placeholders, placeholder(id))
	}
	from, pace := k.temp, newPageSizer()
	k.temp = append(slices.Clone(from), ":again"...)
	pages, rest := streamPages(&Key{Name: from}), placeholders
	for last := false; !last && k.err == nil; {
		v, err := w.session.Do(ctx, pages.call(pace.elements())...)
		if err != nil {
			return err
		}
		if v.IsError() {
			k.err = refused(v)
			break
		}
		var page Value
		if page, last, err = pages.take(v); err != nil {
			return err
		}
		pace.observe(page.Len(), sizeOf(v))
		entries, n := page.(*rdb.Stream).Entries, len(rest)
		if len(beginning) == 0 && len(entries) > 0 {
			beginning = entries[:1]
		}
		if !last {
			end := entries[len(entries)-1].ID
			n, _ = slices.BinarySearchFunc(rest, end, func(e rdb.Entry, id rdb.ID) int { return compareIDs(e.ID, id) })
		}
		err = w.run(ctx, k, func(c *callBuilder) {
			c.entries(withPlaceholders(entries, rest[:n]))
			if last {
				c.state(k.state, placeholders, beginning, false)
			}
		})
		if err != nil {
			return err
		}
		rest = rest[n:]
	}
	_, err := w.session.Do(ctx, call("DEL", from)...)
	return err
}

// run runs commands on a key's temporary name. An error reply becomes the key's error.
func (w *Writer) run(ctx context.Context, k *keyWrite, make func(*callBuilder)) error {
	var calls [][][]byte
	make(&callBuilder{name: k.temp, yield: func(args [][]byte) bool {
		calls = append(calls, args)
		return true
	}})
	if k.expires && len(calls) > 0 {
		calls = slices.Insert(calls, 1, call("PEXPIRE", k.temp, decimal(temporaryLife)))
	}
	replies, err := w.pipeline(ctx, calls)
	if err != nil {
		return err
	}
	for i, v := range replies {
		if v.IsError() && k.err == nil {
			k.err = fmt.Errorf("%s: %w", calls[i][0], refused(v))
		}
		if isUnclaimed(calls[i], v) {
			k.lost++
		}
	}
	return nil
}

// isUnclaimed reports whether v means that XCLAIM found no such entry.
func isUnclaimed(args [][]byte, v resp.Value) bool {
	return v.Kind == resp.Array && len(v.Elems) == 0 && string(args[0]) == "XCLAIM"
}
