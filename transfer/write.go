package transfer

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/meowdis/meowdis/redis/rdb"
	"github.com/meowdis/meowdis/redis/resp"
)

// Existing is what a sink does with a key that is there already.
type Existing byte

const (
	Refuse  Existing = iota // ends with ErrExists
	Replace                 // the new key takes its place, at once and whole
	Skip                    // it stays
)

// ErrExists is the end of a sink that refuses keys which are there already.
var ErrExists = errors.New("it is there already")

// WriteOptions choose how keys are written to a session.
type WriteOptions struct {
	Existing Existing
	DB       func(db int) int // where the keys of a database go; nil: into the same
	Notify   Notify           // is called with the keys that were not written
	Now      func() int64     // Unix ms; nil: this machine's clock

	// Held, which may be nil, is a session on the same place in which all that is done
	// takes effect at its Commit: a key then is made in one transaction.
	Held Held

	// Run makes the temporary names of this run its own; "" is random. Gone, which may be nil,
	// reports whether the run of that name has ended, so that what it left can go.
	Run  string
	Gone func(run string) bool

	// AtOnce is about how many commands go together; 0 is what suits a server. A
	// file takes them in one transaction, and writes fewer pages the more they are.
	AtOnce int
}

// Written counts what became of the keys that a sink was given.
type Written struct {
	Keys    int64 // are there now
	Skipped int64 // were there before
	Expired int64 // expired on the way
	Failed  int64 // were reported
}

// Held is a session whose commands take effect together.
type Held interface {
	Session
	// Commit lets what was done take effect. An error means that nothing did since the last
	// Commit, but what Rest let.
	Commit() error
	// Rest says that more of the same is to come, which may take its time: what was done
	// may take effect before that.
	Rest() error
	// Rollback undoes the commands since the last Commit, or since Rest let them take effect.
	Rollback()
}

// Writer is the sink that writes to a session. No client sees half of a key: it is made under
// another name, but for what one SET does, and then renamed. In a Held session no other client sees
// that name. Elsewhere it expires until it is renamed, and the next Writer deletes what one that was
// killed has left.
type Writer struct {
	session  Session
	o        WriteOptions
	batch    []*keyWrite
	calls    int
	bytes    int
	written  Written
	broken   bool         // the session failed, or a key was refused
	made     int          // number of temporary names
	hasMulti bool         // the session has transactions
	noMulti  bool         // it has none; both are false until it was asked
	renames  *bool        // the session has RENAME; nil until it was asked
	swept    map[int]bool // databases in which leftovers were searched for
}

// NewWriter makes the sink of a session.
func NewWriter(s Session, o WriteOptions) *Writer {
	if o.DB == nil {
		o.DB = func(db int) int { return db }
	}
	if o.Now == nil {
		o.Now = func() int64 { return time.Now().UnixMilli() }
	}
	if o.AtOnce == 0 {
		o.AtOnce = atOnceDefault
	}
	if o.Run == "" {
		o.Run = rand.Text()[:8]
	}
	if o.Held != nil {
		s = o.Held
	}
	return &Writer{session: s, o: o, swept: map[int]bool{}}
}

// Written is what became of the keys whose last part has come and been written.
func (w *Writer) Written() Written { return w.written }

// keyWrite is a key on its way.
type keyWrite struct {
	key     *Key
	temp    []byte     // the name under which it is made; nil for what one SET does
	direct  bool       // that is its own name, since the server cannot rename
	calls   [][][]byte // not yet sent
	begun   bool       // some have been sent
	last    bool       // its last part has come
	expires bool       // so does the temporary name
	dies    int64      // the last moment of a hash whose fields all expire, Unix ms; math.MaxInt64 otherwise
	over    bool       // nothing is to be done about it any more
	err     error      // why it cannot be written

	state  *rdb.Stream // of a stream in parts: the last one, without its entries
	absent []rdb.ID    // that are pending in it, and not there
	lost   int         // of those that cannot be made pending
}

const (
	atOnceDefault = 512
	// A batch of large commands is sent sooner: at this size, or when those of a large
	// batch have so many bytes each.
	flushBytes = 512 << 10
	usualBytes = 256
)

// Put takes the next part.
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
	if !k.over && k.err == nil {
		w.add(k, p)
	}
	if w.calls < w.o.AtOnce && w.bytes < max(flushBytes, w.o.AtOnce*usualBytes) && len(w.batch) < w.o.AtOnce {
		return nil
	}
	return w.Flush(ctx)
}

// errGivenUp marks a key that its source could not read. It has been reported.
var errGivenUp = errors.New("given up")

// begin starts a key, in its database.
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
		k.temp = fmt.Appendf(nil, "%s%s:%d", TemporaryPrefix, w.o.Run, w.made)
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
		k.over = true
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
	if h, ok := p.Value.(rdb.Hash); ok {
		for _, f := range h {
			if f.ExpiresAt == 0 {
				f.ExpiresAt = math.MaxInt64
			}
			k.dies = max(k.dies, f.ExpiresAt)
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
		if first && (w.o.Held == nil || !p.First || !p.Last) {
			// It outlives neither a crash nor an hour.
			w.queue(k, call("PEXPIRE", k.temp, decimal(temporaryLife)))
			k.expires = true
		}
		first = false
	}
}

