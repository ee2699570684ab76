package follow

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/meowdis/meowdis/keyspace"
	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/transfer"
)

// Target is where an Applier writes.
type Target struct {
	Session keyspace.Session
	// Transaction, if not nil, is a session on the same target whose commands take effect at Commit. Its clock must stand
	// still in the past: keys expire when the source says so, and not when a late command would miss them. Without it, a
	// batch runs in a MULTI of Session.
	Transaction transfer.Transaction
	Key         []byte // of the position
	Watches     bool   // Session supports WATCH
}

// Options configures an Applier.
type Options struct {
	Refused func(command string, err error) // receives each command that the target refused
	// Retry is called when the target failed. It waits, and returns nil for another attempt.
	Retry func(ctx context.Context, err error) error
	Now   func() int64        // Unix ms, for the relative expiries of old servers
	Kept  map[string]struct{} // KeptName of the keys that the stream must not change; nil for none
	// Divert, if not nil, is called with the commands of a batch before it runs, with SELECT before the commands of another
	// database than 0. It returns the commands to run. It has copied the keys of the other commands itself, and may
	// copy them again after a failure. A transaction of the source is then held in memory until its end.
	Divert func(ctx context.Context, calls [][][]byte) ([][][]byte, error)
}

// Applier applies the commands of a stream.
type Applier struct {
	to      Target
	o       Options
	at      Position // committed
	next    Position // with the batch
	calls   [][][]byte
	bytes   int
	db      int  // selected by calls; a batch begins in database 0
	inMulti bool // inside a transaction of the source
	began   bool // part of a transaction of the source has run in to.Transaction
	watched bool // the position is watched, and was a.at when it was

	Commands int64 // applied
}

const (
	// A file commits a batch in one transaction, so larger batches write fewer pages: with a million keys, 131,072 sorted
	// commands take little more than half of the processor time of 8,192. Other writers wait for about three seconds,
	// less than their limit. A server runs no other command during a batch.
	fileCommands, fileBytes     = 131072, 32 << 20
	serverCommands, serverBytes = 1024, 512 << 10

	pipelined   = 16384 // commands of a file's batch whose plans and replies are in memory together
	perArgument = 32    // estimated overhead in bytes
)

// NewApplier returns an Applier that continues at a position, which the target's key holds.
func NewApplier(to Target, at Position, o Options) *Applier {
	return &Applier{to: to, o: o, at: at, next: at}
}

// Position returns the position that the target has reached. Commands without effect, such as PING, count even if the
// key does not include them.
func (a *Applier) Position() Position { return a.at }

// Idle reports whether the batch is empty.
func (a *Applier) Idle() bool { return len(a.calls) == 0 && !a.began && !a.inMulti }

// Renamed sets the replication ID, which changes when the source is promoted.
func (a *Applier) Renamed(id string) { a.at.ID, a.next.ID = id, id }

// Reset drops the commands that are not committed. The stream must continue at Position.
func (a *Applier) Reset() {
	if a.began {
		a.to.Transaction.Rollback()
	}
	a.next, a.inMulti = a.at, false
	a.empty()
}

// empty begins a new batch.
func (a *Applier) empty() {
	clear(a.calls)
	a.calls, a.bytes, a.db, a.began = a.calls[:0], 0, 0, false
}

// Add adds the next command, which ends at offset end of the stream. It applies the batch when it is large.
func (a *Applier) Add(ctx context.Context, args [][]byte, end int64) error {
	a.next.Offset = end
	switch name := strings.ToUpper(string(args[0])); name {
	case "PING", "REPLCONF":
	case "SELECT":
		db, err := strconv.Atoi(string(args[len(args)-1]))
		if err != nil {
			return fmt.Errorf("the stream selects database %q", args[len(args)-1])
		}
		a.next.DB = db
	case "MULTI":
		a.inMulti = true
	case "EXEC":
		a.inMulti = false
	default:
		if err := a.queue(name, args); err != nil {
			return err
		}
	}
	most, size := serverCommands, serverBytes
	if a.to.Transaction != nil {
		most, size = fileCommands, fileBytes
	}
	switch {
	case a.Idle():
		a.at = a.next // nothing to write: after a crash the stream repeats commands without effect
		return nil
	case len(a.calls) < most && a.bytes < size:
		return nil
	case !a.inMulti:
		return a.Flush(ctx)
	case a.to.Transaction != nil && a.o.Divert == nil:
		return a.part(ctx)
	}
	return nil // a server gets a transaction whole
}

// queue adds a command that changes data.
func (a *Applier) queue(name string, args [][]byte) error {
	if !a.at.Whole && (name == "FLUSHALL" || name == "FLUSHDB" || name == "SWAPDB") {
		return fmt.Errorf("the source ran %s, and the target had other keys, which are not the source's to change: copy into an empty target", name)
	}
	if name == "RESTORE-ASKING" { // a key that MIGRATE sent to a node of a cluster
		name, args = "RESTORE", append([][]byte{[]byte("RESTORE")}, args[1:]...)
	}
	if a.keeps(name, args) {
		return nil
	}
	if a.db != a.next.DB {
		a.db = a.next.DB
		a.calls = append(a.calls, call("SELECT", strconv.Itoa(a.db)))
	}
	if a.to.Transaction != nil {
		args = absolute(name, args, a.o.Now)
	}
	a.calls = append(a.calls, args)
	for _, arg := range args {
		a.bytes += len(arg) + perArgument
	}
	if name == "SWAPDB" { // the position belongs to database 0
		for _, arg := range args[1:] {
			if !bytes.Equal(arg, []byte("0")) {
				a.db = -1
				a.calls = append(a.calls, call("SELECT", string(arg)), [][]byte{[]byte("DEL"), a.to.Key})
			}
		}
	}
	a.Commands++
	return nil
}

