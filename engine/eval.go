package engine

import (
	"context"
	"crypto/sha1"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/meowdis/meowdis/engine/pubsub"
	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/redis/script"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/translator"
)

// scripts holds the script cache, which as in Redis belongs to the process, and the running scripts.
type scripts struct {
	cache   scriptCache
	mu      sync.Mutex
	running map[*evaluation]time.Time // start times

	machines sync.Pool
	busy     atomic.Int64 // when other clients begin to get BUSY, Unix ms; 0 if no script runs
	gate     store.Gate   // shut while waiting clients are refused
	shut     bool
	ended    atomic.Bool // see EndScripts
	timed    bool        // a timer runs that may shut the gate
}

var (
	noScript    = resp.MakeError("NOSCRIPT No matching script. Please use EVAL.")
	notBusy     = resp.MakeError("NOTBUSY No scripts in execution right now.")
	unkillable  = resp.MakeError("UNKILLABLE Sorry the script already executed write commands against the dataset. You can either wait the script termination or kill the server in a hard way using the SHUTDOWN NOSAVE command.")
	busyScript  = resp.MakeError("BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.")
	busyFunc    = resp.MakeError("BUSY Redis is busy running a script. You can only call FUNCTION KILL or SHUTDOWN NOSAVE.")
	scriptEnded = resp.MakeError("ERR the script was ended because the server stops; it left no changes")
	mayWrite    = resp.MakeError("ERR Can not execute a script with write flag using *_ro command.")
	noDynamic   = "ERR Dynamic keys are not allowed in Lua scripts when 'allow-key-locking' flag is set. Key was: "
	noGlobal    = " is not allowed in Lua scripts when 'allow-key-locking' flag is set"
)

// evaluation is one call of a form of EVAL or FCALL. It runs once in a transaction that the store holds open;
// on any other store it runs each time that the batch is built.
type evaluation struct {
	scriptInput
	scriptProgress

	session              *Session
	call                 call
	script               *script.Script // nil for a function
	function             string         // name of the function
	libraries, functions int64          // counts when a function begins, for FUNCTION STATS
	readOnly             bool           // it must not write
	reading              bool           // it runs in a transaction that only reads
	memoryFull           bool           // no memory was left when it began
	ctx                  context.Context
	trial                func() Watch     // set by Trial
	debugger             *script.Debugger // set by Debug
}

// scriptProgress is what the script has done.
type scriptProgress struct {
	killed   atomic.Bool
	wrote    atomic.Bool
	deferred deferredOutput
}

// scriptInput is given to the script.
type scriptInput struct {
	hint  *script.WriteHint // nil until it is known
	flags script.Flags
	keys  [][]byte
	args  [][]byte
}

// runsScripts reports whether a command is a form of EVAL or FCALL.
func runsScripts(cmd *commands.Command) bool {
	return strings.HasPrefix(cmd.Name, "EVAL") || strings.HasPrefix(cmd.Name, "FCALL")
}

// declared returns the flags that a call's script or function declares; they replace the flags of EVAL and
// FCALL. The flags of a function are known after its first call in this process.
func (e *Engine) declared(c call) (flags script.Flags, declared bool) {
	if !runsScripts(c.cmd) || len(c.args) < 2 {
		return 0, false
	}
	switch name := c.cmd.Name; {
	case strings.HasPrefix(name, "FCALL"):
		if lib := e.libraries.find(string(c.args[1])); lib != nil {
			return lib.Function(string(c.args[1])).Flags, true
		}
		return 0, false
	case strings.HasPrefix(name, "EVALSHA"):
		if s := e.scripts.cache.find(strings.ToLower(string(c.args[1])), false); s != nil {
			return s.Flags, s.Declares
		}
		return 0, false
	}
	return script.Declared(c.args[1])
}

