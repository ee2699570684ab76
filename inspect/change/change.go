package change

import (
	"context"
	"errors"
	"slices"

	"github.com/meowdis/meowdis/inspect/client"
	"github.com/meowdis/meowdis/keyspace/display"
	"github.com/meowdis/meowdis/redis/resp"
)

// Change is a write to one target: commands, or the same operation on all keys of selections.
type Change struct {
	Title         string     // names the change in the notice and for undo
	Calls         [][][]byte // the commands; for a change to many keys, the first ones, as a preview
	Batch                    // for a change to many keys
	Copies        *Copying   // keys to copy from another target; nil: none
	Keys          []string   // keys that Calls change beside those their arguments name
	Undo          Undo
	OnlyTTLs      bool         // Calls set only TTLs
	Confirmed     bool         // the person confirmed the change
	Reveal        string       // the key to select afterwards; "" keeps the selection
	MustBeMissing string       // a key that must not exist yet; "" for none
	Overwrite     *Change      // the change to offer if a RENAMENX finds that the name is taken
	Precondition  precondition // checked before the change; nil: no precondition
	Field         string       // the hash field whose TTL is kept; "" for none
	Origin        any          // where the change was requested; this package only carries it along
}

// Batch describes a change to many keys.
type Batch struct {
	Scopes   []Scope // the keys that Each applies to; nil: Calls are the whole change
	Each     KeyChange
	KeyCount int64 // number of keys in Scopes; 0 before they are counted
}

// Undo describes how a change is undone. By default, the keys are restored as they were.
type Undo struct {
	Calls  [][][]byte  // commands that undo the change; nil: none
	Build  undoBuilder // like Calls, but computed just before the change
	Checks []Check     // must still hold for an undo without a question; nil checks the changed keys
	Never  bool        // the change cannot be undone, and no undo is kept
}

// precondition reports whether the data that the person saw is still the data of the target.
type precondition func(ctx context.Context, c *client.Conn, db int) (bool, error)

// undoBuilder returns the commands that undo a change. It runs before the change is made.
type undoBuilder func(ctx context.Context, c *client.Conn, db int) ([][][]byte, error)

// Scope is a selection of keys of one database.
type Scope struct {
	DB int
	Selection
}

// Made holds the result of a change.
type Made struct {
	Change
	Step  *Step // how to undo it; nil if nothing was done or it cannot be undone
	Reply resp.Value
	Err   error // why it stopped; Step covers the part done before
}

// Unconfirmed is a change that was not made because a check failed. The person decides
// whether to make it anyway.
type Unconfirmed struct {
	Change
	Title, Note string
}

func (Unconfirmed) Error() string { return "the change needs confirmation" }

// Make makes ch in database db. It returns a doubtful change without making it.
func (c *Maker) Make(ctx context.Context, db int, ch Change) (Made, *Unconfirmed) {
	w := Made{Change: ch}
	switch {
	case ch.Undo.Never:
		var values []resp.Value
		if values, w.Err = c.Do(ctx, db, ch.Calls...); w.Err == nil {
			w.Reply, w.Err = lastReply(values)
		}
	case ch.Copies != nil:
		w.Step, w.Err = c.copyAll(ctx, db, &w.Change)
		w.Reply = resp.OK
	case ch.Scopes != nil:
		w.Step, w.Err = c.doAll(ctx, ch)
		w.Reply = resp.OK
	default:
		w.Step, w.Reply, w.Err = c.runAll(ctx, db, ch)
	}
	if w.Step != nil {
		w.Step.Keys, w.Step.Confirmed = c.Journal.keys, ch.Confirmed
		c.Journal.conclude(w.Step)
	}
	var doubt Unconfirmed
	if errors.As(w.Err, &doubt) {
		return w, &doubt
	}
	return w, nil
}

