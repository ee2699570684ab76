package rqlite

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
)

// TestSilentLeader sends a request while the leader hangs and the other node first names it. That node must not be
// asked to forward the request: it would wait for the leader.
func TestSilentLeader(t *testing.T) {
	t.Parallel()
	ended := make(chan struct{})
	hung := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		select {
		case <-r.Context().Done():
		case <-ended:
		}
	}))
	defer hung.Close()
	defer close(ended)
	var asked, forwarded atomic.Int64
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		query := r.URL.Query()
		switch n := asked.Add(1); {
		case !query.Has("redirect"):
			forwarded.Add(1)
			http.Error(w, "the leader does not answer", http.StatusInternalServerError)
		case n <= 3: // the first sends the client to the leader, the others come before the election
			w.Header().Set("Location", hung.URL+r.URL.Path)
			w.WriteHeader(http.StatusMovedPermanently)
		}
	}))
	defer other.Close()
	c := newCluster(Options{Nodes: []string{strings.TrimPrefix(other.URL, "http://")}})
	err := c.send(context.Background(), &request{path: "/db/execute?", answer: func(io.Reader) error { return nil }})
	if err != nil || forwarded.Load() > 0 || asked.Load() != 4 {
		t.Errorf("%v, %d requests, of which %d to be forwarded", err, asked.Load(), forwarded.Load())
	}
}

// TestSilentForOne forwards requests to a leader that only this process cannot reach.
func TestSilentForOne(t *testing.T) {
	c := newCluster(Options{Nodes: []string{"a:1", "b:1"}})
	c.leader = "a:1"
	c.failed("a:1", true)
	if _, forward := c.target(); forward || c.follow("b:1", "a:1") {
		t.Error("it asks the silent leader, or forwards, at once")
	}
	c.silentUntil = c.silentUntil.Add(-2 * electionTimeout)
	if c.follow("b:1", "a:1") {
		t.Error("it asks the silent leader")
	}
	if _, forward := c.target(); !forward {
		t.Error("it does not forward")
	}
}
