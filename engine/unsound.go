package engine

import (
	"fmt"
	"runtime"
	"strings"

	"github.com/meowdis/meowdis/resp"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/translator"
)

// A translation relies on what holds in a sound database: that a string has a value,
// that a hash has as many fields as are counted. Where the file is damaged, or is another
// program's and says something else, it may reach for a row that is not there. That
// must be the answer to one command, and not the end of all clients.

var unsound = resp.MakeError("ERR the database is damaged: what it holds of this key does not fit together; meowdis doctor says more")

// ownFault answers a command that meowdis itself could not carry out.
func ownFault(fault any) resp.Value {
	return resp.MakeError(fmt.Sprintf("ERR meowdis failed on this command, which is a fault of its own: %v; please report it at https://github.com/meowdis/meowdis/issues", fault))
}

// decode shapes the reply of a plan's rows.
func decode(p *translator.Plan, r *store.Result) (v resp.Value) {
	defer func() {
		if fault := recover(); fault != nil {
			v = blame(fault)
		}
	}()
	return p.Decode(r)
}

// following is the plan after a step.
func following(p *translator.Plan, r *store.Result) (next translator.Plan) {
	defer func() {
		if fault := recover(); fault != nil {
			next = translator.Plan{Reply: blame(fault)}
		}
	}()
	next = p.Then(r)
	next.Keys, next.Batch.Of = p.Keys, p.Batch.Of
	return next
}

// blame is the reply for a panic over rows: the file's fault only where a row or cell
// that is missing can cause it.
func blame(fault any) resp.Value {
	if err, is := fault.(runtime.Error); is && strings.Contains(err.Error(), "out of range") {
		return unsound
	}
	return ownFault(fault)
}
