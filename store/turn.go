package store

import (
	"context"
	"sync/atomic"
)

// Turn is what a call and its store tell each other while calls wait for the one that writes. A nil Turn
// waits for as long as it takes.
type Turn struct {
	Gate *Gate
	// Holds is set by the store when a transaction holds up calls that have run before it: it should end
	// with ErrLong if it takes long, and then runs again without them.
	Holds atomic.Bool
}

type turnKey struct{}

// WithTurn returns ctx with a turn, for Apply and Transact.
func WithTurn(ctx context.Context, t *Turn) context.Context {
	return context.WithValue(ctx, turnKey{}, t)
}

// TurnOf returns the turn of ctx, or nil.
func TurnOf(ctx context.Context) *Turn {
	t, _ := ctx.Value(turnKey{}).(*Turn)
	return t
}

// Waits returns what ends the wait.
func (t *Turn) Waits() *Refused {
	if t == nil || t.Gate == nil {
		return &Refused{}
	}
	return t.Gate.refused()
}

// Gate ends the wait of all calls that have not begun, while it is shut. Its zero value is open.
type Gate struct{ now atomic.Pointer[Refused] }

// Refused ends a wait: C is closed then, and Err is why.
type Refused struct {
	C   chan struct{}
	Err error // valid once C is closed
}

func (g *Gate) refused() *Refused {
	for {
		if r := g.now.Load(); r != nil {
			return r
		}
		g.now.CompareAndSwap(nil, &Refused{C: make(chan struct{})})
	}
}

// Shut ends the wait of calls with err, until Open. It is for an open gate, and one goroutine at a time.
func (g *Gate) Shut(err error) {
	r := g.refused()
	r.Err = err
	close(r.C)
}

// Open lets calls wait again.
func (g *Gate) Open() { g.now.Store(nil) }