// evaluate parses a call of EVAL, EVALSHA, FCALL or one of their _RO forms. bad is the reply if it cannot run.
func (s *Session) evaluate(ctx context.Context, c call) (e *evaluation, bad resp.Value) {
	e = &evaluation{session: s, call: c, ctx: ctx, readOnly: strings.HasSuffix(c.cmd.Name, "_RO")}
	e.memoryFull = s.engine.full(ctx, anyGrowing)
	if strings.HasPrefix(c.cmd.Name, "FCALL") {
		if lib := s.engine.libraries.find(string(c.args[1])); lib != nil {
			e.hint, e.flags = lib.hint, lib.Function(string(c.args[1])).Flags
		}
		return e, resp.Value{}
	}
	bySHA := strings.HasPrefix(c.cmd.Name, "EVALSHA")
	if bySHA && len(c.args[1]) != 2*sha1.Size {
		return nil, noScript
	}
	n, ok := commands.ParseInt(c.args[2])
	if !ok {
		return nil, resp.MakeError("ERR value is not an integer or out of range")
	}
	if bad := e.split(n); bad.IsError() {
		return nil, bad
	}
	sc := &s.engine.scripts.cache
	var found *script.Script
	if bySHA {
		if found = sc.find(strings.ToLower(string(c.args[1])), true); found == nil {
			return nil, noScript
		}
	} else if found, bad = sc.load(c.args[1], false, &s.work); bad.IsError() {
		return nil, bad
	}
	if e.readOnly && found.Declares && found.Flags&script.NoWrites == 0 {
		return nil, mayWrite
	}
	if reason := s.engine.readOnly(); reason != "" && found.Declares && found.Flags&script.NoWrites == 0 {
		return nil, resp.MakeError("READONLY " + reason)
	}
	e.script, e.hint, e.flags = found, found.Hint, found.Flags
	e.readOnly = e.readOnly || e.flags&script.NoWrites != 0
	return e, resp.Value{}
}

// split separates the keys from the other args.
func (e *evaluation) split(keys int64) (bad resp.Value) {
	args := e.call.args[3:]
	switch {
	case keys > int64(len(args)):
		return resp.MakeError("ERR Number of keys can't be greater than number of args")
	case keys < 0:
		return resp.MakeError("ERR Number of keys can't be negative")
	}
	e.keys, e.args = args[:keys], args[keys:]
	return resp.Value{}
}

// mayRead reports whether to try a read-only transaction, next to the writer. If the script then writes, it
// ends with errWrites and runs again.
func (e *evaluation) mayRead() bool {
	return e.readOnly || e.session.engine.readOnly() != "" || e.flags&script.NoWrites != 0 || e.hint == nil || !e.hint.Writes()
}

// errWrites ends a script before its first write in a read-only transaction.
var errWrites = errors.New("the script writes")

// retriesOnWrite reports whether the script runs in a read-only transaction only as a first try: it has left no trace
// and can run again.
func (e *evaluation) retriesOnWrite() bool {
	return e.reading && !e.readOnly && e.session.engine.readOnly() == ""
}

func (s *Session) eval(ctx context.Context, c call) (resp.Value, error) {
	e, bad := s.evaluate(ctx, c)
	if e == nil {
		return bad, nil
	}
	s.liftTimeLimit()
	defer s.limitAgain()
	replies, _, err := s.engine.transaction(ctx, nil, []planned{{eval: e, db: s.db}}, &s.work)
	if late, is := limited(err); is {
		return late, nil
	}
	if err != nil {
		return resp.Value{}, err
	}
	e.release()
	return replies[0], nil
}

func (s *Session) scriptLoad(_ context.Context, c call) (resp.Value, error) {
	made, bad := s.engine.scripts.cache.load(c.args[2], true, &s.work)
	if bad.IsError() {
		return bad, nil
	}
	return resp.MakeString(made.SHA), nil
}

func (s *Session) scriptExists(_ context.Context, c call) (resp.Value, error) {
	v := resp.EmptyArray
	for _, sha := range c.args[2:] {
		n := resp.Zero
		if s.engine.scripts.cache.find(strings.ToLower(string(sha)), false) != nil {
			n = resp.One
		}
		v.Elems = append(v.Elems, n)
	}
	return v, nil
}

func (s *Session) scriptFlush(_ context.Context, c call) (resp.Value, error) {
	if len(c.args) > 3 || len(c.args) == 3 && !commands.Is(c.args[2], "SYNC") && !commands.Is(c.args[2], "ASYNC") {
		return resp.MakeError("ERR SCRIPT FLUSH only support SYNC|ASYNC option"), nil
	}
	s.engine.scripts.cache.flush()
	return resp.OK, nil
}

