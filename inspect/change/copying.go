package change

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/meowdis/meowdis/inspect/client"
	"github.com/meowdis/meowdis/inspect/job"
	"github.com/meowdis/meowdis/keyspace/display"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/transfer"
)

// Copying is a set of keys that a change copies from another target.
type Copying struct {
	From    *Maker
	DB      int // database of the keys at the source
	Keys    Selection
	Replace bool // replace existing keys; otherwise they are kept

	run          string // part of the temporary names of this copy
	writer       *transfer.Writer
	byTemp       map[string]*staged // staged keys, by temporary name
	made         int                // number of temporary names
	copied, kept int64
	failed       int64
	why          string // error of the first key that failed
}

// copyAll copies the keys in batches of KeysAtOnce.
func (c *Maker) copyAll(ctx context.Context, db int, ch *Change) (*Step, error) {
	s, err := c.Journal.begin(ch.Title)
	if err != nil {
		return nil, err
	}
	from, done := ch.Copies, int64(0)
	from.run = rand.Text()[:8]
	from.writer = transfer.NewWriter(c.In(db), transfer.WriteOptions{Existing: transfer.Replace, Run: from.run, Now: c.Clock, DB: func(int) int { return db }, Notify: from.notify})
	err = from.From.walk(ctx, from.DB, from.Keys, func(names []string) error {
		for some := range slices.Chunk(names, KeysAtOnce) {
			job.CostOf(ctx).Progress(done, ch.KeyCount)
			done += int64(len(some))
			if err := c.copySome(ctx, db, from, some); err != nil {
				return err
			}
		}
		return nil
	})
	s.to = c.Journal.end
	ch.Title += from.summary()
	if !c.Journal.hasRecords(s) {
		return nil, errors.Join(err, c.Journal.cut(s))
	}
	if err == nil && from.failed > 0 {
		err = fmt.Errorf("%s: %s: %s", ch.Title, display.Counted(from.failed, "key was not copied", "keys were not copied"), from.why)
	}
	return &s, err
}

// summary returns the counts of copied and kept keys.
func (f *Copying) summary() string {
	said := ": " + display.Counted(f.copied, "key", "keys")
	if f.kept > 0 {
		said += "; " + display.Counted(f.kept, "already exists", "already exist")
	}
	return said
}

// copySome copies keys under temporary names, and then renames them in one transaction, so that no other client can
// change the overwritten keys in between.
func (c *Maker) copySome(ctx context.Context, db int, f *Copying, names []string) error {
	if !f.Replace {
		there, err := existing(ctx, c.Conn, db, names)
		if err != nil {
			return err
		}
		before := len(names)
		names = keysOf(names, func(i int) bool { return !there[i] })
		f.kept += int64(before - len(names))
	}
	made, err := c.stage(ctx, db, f, names)
	if err == nil {
		err = c.publish(ctx, db, f, made)
	}
	c.unstage(ctx, db, made)
	return err
}

func keysOf(names []string, keep func(i int) bool) (kept []string) {
	for i, name := range names {
		if keep(i) {
			kept = append(kept, name)
		}
	}
	return kept
}

// staged describes a key copied under a temporary name.
type staged struct {
	name, temp string
	expires    int64 // Unix ms; 0 for never
	stale      bool  // another client changed the key while it was being read
	finished   bool  // the temporary name is gone or has been renamed
}

// fail counts a key that was not copied, and records the error of the first one.
func (f *Copying) fail(name string, why error) {
	if f.failed++; f.failed == 1 {
		f.why = display.Text(name, 40) + ": " + why.Error()
	}
}

func (f *Copying) notify(k *transfer.Key, why error) { f.fail(f.byTemp[string(k.Name)].name, why) }

// stage copies keys under temporary names, which expire, and returns the staged keys. It rereads a key that another
// client changed during the copy.
func (c *Maker) stage(ctx context.Context, db int, f *Copying, names []string) (made []*staged, err error) {
	f.byTemp = map[string]*staged{}
	for range tries {
		if names, err = f.read(ctx, names); err != nil || len(names) == 0 {
			break
		}
	}
	err = f.writer.Close(ctx, err)
	for _, name := range names {
		f.fail(name, errConflict)
	}
	made = slices.SortedFunc(maps.Values(f.byTemp), func(a, b *staged) int { return cmp.Compare(a.name, b.name) })
	if err != nil || len(made) == 0 {
		return made, err
	}
	values, err := c.Do(ctx, db, callsOf(made, func(s *staged) [][]byte { return client.Command("PEXPIRE", s.temp, "3600000") })...)
	for i, v := range values {
		made[i].finished = v.Kind == resp.Int && v.Int == 0 // writing it failed, or it has expired
	}
	return made, err
}

// read copies keys once, and returns the keys that changed during the copy.
func (f *Copying) read(ctx context.Context, names []string) (changed []string, err error) {
	watched, err := f.From.watch(ctx, []keysIn{{f.DB, names}})
	if err != nil {
		return nil, err
	}
	inParts, err := f.copyParts(ctx, names)
	if err != nil {
		return nil, err
	}
	raced := false
	if watched && len(inParts) > 0 {
		raced, err = f.sourceChanged(ctx)
	}
	for _, s := range inParts {
		if s.stale = s.stale || raced; s.stale {
			changed = append(changed, s.name)
		}
	}
	return changed, err
}

