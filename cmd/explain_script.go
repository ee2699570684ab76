package cmd

import (
	"bytes"
	"context"
	"time"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
)

const (
	shownCalls  = 100              // of one script
	scriptLimit = 10 * time.Second // time limit of a script
)

// writerLimit limits the time of a script that holds the writer's lock. Tests on a slow machine change it.
var writerLimit = 100 * time.Millisecond

// explainScript runs a script or a function in a transaction, rolls back, and lists the calls.
func (x *explainer) explainScript(ctx context.Context, e explanation, args [][]byte) (explanation, resp.Value, error) {
	if err := x.openForScripts(); err != nil {
		return e, resp.Value{}, err
	}
	e.Kind, e.where = kindScript, x.where()
	runner := engine.New(x.scripts)
	runner.SetTimeLimit(scriptLimit)
	session := runner.Session()
	session.Select(x.db)
	session.Bound(store.NewBudget(store.NewPool(agentMemory), agentMemory, 0).NoFlag())
	reply, err := session.Trial(ctx, args, writerLimit, func() engine.Watch {
		e.Calls, e.More, e.Statements = nil, 0, e.Statements[:0]
		return e.call
	})
	e.Reply = string(resp.AppendTyped(nil, reply, true))
	return e, resp.Value{}, err
}

// call records a call of a script, and wraps run to record its statements.
func (e *explanation) call(call [][]byte, run engine.Run) engine.Run {
	if len(e.Calls) == shownCalls {
		e.More++
		return run
	}
	line := "(looking up the function)"
	if len(call) > 0 {
		line = callLine(call)
	}
	e.Calls = append(e.Calls, shortened(line))
	n, step := len(e.Calls), 0
	return func(b store.Batch) (store.Result, error) {
		step++
		for _, stmt := range b.Stmts {
			shown, err := explainStmt(run, stmt)
			if err != nil {
				return store.Result{}, err
			}
			shown.Step, shown.Call = step, n
			e.Statements = append(e.Statements, shown)
		}
		return run(b)
	}
}

// openForScripts opens the file so that scripts can write to it. It refuses a file with an older schema as open does,
// and opens a file without write permission for reading.
func (x *explainer) openForScripts() (err error) {
	if x.scripts != nil {
		return nil
	}
	if err := x.open(); err != nil {
		return err
	}
	if x.scripts = x.file; x.path != "" && !x.empty { // not the inspector's file, nor one in memory
		x.scripts, err = local.Open(x.path, local.Options{SweepEvery: noSweep, FallbackReadOnly: true, SingleConn: true})
	}
	return err
}

// callLine formats a call as a user would type it.
func callLine(call [][]byte) string {
	var line []byte
	for i, word := range call {
		if i > 0 {
			line = append(line, ' ')
		}
		quoted := resp.AppendQuoted(nil, word, true)
		if plain := quoted[1 : len(quoted)-1]; len(word) > 0 && bytes.Equal(plain, word) && !bytes.ContainsAny(word, " '") {
			quoted = plain
		}
		line = append(line, quoted...)
	}
	return string(line)
}
