package remote

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/meowdis/meowdis/remote/lane"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/store/wire"
)

// Storage is a store at an endpoint that speaks store/wire, such as serve --storage. It is safe for concurrent
// use. While requests are in progress, calls of several goroutines share the next one.
//
// A request that only reads is sent again if no response arrives. A write is sent again only if it never left
// the process. If a failed write may have run, its error wraps ErrUnknown.
type Storage struct {
	url    *url.URL
	token  string
	client *http.Client

	reads, writes lane.Lane[*sending]
	waitBefore    func(attempt int) time.Duration

	life      context.Context // ends with Abandon
	abandon   context.CancelCauseFunc
	abandoned atomic.Int64
}

// OpenStorage returns the store at rawURL, http:// or https://. It sends nothing.
func OpenStorage(rawURL, token string, o Options) (*Storage, error) {
	u, err := url.Parse(rawURL)
	if err != nil {
		return nil, errors.New("the URL cannot be read")
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, fmt.Errorf("%s://%s is not the URL of a storage endpoint", u.Scheme, u.Host)
	}
	client, err := o.client(u.Hostname())
	if err != nil {
		return nil, err
	}
	transport := client.Transport.(*http.Transport)
	transport.MaxIdleConnsPerHost = 2 * maxRequests
	s := &Storage{url: u, token: token, client: client, waitBefore: backoff}
	s.life, s.abandon = context.WithCancelCause(context.Background())
	s.setLane(&s.reads, true)
	s.setLane(&s.writes, false)
	return s, nil
}

// Close closes idle connections.
func (s *Storage) Close() error {
	s.client.CloseIdleConnections()
	return nil
}

// Abandon cancels requests in progress, whose outcome is then unknown, and fails all later calls.
func (s *Storage) Abandon() { s.abandon(errAbandoned) }

// Abandoned returns the number of calls that failed because of Abandon.
func (s *Storage) Abandoned() int64 { return s.abandoned.Load() }

var errAbandoned = errors.New("it was abandoned")

// CloseIdle closes idle connections, so that the next request makes a new one. After a process was suspended,
// the other side may have closed them.
func (s *Storage) CloseIdle() { s.client.CloseIdleConnections() }

// Apply implements the engine's store contract. Batches that only read end early when ctx does. Writes that
// were sent are waited for.
func (s *Storage) Apply(ctx context.Context, batches []store.Batch) ([]store.Result, error) {
	if err := ctx.Err(); err != nil || len(batches) == 0 {
		return nil, err
	}
	c := newSending(ctx, batches)
	l := &s.writes
	if c.reads {
		l = &s.reads
	}
	if err := l.Do(ctx, c); err != nil {
		return nil, err
	}
	return fitting(c.results, batches), nil
}

// fitting returns the results up to the first that fills its budget. A read that exceeds its budget is
// refused. A write took effect, so it is counted whatever its size.
func fitting(results []store.Result, batches []store.Batch) []store.Result {
	for i := range results {
		b, r := &batches[i], &results[i]
		weight := int64(0)
		for _, rows := range r.Rows {
			for _, row := range rows {
				weight += row.Weight()
			}
		}
		switch {
		case b.ReadOnly && len(b.Stmts) > 0 && !b.Budget.Take(weight):
			says := b.Budget.Refusal()
			*r = store.Result{Refused: &store.Refusal{At: len(b.Stmts) - 1, Reason: "too many bytes of rows", Reply: &says}}
		case !b.ReadOnly:
			b.Budget.Charge(weight)
		}
		if b.Budget.Full() {
			return results[:i+1]
		}
	}
	return results
}

// sending tracks a call of Apply that is being sent.
type sending struct {
	lane.Entry
	ctx   context.Context
	reads bool
	max   int64
	parts [][]byte // the encoded batches
	stmts []int    // statements per batch
	bytes int

	results []store.Result // of the first batches, so far
	err     error
}

// newSending encodes the batches. Their arguments belong to the caller, which may return before they are sent.
func newSending(ctx context.Context, batches []store.Batch) *sending {
	c := &sending{ctx: ctx, reads: true}
	c.parts, c.stmts = make([][]byte, len(batches)), make([]int, len(batches))
	for i := range batches {
		b := &batches[i]
		c.reads = c.reads && b.ReadOnly
		c.parts[i], c.stmts[i] = wire.AppendBatch(nil, b), len(b.Stmts)
		c.bytes += len(c.parts[i]) + 1
		if room := b.Budget.Remaining(); room > 0 && (c.max == 0 || room < c.max) {
			c.max = room
		}
	}
	c.Entry = lane.NewEntry(c.bytes)
	return c
}

// take records the results of the next batches. It reports whether the call is done: all batches have run, or
// one can never run.
func (c *sending) take(results []store.Result) (over bool) {
	for _, r := range results {
		if r.Refused != nil && r.Refused.BadStatement {
			c.err = errors.New(r.Refused.Reason)
			return true
		}
		c.results = append(c.results, r)
	}
	return len(c.results) == len(c.parts)
}

// left returns the number of batches that have not run.
func (c *sending) left() int { return len(c.parts) - len(c.results) }