// execute runs the script. do runs one command in a database; an error from do ends the script and is returned.
func (e *evaluation) execute(db int, seed uint64, work *store.Work, do func(planned) (resp.Value, error)) (resp.Value, error) {
	engine := e.session.engine
	start, done, bad, err := e.start(do, work)
	if err != nil || bad.IsError() {
		return bad, err
	}
	usable := false // after a panic the machine's state is unknown
	defer func() { done(usable) }()
	defer engine.scriptStarted(e)()
	e.deferred = deferredOutput{}
	e.wrote.Store(false) // the writes of an earlier run are undone
	began := time.Now()
	limit := time.Duration(0)
	if e.session.turn.HasTimeLimit() {
		limit = time.Duration(engine.timeLimit.Load())
	}
	check := work.Check
	defer func() { work.Check = check }()
	host := script.Host{
		Grow: func(n int) { work.Grow(int64(n)) },
		Call: func(args [][]byte) (resp.Value, error) { return e.command(&db, args, do) },
		Allowed: func(args [][]byte) (allowed, known bool) {
			cmd := commands.Called(args)
			if cmd == nil {
				return false, false
			}
			_, refused := e.session.Refused(cmd, args, Asking)
			return !refused, true
		},
		Rejected: e.session.rejectedInScript,
		Interrupt: func() error {
			switch {
			case e.killed.Load():
				return script.ErrKilled
			case engine.scripts.ended.Load():
				return &store.Exceeded{Reply: scriptEnded}
			case e.ctx.Err() != nil && (engine.cancelsScripts || !e.wrote.Load()):
				return e.ctx.Err()
			case limit > 0 && time.Since(began) > limit:
				return &store.TooLong{Limit: limit}
			case e.session.turn.DelaysOthers.Load() && time.Since(began) > maxGroupDelay:
				return store.ErrLong
			case engine.interrupt != nil:
				return engine.interrupt()
			}
			return nil
		},
	}
	work.Check = func(time.Time) error { return host.Interrupt() } // applies to its commands, too
	v, err := start(&script.Run{Keys: e.keys, Args: e.args, Seed: int32(seed), Host: host, Debugger: e.debugger, Source: e.call.args[1]})
	usable = true
	return v, err
}

// maxGroupDelay limits how long a script may delay the calls before it in its transaction.
const maxGroupDelay = 20 * time.Millisecond

// starter runs a script or function on its machine.
type starter func(*script.Run) (resp.Value, error)

// start returns a starter with a free machine; done returns the machine, if it is still usable. bad is the
// reply if the call cannot run.
func (e *evaluation) start(do func(planned) (resp.Value, error), work *store.Work) (run starter, done func(usable bool), bad resp.Value, err error) {
	if e.script == nil {
		return e.startFunction(do, work)
	}
	machines := &e.session.engine.scripts.machines
	m, _ := machines.Get().(*script.Machine)
	if m == nil {
		m = script.NewMachine()
	}
	return func(r *script.Run) (resp.Value, error) { return m.Eval(e.script, r) }, func(usable bool) {
		if usable {
			machines.Put(m)
		}
	}, resp.Value{}, nil
}

// refused returns the error if the script must not run the command, in Redis's order.
func (e *evaluation) refused(cmd *commands.Command, args [][]byte) (v resp.Value, refused bool) {
	if v, refused := e.session.Refused(cmd, args, InScript); refused {
		return v, true
	}
	if e.readOnly && (cmd.Flags&commands.Write != 0 || cmd.Has(commands.Replicates)) {
		return writeInReadOnly, true
	}
	return outOfMemory, e.memoryFull && cmd.Flags&commands.DenyOOM != 0 && e.flags&script.AllowOOM == 0 && !e.wrote.Load()
}

var writeInReadOnly = resp.MakeError("ERR Write commands are not allowed from read-only scripts.")