// KeysOf returns the keys of a command of the stream, nil for a command that is not known.
func KeysOf(args [][]byte) [][]byte {
	if c := commands.Known(args); c != nil {
		return c.KeyNames(args)
	}
	return nil
}

// Unwatched says that another caller has used the target's session, which may have ended the watch on the position.
func (a *Applier) Unwatched() { a.watched = false }

// KeptName is the name of a key in Options.Kept.
func KeptName(db int, key []byte) string { return strconv.Itoa(db) + ":" + string(key) }

// keeps reports whether a command must not run because the target keeps its own value of a key.
func (a *Applier) keeps(name string, args [][]byte) bool {
	if len(a.o.Kept) == 0 {
		return false
	}
	kept, keys := 0, KeysOf(args)
	for _, key := range keys {
		if _, has := a.o.Kept[KeptName(a.next.DB, key)]; has {
			kept++
		}
	}
	if kept > 0 && kept < len(keys) {
		a.o.Refused(name, fmt.Errorf("it changes %q, which the target keeps, together with other keys", keys[0]))
	}
	return kept > 0
}

func call(words ...string) [][]byte {
	args := make([][]byte, len(words))
	for i, w := range words {
		args[i] = []byte(w)
	}
	return args
}

// part runs a part of a large transaction of the source in the open transaction of the target.
func (a *Applier) part(ctx context.Context) error {
	if err := a.begin(ctx); err != nil {
		return err
	}
	return a.run(ctx)
}

// begin begins the transaction of a file, and checks that no other process has followed since.
func (a *Applier) begin(ctx context.Context) error {
	if a.began {
		return nil
	}
	a.began = true
	p, ok, err := ReadPosition(ctx, a.to.Transaction, a.to.Key)
	if err == nil && (!ok || !a.isAt(p)) {
		err = ErrTaken
	}
	return err
}

// isAt reports whether the target's position p equals a.at, apart from commands without effect.
func (a *Applier) isAt(p Position) bool {
	return p.State == a.at.State && p.Offset <= a.at.Offset
}

// run runs the batch in the transaction of a file.
func (a *Applier) run(ctx context.Context) error {
	if len(a.calls) == 0 {
		return nil
	}
	sortByKey(a.calls)
	for calls := range slices.Chunk(a.calls, pipelined) {
		replies, err := a.to.Transaction.Pipeline(ctx, calls)
		if err != nil {
			return err
		}
		if err := a.check(calls, replies); err != nil {
			return err
		}
	}
	a.calls, a.bytes = a.calls[:0], 0
	return nil
}

// Flush applies the batch. It must not be called inside a transaction of the source, unless the stream ended there: then
// Reset must follow.
func (a *Applier) Flush(ctx context.Context) error {
	if a.inMulti || a.Idle() {
		return nil
	}
	whole := !a.began // calls hold the whole batch, so it can run again
	for {
		err := a.commit(ctx)
		if err == nil {
			a.at = a.next
			a.empty()
			return nil
		}
		if a.to.Transaction != nil {
			a.to.Transaction.Rollback()
			a.began = false
		}
		var final *finalError
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if errors.Is(err, ErrTaken) || errors.As(err, &final) || !whole {
			return err
		}
		done, err := a.recover(ctx, err)
		if err != nil {
			return err
		}
		if done {
			a.at = a.next
			a.empty()
			return nil
		}
	}
}

// recover waits until the target works again, and reports whether it has the batch.
func (a *Applier) recover(ctx context.Context, cause error) (done bool, err error) {
	a.watched = false
	for {
		if err := a.o.Retry(ctx, cause); err != nil {
			return false, err
		}
		p, ok, err := ReadPosition(ctx, a.to.Session, a.to.Key)
		switch {
		case err != nil:
			cause = err
		case !ok:
			return false, errors.New("the target has lost its position: copy again into an empty target")
		case p == a.next:
			return true, nil
		case a.isAt(p):
			return false, nil
		default:
			return false, ErrTaken
		}
	}
}

func (a *Applier) commit(ctx context.Context) error {
	if a.o.Divert != nil {
		left, err := a.o.Divert(ctx, a.calls)
		if err != nil {
			return err
		}
		a.calls = left
	}
	if a.to.Transaction == nil {
		return a.commitToServer(ctx)
	}
	if err := a.begin(ctx); err != nil {
		return err
	}
	if err := a.run(ctx); err != nil {
		return err
	}
	if err := WritePosition(ctx, a.to.Transaction, a.to.Key, a.next); err != nil {
		return err
	}
	return a.to.Transaction.Commit()
}

// Final wraps an error of Options.Divert that another attempt would return again.
func Final(err error) error { return &finalError{err} }

// finalError wraps an error that another attempt would return again.
type finalError struct{ error }

func (e *finalError) Unwrap() error { return e.error }

// check reports the commands that the target refused. The error concerns the target and not one command.
func (a *Applier) check(calls [][][]byte, replies []resp.Value) error {
	for i, v := range replies {
		if !v.IsError() {
			continue
		}
		code, _, _ := strings.Cut(string(v.Str), " ")
		switch code {
		case "OOM", "READONLY", "MISCONF", "NOREPLICAS", "NOAUTH":
			return &finalError{fmt.Errorf("the target takes no writes: %s", v.Str)}
		case "LOADING", "BUSY", "MASTERDOWN", "CLUSTERDOWN", "TRYAGAIN":
			return transfer.Refusal(v.Str)
		}
		if name := strings.ToUpper(string(calls[i][0])); name == "SELECT" {
			return &finalError{fmt.Errorf("the target has no database %s", calls[i][1])}
		} else if a.o.Refused != nil {
			a.o.Refused(name, transfer.Refusal(v.Str))
		}
	}
	return nil
}
