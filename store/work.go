package store

import (
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"strings"
	"time"

	"github.com/meowdis/meowdis/redis/resp"
)

// Work bounds what meowdis itself computes for one call: planning, decoding, formatting, Lua. Code that
// may allocate or loop in proportion to its input charges it first. When a limit is exceeded, Grow and
// Step panic with an *Exceeded, which only the engine's boundary recovers: it rolls the call back and
// replies with the error. A nil Work has no limits. It is for one goroutine at a time.
type Work struct {
	Budget *Budget // memory; nil for any amount

	// Check is called after every StepsPerCheck steps; an error ends the call, and nil never ends it. It
	// gets the time of the first check since Begin: calls that are short never read the clock.
	Check func(began time.Time) error

	steps int
	began time.Time
}

// Watch sets Check, and begins a call.
func (w *Work) Watch(check func(began time.Time) error) { *w = Work{Budget: w.Budget, Check: check} }

// Begin begins a call, whose time is its own. The steps before it count for the next check.
func (w *Work) Begin() { w.began = time.Time{} }

// StepsPerCheck is how many steps run between two calls of Check. A step takes some nanoseconds: one byte
// compared, one element decoded, one instruction of a script.
const StepsPerCheck = 1 << 16

// Exceeded is the panic value of a call that has reached one of its limits. As an error it wraps Err.
type Exceeded struct {
	Reply resp.Value // the error reply, for a memory limit; the zero value otherwise
	Err   error      // from Check: a *TooLong, ErrLong, or the error of a context; nil for a memory limit
}

func (e *Exceeded) Error() string {
	if e.Err != nil {
		return e.Err.Error()
	}
	return string(e.Reply.Str)
}

func (e *Exceeded) Unwrap() error { return e.Err }

// Grow charges n bytes before they are allocated.
func (w *Work) Grow(n int64) {
	if w == nil || w.Budget.Take(n) {
		return
	}
	panic(&Exceeded{Reply: w.Budget.Refusal()})
}

// Room returns how many more bytes may be charged at most, 0 for any number.
func (w *Work) Room() int64 {
	if w == nil {
		return 0
	}
	return w.Budget.Room()
}

// Step charges n steps.
func (w *Work) Step(n int) {
	if w == nil {
		return
	}
	if w.steps += n; w.steps < StepsPerCheck {
		return
	}
	w.steps = 0
	if w.Check == nil {
		return
	}
	if w.began.IsZero() {
		w.began = time.Now()
	}
	if err := w.Check(w.began); err != nil {
		panic(&Exceeded{Err: err})
	}
}

// Panic is the error of code that panicked.
type Panic struct {
	Value any
	Stack []byte // of the goroutine, where it panicked
}

func (p *Panic) Error() string { return fmt.Sprintf("panic: %v", p.Value) }

// Unwrap returns the value if it is an error.
func (p *Panic) Unwrap() error {
	err, _ := p.Value.(error)
	return err
}

// Recovered returns what recover has returned as an error: an *Exceeded, a *Panic, or nil.
func Recovered(v any) error {
	switch v := v.(type) {
	case nil:
		return nil
	case *Exceeded:
		return v
	case *Panic: // has crossed a boundary before
		return v
	}
	return &Panic{v, debug.Stack()}
}

// Caught calls fn, and returns its panic as an error.
func Caught(fn func() error) (err error) {
	defer Catch(&err)
	return fn()
}

// Guard calls fn, and reports its panic. Every goroutine that is not of one command runs in a Guard, since a
// panic outside ends the process. A nil report logs to the default logger.
func Guard(report func(error), fn func()) {
	if report == nil {
		report = LogPanic(slog.Default())
	}
	if err := Caught(func() error { fn(); return nil }); err != nil {
		report(err)
	}
}

// LogPanic returns a function that logs an error of Guard in one line, with the stack.
func LogPanic(log *slog.Logger) func(error) {
	return func(err error) {
		stack := []byte{}
		if p := (*Panic)(nil); errors.As(err, &p) {
			stack = p.Stack
		}
		log.Error("internal error", "panic", strings.TrimPrefix(err.Error(), "panic: "), "stack", string(stack))
	}
}

// Catch recovers a panic of the function that defers it, and sets err.
func Catch(err *error) {
	if v := recover(); v != nil {
		*err = Recovered(v)
	}
}
