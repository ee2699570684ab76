package change

import (
	"context"
	"errors"
	"slices"

	"github.com/meowdis/meowdis/display"
	"github.com/meowdis/meowdis/inspect/target"
	"github.com/meowdis/meowdis/resp"
)

// Change is something to write: some commands, or the same for all keys of some
// selections.
type Change struct {
	Title     string     // what was done, for the notice and for undo
	Calls     [][][]byte // where it is about many keys the first ones, to be shown
	Over      []Scope    // the keys that Each is done to; nil: the calls are all
	Each      Each
	Copies    *Copying     // keys of another target; nil: none
	Many      int64        // how many keys that is; 0 while nobody counted
	Keys      []string     // what the calls change beside the keys that they are known to
	Back      [][][]byte   // what undoes the calls; nil: the keys as they were
	BackOf    undoBuilder  // likewise, asked for at the moment of the change
	Checks    []Check      // what must be as the change left it for an undo to be unasked; nil: the keys
	OnlyTTLs  bool         // the calls set no more than times to live
	Final     bool         // no undo is kept: it cannot be
	Asked     bool         // the person was asked before
	Reveal    string       // the key to go to then; "" stays
	Missing   string       // the key that must not be there yet; "" for none
	Overwrite *Change      // what to do where a RENAMENX finds that the name is taken
	Holds     precondition // what must hold still; nil: nothing
	Field     string       // whose time to live stays as it is; "" for none
	Origin    any          // where it was asked for: carried along, and not looked at here
}

// precondition reports whether what the person saw before a change is still so.
type precondition func(ctx context.Context, c *target.Conn, db int) (bool, error)

// undoBuilder finds out what undoes a change, before it is made.
type undoBuilder func(ctx context.Context, c *target.Conn, db int) ([][][]byte, error)

// Scope is keys of a database.
type Scope struct {
	DB int
	Selection
}

// Made is a change that was made.
type Made struct {
	Change
	Step  *Step // how to undo it; nil where nothing was done, or that cannot be
	Reply resp.Value
	Err   error // what ended it; what was done before is in step
}

// Doubtful is a change that was not made, since something speaks against it: the
// person decides.
type Doubtful struct {
	Change
	Title, Note string
}

func (Doubtful) Error() string { return "the change is in doubt" }

// Make makes a change. A doubtful one it does not: the person decides.
func (c *Maker) Make(ctx context.Context, db int, ch Change) (Made, *Doubtful) {
	w := Made{Change: ch}
	switch {
	case ch.Final:
		var values []resp.Value
		if values, w.Err = c.Do(ctx, db, ch.Calls...); w.Err == nil {
			w.Reply, w.Err = lastReply(values)
		}
	case ch.Copies != nil:
		w.Step, w.Err = c.copyAll(ctx, db, &w.Change)
		w.Reply = resp.OK
	case ch.Over != nil:
		w.Step, w.Err = c.doAll(ctx, ch)
		w.Reply = resp.OK
	default:
		w.Step, w.Reply, w.Err = c.runAll(ctx, db, ch)
	}
	if w.Step != nil {
		w.Step.Keys, w.Step.Asked = c.Journal.keys, ch.Asked
		c.Journal.conclude(w.Step)
	}
	var doubt Doubtful
	if errors.As(w.Err, &doubt) {
		return w, &doubt
	}
	return w, nil
}

// runAll keeps what the calls will change, and runs them. An error reply ends it;
// what was done before it can still be undone.
func (c *Maker) runAll(ctx context.Context, db int, ch Change) (*Step, resp.Value, error) {
	s, err := c.Journal.begin(ch.Title)
	if err != nil {
		return nil, resp.Nil, err
	}
	t := transaction{db: db, places: changedKeys(db, ch.Calls), savesMissing: true, back: ch.Back, backOf: ch.BackOf, onlyTTLs: ch.OnlyTTLs}
	if len(ch.Keys) > 0 {
		t.places = append(t.places, keysIn{db, ch.Keys})
	}
	t.checks = ch.undoChecks(db, t.places)
	t.calls = func(there []string) ([][][]byte, error) {
		if ch.Missing != "" && len(there) > 0 {
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
		final.Final = true
		err = Doubtful{final, ch.Title + "?", no.Error() + ": this cannot be undone."}
	}
	if !sent {
		return nil, resp.Nil, errors.Join(err, c.Journal.cut(s))
	}
	if err != nil {
		return &s, resp.Nil, err // nobody knows what took effect
	}
	last, err := lastReply(values)
	if ch.Overwrite != nil && err == nil && target.Number(last) == 0 {
		err = Doubtful{*ch.Overwrite, "Overwrite " + display.Text(ch.Reveal, 30) + "?", "There is a key of that name already."}
	} else if !allFailed(values) {
		return &s, last, err
	}
	return nil, last, errors.Join(err, c.Journal.cut(s))
}

// undoChecks is what to look at before the change is undone: what it names, or else the keys
// that it changes.
func (c Change) undoChecks(db int, places []keysIn) (all []checksIn) {
	if c.Checks != nil {
		return []checksIn{{db: db, checks: slices.Clone(c.Checks)}}
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

var errNameTaken = errors.New("there is a key of that name already")

// checkPrecondition makes a change doubtful when what it expects does not hold any more.
func (c *Maker) checkPrecondition(ctx context.Context, db int, ch Change) error {
	if ch.Holds == nil {
		return nil
	}
	ok, err := ch.Holds(ctx, c.Conn, db)
	if err == nil && !ok {
		ch.Holds, ch.Back = nil, nil
		err = Doubtful{ch, "Overwrite it?", "Somebody else changed it since you looked."}
	}
	return err
}

// Expecting is c, which holds while a call has the reply that it had.
func (c Change) Expecting(want string, call [][]byte) Change {
	c.Holds = func(ctx context.Context, c *target.Conn, db int) (bool, error) {
		v, err := c.One(ctx, db, call)
		var no target.Refusal
		if errors.As(err, &no) {
			return false, nil
		}
		return err == nil && target.Text(v) == want, err
	}
	return c
}

// lastReply is the reply to the last of some commands, or the first that is an error.
func lastReply(values []resp.Value) (resp.Value, error) {
	for _, v := range values {
		if err := target.ReplyError(v); err != nil {
			return v, err
		}
	}
	if len(values) == 0 {
		return resp.Nil, nil
	}
	return values[len(values)-1], nil
}

// allFailed reports whether no command took effect.
func allFailed(values []resp.Value) bool {
	for _, v := range values {
		if !v.IsError() {
			return false
		}
	}
	return true
}
