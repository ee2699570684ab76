package transfer

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/meowdis/meowdis/keyspace"
	"github.com/meowdis/meowdis/redis/rdb"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/redis/timeseries"
)

// Existing selects the treatment of a key that already exists in the target.
type Existing byte

const (
	Refuse  Existing = iota // fail with ErrExists
	Replace                 // replace the key atomically
	Skip                    // keep the existing key
)

// ErrExists reports an existing key to a caller that chose Refuse.
var ErrExists = errors.New("it already exists")

// WriteOptions configures a Writer.
type WriteOptions struct {
	Existing Existing
	DB       func(db int) int // maps source to target databases; nil keeps the number
	Notify   Notify           // is called with each key that was not written
	Skipped  func(k *Key)     // if not nil, is called with each key that Skip kept
	Now      func() int64     // Unix ms; nil for the system clock

	// Transaction, if not nil, is a session on the same target whose commands take effect at Commit. A
	// key is then created in one transaction.
	Transaction Transaction

	// Run is a part of this run's temporary names, to keep them distinct; "" generates one.
	// RunEnded, if not nil, reports whether the named run has ended, so its leftovers can be
	// deleted.
	Run      string
	RunEnded func(run string) bool
	// KeepLeftovers does not search for them.
	KeepLeftovers bool

	// BatchCommands is the approximate number of commands in a batch; 0 suits a server. A file commits
	// a batch in one transaction, so larger batches write fewer pages.
	BatchCommands int
}

// Written counts the keys that a sink received, by outcome.
type Written struct {
	Keys    int64 // written
	Skipped int64 // already existed
	Expired int64 // expired during the transfer
	Failed  int64 // reported to Notify
}

// Transaction is a session whose commands take effect together.
type Transaction interface {
	keyspace.Session
	// Commit applies the commands. If it fails, no command since the last Commit took effect,
	// unless AllowCommit applied it.
	Commit() error
	// AllowCommit announces that further commands of the same key will follow, possibly much later.
	// The commands so far may take effect before Commit.
	AllowCommit() error
	// Rollback undoes the commands since the last Commit, or since AllowCommit applied them.
	Rollback()
}

// Writer is the sink that writes to a session. No client sees a partial key: Writer creates it
// under a temporary name and renames it, unless one SET creates it. In a Transaction no other
// client sees the temporary name. In other sessions the temporary key expires unless renamed,
// and the next Writer deletes the leftovers of a killed one.
type Writer struct {
	session  keyspace.Session
	o        WriteOptions
	batch    []*keyWrite
	calls    int
	bytes    int
	written  Written
	broken   bool         // the session failed, or a key was refused
	made     int          // number of temporary names
	hasMulti bool         // the session supports MULTI
	noMulti  bool         // it does not; both are false until tested
	renames  *bool        // the session supports RENAME; nil until tested
	swept    map[int]bool // databases searched for leftovers
	ruled    []ruledSeries
}

// NewWriter returns a sink that writes to s.
func NewWriter(s keyspace.Session, o WriteOptions) *Writer {
	if o.DB == nil {
		o.DB = func(db int) int { return db }
	}
	if o.Now == nil {
		o.Now = func() int64 { return time.Now().UnixMilli() }
	}
	if o.BatchCommands == 0 {
		o.BatchCommands = defaultBatchCommands
	}
	if o.Run == "" {
		o.Run = rand.Text()[:8]
	}
	if o.Transaction != nil {
		s = o.Transaction
	}
	return &Writer{session: s, o: o, swept: map[int]bool{}}
}

// Written returns the counts of the completely written keys.
func (w *Writer) Written() Written { return w.written }

// keyWrite holds the progress of writing a key.
type keyWrite struct {
	key             *Key
	temp            []byte     // temporary name; nil for a key that one SET creates
	direct          bool       // write under the key's own name: the server cannot rename
	calls           [][][]byte // commands not yet sent
	started         bool       // some commands were sent
	last            bool       // the last part was received
	expires         bool       // the temporary key has an expiry
	lastFieldExpiry int64      // when the last field of a hash expires, Unix ms; math.MaxInt64 for never
	done            bool       // no further work
	err             error      // why the key cannot be written

	state  *rdb.Stream // state of a stream in its last part, without entries
	absent []rdb.ID    // pending ids whose entries are missing
	lost   int         // number of absent ids that cannot be made pending

	rules []timeseries.Rule // of a series
}

const (
	defaultBatchCommands = 512
	// A batch of large commands is sent early: at flushBytes, or at usualBytes per command of
	// BatchCommands if that is more.
	flushBytes = 512 << 10
	usualBytes = 256
)

