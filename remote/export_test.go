package remote

import (
	"context"
	"net"
	"net/http"
	"sync/atomic"
	"time"
)

// DialWith has r connect by dial.
func DialWith(r *REST, dial func(context.Context, string, string) (net.Conn, error)) {
	r.client.Transport.(*http.Transport).DialContext = dial
}

// StorageDialWith has s connect by dial.
func StorageDialWith(s *Storage, dial func(context.Context, string, string) (net.Conn, error)) {
	s.client.Transport.(*http.Transport).DialContext = dial
}

// WithoutWaiting makes r try again at once.
func WithoutWaiting(r *REST) { r.waitBefore = func(int) time.Duration { return 0 } }

// StorageWithoutWaiting makes s try again at once.
func StorageWithoutWaiting(s *Storage) { s.waitBefore = func(int) time.Duration { return 0 } }

// StoragePanicsOnce makes the next request of s panic.
func StoragePanicsOnce(s *Storage) {
	s.client.Transport = &panicking{RoundTripper: s.client.Transport}
}

type panicking struct {
	http.RoundTripper
	done atomic.Bool
}

func (p *panicking) RoundTrip(r *http.Request) (*http.Response, error) {
	if p.done.CompareAndSwap(false, true) {
		panic("injected")
	}
	return p.RoundTripper.RoundTrip(r)
}

// MaxRequests is how many requests of a kind are under way at a time.
const MaxRequests = maxRequests

// Waiting is how many writes wait for a request.
func (s *Storage) Waiting() int { return s.writes.Waiting() }