// copyParts writes the parts of keys under temporary names, and returns the keys that were read in several steps.
func (f *Copying) copyParts(ctx context.Context, names []string) (inParts []*staged, err error) {
	var now *staged
	var key transfer.Key
	for p, err := range transfer.FromKeys(ctx, f.From.In(f.DB), client.Names(names)...) {
		if err != nil {
			return nil, err
		}
		if p.First {
			now, key = f.name(p.Key), *p.Key
			key.Name, key.ExpiresAt = []byte(now.temp), 0
		}
		f.recordError(now, p.Err)
		if p.First && p.Err != nil {
			now.finished = true
			continue
		}
		now.stale = now.stale || p.Last && p.Changed
		if p.Last && !p.First {
			inParts = append(inParts, now)
		}
		k := key
		p.Key = &k
		if err := f.writer.Put(ctx, p); err != nil {
			return nil, err
		}
	}
	return inParts, nil
}

// recordError notes the error of a part of s.
func (f *Copying) recordError(s *staged, err error) {
	switch {
	case errors.Is(err, transfer.ErrGone):
		s.stale = true
	case err != nil:
		f.fail(s.name, err)
	}
}

// sourceChanged reports whether another client changed a watched key of the source.
func (f *Copying) sourceChanged(ctx context.Context) (bool, error) {
	_, err := f.From.commit(ctx, f.DB, true, nil)
	if errors.Is(err, errConflict) {
		return true, nil
	}
	return false, err
}

// name assigns a temporary name to a key.
func (f *Copying) name(k *transfer.Key) *staged {
	f.made++
	s := &staged{name: string(k.Name), expires: k.ExpiresAt, temp: transfer.TemporaryName(fmt.Sprintf("%s:copy%d", f.run, f.made), k.Name)}
	f.byTemp[s.temp] = s
	return s
}

func callsOf(keys []*staged, call func(*staged) [][]byte) (calls [][][]byte) {
	for _, s := range keys {
		calls = append(calls, call(s))
	}
	return calls
}

// appearedKeys reports keys that were missing and that other clients have created since.
type appearedKeys []string

func (appearedKeys) Error() string { return "another client created the keys" }

// publish renames staged keys to their final names. The undo journal first records each
// replaced key, or that the key was missing.
func (c *Maker) publish(ctx context.Context, db int, f *Copying, made []*staged) error {
	for {
		made = slices.DeleteFunc(slices.Clone(made), func(s *staged) bool { return s.finished || s.stale })
		if len(made) == 0 {
			return nil
		}
		mark := c.Journal.end
		values, sent, err := c.transact(ctx, f.renames(db, made))
		if !sent {
			if failed := c.Journal.cutAt(mark); failed != nil {
				return errors.Join(err, failed)
			}
		}
		var late appearedKeys
		if !errors.As(err, &late) {
			return errors.Join(err, f.settle(made, values))
		}
		f.kept += int64(len(late))
		made = slices.DeleteFunc(made, func(s *staged) bool { return slices.Contains(late, s.name) })
	}
}

// renames returns the transaction that renames the staged keys.
func (f *Copying) renames(db int, made []*staged) transaction {
	var names []string
	var calls [][][]byte
	for _, s := range made {
		names = append(names, s.name)
		ends := client.Command("PERSIST", s.temp)
		if s.expires != 0 {
			ends = transfer.ExpiryCall([]byte(s.temp), s.expires)
		}
		rename := "RENAMENX"
		if f.Replace {
			rename = "RENAME"
		}
		calls = append(calls, ends, client.Command(rename, s.temp, s.name))
	}
	return transaction{
		db: db, places: []keysIn{{db, names}}, savesMissing: true, checks: []checksIn{{db: db, checks: newChecks(WholeKey, names)}},
		calls: func(there []string) ([][][]byte, error) {
			if len(there) > 0 && !f.Replace {
				return nil, appearedKeys(there)
			}
			return calls, nil
		},
	}
}

// settle counts the outcome of each key from the replies to the calls of renames. Fewer replies than calls mean
// that the transaction failed as a whole.
func (f *Copying) settle(made []*staged, values []resp.Value) error {
	if len(values) < 2*len(made) {
		_, err := lastReply(values)
		return err
	}
	for i, s := range made {
		v := values[2*i+1]
		switch err := client.ReplyError(v); {
		case err != nil && s.expires != 0 && strings.HasPrefix(err.Error(), "ERR no such key"): // it has expired
		case err != nil:
			f.fail(s.name, err)
			continue
		case v.Kind == resp.Int && v.Int == 0:
			f.kept++
			continue
		default:
			f.copied++
		}
		s.finished = true
	}
	return nil
}

// unstageTime limits unstage: the keys that remain expire anyway.
const unstageTime = time.Second

// unstage deletes the keys that still have temporary names.
func (c *Maker) unstage(ctx context.Context, db int, made []*staged) {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), unstageTime)
	defer stop()
	c.unwatch(ctx)
	if left := slices.DeleteFunc(made, func(s *staged) bool { return s.finished }); len(left) > 0 {
		c.Do(ctx, db, callsOf(left, func(s *staged) [][]byte { return client.Command("DEL", s.temp) })...)
	}
}