// Put receives the next part.
func (w *Writer) Put(ctx context.Context, p Part) error {
	if p.First {
		if err := w.begin(ctx, p); err != nil {
			return err
		}
	}
	k := w.batch[len(w.batch)-1]
	k.last = p.Last
	if p.Err != nil {
		k.err, k.calls = errGivenUp, nil
		return nil
	}
	if !k.done && k.err == nil {
		w.add(k, p)
	}
	if w.calls < w.o.BatchCommands && w.bytes < max(flushBytes, w.o.BatchCommands*usualBytes) && len(w.batch) < w.o.BatchCommands {
		return nil
	}
	return w.Flush(ctx)
}

// errGivenUp marks a key that its source failed to read. The source has reported the error.
var errGivenUp = errors.New("given up")

// begin starts a key and selects its database.
func (w *Writer) begin(ctx context.Context, p Part) error {
	if db := w.o.DB(p.Key.DB); db != w.session.DB() {
		if err := w.Flush(ctx); err != nil {
			return err
		}
		if err := selectDB(ctx, w.session, db); err != nil {
			return err
		}
	}
	if err := w.sweep(ctx); err != nil {
		return err
	}
	k := &keyWrite{key: p.Key}
	if text, _ := p.Value.(rdb.String); p.Key.Type != StringType || !p.Last || len(text) > wholeBytes {
		w.made++
		k.temp = []byte(TemporaryName(fmt.Sprintf("%s:%d", w.o.Run, w.made), p.Key.Name))
		renames, err := w.canRename(ctx, k.temp)
		if err != nil {
			return err
		}
		if k.direct = !renames; k.direct {
			k.temp = p.Key.Name
		}
	}
	w.batch = append(w.batch, k)
	if at := p.Key.ExpiresAt; at > 0 && at <= w.o.Now() {
		k.done = true
		w.written.Expired++
	}
	return nil
}

// add queues the commands of a part.
func (w *Writer) add(k *keyWrite, p Part) {
	if k.temp == nil {
		w.queue(k, w.set(p))
		return
	}
	if m, ok := p.Value.(*rdb.Module); ok {
		_, k.rules = plainSeries(m)
	}
	if h, ok := p.Value.(rdb.Hash); ok {
		for _, f := range h {
			if f.ExpiresAt == 0 {
				f.ExpiresAt = math.MaxInt64
			}
			k.lastFieldExpiry = max(k.lastFieldExpiry, f.ExpiresAt)
		}
	}
	if s, ok := p.Value.(*rdb.Stream); ok && p.Last {
		k.state = &rdb.Stream{Last: s.Last, Deleted: s.Deleted, Added: s.Added, Groups: s.Groups}
	}
	if k.direct && p.First && w.o.Existing == Replace {
		w.queue(k, call("DEL", k.temp))
	}
	first := !k.direct
	for args := range p.Calls(k.temp) {
		w.queue(k, args)
		if first && (w.o.Transaction == nil || !p.First || !p.Last) {
			// After a crash the key expires within an hour.
			w.queue(k, call("PEXPIRE", k.temp, decimal(temporaryLife)))
			k.expires = true
		}
		first = false
	}
}

// set returns the command that sets a string.
func (w *Writer) set(p Part) [][]byte {
	args := append(make([][]byte, 0, 6), setWord, p.Key.Name, p.Value.(rdb.String))
	if p.Key.ExpiresAt > 0 {
		args = append(args, []byte("PXAT"), decimal(p.Key.ExpiresAt))
	}
	if w.o.Existing != Replace {
		args = append(args, nxWord)
	}
	return args
}

var setWord, nxWord = []byte("SET"), []byte("NX")

func (w *Writer) queue(k *keyWrite, args [][]byte) {
	k.calls = append(k.calls, args)
	w.calls++
	w.bytes += size(args)
}

// Flush writes the parts received so far, and finishes the keys whose last part was received.
func (w *Writer) Flush(ctx context.Context) error {
	batch, begun := w.batch, []*keyWrite(nil)
	if n := len(batch); n > 0 && !batch[n-1].last {
		batch, begun = batch[:n-1], batch[n-1:]
	}
	before := w.written
	err := w.steps(ctx, batch)
	if w.o.Transaction != nil && len(batch) > 0 {
		if err == nil || errors.Is(err, ErrExists) { // keep the keys written before
			err = cmp.Or(w.o.Transaction.Commit(), err)
		}
		if err != nil && !errors.Is(err, ErrExists) {
			w.written = before // the transaction was rolled back
		}
	}
	if err == nil {
		err = w.steps(ctx, begun)
	}
	if err == nil && w.o.Transaction != nil && len(begun) > 0 {
		err = w.o.Transaction.AllowCommit()
	}
	if err != nil {
		if w.o.Transaction != nil {
			w.o.Transaction.Rollback() // an open transaction keeps the file locked and unclosable
		}
		w.broken = true
		return err
	}
	rest := append(w.batch[:0], begun...)
	clear(w.batch[len(rest):])
	w.batch, w.calls, w.bytes = rest, 0, 0
	return nil
}

