package change

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strconv"

	"github.com/meowdis/meowdis/inspect/client"
	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
)

// transaction holds a set of commands, and the keys they change.
type transaction struct {
	db           int
	places       []keysIn
	savesMissing bool // missing keys are recorded, so that an undo deletes them
	back         [][][]byte
	onlyTTLs     bool
	backOf       undoBuilder // computes back while the keys are watched; nil: back is given
	checks       []checksIn  // checked before an undo
	// calls returns the commands, given which of the keys exist.
	calls func(there []string) ([][][]byte, error)
	// verify returns an error if the replies are wrong; nil: every reply is accepted. A
	// redo of these commands overwrites nothing either.
	verify func(values []resp.Value) error
}

// keysIn lists keys in one database.
type keysIn struct {
	db   int
	keys []string
}

// errConflict ends a transaction whose keys another client changed after they were saved.
var errConflict = errors.New("another client changed the keys at the same time")

// tries limits the attempts at a transaction when its keys keep changing.
const tries = 5

// transact saves keys in the journal and changes them. If the target supports WATCH, no
// other client can change a key in between; otherwise commitWithReread saves what other
// clients write in that moment. sent reports whether the commands were sent; if not, no
// data changed.
func (c *Maker) transact(ctx context.Context, t transaction) (values []resp.Value, sent bool, err error) {
	for range tries {
		var watched bool
		var calls [][][]byte
		if watched, err = c.watch(ctx, t.places); err != nil {
			return nil, false, err
		}
		var r rereadSet
		calls, r, err = c.saveUndo(ctx, t)
		if err == nil && len(calls) == 0 {
			return nil, false, nil
		}
		switch {
		case err != nil:
		case watched:
			values, err = c.commit(ctx, t.db, true, calls, t.watchCalls()...)
			sent = !errors.Is(err, errConflict)
		default:
			values, err = c.commitWithReread(ctx, t.db, r, calls)
			sent = true
		}
		if sent {
			c.Journal.keys += t.keyCount(calls)
		}
		kept := err == nil && (allFailed(values) || c.remember(ctx, t, watched))
		if !kept && ctx.Err() != nil {
			c.rememberStopped(ctx, t)
		}
		if !errors.Is(err, errConflict) {
			return values, sent, err
		}
	}
	return nil, false, err
}

// watchCalls returns the commands that watch, right after the transaction, the keys whose
// values are read for the checks.
func (t transaction) watchCalls() (calls [][][]byte) {
	for _, p := range t.checks {
		if p.db != t.db || p.known || len(p.checks) == 0 {
			continue
		}
		words := []string{"WATCH"}
		for _, l := range p.checks {
			words = append(words, l.key())
		}
		calls = append(calls, client.Command(words...))
	}
	return calls
}

// saveUndo writes the commands that undo t to the journal. It returns the commands of t,
// and the saved keys in t's database.
func (c *Maker) saveUndo(ctx context.Context, t transaction) (calls [][][]byte, r rereadSet, err error) {
	if t.backOf != nil {
		if t.back, err = t.backOf(ctx, c.Conn, t.db); err != nil {
			return nil, r, err
		}
	}
	var found []string
	if t.back != nil {
		err = c.Journal.add(t.db, t.back)
	} else {
		found, err = c.saveOldKeys(ctx, t, &r)
	}
	if err != nil {
		return nil, r, err
	}
	calls, err = t.calls(found)
	if err == nil && t.back != nil {
		again := calls
		if t.verify == nil {
			again = repeatable(calls)
		}
		err = c.Journal.addRedo(t.db, again)
	}
	if err == nil && len(calls) > 0 {
		err = c.Journal.sync()
	}
	return calls, r, err
}

// saveOldKeys writes the commands that restore the keys of t to the journal, and adds the keys in t's database to r.
// It returns the names of the existing keys.
func (c *Maker) saveOldKeys(ctx context.Context, t transaction, r *rereadSet) (found []string, err error) {
	images := c.restoreCalls
	if t.onlyTTLs {
		images = c.ttlCalls
	}
	for _, p := range t.places {
		there, err := images(ctx, p.db, p.keys, c.Clock(), func(kind byte, calls [][][]byte) error {
			if p.db == t.db {
				r.add(calls)
			}
			return c.Journal.addCalls(kind, p.db, calls)
		})
		if err != nil {
			return nil, err
		}
		found = append(found, there...)
		missing := p.without(there)
		if !t.savesMissing || t.onlyTTLs || len(missing) == 0 {
			continue
		}
		if err := c.Journal.add(p.db, deleteCalls(missing)); err != nil {
			return nil, err
		}
		if p.db == t.db {
			r.addAbsent(missing)
		}
	}
	return found, nil
}

// repeatable returns calls changed so that they can redo the change.
func repeatable(calls [][][]byte) [][][]byte {
	calls = slices.Clone(calls)
	for i, call := range calls {
		if string(call[0]) == "RENAMENX" { // whether the name is free is checked before
			calls[i] = append(client.Command("RENAME"), call[1:]...)
		}
	}
	return calls
}

