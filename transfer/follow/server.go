package follow

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/meowdis/meowdis/keyspace"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/transfer"
)

// commitToServer runs the batch in a MULTI that ends with the position. A WATCH before it makes it fail if another
// process has changed the position; the round trip of a batch sends the WATCH for the next one.
func (a *Applier) commitToServer(ctx context.Context) error {
	for {
		if err := transfer.Select(ctx, a.to.Session, 0); err != nil {
			return err
		}
		if err := a.watch(ctx); err != nil {
			return err
		}
		calls := a.queuedCalls()
		a.watched = false
		replies, err := a.to.Session.Pipeline(ctx, a.inTransaction(calls))
		if err != nil {
			return err
		}
		if v := replies[0]; v.IsError() {
			return &finalError{transfer.Refusal(v.Str)}
		}
		queued, exec := replies[1:1+len(calls)], replies[1+len(calls)]
		switch {
		case exec.IsNull():
			return ErrTaken
		case exec.IsError():
			if err := a.withoutRefused(queued, exec); err != nil {
				return err
			}
			continue
		}
		if err := a.check(calls, exec.Elems); err != nil {
			return err
		}
		return a.checkWatched(replies[len(replies)-1])
	}
}

// queuedCalls returns the calls between MULTI and EXEC. The last one sets the position, in database 0.
func (a *Applier) queuedCalls() [][][]byte {
	calls := slices.Clone(a.calls)
	if a.db != 0 {
		calls = append(calls, call("SELECT", "0"))
	}
	return append(calls, [][]byte{[]byte("SET"), a.to.Key, []byte(a.next.String())})
}

// inTransaction returns calls within MULTI and EXEC, and the calls that watch the position for the next batch.
func (a *Applier) inTransaction(calls [][][]byte) [][][]byte {
	sent := append([][][]byte{call("MULTI")}, calls...)
	sent = append(sent, call("EXEC"))
	if a.to.Watches {
		sent = append(sent, [][]byte{[]byte("WATCH"), a.to.Key}, [][]byte{[]byte("GET"), a.to.Key})
	}
	return sent
}

// checkWatched returns ErrTaken if the position that was watched for the next batch is not this batch's.
func (a *Applier) checkWatched(position resp.Value) error {
	if !a.to.Watches {
		return nil
	}
	if a.watched = string(keyspace.Text(position)) == a.next.String(); !a.watched {
		return ErrTaken
	}
	return nil
}

// withoutRefused removes the calls that could not be queued, which made EXEC run none.
func (a *Applier) withoutRefused(queued []resp.Value, exec resp.Value) error {
	if err := a.check(append(slices.Clone(a.calls), call("SELECT", "0"), call("SET"))[:len(queued)], queued); err != nil {
		return err
	}
	var kept [][][]byte
	for i, args := range a.calls {
		if !queued[i].IsError() {
			kept = append(kept, args)
		}
	}
	if len(kept) == len(a.calls) {
		code, _, _ := strings.Cut(string(exec.Str), " ")
		if code == "OOM" || code == "READONLY" || code == "MISCONF" || code == "NOAUTH" {
			return &finalError{transfer.Refusal(exec.Str)}
		}
		return transfer.Refusal(exec.Str)
	}
	a.calls = kept
	return nil
}

// watch watches the position in the target and checks it, unless the last batch has done so or the target has no WATCH.
func (a *Applier) watch(ctx context.Context) error {
	if !a.to.Watches || a.watched {
		return nil
	}
	replies, err := a.to.Session.Pipeline(ctx, [][][]byte{{[]byte("WATCH"), a.to.Key}, {[]byte("GET"), a.to.Key}})
	if err != nil {
		return err
	}
	if v := replies[0]; v.IsError() {
		return &finalError{transfer.Refusal(v.Str)}
	}
	p, err := ParsePosition(string(keyspace.Text(replies[1])))
	if err != nil {
		return &finalError{errors.New("the target has lost its position: copy again into an empty target")}
	}
	if !a.isAt(p) {
		return ErrTaken
	}
	a.watched = true
	return nil
}
