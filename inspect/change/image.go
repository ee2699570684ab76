package change

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"

	"github.com/meowdis/meowdis/inspect/client"
	"github.com/meowdis/meowdis/keyspace"
	"github.com/meowdis/meowdis/keyspace/catalog"
	"github.com/meowdis/meowdis/keyspace/display"
	"github.com/meowdis/meowdis/redis/rdb"
	"github.com/meowdis/meowdis/store/keytype"
	"github.com/meowdis/meowdis/transfer"
)

// A key of at most maxDumpBytes is saved as its DUMP, a larger one in parts.
// dumpBatchBytes is about how many bytes of keys are dumped in one batch, and
// callBatchBytes about how many bytes of commands are passed on at once.
const (
	maxDumpBytes   = 256 << 10
	dumpBatchBytes = 2 << 20
	callBatchBytes = 512 << 10
	KeysAtOnce     = 500
	FileKeysAtOnce = 2000
)

// BatchKeys returns how many keys a change of many keys changes at once: other clients wait for so many. Larger
// batches write fewer pages of a file.
func (c *Maker) BatchKeys() int {
	if c.Index != nil {
		return FileKeysAtOnce
	}
	return KeysAtOnce
}

// errNotSaved reports that the target does not provide the key's value.
type errNotSaved struct {
	key string
	err error
}

func (e errNotSaved) Error() string {
	return fmt.Sprintf("%s cannot be kept: %v", display.Text(e.key, 30), e.err)
}

// keyState holds the metadata of a key, read before its value.
type keyState struct {
	key     string
	kind    string // "" for a missing key
	expires int64  // Unix ms; 0 for never
	bytes   int64  // approximate; -1 if the target does not report it
}

// restoreCalls passes take the commands that restore keys to their current state, in
// batches, so that memory depends on neither the number nor the size of the keys. kind is
// the kind of their record. It returns the names of the existing keys. The commands do not
// touch missing keys: see deleteCalls.
func (c *Maker) restoreCalls(ctx context.Context, db int, keys []string, now int64, take func(kind byte, calls [][][]byte) error) (there []string, err error) {
	out := newBatch(take)
	there, keys, err = c.restoreListed(ctx, db, keys, out)
	if err != nil {
		return nil, err
	}
	all, err := c.keyStates(ctx, db, keys, now)
	if err != nil {
		return nil, err
	}
	var dumped []keyState
	var bytes int64
	for _, im := range all {
		if im.kind == "" {
			continue
		}
		there = append(there, im.key)
		out.noteSeries(im.key, im.kind)
		if im.bytes < 0 || im.bytes > maxDumpBytes || keytype.Of(im.kind).NoDump {
			if err := c.partsOf(ctx, db, im, out); err != nil {
				return nil, err
			}
			continue
		}
		if bytes += im.bytes; bytes > dumpBatchBytes {
			if err := c.dumps(ctx, db, dumped, out); err != nil {
				return nil, err
			}
			dumped, bytes = dumped[:0], im.bytes
		}
		dumped = append(dumped, im)
	}
	if err := c.dumps(ctx, db, dumped, out); err != nil {
		return nil, err
	}
	if err := out.flush(); err != nil {
		return nil, err
	}
	return there, c.rules(ctx, db, out)
}

// restoreListed adds the commands that restore the small keys of a file. It returns their names, and the names of the
// existing keys that must be read one by one.
func (c *Maker) restoreListed(ctx context.Context, db int, keys []string, out *batch) (done, others []string, err error) {
	small, others, err := c.smallKeys(ctx, db, keys)
	for _, k := range small {
		if err == nil {
			done = append(done, string(k.Name))
			out.noteSeries(string(k.Name), k.Type)
			err = out.add(keyState{key: string(k.Name), expires: k.Expires}.restore(rdb.Dump(k.Value, nil)))
		}
	}
	return done, others, err
}

// smallKeys returns the small keys among keys with their values, which the index of a file reads together, and the
// names of the other keys that exist.
func (c *Maker) smallKeys(ctx context.Context, db int, keys []string) (small []catalog.Scanned, others []string, err error) {
	if c.Index == nil {
		return nil, keys, nil
	}
	for some := range slices.Chunk(keys, KeysAtOnce) {
		found, err := c.Index.Find(ctx, db, client.Names(some))
		if err != nil {
			return nil, nil, err
		}
		for _, k := range found {
			if k.Value == nil || keytype.Of(k.Type).NoDump {
				others = append(others, string(k.Name))
			} else {
				small = append(small, k)
			}
		}
	}
	return small, others, nil
}

// ttlCalls passes take the commands that restore the current TTLs of keys. It returns the
// names of the existing keys.
func (c *Maker) ttlCalls(ctx context.Context, db int, keys []string, now int64, take func(kind byte, calls [][][]byte) error) (there []string, err error) {
	all, err := c.keyStates(ctx, db, keys, now)
	if err != nil {
		return nil, err
	}
	out := newBatch(take)
	for _, im := range all {
		call := client.Command("PERSIST", im.key)
		switch {
		case im.kind == "":
			continue
		case im.expires != 0:
			call = client.Command("PEXPIREAT", im.key, client.Decimal(im.expires))
		}
		there = append(there, im.key)
		if err := out.add(call); err != nil {
			return nil, err
		}
	}
	return there, out.flush()
}

