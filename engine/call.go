package engine

import (
	"time"

	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/translator"
)

// call is a command with a valid number of arguments.
type call struct {
	cmd  *commands.Command
	args [][]byte
}

// planned is a call ready to be planned, with the state of its session, or a call that already has its reply.
type planned struct {
	call
	session   *Session // that sent the call; nil for the engine's own reads
	db        int
	fieldsets map[string][][]byte
	options   options
	make      func(translator.Env) translator.Plan // replaces the translation; nil for most calls
	made      *translator.Plan                     // an expensive plan that every attempt uses; nil for most calls
	eval      *evaluation                          // the script that runs instead of a plan
	answer    resp.Value                           // the reply, without a command, a script and make
	took      time.Duration                        // set after the call has run
	keyStates *keyStates                           // for keyspace events; nil without them
	wait      *translator.Wait                     // of a blocking call that its session runs; nil for other calls
	waiter    *waiter                              // set on the first attempt of a blocking call, by its session
	decode    func(*store.Result) resp.Value       // of the last batch, if replicas need the reply
}

// options says how calls run. Some options belong to one call, the others to the pipeline or transaction that
// runs it. The zero value runs calls as EXEC does: all or none, in the writer's transaction.
type options uint16

const (
	// Of one call.
	mayStage options = 1 << iota // errLarge may end its transaction if the call is large
	staged                       // plan a staged build
	evicts                       // an eviction, which no client sent
	packs                        // a long reply may be packed

	// Of a transaction.
	reading  // in a snapshot, next to the writer
	apart    // the calls are independent; the calls that do not fit need another transaction
	rollBack // leave no trace

	// Of a pipeline.
	planOnly   // have no effects: the server's loop applies the plans
	untilError // stop after the first error reply; also of a transaction
)

// has reports whether any of the given options is set.
func (o options) has(any options) bool { return o&any != 0 }

// planned returns a call with the session's current database and settings.
func (s *Session) planned(c call) planned {
	return planned{call: c, session: s, db: s.db, fieldsets: s.fieldsets}
}

// enginePlan returns a call with a plan of the engine's own.
func enginePlan(p translator.Plan) planned {
	return planned{make: func(translator.Env) translator.Plan { return p }}
}

// keys returns the keys that the call names.
func (p planned) keys() (keys [][]byte) {
	if p.cmd == nil {
		return nil
	}
	for _, ref := range p.cmd.KeysOf(p.args) {
		keys = append(keys, p.args[ref.Pos])
	}
	return keys
}

// plan translates the i-th call of a transaction. Each call draws its own random numbers.
func (p planned) plan(env translator.Env, i int) (plan translator.Plan, err error) {
	if p.made != nil {
		return *p.made, nil
	}
	defer catchLimit(&plan.Reply, &err)
	env.DB, env.Fieldsets, env.MayStage, env.Reply.MayPack = p.db, p.fieldsets, p.options.has(staged), p.options.has(packs)
	env.Seed += uint64(i) << 32
	if p.session == nil && p.make != nil {
		return p.make(env), nil
	}
	if p.session != nil {
		if hook := p.session.engine.hook; hook != nil {
			hook()
		}
		if p.cmd.WantsFacts {
			env.Server.Facts, env.Server.Running = p.session.engine.facts, p.session.engine.scripts.function()
		}
	}
	if p.session != nil {
		env.MayRead, env.Rules, env.Reply.RESP2, env.Wait = p.session.mayRead(p.cmd), p.session.rules, p.session.resp2, p.wait
	}
	var made translator.Plan
	if p.make == nil {
		made = translator.Translate(p.cmd, p.args, env)
	} else {
		made = p.make(env)
		made.Keys = p.cmd.KeyNames(p.args)
	}
	if p.session != nil && !p.options.has(staged) && p.session.engine.feed.Follows() {
		of := p // a copy on the heap, so p stays on the stack
		if p.session.engine.feed.replicas.Load() != nil && effectsFromReply(p.cmd) {
			made = of.keepDecoder(made)
		}
		if made.Batch.Stmts != nil && of.wantsEvents() {
			made = of.withKeyStates(made, env)
		}
		made.Batch.Origin = &of
	}
	return made, nil
}

// onlyRead reports whether none of the calls can write.
func onlyRead(calls []planned) bool {
	for i := range calls {
		c := &calls[i]
		if c.cmd != nil && c.cmd.Flags&commands.Write != 0 || c.waiter != nil && c.waiter.session.engine.readOnly() == "" || c.eval != nil && !c.eval.mayRead() {
			return false
		}
	}
	return true
}