// steps runs the write steps for keys.
func (w *Writer) steps(ctx context.Context, keys []*keyWrite) error {
	for _, step := range []func(context.Context, []*keyWrite) error{w.skipExisting, w.send, w.rebuildStreams, w.finish} {
		if err := step(ctx, keys); err != nil {
			return err
		}
	}
	return nil
}

// skipExisting removes existing keys from the batch before sending commands for them. With
// Skip, the reply to SET NX reports an existing string.
func (w *Writer) skipExisting(ctx context.Context, keys []*keyWrite) error {
	if w.o.Existing == Replace {
		return nil
	}
	var names [][]byte
	var asked []*keyWrite
	for _, k := range keys {
		if !k.started && !k.done && k.err == nil && (k.temp != nil || w.o.Existing == Refuse) {
			names, asked = append(names, k.key.Name), append(asked, k)
		}
	}
	there, err := existing(ctx, w.session, names)
	if err != nil {
		return err
	}
	for i, k := range asked {
		if there[i].err != nil {
			k.err, k.calls = there[i].err, nil
		}
		if !there[i].there {
			continue
		}
		if err := w.exists(k); err != nil {
			return err
		}
	}
	return nil
}

// exists handles a key that already exists.
func (w *Writer) exists(k *keyWrite) error {
	if w.o.Existing == Refuse {
		return fmt.Errorf("%s: %w", k.key, ErrExists)
	}
	k.done, k.calls = true, nil
	w.written.Skipped++
	if w.o.Skipped != nil {
		w.o.Skipped(k.key)
	}
	return nil
}

// send sends the queued commands of keys.
func (w *Writer) send(ctx context.Context, keys []*keyWrite) error {
	var calls [][][]byte
	var owners []*keyWrite
	for _, k := range keys {
		for _, args := range k.calls {
			calls, owners = append(calls, args), append(owners, k)
		}
		k.started, k.calls = k.started || len(k.calls) > 0, nil
	}
	replies, err := w.pipeline(ctx, calls)
	if err != nil {
		return err
	}
	var there error
	for i, k := range owners {
		switch v := replies[i]; {
		case v.IsError() && k.err == nil:
			k.err = w.explain(k, v)
		case v.IsNull() && k.temp == nil: // SET NX found an existing key
			if err := w.exists(k); there == nil {
				there = err
			}
		case k.temp == nil:
			k.done = true
			w.written.Keys++
		case isUnclaimed(calls[i], v):
			k.noteUnclaimed(calls[i])
		}
	}
	return there
}

// explain returns the reason why a key cannot be written.
func (w *Writer) explain(k *keyWrite, v resp.Value) error {
	switch {
	case unknown(v) && k.key.Type == HashType:
		return errors.New("some of its fields expire, and the target does not support that")
	case unknown(v):
		return fmt.Errorf("the target does not support keys of type %s", k.key.Type)
	}
	return refused(v)
}

func (w *Writer) pipeline(ctx context.Context, calls [][][]byte) ([]resp.Value, error) {
	if len(calls) == 0 {
		return nil, nil
	}
	return w.session.Pipeline(ctx, calls)
}

// Close writes the remaining parts. With a cause, or if writing fails, it removes the
// unfinished key, even if ctx is done.
func (w *Writer) Close(ctx context.Context, cause error) error {
	if cause == nil {
		if cause = w.Flush(ctx); cause == nil {
			return w.createRules(ctx)
		}
	}
	if ctx.Err() == nil && !w.broken {
		for _, k := range w.batch {
			if !k.last {
				k.last, k.err, k.calls = true, errGivenUp, nil
			}
		}
		return errors.Join(cause, w.Flush(ctx))
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTime)
	defer cancel()
	var calls [][][]byte
	for _, k := range w.batch {
		if k.started && !k.done && k.temp != nil {
			calls = append(calls, call("DEL", k.temp))
		}
	}
	w.pipeline(ctx, calls) // on error the temporary keys expire
	if w.o.Transaction != nil {
		w.o.Transaction.Commit()
	}
	return cause
}

const closeTime = 5 * time.Second
