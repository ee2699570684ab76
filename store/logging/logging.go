// Package logging writes panics and errors of background work to a log. It is apart from store, because the Worker's
// program has no room for log/slog.
package logging

import (
	"errors"
	"log/slog"
	"strings"

	"github.com/meowdis/meowdis/store"
)

// Panic returns a function that logs an error of store.Guard as one record, with the stack.
func Panic(log *slog.Logger) func(error) {
	return func(err error) {
		stack := []byte{}
		if p := (*store.Panic)(nil); errors.As(err, &p) {
			stack = p.Stack
		}
		log.Error("internal error", "panic", strings.TrimPrefix(err.Error(), "panic: "), "stack", string(stack))
	}
}

// Errors returns a function that logs errors of background work as what, and panics with their stack.
func Errors(log *slog.Logger, what string, attrs ...any) func(error) {
	log = log.With(attrs...)
	return func(err error) {
		if errors.As(err, new(*store.Panic)) {
			Panic(log)(err)
			return
		}
		log.Error(what, "error", err)
	}
}