// command runs a command of the script.
func (e *evaluation) command(db *int, args [][]byte, do func(planned) (resp.Value, error)) (resp.Value, error) {
	cmd, bad := commands.Find(args)
	if e.retriesOnWrite() && (cmd == nil || e.hasSideEffects(cmd, args)) {
		e.hint.Wrote()
		return resp.Value{}, errWrites
	}
	if cmd == nil {
		e.session.rejectedInScript(args, &bad)
		return bad, nil
	}
	if v, refused := e.refused(cmd, args); refused {
		e.session.rejectedInScript(args, &v)
		return v, nil
	}
	if cmd.Flags&commands.Write != 0 {
		if reason := e.session.engine.readOnly(); reason != "" {
			return resp.MakeError("READONLY " + reason), nil
		}
		if !e.writes() {
			return resp.Value{}, script.ErrKilled
		}
	}
	if e.flags&script.AllowKeyLocking != 0 {
		if bad := e.checkDeclared(cmd, args); bad.IsError() {
			return bad, nil
		}
	}
	switch {
	case translator.Translates(cmd):
		return e.translated(*db, call{cmd, args}, do)
	case cmd.Name == "SELECT":
		return e.selectDB(db, call{cmd, args}), nil
	}
	e.show(call{cmd, args}, *db)
	switch cmd.Name {
	case "PUBLISH":
		return e.publish(pubsub.Channel, args), nil
	case "SPUBLISH":
		return e.publish(pubsub.Shard, args), nil
	}
	if cmd.Flags&commands.PubSub != 0 {
		return e.session.listeners(e.ctx, call{cmd, args})
	}
	return e.session.onConnection(context.WithValue(e.ctx, ofScript{}, true), call{cmd, args})
}

// selectDB runs SELECT, which sets db.
func (e *evaluation) selectDB(db *int, c call) resp.Value {
	n, reply := commands.DBIndex(c.args[1])
	if !reply.IsError() {
		*db, reply = n, resp.OK
	}
	e.show(c, *db)
	return reply
}

// translated runs a command with a translation in database db.
func (e *evaluation) translated(db int, c call, do func(planned) (resp.Value, error)) (resp.Value, error) {
	e.show(c, db)
	p := e.session.planned(c)
	p.db = db
	began := time.Now()
	v, err := do(p)
	switch {
	case errors.Is(err, script.ErrKilled):
		err = script.ErrKilled
	case err == nil:
		e.session.ranInScript(p.call, time.Since(began), &v)
	}
	return v, err
}

// checkDeclared returns an error if a command of a script with declared keys uses other keys, or writes without keys.
func (e *evaluation) checkDeclared(cmd *commands.Command, args [][]byte) resp.Value {
	if cmd.Flags&commands.Write != 0 && len(cmd.Keys) == 0 {
		return resp.MakeError("ERR " + cmd.Name + noGlobal)
	}
	return e.undeclared(cmd, args)
}

// hasSideEffects reports whether a command must not run twice: it writes, it is outside the store, or it is
// refused, which is recorded.
func (e *evaluation) hasSideEffects(cmd *commands.Command, args [][]byte) bool {
	if cmd.Flags&commands.Write != 0 || !translator.Translates(cmd) && cmd.Name != "SELECT" {
		return true
	}
	_, refused := e.session.Refused(cmd, args, Asking)
	return refused
}

// ofScript marks the context of a command that a script runs.
type ofScript struct{}

// OfScript reports whether a script calls the Connection. The script may hold the store, so the Connection must
// not call the store then.
func OfScript(ctx context.Context) bool { return ctx.Value(ofScript{}) != nil }

// undeclared returns the error for a command on an undeclared key, under Upstash's key locking.
func (e *evaluation) undeclared(cmd *commands.Command, args [][]byte) resp.Value {
	for _, ref := range cmd.KeysOf(args) {
		declared := false
		for _, key := range e.keys {
			declared = declared || string(key) == string(args[ref.Pos])
		}
		if !declared {
			return resp.MakeError(noDynamic + string(args[ref.Pos]))
		}
	}
	return resp.Value{}
}

// within runs the script as the i-th call of a transaction.
func (e *evaluation) within(run Run, env translator.Env, i, db int, work *store.Work) (resp.Value, error) {
	budget := work.Budget
	used := budget.Used()
	env.Seed += uint64(i) << 32
	env.InScript = true
	watch := func(_ [][]byte, run Run) Run { return run }
	if e.trial != nil {
		watch = e.trial()
	}
	v, err := e.execute(db, env.Seed, work, func(p planned) (resp.Value, error) {
		env.Seed += scriptSeeds
		run := watch(p.args, run)
		e.session.engine.reads(p, e.reading)
		plan, err := p.plan(env, 0)
		if err != nil {
			return resp.Value{}, err
		}
		before := budget.Used() // includes the memory of the script
		v, err := e.session.engine.steps(run, plan, work)
		budget.Rewind(before)
		return v, err
	})
	if budget != nil {
		budget.Rewind(used)
		budget.Charge(store.Weight(&v))
	}
	return v, err
}

// scriptSeeds separates the random seeds of a script's calls.
const scriptSeeds = 0x9E3779B97F4A7C15
