package store

import (
	"context"
	"sync/atomic"
)

// Turn connects a call and its store while the call waits for the writer. With a nil Turn the call waits
// without limit.
type Turn struct {
	Gate *Gate
	// Holds is set by the store while a transaction delays calls that have already run in it. The transaction
	// should end with ErrLong if it takes long; it then runs again without them.
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

// Waits returns the end of the wait.
func (t *Turn) Waits() *Refused {
	if t == nil || t.Gate == nil {
		return &Refused{}
	}
	return t.Gate.refused()
}

// Gate ends the wait of all calls that have not begun, while it is shut. The zero Gate is open.
type Gate struct{ now atomic.Pointer[Refused] }

// Refused reports the end of a wait: C is closed then, and Err is the reason.
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

// Shut ends the wait of calls with err, until Open. The gate must be open, and only one goroutine may shut it
// at a time.
func (g *Gate) Shut(err error) {
	r := g.refused()
	r.Err = err
	close(r.C)
}

// Open lets calls wait again.
func (g *Gate) Open() { g.now.Store(nil) }
