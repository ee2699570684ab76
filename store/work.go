package store

import (
	"fmt"
	"runtime/debug"
	"time"

	"github.com/meowdis/meowdis/redis/resp"
)

// Work limits meowdis's own computing for one call: planning, decoding, formatting, Lua. Code that allocates or
// loops in proportion to its input charges Work first. When a limit is exceeded, Grow and Step panic with an
// *Exceeded. Only the engine's boundary recovers it: it rolls the call back and replies with the error. A nil
// Work has no limits. Only one goroutine may use a Work at a time.
type Work struct {
	Budget *Budget // memory; nil for no limit

	// Check is called after every StepsPerCheck steps; an error from it ends the call. A nil Check never does.
	// began is the time of the first check since Begin, so short calls never read the clock.
	Check func(began time.Time) error

	steps int
	began time.Time
}

// Watch sets Check, and begins a call.
func (w *Work) Watch(check func(began time.Time) error) { *w = Work{Budget: w.Budget, Check: check} }

// Begin begins a call with a time of its own. Earlier steps count towards the next check.
func (w *Work) Begin() { w.began = time.Time{} }

// StepsPerCheck is the number of steps between two calls of Check. A step takes some nanoseconds: one byte
// compared, one element decoded, one instruction of a script.
const StepsPerCheck = 1 << 16

// Exceeded is the panic value of a call that has reached a limit. As an error it wraps Err.
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
	panic(&Exceeded{Reply: w.Refusal()})
}

// Allocate charges n bytes, and as many steps, before they are allocated.
func (w *Work) Allocate(n int) {
	w.Grow(int64(n))
	w.Step(n)
}

// Used returns the number of charged bytes.
func (w *Work) Used() int64 {
	if w == nil {
		return 0
	}
	return w.Budget.Used()
}

// Release returns n charged bytes whose memory is free again.
func (w *Work) Release(n int64) {
	if w != nil && w.Budget != nil {
		w.Budget.Rewind(max(0, w.Budget.Used()-n))
	}
}

// Refusal returns the error reply to a request that needs more memory than it may take.
func (w *Work) Refusal() resp.Value {
	if w == nil {
		return RequestTooLarge
	}
	return w.Budget.Refusal()
}

// Remaining returns the number of bytes that may still be charged, 0 for no limit.
func (w *Work) Remaining() int64 {
	if w == nil {
		return 0
	}
	return w.Budget.Remaining()
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
	Stack []byte // of the goroutine, at the panic
}

func (p *Panic) Error() string { return fmt.Sprintf("panic: %v", p.Value) }

// Unwrap returns the value if it is an error.
func (p *Panic) Unwrap() error {
	err, _ := p.Value.(error)
	return err
}

// Recovered converts a value of recover to an error: an *Exceeded, a *Panic, or nil.
func Recovered(v any) error {
	switch v := v.(type) {
	case nil:
		return nil
	case *Exceeded:
		return v
	case *Panic: // was recovered before
		return v
	}
	return &Panic{v, debug.Stack()}
}

// Caught calls fn, and returns its error or its panic as an error.
func Caught(fn func() error) (err error) {
	defer Catch(&err)
	return fn()
}

// Guard calls fn, and reports its panic. Every goroutine that does not belong to one command runs in a Guard,
// because a panic outside ends the process.
func Guard(report func(error), fn func()) {
	if err := Caught(func() error { fn(); return nil }); err != nil {
		report(err)
	}
}

// Catch recovers a panic of the function that defers it, and sets err.
func Catch(err *error) {
	if v := recover(); v != nil {
		*err = Recovered(v)
	}
}
