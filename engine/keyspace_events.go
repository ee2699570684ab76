package engine

import (
	"slices"

	"github.com/meowdis/meowdis/engine/keyevents"
	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/translator"
)

// SetNotify makes the engine call tell with the keyspace events of each later transaction: after the commit,
// before any client gets its reply, and in commit order. nil stops the calls. tell must neither wait nor call
// the engine. Events of other processes are not reported.
func (e *Engine) SetNotify(tell func([]keyevents.Event)) {
	f := &e.feed
	var now *func([]keyevents.Event)
	change := int64(0)
	if tell != nil {
		now, change = &tell, 1
	}
	if f.notify.Swap(now) != nil {
		change--
	}
	f.interest.Add(change)
}

// keyStates collects the state that the keyspace events of one call depend on. The call reads the state of its
// keys before it runs, and again in its last batch.
type keyStates struct {
	keys       []keyevents.Key
	stateReads []store.Stmt
	before     []store.Row
	ownStmts   int // number of the last batch's statements without the state reads; 0 until that batch is planned
	decode     func(*store.Result) resp.Value
	now        int64
}

// wantsEvents reports whether the call's keyspace events are wanted.
func (p *planned) wantsEvents() bool {
	return p.cmd.Flags&commands.Write != 0 && p.session != nil && p.session.engine.feed.notify.Load() != nil
}

// withKeyStates wraps a plan so that it also reads the state of the call's keys.
func (p *planned) withKeyStates(made translator.Plan, env translator.Env) translator.Plan {
	n := &keyStates{now: env.Now}
	other := keyevents.OtherDB(p.cmd.Name, p.args, p.db)
	var names [][]byte
	seen := map[string]bool{}
	for _, key := range p.keys() {
		if !seen[string(key)] {
			seen[string(key)], names = true, append(names, key)
		}
	}
	for _, db := range slices.Compact([]int{p.db, other}) {
		for _, name := range names {
			n.keys = append(n.keys, keyevents.Key{DB: db, Name: name})
		}
		env.DB = db
		n.stateReads = append(n.stateReads, translator.ReadStates(env, names))
	}
	p.keyStates = n
	return translator.Plan{
		Keys:  made.Keys,
		Batch: store.Batch{ReadOnly: true, Stmts: n.stateReads},
		Then: func(r *store.Result) translator.Plan {
			n.before = slices.Concat(r.Rows...)
			return n.last(made)
		},
	}
}

// last appends the reads of the keys to the last batch of a plan, if that batch writes.
func (n *keyStates) last(p translator.Plan) translator.Plan {
	if then := p.Then; then != nil {
		p.Then = func(r *store.Result) translator.Plan { return n.last(then(r)) }
		return p
	}
	if n.ownStmts = len(p.Batch.Stmts); n.ownStmts == 0 || p.Batch.ReadOnly {
		return p
	}
	n.decode = p.Decode
	p.Batch.Stmts = slices.Concat(p.Batch.Stmts, n.stateReads)
	p.Decode = func(r *store.Result) resp.Value { return n.decode(n.without(r)) }
	return p
}

// without returns a result without the rows of the state reads.
func (n *keyStates) without(r *store.Result) *store.Result {
	own := *r
	own.Rows, own.Changes = r.Rows[:n.ownStmts], r.Changes[:min(n.ownStmts, len(r.Changes))]
	return &own
}

// events returns the keyspace events of a call whose last batch has run.
func (n *keyStates) events(p *planned, r *store.Result) (events []keyevents.Event) {
	defer func() {
		if err := store.Recovered(recover()); err != nil {
			p.session.engine.reported(err)
			events = nil
		}
	}()
	after := slices.Concat(r.Rows[n.ownStmts:]...)
	if len(n.before) != len(n.keys) || len(after) != len(n.keys) {
		return nil
	}
	for i := range n.keys {
		n.keys[i].Before, n.keys[i].After = stateOf(n.before[i]), stateOf(after[i])
	}
	c := keyevents.Call{Command: p.cmd.Name, Args: p.args, Now: n.now, DB: p.db, Keys: n.keys}
	if p.options.has(evicts) {
		return keyevents.Evicted(c)
	}
	c.Reply = n.decode(n.without(r))
	return keyevents.Events(c)
}

func stateOf(row store.Row) (s keyevents.State) {
	if row[0].IsNull() {
		return s
	}
	s.Version = row[0].Int()
	s.Dead = !row[1].IsNull() && row[1].Int() != 0
	s.Exists, s.ByField = !s.Dead, s.Dead && row[2].Int() != 0
	s.Count, s.TTL, s.Consumers = row[3].Int(), row[4].Int() != 0, row[5].Int()
	return s
}

// expired adds the events of the keys and fields that the sweep deleted.
func (f *feed) expired(t *transaction, b *store.Batch, r *store.Result) {
	if f.notify.Load() == nil {
		return
	}
	_, keys := b.Origin.(store.Expired)
	for _, row := range slices.Concat(r.Rows...) {
		switch {
		case len(row) <= store.ExpiredCells, row[1].Int() < 0:
		case keys:
			t.events = append(t.events, keyevents.Expired(int(row[1].Int()), row[2].Bytes(), row[3].Int() != 0)...)
		default:
			t.events = append(t.events, keyevents.FieldsExpired(int(row[1].Int()), row[2].Bytes())...)
		}
	}
}