// deleteCalls returns the commands that delete keys which were missing before.
func deleteCalls(keys []string) [][][]byte {
	calls := make([][][]byte, len(keys))
	for i, key := range keys {
		calls[i] = client.Command("DEL", key)
	}
	return calls
}

// keyStates looks up keys. Servers before 7.0 report only the remaining time to live, and
// some targets report no size.
func (c *Maker) keyStates(ctx context.Context, db int, keys []string, now int64) ([]keyState, error) {
	l := c.Lister(db, func() int64 { return now }, keyspace.Expiries|keyspace.Sizes)
	l.Absolute = true
	found, err := l.DescribeAll(ctx, client.Names(keys))
	if err != nil {
		return nil, err
	}
	images := make([]keyState, len(found))
	for i, k := range found {
		if err := k.Failed(); err != nil {
			return nil, client.Refusal(err.Error())
		}
		images[i] = keyState{key: keys[i], expires: k.ExpiresAt, bytes: k.Bytes}
		if k.Type != keyspace.None {
			images[i].kind = k.Type
		}
	}
	return images, nil
}

// dumps saves keys as their DUMP, and in parts if a key cannot be dumped.
func (c *Maker) dumps(ctx context.Context, db int, images []keyState, out *batch) error {
	if len(images) == 0 {
		return nil
	}
	var calls [][][]byte
	for _, im := range images {
		calls = append(calls, client.Command("DUMP", im.key))
	}
	values, err := c.Do(ctx, db, calls...)
	if err != nil {
		return err
	}
	for i, im := range images {
		switch v := values[i]; {
		case v.IsError():
			err = c.partsOf(ctx, db, im, out)
		case !v.IsNull(): // nil: it has expired since
			err = out.add(im.restore(v.Str))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (im keyState) restore(dump []byte) [][]byte {
	return [][]byte{[]byte("RESTORE"), []byte(im.key), []byte(client.Decimal(im.expires)), dump, []byte("REPLACE"), []byte("ABSTTL")}
}

// partsOf saves a key as commands that rebuild it part by part under a temporary name,
// and then rename it.
func (c *Maker) partsOf(ctx context.Context, db int, im keyState, out *batch) error {
	temp := transfer.TemporaryName("undo:"+rand.Text()[:10], []byte(im.key))
	for p, err := range transfer.FromKeys(ctx, c.In(db), []byte(im.key)) {
		switch {
		case err != nil:
			return err
		case errors.Is(p.Err, transfer.ErrGone):
			return errConflict
		case p.Err != nil:
			return c.dumpWhole(ctx, db, im, p.Err, out)
		case p.Changed:
			return errConflict
		}
		if err := out.part(p, temp); err != nil {
			return err
		}
	}
	return nil
}

// dumpWhole saves a key whose parts cannot be read as its DUMP, whatever its size.
func (c *Maker) dumpWhole(ctx context.Context, db int, im keyState, why error, out *batch) error {
	v, err := c.One(ctx, db, client.Command("DUMP", im.key))
	var no client.Refusal
	switch {
	case errors.As(err, &no):
		return errNotSaved{im.key, why}
	case err != nil || v.IsNull():
		return err
	}
	return out.add(im.restore(v.Str))
}

// batch collects commands and passes them on once they reach callBatchBytes.
type batch struct {
	take   func(kind byte, calls [][][]byte) error
	kind   byte
	calls  [][][]byte
	bytes  int
	series []string // the time series among the saved keys
}

func newBatch(take func(kind byte, calls [][][]byte) error) *batch {
	return &batch{take: take, kind: recordCommands}
}

func (b *batch) noteSeries(key, kind string) {
	if kind == keytype.Series {
		b.series = append(b.series, key)
	}
}

func (b *batch) add(call [][]byte) error {
	b.calls = append(b.calls, call)
	for _, w := range call {
		b.bytes += len(w) + 16
	}
	if b.bytes < callBatchBytes {
		return nil
	}
	return b.flush()
}

func (b *batch) flush() error {
	if len(b.calls) == 0 {
		return nil
	}
	err := b.take(b.kind, b.calls)
	b.calls, b.bytes = nil, 0
	return err
}

// part adds the commands that write a part of a key. A key of many parts is written under
// a temporary name, which expires if the commands are not run to the end.
func (b *batch) part(p transfer.Part, temp string) error {
	key := string(p.Key.Name)
	if p.First && p.Last {
		temp = key
	}
	var calls [][][]byte
	if p.First {
		calls = append(calls, client.Command("DEL", temp))
	}
	for call := range p.Calls([]byte(temp)) {
		calls = append(calls, call)
	}
	switch {
	case !p.Last:
		calls = append(calls, client.Command("PEXPIRE", temp, "3600000"))
	case temp != key:
		// RENAME fails if all fields of a hash have expired by then.
		calls = append(calls, client.Command("DEL", key), client.Command("RENAME", temp, key), client.Command("PERSIST", key))
	}
	if p.Last && p.Key.ExpiresAt != 0 {
		calls = append(calls, transfer.ExpiryCall(p.Key.Name, p.Key.ExpiresAt))
	}
	for _, call := range calls {
		if err := b.add(call); err != nil {
			return err
		}
	}
	return nil
}
