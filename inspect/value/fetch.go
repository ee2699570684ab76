package value

import (
	"context"
	"unsafe"

	"github.com/meowdis/meowdis/inspect/client"
	"github.com/meowdis/meowdis/keyspace"
	"github.com/meowdis/meowdis/redis/resp"
)

// openValue fetches the facts of key and the beginning of its value. from gives the number of elements. Of a large
// document in documents it fetches only the beginning; documents may be nil.
func openValue(ctx context.Context, c *client.Conn, documents documentReader, db int, key string, from chunkRequest, now int64) (o openedMsg, err error) {
	found, err := c.Types(ctx, db, []string{key}, now)
	if err != nil {
		return o, err
	}
	o = openedMsg{key: key, kind: found[0].Type, expires: found[0].Expires, size: -1, from: from}
	if o.kind == client.UnknownType {
		if o.kind, err = c.Probe(ctx, db, key); err != nil {
			return o, err
		}
	}
	src := sourceOf(o.kind)
	if src == nil {
		return o, nil
	}
	if src.fetchedWhole {
		if done, err := o.fetchBeginning(ctx, c, documents, db); done || err != nil {
			return o, err
		}
	}
	values, err := fetchFirst(ctx, c, db, src, key, from)
	if err != nil {
		return o, err
	}
	o.first = src.read(0, from, values[0])
	if src.fetchedWhole && o.first.size > decodeLimit {
		o.layOut()
	}
	if n := o.first.fittingCount(perChunk); src.repeats && from == firstRequest && n > probeCount && o.first.next != "" {
		// HSCAN and its like return each page in an order of its own, so one page is easier to read
		// than two.
		o.from.n = n
		v, err := c.Page(ctx, db, src.fetch(key, 0, o.from))
		if err != nil {
			return o, err
		}
		o.first = src.read(0, o.from, v)
	}
	if src.repeats {
		o.firsts = client.NewSeenNames()
		keepFirst(o.firsts, 0, o.first)
	}
	switch {
	case src.summary != nil:
		if o.size, o.chart, err = src.summary(ctx, c, db, key); err != nil {
			return o, err
		}
	case src.count == "":
		o.size = int64(o.first.size)
	case !values[1].IsError():
		o.size = client.Number(values[1])
	}
	return o, fetchDetails(ctx, c, db, src, key, o.first)
}

// documentReader reads the beginnings of JSON documents; see client.Index.
type documentReader interface {
	BeginningOfDocument(ctx context.Context, db int, key string, n int64) (beginning []byte, size int64, err error)
}

// A document of more than wholeAtOnce bytes is shown as soon as its first firstPart bytes are read.
const (
	wholeAtOnce = 8 << 20
	firstPart   = 256 << 10
)

// fetchBeginning sets the text and the tree of a large document as far as they are visible in its beginning. done is
// false for a smaller document, and without documents.
func (o *openedMsg) fetchBeginning(ctx context.Context, c *client.Conn, documents documentReader, db int) (done bool, err error) {
	if o.tooLarge, err = tooLargeToFetch(ctx, c, db, o.key, maxTreeBytes); o.tooLarge || err != nil || documents == nil {
		return o.tooLarge, err
	}
	part, size, err := documents.BeginningOfDocument(ctx, db, o.key, firstPart)
	if err != nil || size <= wholeAtOnce {
		return false, err
	}
	text := string(part)
	if o.tree = newCutTree(text, int(size)); o.tree == nil {
		return false, nil
	}
	o.text, o.size, o.first = text, size, window(part[:windowSize:windowSize])
	return true, nil
}

// layOut turns a large text that was fetched whole into a tree, if it is JSON.
func (o *openedMsg) layOut() {
	o.text = unsafe.String(unsafe.SliceData(o.first.data), len(o.first.data)) // nothing writes to the reply
	o.first.data = o.first.data[:windowSize:windowSize]
	o.tree = newJSONTree(o.text)
}

// fetchFirst fetches the first page of a value, and the number of its elements if a command counts them.
func fetchFirst(ctx context.Context, c *client.Conn, db int, src *source, key string, from chunkRequest) ([]resp.Value, error) {
	calls := [][][]byte{src.fetch(key, 0, from)}
	if src.count != "" {
		calls = append(calls, client.Command(src.count, key))
	}
	values, err := c.Pages(ctx, db, calls...)
	if err != nil {
		return nil, err
	}
	for i, v := range values {
		if err := client.ReplyError(v); err != nil && (i == 0 || src.per > 0 || !keyspace.Refused(v)) {
			return nil, err
		}
	}
	return values, nil
}

// maxWholeBytes limits the size of a value fetched whole to search in it, and maxTreeBytes to show it, in bytes
// of the target's memory.
const (
	maxWholeBytes = 64 << 20
	maxTreeBytes  = 512 << 20
)

// tooLargeToFetch reports whether a value has more than most bytes. It returns false if the target does not
// support MEMORY USAGE.
func tooLargeToFetch(ctx context.Context, c *client.Conn, db int, key string, most int64) (bool, error) {
	if c.Refusals.Has("MEMORY") {
		return false, nil
	}
	values, err := c.Do(ctx, db, client.Command("MEMORY", "USAGE", key))
	return err == nil && client.Number(values[0]) > most, err
}

// fetchChunk fetches chunk i of a value and the extra facts about its elements.
func fetchChunk(ctx context.Context, c *client.Conn, db int, src *source, seen *client.SeenNames, key string, i int, from chunkRequest) (*chunk, error) {
	v, err := c.Page(ctx, db, src.fetch(key, int64(i), from))
	if err != nil {
		return nil, err
	}
	found := src.read(i, from, v)
	keepFirst(seen, i, found)
	return found, fetchDetails(ctx, c, db, src, key, found)
}

// fetchDetails fetches the extra facts about the elements of a chunk, if the source has any.
func fetchDetails(ctx context.Context, c *client.Conn, db int, src *source, key string, found *chunk) error {
	if src.detailCall == nil || len(found.rows) == 0 || found.hasDetails {
		return nil
	}
	found.hasDetails = true
	call := src.detailCall(key, found)
	if c.Refusals.Has(string(call[0])) {
		return nil
	}
	v, err := c.One(ctx, db, call)
	if c.Refusals.Has(string(call[0])) {
		return nil
	}
	if err == nil {
		src.addDetails(found, v)
	}
	return err
}

// keepFirst removes the rows of chunk i that an earlier chunk already has, and duplicates within it. A
// nil f keeps all rows.
func keepFirst(f *client.SeenNames, i int, c *chunk) {
	if f == nil {
		return
	}
	c.rows = client.Unseen(f, i, c.rows, func(r record) string { return r[0] })
}
