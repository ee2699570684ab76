//go:build !wasip1

package engine

import (
	"strconv"
	"strings"

	"github.com/meowdis/meowdis/engine/keyevents"
	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/rdb"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/store/keytype"
	"github.com/meowdis/meowdis/translator"
)

// effectWriter derives the effects of one batch, inside its transaction, before anything else changes.
type effectWriter struct {
	engine  *Engine
	work    *store.Work
	run     Run
	to      *Effects
	call    *planned // nil if no command caused the change
	keys    [][]byte // the changed keys
	db      int
	unit    any
	reply   func() resp.Value
	modules bool  // a replica takes values of modules
	now     int64 // the clock of ask in Unix ms; 0 for the engine's
	err     error // of run; it ends the transaction
}

// record derives the effects of a batch that has changed something. Its error is run's.
func (f *feed) record(t *transaction, c Change, b *store.Batch, r *store.Result, run Run, unit any) error {
	l := f.replicas.Load()
	if l == nil {
		return nil
	}
	w := effectWriter{engine: f.engine, work: &l.work, run: run, to: &t.effects, keys: c.Keys, db: c.DB, unit: unit, modules: l.modules()}
	used := w.work.Budget.Used()
	defer func() { w.work.Budget.Rewind(used) }()
	var fault error
	func() {
		defer store.Catch(&fault)
		w.batch(b, r)
	}()
	if fault != nil { // invariant 3: other changes are unknown
		t.effects.Unknown = true
		if _, is := limited(fault); !is {
			f.engine.reported(fault)
		}
	}
	return w.err
}

func (w *effectWriter) batch(b *store.Batch, r *store.Result) {
	switch b.Origin.(type) {
	case store.Expired:
		w.expired(r, func(key []byte) { w.put("UNLINK", key) })
		return
	case store.ExpiredFields:
		w.expired(r, func(key []byte) { w.state(w.db, key) })
		return
	}
	w.call, _ = b.Origin.(*planned)
	if w.call == nil {
		w.withoutCall(b, r)
		return
	}
	w.db = w.call.db
	if w.unit == nil {
		w.unit = w.call
	}
	if w.call.keyStates != nil && w.call.keyStates.ownStmts > 0 {
		r = w.call.keyStates.without(r)
	}
	w.reply = func() resp.Value {
		own := *r
		own.Work = w.work
		return w.call.decode(&own).Unpacked()
	}
	if w.call.cmd == nil {
		w.states()
		return
	}
	e := effectOf[w.call.cmd.Name]
	switch {
	case e.make == nil:
		w.states()
	case !e.always && removedExpired(b, r): // a replica may still have the key (invariant 4)
		w.states()
	default:
		e.make(w)
	}
}

// expired calls report with each key in the rows of a sweep, after setting w.db.
func (w *effectWriter) expired(r *store.Result, report func(key []byte)) {
	for _, rows := range r.Rows {
		for _, row := range rows {
			if len(row) >= store.ExpiredCells && row[1].Int() >= 0 {
				w.db = int(row[1].Int())
				report(row[2].Bytes())
			}
		}
	}
}

// withoutCall reports the state of the keys of a batch that was planned before there was a listener, or that another
// program has sent.
func (w *effectWriter) withoutCall(b *store.Batch, r *store.Result) {
	if w.keys != nil && len(w.keys) == 0 {
		return // nothing visible has changed
	}
	for i, n := range r.Changes {
		if args := b.Stmts[i].Args; n > 0 && len(w.keys) > 0 && len(args) > 1 && args[0].Kind() == store.Integer && args[1].Kind() == store.Blob {
			w.db = int(args[0].Int())
			w.states()
			return
		}
	}
	w.to.Unknown = true
}

// removedExpired reports whether a statement has deleted or overwritten a key or fields that had expired.
func removedExpired(b *store.Batch, r *store.Result) bool {
	for i, n := range r.Changes {
		if n > 0 && i < len(b.Stmts) && (strings.Contains(b.Stmts[i].SQL, "dies_at <= ?3") || strings.Contains(b.Stmts[i].SQL, "expires_at <= ?3")) {
			return true
		}
	}
	return false
}

func (w *effectWriter) put(name string, args ...[]byte) { w.putFor(Everyone, name, args...) }

