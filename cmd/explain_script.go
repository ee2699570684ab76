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
	shownCalls  = 100                    // of a script
	scriptLimit = 10 * time.Second       // for which it may run
	writerLimit = 100 * time.Millisecond // for which one that may write does, since writers wait for it
)

// explainScript runs a script or a function in a transaction that is undone, and shows its calls.
func (x *explainer) explainScript(ctx context.Context, e explanation, args [][]byte) (explanation, resp.Value, error) {
	if err := x.openForScripts(); err != nil {
		return e, resp.Value{}, err
	}
	e.Kind, e.where = kindScript, x.where()
	runner := engine.New(x.scripts)
	runner.SetTimeLimit(scriptLimit)
	session := runner.Session()
	session.Select(x.db)
	session.Bound(store.NewBudget(store.NewPool(agentMemory), agentMemory, 0))
	reply, err := session.Trial(ctx, args, writerLimit, func() engine.Watch {
		e.Calls, e.More, e.Statements = nil, 0, e.Statements[:0]
		return e.call
	})
	e.Reply = string(resp.AppendTyped(nil, reply, true))
	return e, resp.Value{}, err
}

// call notes a call of a script, and has run show its statements.
func (e *explanation) call(call [][]byte, run engine.Run) engine.Run {
	if len(e.Calls) == shownCalls {
		e.More++
		return run
	}
	line := "(the function is looked for)"
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

// openForScripts opens the file so that scripts can write to it. A file that is not up to date is
// refused as open refuses it, and one that may not be written is read.
func (x *explainer) openForScripts() (err error) {
	if x.scripts != nil {
		return nil
	}
	if err := x.open(); err != nil {
		return err
	}
	if x.scripts = x.file; x.path != "" && !x.empty { // not the inspector's, nor one in memory
		x.scripts, err = local.Open(x.path, local.Options{SweepEvery: noSweep, OrRead: true, SingleConn: true})
	}
	return err
}

// callLine is a call as it is typed.
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