// runAll saves the keys that the calls will change, and runs the calls. It stops at the first error
// reply; the changes before it can still be undone.
func (c *Maker) runAll(ctx context.Context, db int, ch Change) (*Step, resp.Value, error) {
	s, err := c.Journal.begin(ch.Title)
	if err != nil {
		return nil, resp.Nil, err
	}
	t := transaction{db: db, places: changedKeys(db, ch.Calls), savesMissing: true, back: ch.Undo.Calls, backOf: ch.Undo.Build, onlyTTLs: ch.OnlyTTLs}
	if len(ch.Keys) > 0 {
		t.places = append(t.places, keysIn{db, ch.Keys})
	}
	t.checks = ch.undoChecks(db, t.places)
	t.calls = func(there []string) ([][][]byte, error) {
		if ch.MustBeMissing != "" && len(there) > 0 {
			return nil, errNameTaken
		}
		if err := c.checkPrecondition(ctx, db, ch); err != nil {
			return nil, err
		}
		return c.withFieldTTL(ctx, db, ch.Calls, ch.Field)
	}
	values, sent, err := c.transact(ctx, t)
	s.to = c.Journal.end
	var no errNotSaved
	if errors.As(err, &no) {
		final := ch
		final.Undo.Never = true
		err = Unconfirmed{final, ch.Title + "?", no.Error() + ": this cannot be undone."}
	}
	if !sent {
		return nil, resp.Nil, errors.Join(err, c.Journal.cut(s))
	}
	if err != nil {
		return &s, resp.Nil, err // which commands took effect is unknown
	}
	last, err := lastReply(values)
	if ch.Overwrite != nil && err == nil && client.Number(last) == 0 {
		err = Unconfirmed{*ch.Overwrite, "Overwrite " + display.Text(ch.Reveal, 30) + "?", "The key already exists."}
	} else if !allFailed(values) {
		return &s, last, err
	}
	return nil, last, errors.Join(err, c.Journal.cut(s))
}

// undoChecks returns the checks to run before the change is undone: those it names, or
// else one for each changed key.
func (c Change) undoChecks(db int, places []keysIn) (all []checksIn) {
	if c.Undo.Checks != nil {
		return []checksIn{{db: db, checks: slices.Clone(c.Undo.Checks)}}
	}
	name := WholeKey
	if c.OnlyTTLs {
		name = OnlyTTL
	}
	for _, p := range places {
		all = append(all, checksIn{db: p.db, checks: newChecks(name, p.keys)})
	}
	return all
}

var errNameTaken = errors.New("the key already exists")

// checkPrecondition returns an Unconfirmed error if the change's precondition no longer holds.
func (c *Maker) checkPrecondition(ctx context.Context, db int, ch Change) error {
	if ch.Precondition == nil {
		return nil
	}
	ok, err := ch.Precondition(ctx, c.Conn, db)
	if err == nil && !ok {
		ch.Precondition, ch.Undo.Calls = nil, nil
		err = Unconfirmed{ch, "Overwrite it?", "Another client changed or deleted it."}
	}
	return err
}

// Expecting returns c with the precondition that call still replies want.
func (c Change) Expecting(want string, call [][]byte) Change {
	c.Precondition = func(ctx context.Context, c *client.Conn, db int) (bool, error) {
		v, err := c.One(ctx, db, call)
		var no client.Refusal
		if errors.As(err, &no) {
			return false, nil
		}
		return err == nil && client.Text(v) == want, err
	}
	return c
}

// lastReply returns the last of values, or the first error reply among them.
func lastReply(values []resp.Value) (resp.Value, error) {
	for _, v := range values {
		if err := client.ReplyError(v); err != nil {
			return v, err
		}
	}
	if len(values) == 0 {
		return resp.Nil, nil
	}
	return values[len(values)-1], nil
}

// allFailed reports whether every reply is an error.
func allFailed(values []resp.Value) bool {
	for _, v := range values {
		if !v.IsError() {
			return false
		}
	}
	return true
}
