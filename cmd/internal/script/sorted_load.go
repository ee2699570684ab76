package script

import (
	"cmp"
	"context"
	"encoding/binary"
	"slices"
	"strings"

	"github.com/meowdis/meowdis/internal/smallsort"
	"github.com/meowdis/meowdis/internal/sortedrun"
	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/transfer/cmdfile"
)

// Transaction is a session whose commands take effect together at Commit.
type Transaction interface {
	Pipeline(ctx context.Context, calls [][][]byte) ([]resp.Value, error)
	Select(db int)
	Commit() error
	Rollback()
}

// Sorted makes Load run commands in runs that are sorted by key. Each run is one transaction.
type Sorted struct {
	Transaction
	Bytes int // memory for a run; 0 for the default
}

// sortedLoad collects commands that each change one key: commands of different keys may run in any order.
type sortedLoad struct {
	run    *sortedrun.Run
	next   int // the number of the command after the run
	last   int
	record []byte
}

// sortedCommands change the one key that they name, and reply with little.
var sortedCommands = func() map[*commands.Command]bool {
	found := map[*commands.Command]bool{}
	for _, name := range []string{
		"SET", "SETNX", "SETEX", "PSETEX", "APPEND", "INCR", "DECR", "INCRBY", "DECRBY", "INCRBYFLOAT",
		"HSET", "HMSET", "HSETNX", "HINCRBY", "HINCRBYFLOAT", "SADD", "ZADD", "ZINCRBY", "GEOADD",
		"RPUSH", "LPUSH", "RPUSHX", "LPUSHX", "XADD", "SETBIT", "PFADD", "JSON.SET",
		"EXPIRE", "PEXPIRE", "EXPIREAT", "PEXPIREAT", "PERSIST", "HPEXPIREAT", "HEXPIREAT",
	} {
		found[commands.Lookup(name)] = true
	}
	return found
}()

const (
	sortedBatch = 8192 // commands of a run that are sent together
	sortedBytes = 2 << 20
	// A batch with a longer command runs in its order.
	maxSorted = 1 << 20
)

// takes reports whether all commands may be sorted.
func (s *sortedLoad) takes(batch []cmdfile.Command) bool {
	for _, c := range batch {
		if keyOf(c.Args) == 0 || c.Size() > maxSorted {
			return false
		}
	}
	return true
}

// keyOf returns the position of the key in a command that may be sorted, 0 for any other command.
func keyOf(args [][]byte) int {
	cmd, err := commands.Find(args)
	if cmd == nil || err.IsError() || !sortedCommands[cmd] {
		return 0
	}
	keys := cmd.KeysOf(args)
	if len(keys) != 1 || cmd.Name == "SET" && slices.ContainsFunc(args[min(3, len(args)):], returnsOld) {
		return 0
	}
	return keys[0].Pos
}

// returnsOld reports whether an option of SET is GET.
func returnsOld(option []byte) bool { return strings.EqualFold(string(option), "GET") }

func (s *sortedLoad) add(batch []cmdfile.Command) {
	for _, c := range batch {
		key := keyOf(c.Args)
		b := s.record[:0]
		b = appendText(b, c.Args[key])
		b = binary.AppendUvarint(b, uint64(c.Number))
		b = binary.AppendUvarint(b, uint64(key))
		b = binary.AppendUvarint(b, uint64(len(c.Args)))
		for i, arg := range c.Args {
			if i != key {
				b = appendText(b, arg)
			}
		}
		s.run.Add(b)
		s.record, s.last = b, c.Number
	}
}

func appendText(b, text []byte) []byte {
	return append(binary.AppendUvarint(b, uint64(len(text))), text...)
}

// decoder reads the fields of a record.
type decoder struct{ b []byte }

func (d *decoder) number() int {
	n, size := binary.Uvarint(d.b)
	d.b = d.b[size:]
	return int(n)
}

func (d *decoder) text() []byte {
	n := d.number()
	text := d.b[:n:n]
	d.b = d.b[n:]
	return text
}

func recordKey(record []byte) []byte { return (&decoder{record}).text() }

func decode(record []byte) (c cmdfile.Command) {
	d := decoder{record}
	name := d.text()
	c.Number = d.number()
	key := d.number()
	c.Args = make([][]byte, d.number())
	for i := range c.Args {
		if i == key {
			c.Args[i] = name
		} else {
			c.Args[i] = d.text()
		}
	}
	return c
}

// loadSorted sends a batch, or adds it to the run. The run ends when it is full, and before other commands.
func (r *Run) loadSorted(ctx context.Context, b batch) (goOn bool, err error) {
	s := r.sorted
	if !r.Session.InMulti() && s.takes(b.commands) {
		s.add(b.commands)
		s.next = b.next
		if b.err == nil && b.wrong == nil && !s.run.Full() {
			return true, nil
		}
		return true, r.endSorted(ctx)
	}
	if err := r.endSorted(ctx); err != nil {
		return false, err
	}
	goOn, err = r.send(ctx, b.commands)
	if err == nil {
		r.next = b.next
	}
	return goOn, err
}

// refusedCommand holds a command that returned an error.
type refusedCommand struct {
	cmdfile.Command
	reply resp.Value
}

// endSorted runs the commands of the run. With an error none of them has taken effect.
func (r *Run) endSorted(ctx context.Context) error {
	s, t, n := r.sorted, r.Sorted, r.sorted.run.Len()
	if n == 0 {
		return nil
	}
	t.Select(r.Session.DB())
	var failed refusals
	err := r.sendSorted(ctx, &failed)
	if err == nil {
		err = t.Commit()
	}
	if err != nil {
		t.Rollback()
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return r.position(s.last, false).wrap(err)
	}
	r.next = s.next
	r.replies += n - len(failed.first)
	for _, c := range failed.first {
		if err := r.count(c.Command, c.reply); err != nil {
			return err
		}
	}
	r.errors += failed.count - len(failed.first)
	return nil
}

// sendSorted sends the commands of the run in batches.
func (r *Run) sendSorted(ctx context.Context, failed *refusals) error {
	size, batch := 0, make([]cmdfile.Command, 0, min(r.sorted.run.Len(), sortedBatch))
	send := func() error {
		replies, err := r.Sorted.Pipeline(ctx, calls(batch))
		if err != nil {
			return err
		}
		failed.add(batch, replies)
		if r.Seen != nil {
			r.Seen(int64(len(batch)))
		}
		batch, size = batch[:0], 0
		return nil
	}
	for record := range r.sorted.run.Drain() {
		c := decode(record)
		size += c.Size()
		if batch = append(batch, c); len(batch) < sortedBatch && size <= sortedBytes {
			continue
		}
		if err := send(); err != nil {
			return err
		}
	}
	return send()
}

// refusals counts refused commands, and holds the ones that the input has first.
type refusals struct {
	count int
	first []refusedCommand
}

func (f *refusals) add(batch []cmdfile.Command, replies []resp.Value) {
	for i, v := range replies {
		if v.HasError() {
			f.count++
			f.first = append(f.first, refusedCommand{batch[i], v})
		}
	}
	f.first = firstRefused(f.first)
}

// firstRefused returns the commands that the input has first, as many as are shown.
func firstRefused(all []refusedCommand) []refusedCommand {
	smallsort.Sort(all, func(a, b refusedCommand) int { return cmp.Compare(a.Number, b.Number) })
	return all[:min(len(all), shownErrors+1)]
}