// set is the one command that sets a string.
func (w *Writer) set(p Part) [][]byte {
	var args [][]byte
	for c := range p.Calls(p.Key.Name) {
		args = c
	}
	if p.Key.ExpiresAt > 0 {
		args = append(args, []byte("PXAT"), decimal(p.Key.ExpiresAt))
	}
	if w.o.Existing != Replace {
		args = append(args, []byte("NX"))
	}
	return args
}

func (w *Writer) queue(k *keyWrite, args [][]byte) {
	k.calls = append(k.calls, args)
	w.calls++
	w.bytes += size(args)
}

// Flush writes what has come so far. Of the keys whose last part has come nothing
// is left to do then.
func (w *Writer) Flush(ctx context.Context) error {
	batch, begun := w.batch, []*keyWrite(nil)
	if n := len(batch); n > 0 && !batch[n-1].last {
		batch, begun = batch[:n-1], batch[n-1:]
	}
	before := w.written
	err := w.steps(ctx, batch)
	if w.o.Held != nil && len(batch) > 0 {
		if err == nil || errors.Is(err, ErrExists) { // what was done before that stays
			err = cmp.Or(w.o.Held.Commit(), err)
		}
		if err != nil && !errors.Is(err, ErrExists) {
			w.written = before // the transaction is gone
		}
	}
	if err == nil {
		err = w.steps(ctx, begun)
	}
	if err == nil && w.o.Held != nil && len(begun) > 0 {
		err = w.o.Held.Rest()
	}
	if err != nil {
		if w.o.Held != nil {
			w.o.Held.Rollback() // the transaction would keep the file locked, and from being closed
		}
		w.broken = true
		return err
	}
	rest := append(w.batch[:0], begun...)
	clear(w.batch[len(rest):])
	w.batch, w.calls, w.bytes = rest, 0, 0
	return nil
}

// steps does what is to be done about keys.
func (w *Writer) steps(ctx context.Context, keys []*keyWrite) error {
	for _, step := range []func(context.Context, []*keyWrite) error{w.leaveExisting, w.send, w.makeAgain, w.finish} {
		if err := step(ctx, keys); err != nil {
			return err
		}
	}
	return nil
}

// leaveExisting takes the keys that are there already out of the batch before
// anything is sent for them. Where they are skipped, the reply to the SET of a string says it.
func (w *Writer) leaveExisting(ctx context.Context, keys []*keyWrite) error {
	if w.o.Existing == Replace {
		return nil
	}
	var names [][]byte
	var asked []*keyWrite
	for _, k := range keys {
		if !k.begun && !k.over && k.err == nil && (k.temp != nil || w.o.Existing == Refuse) {
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

// exists settles a key that is there already.
func (w *Writer) exists(k *keyWrite) error {
	if w.o.Existing == Refuse {
		return fmt.Errorf("%s: %w", k.key, ErrExists)
	}
	k.over, k.calls = true, nil
	w.written.Skipped++
	return nil
}

// send sends the commands of keys.
func (w *Writer) send(ctx context.Context, keys []*keyWrite) error {
	var calls [][][]byte
	var owners []*keyWrite
	for _, k := range keys {
		for _, args := range k.calls {
			calls, owners = append(calls, args), append(owners, k)
		}
		k.begun, k.calls = k.begun || len(k.calls) > 0, nil
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
		case v.IsNull() && k.temp == nil: // SET NX of a key that is there
			if err := w.exists(k); there == nil {
				there = err
			}
		case k.temp == nil:
			k.over = true
			w.written.Keys++
		case isUnclaimed(calls[i], v):
			k.unclaimed(calls[i])
		}
	}
	return there
}

// explain is why a key cannot be written.
func (w *Writer) explain(k *keyWrite, v resp.Value) error {
	switch {
	case unknown(v) && k.key.Type == HashType:
		return errors.New("some of its fields expire, and the target knows no such thing")
	case unknown(v):
		return fmt.Errorf("the target knows no keys of type %s", k.key.Type)
	}
	return refused(v)
}

func (w *Writer) pipeline(ctx context.Context, calls [][][]byte) ([]resp.Value, error) {
	if len(calls) == 0 {
		return nil, nil
	}
	return w.session.Pipeline(ctx, calls)
}

// Close writes the rest. With a cause, and when that fails, it removes the unfinished key,
// also when ctx is done.
func (w *Writer) Close(ctx context.Context, cause error) error {
	if cause == nil {
		if cause = w.Flush(ctx); cause == nil {
			return nil
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
		if k.begun && !k.over && k.temp != nil {
			calls = append(calls, call("DEL", k.temp))
		}
	}
	w.pipeline(ctx, calls) // what cannot be removed now expires
	if w.o.Held != nil {
		w.o.Held.Commit()
	}
	return cause
}

const closeTime = 5 * time.Second