// putFor adds an effect for a part of the replicas. An effect for replicas without modules is for all if no other exists.
func (w *effectWriter) putFor(who Audience, name string, args ...[]byte) {
	w.addFor(who, append([][]byte{[]byte(name)}, args...))
}

func (w *effectWriter) add(args [][]byte) { w.addFor(Everyone, args) }

func (w *effectWriter) addFor(who Audience, args [][]byte) {
	switch {
	case w.modules:
	case who == WithModules:
		return
	default:
		who = Everyone
	}
	w.to.List = append(w.to.List, Effect{DB: w.db, Args: args, Unit: w.unit, For: who})
}

// ask runs a reading command in the transaction. ok is false if that failed.
func (w *effectWriter) ask(args ...[]byte) (v resp.Value, ok bool) {
	if w.err != nil || w.to.Unknown {
		return v, false
	}
	cmd, bad := commands.Find(args)
	if bad.IsError() {
		w.to.Unknown = true
		return v, false
	}
	env := w.engine.env(w.db, w.work)
	if w.now != 0 {
		env.Now = w.now
	}
	plan := translator.Translate(cmd, args, env)
	if v, w.err = w.engine.steps(w.run, plan, w.work); w.err == nil && v.IsError() {
		w.to.Unknown = true // above the memory limit
	}
	return v, w.err == nil && !w.to.Unknown
}

// states reports the state of all changed keys. It is the effect of every command that has none of its own.
func (w *effectWriter) states() {
	if w.keys == nil {
		w.to.Unknown = true
		return
	}
	here, other := w.db, w.db
	if c := w.call; c != nil && c.cmd != nil {
		other = keyevents.OtherDB(c.cmd.Name, c.args, here)
	}
	var series seriesEffects
	for _, key := range w.keys {
		w.stateOf(&series, here, key)
		if other != here {
			w.stateOf(&series, other, key)
		}
	}
	w.ruleEffects(series)
	w.db = here
}

// stateOf reports the state of a key, except the rules of a series, which it adds to all.
func (w *effectWriter) stateOf(all *seriesEffects, db int, key []byte) {
	if !all.has(db, key) && w.state(db, key) == keytype.Series {
		w.addSeries(all, db, key)
	}
}

// state reports the state of a key, except the rules of a series, and returns its type. After an error the type is "".
func (w *effectWriter) state(db int, key []byte) (typ string) {
	w.db = db
	v, ok := w.ask([]byte("TYPE"), key)
	if !ok {
		return ""
	}
	typ = string(v.Str)
	if typ == arrayType { // DUMP has no form for it
		w.to.Skipped++
		w.put("UNLINK", key)
		return typ
	}
	payload, ok := w.ask([]byte("DUMP"), key)
	if !ok {
		return typ
	}
	if payload.IsNull() {
		w.put("UNLINK", key)
		return typ
	}
	expiry, ok := w.ask([]byte("PEXPIRETIME"), key)
	if !ok {
		return typ
	}
	if len(payload.Str) > 0 && payload.Str[0] == rdb.StringPayload {
		if v, ok := w.ask([]byte("GET"), key); ok {
			w.put("SET", withExpiry([][]byte{key, v.Str}, expiry.Int)...)
		}
		return typ
	}
	w.work.Grow(2 * int64(len(payload.Str)))
	restore := func(who Audience, payload []byte) {
		w.putFor(who, "RESTORE", key, number(max(expiry.Int, 0)), payload, []byte("REPLACE"), []byte("ABSTTL"))
	}
	portable, ok := rdb.Portable(payload.Str, w.work.Step)
	if ok {
		restore(Everyone, portable)
		return typ
	}
	w.to.ModuleKeys++
	w.putFor(WithoutModules, "UNLINK", key)
	restore(WithModules, payload.Str)
	return typ
}

// withExpiry appends the TTL of a SET, given the reply of PEXPIRETIME.
func withExpiry(args [][]byte, at int64) [][]byte {
	if at >= 0 {
		args = append(args, []byte("PXAT"), number(at))
	}
	return args
}

func number(n int64) []byte { return strconv.AppendInt(nil, n, 10) }

// keepDecoder makes a plan remember how the reply is decoded.
func (p *planned) keepDecoder(made translator.Plan) translator.Plan {
	if then := made.Then; then != nil {
		made.Then = func(r *store.Result) translator.Plan { return p.keepDecoder(then(r)) }
		return made
	}
	p.decode = made.Decode
	return made
}
