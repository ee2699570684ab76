package remote

import (
	"context"
	"errors"
	"net"
	"runtime"
	"testing"
	"time"
)

// yielding lets other goroutines run before it changes a deadline.
type yielding struct{ net.Conn }

func (c yielding) SetDeadline(t time.Time) error {
	for range 100 {
		runtime.Gosched()
	}
	return c.Conn.SetDeadline(t)
}

// TestCancelledBefore: a call that may block for ever ends when its context has ended before it is sent, so nothing
// may undo the deadline that this sets.
func TestCancelledBefore(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 20 {
		here, there := net.Pipe()
		r := &Redis{}
		r.attach(yielding{here})
		done := make(chan error, 1)
		go func() {
			_, err := r.Do(ctx, []byte("BLPOP"), []byte("k"), []byte("0"))
			done <- err
		}()
		select {
		case err := <-done:
			if !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
		case <-time.After(time.Minute):
			t.Fatal("it waits on")
		}
		there.Close()
	}
}
