package store

import (
	"context"
	"sync/atomic"
)

// WriteWait connects a call and its store while the call waits for the writer, and says whether its time is limited.
// With a nil WriteWait the call waits without limit.
type WriteWait struct {
	Gate *Gate
	// DelaysOthers is set by the store while a transaction delays calls that have already run in it. The transaction
	// should end with ErrLong if it takes long; it then runs again without them.
	DelaysOthers atomic.Bool
	// Unlimited exempts the call from the store's time limit.
	Unlimited bool
}

type writeWaitKey struct{}

// WithWriteWait returns ctx with a turn, for Apply and Transact.
func WithWriteWait(ctx context.Context, t *WriteWait) context.Context {
	return context.WithValue(ctx, writeWaitKey{}, t)
}

// WriteWaitOf returns the turn of ctx, or nil.
func WriteWaitOf(ctx context.Context) *WriteWait {
	t, _ := ctx.Value(writeWaitKey{}).(*WriteWait)
	return t
}

// HasTimeLimit reports whether the store's time limit applies to the call.
func (t *WriteWait) HasTimeLimit() bool { return t == nil || !t.Unlimited }

// Ended returns the end of the wait.
func (t *WriteWait) Ended() *WaitEnd {
	if t == nil || t.Gate == nil {
		return &WaitEnd{}
	}
	return t.Gate.current()
}

// Gate ends the wait of all calls that have not begun, while it is shut. The zero Gate is open.
type Gate struct{ end atomic.Pointer[WaitEnd] }

// WaitEnd reports the end of a wait: C is closed then, and Err is the reason.
type WaitEnd struct {
	C   chan struct{}
	Err error // valid once C is closed
}

func (g *Gate) current() *WaitEnd {
	for {
		if r := g.end.Load(); r != nil {
			return r
		}
		g.end.CompareAndSwap(nil, &WaitEnd{C: make(chan struct{})})
	}
}

// Close ends the wait of calls with err, until Open. The gate must be open, and only one goroutine may shut it
// at a time.
func (g *Gate) Close(err error) {
	r := g.current()
	r.Err = err
	close(r.C)
}

// Open lets calls wait again.
func (g *Gate) Open() { g.end.Store(nil) }