// keyCount returns the number of keys that t changes. If t saves no keys, it counts the
// distinct first arguments of calls.
func (t transaction) keyCount(calls [][][]byte) (n int64) {
	named := map[string]bool{}
	for _, p := range t.places {
		n += int64(len(p.keys))
	}
	if t.back == nil && t.backOf == nil || n == 0 {
		return n
	}
	for _, call := range calls {
		if len(call) > 1 {
			named[string(call[1])] = true
		}
	}
	return int64(len(named))
}

// without returns the keys of p that are not in there.
func (p keysIn) without(there []string) []string {
	known := map[string]bool{}
	for _, key := range there {
		known[key] = true
	}
	return slices.DeleteFunc(slices.Clone(p.keys), func(key string) bool { return known[key] })
}

// watch makes the next commit fail if another client changes the keys first. It returns
// false if the target does not support WATCH.
func (c *Maker) watch(ctx context.Context, places []keysIn) (bool, error) {
	if c.Refusals.Has("WATCH") {
		return false, nil
	}
	for i, p := range places {
		calls := [][][]byte{client.Command(append([]string{"WATCH"}, p.keys...)...)}
		if i == 0 {
			calls = append([][][]byte{client.Command("UNWATCH")}, calls...) // left by an abandoned transaction
		}
		values, err := c.Do(ctx, p.db, calls...)
		if err != nil {
			return false, err
		}
		if values[len(values)-1].IsError() {
			c.Refusals.Add("WATCH")
			return false, nil
		}
	}
	return true, nil
}

// unwatch stops watching keys.
func (c *Maker) unwatch(ctx context.Context) error {
	if c.Refusals.Has("WATCH") {
		return nil
	}
	_, err := c.Do(ctx, 0, client.Command("UNWATCH"))
	return err
}

// commit runs calls, atomically if the target allows it, followed by commands whose
// replies are ignored. It returns errConflict if nothing was done because watched keys
// changed.
func (c *Maker) commit(ctx context.Context, db int, atomic bool, calls [][][]byte, after ...[][]byte) ([]resp.Value, error) {
	if !atomic {
		return c.Do(ctx, db, calls...)
	}
	values, err := c.Do(ctx, db, slices.Concat([][][]byte{client.Command("MULTI")}, calls, [][][]byte{client.Command("EXEC")}, after)...)
	if err != nil {
		return nil, err
	}
	values = values[:len(values)-len(after)]
	done := values[len(values)-1]
	switch {
	case done.IsNull():
		return nil, errConflict
	case !done.IsError():
		return done.Elems, nil
	}
	// Nothing was done. The command that could not be queued has the reason in its reply.
	if _, err := lastReply(values[:len(values)-1]); err != nil {
		return []resp.Value{resp.MakeError(err.Error())}, nil
	}
	return []resp.Value{done}, nil
}

// changedKeys returns the keys that calls may change.
func changedKeys(db int, calls [][][]byte) []keysIn {
	var places []keysIn
	type placed struct {
		db  int
		key string
	}
	known := map[placed]bool{}
	add := func(db int, key string) {
		if known[placed{db, key}] {
			return
		}
		known[placed{db, key}] = true
		i := slices.IndexFunc(places, func(p keysIn) bool { return p.db == db })
		if i < 0 {
			i = len(places)
			places = append(places, keysIn{db: db})
		}
		places[i].keys = append(places[i].keys, key)
	}
	for _, call := range calls {
		cmd, _ := commands.Find(call)
		if cmd == nil {
			continue
		}
		refs := cmd.KeysOf(call)
		writes := func(r commands.KeyRef) bool { return r.Access&7 != commands.RO }
		// The table lists the keys of XREADGROUP as read-only, but it writes the list of delivered entries.
		all := cmd.Flags&commands.Write != 0 && !slices.ContainsFunc(refs, writes)
		for _, ref := range refs {
			if all || writes(ref) {
				add(databaseOf(cmd.Name, call, ref.Pos, db), string(call[ref.Pos]))
			}
		}
		if to, ok := moveTarget(cmd.Name, call); ok {
			add(to, string(call[1]))
		}
	}
	return places
}

// databaseOf returns the database of the key at pos: COPY can name another one.
func databaseOf(name string, call [][]byte, pos, db int) int {
	if name == "COPY" && pos == 2 {
		for i := 3; i+1 < len(call); i++ {
			if bytes.EqualFold(call[i], []byte("DB")) {
				if n, err := strconv.Atoi(string(call[i+1])); err == nil {
					return n
				}
			}
		}
	}
	return db
}

// moveTarget returns the database that MOVE moves a key to.
func moveTarget(name string, call [][]byte) (db int, ok bool) {
	if name != "MOVE" {
		return 0, false
	}
	n, err := strconv.Atoi(string(call[2]))
	return n, err == nil && n >= 0
}
