//go:build wasip1

package main

import (
	"strings"

	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
)

var panicked = resp.MakeError("ERR the engine failed: of a pipeline, some commands may have run")

// guard is deferred by exported functions, since a panic would end the instance with the streams and scripts of all
// its objects. It logs the panic and calls failed.
func guard(failed func()) {
	if p, is := store.Recovered(recover()).(*store.Panic); is {
		logPanic(p)
		failed()
	}
}

// logPanic logs a panic and its stack in one line.
func logPanic(p *store.Panic) {
	println("meowdis:", p.Error(), strings.ReplaceAll(string(p.Stack), "\n", " "))
}
