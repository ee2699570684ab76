package value

import (
	"context"
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/meowdis/meowdis/inspect/client"
	"github.com/meowdis/meowdis/keyspace"
)

// Limits of one round trip: the keys searched, and roughly the bytes that they may return.
const (
	maxBatchKeys  = 50
	maxBatchBytes = 4 << 20
)

// SearchKeys returns a function that reports which keys contain the typed text, and how many keys could
// not be read. The types and sizes of the keys must be known. It matches as a search in the open value
// does. Small values are read together, large values in parts, one part in memory at a time.
func SearchKeys(c *client.Conn) func(ctx context.Context, db int, keys []keyspace.Key, typed string) (holds []bool, unread int, err error) {
	return func(ctx context.Context, db int, keys []keyspace.Key, typed string) (holds []bool, unread int, err error) {
		h := valueSearch{conn: c, db: db, needle: needleOf(typed, asText), first: probeCount, holds: make([]bool, len(keys)), keys: keys}
		err = h.run(ctx)
		return h.holds, h.unread, err
	}
}

// PartTests returns functions that report whether a part of a value, or a score, contains the typed text as
// SearchKeys matches it.
func PartTests(typed string) (bytes func([]byte) bool, number func(float64) bool) {
	needle := needleOf(typed, asText)
	bytes = func(part []byte) bool { return cellContains(string(part), needle) }
	number = func(score float64) bool { return false }
	if strings.Trim(needle, "0123456789.+-einfEINF") == "" { // nothing else is in a number
		number = func(score float64) bool {
			at, _ := find(scoreText(score), needle)
			return at >= 0
		}
	}
	return bytes, number
}

// run searches all keys.
func (h *valueSearch) run(ctx context.Context) error {
	var some []int
	for i, k := range h.keys {
		if h.searchedAlone(k) {
			if err := h.search(ctx, i, 0); err != nil {
				return err
			}
			continue
		}
		if some = append(some, i); len(some) == maxBatchKeys {
			if err := h.searchBatch(ctx, some); err != nil {
				return err
			}
			some = some[:0]
		}
	}
	return h.searchBatch(ctx, some)
}

// valueSearch tracks a search of several keys.
type valueSearch struct {
	conn   *client.Conn
	db     int
	needle string
	first  int // the elements read from each key at first
	keys   []keyspace.Key
	holds  []bool
	unread int
}

// searchedAlone reports whether a key is searched by itself because even its first part may be large.
func (h *valueSearch) searchedAlone(k keyspace.Key) bool {
	src := sourceOf(k.Type)
	return src == nil || src.fetchedWhole || src.columns == nil && (k.Count < 0 || k.Count > windowSize)
}

// searchBatch searches the beginnings of several values, then the rest of the longer ones.
func (h *valueSearch) searchBatch(ctx context.Context, some []int) error {
	calls := make([][][]byte, len(some))
	for n, i := range some {
		calls[n] = sourceOf(h.keys[i].Type).fetch(string(h.keys[i].Name), 0, chunkRequest{firstRequest.cursor, h.first})
	}
	if len(calls) == 0 {
		return nil
	}
	values, err := h.conn.Pages(ctx, h.db, calls...)
	if err != nil {
		return err
	}
	bytes := 0
	for n, i := range some {
		if values[n].IsError() {
			h.unread++
			continue
		}
		src := sourceOf(h.keys[i].Type)
		c := src.read(0, chunkRequest{firstRequest.cursor, h.first}, values[n])
		bytes += c.bytes() + len(c.data)
		if src.columns == nil {
			h.holds[i] = cellContains(string(c.data), h.needle)
			continue
		}
		_, h.holds[i] = c.seek(src, h.needle, position{0, -1}, 0, 1)
		more := c.next != ""
		if src.per > 0 {
			more = h.keys[i].Count > int64(h.first)
		}
		if !h.holds[i] && more {
			if err := h.search(ctx, i, c.fittingCount(perChunk)); err != nil {
				return err
			}
		}
	}
	if h.first = min(2*h.first, perChunk); bytes > maxBatchBytes/4 {
		h.first = probeCount
	}
	return nil
}

// search searches the whole of key i, with per elements per chunk if the elements have numbers. A key
// that may not be read, or changed its type, counts as unread.
func (h *valueSearch) search(ctx context.Context, i, per int) (err error) {
	k := h.keys[i]
	switch src := sourceOf(k.Type); {
	case src == nil:
		err = errUnread
	case src.fetchedWhole:
		h.holds[i], err = h.inWhole(ctx, src, k)
	case src.columns == nil:
		h.holds[i], err = h.inString(ctx, k)
	default:
		t := &chunkCursor{
			src: src, key: string(k.Name), db: h.db, step: 1, at: position{0, -1}, count: -1,
			starts: []chunkRequest{firstRequest}, before: []int64{0}, loaded: map[int]*chunk{}, batch: 1,
		}
		if src.per > 0 {
			t.per = int64(per)
			t.count = chunksOf(max(k.Count, 0), t.per)
		}
		_, _, h.holds[i], err = t.find(ctx, h.conn, h.needle, func(int64) {})
	}
	var no client.Refusal
	if errors.Is(err, errUnread) || errors.As(err, &no) {
		h.unread++
		err = nil
	}
	return err
}

// errUnread marks a value that was not searched.
var errUnread = errors.New("not searched")

// inWhole searches a value that is fetched whole, unless it is too large.
func (h *valueSearch) inWhole(ctx context.Context, src *source, k keyspace.Key) (bool, error) {
	if large, err := tooLargeToFetch(ctx, h.conn, h.db, string(k.Name), maxWholeBytes); err != nil || large {
		return false, errors.Join(err, errUnread)
	}
	v, err := h.conn.One(ctx, h.db, src.fetch(string(k.Name), 0, firstRequest))
	if err != nil {
		return false, err
	}
	at, _ := find(string(src.read(0, firstRequest, v).data), h.needle)
	return at >= 0, nil
}

// inString searches a string. A string short enough to decode is also searched decoded.
func (h *valueSearch) inString(ctx context.Context, k keyspace.Key) (bool, error) {
	if k.Count >= 0 && k.Count <= decodeLimit {
		v, err := h.conn.One(ctx, h.db, client.Command("GETRANGE", string(k.Name), "0", client.Decimal(decodeLimit)))
		return err == nil && cellContains(string(v.Str), h.needle), err
	}
	beyond := int64(2*len(h.needle) + utf8.UTFMax)
	for low := int64(0); ; low += seekWindow {
		v, err := h.conn.One(ctx, h.db, client.Command("GETRANGE", string(k.Name), client.Decimal(low), client.Decimal(low+seekWindow+beyond-1)))
		if err != nil || len(v.Str) == 0 {
			return false, err
		}
		if at, _ := seekIn(string(v.Str), h.needle, min(len(v.Str), seekWindow), false); at >= 0 {
			return true, nil
		}
	}
}
