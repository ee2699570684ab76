package remote

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/store/wire"
)

// Storage is the store at an endpoint that speaks store/wire, as serve --storage does. It is safe for
// concurrent use. Calls of several goroutines share a request while others are under way.
//
// What only reads is sent again when its answer does not come. A write is not, unless it never left:
// then the error says that it is not known whether it took effect.
type Storage struct {
	url    *url.URL
	token  string
	client *http.Client

	reads, writes lane
	waitBefore    func(attempt int) time.Duration

	life      context.Context // ends when what is under way is abandoned
	abandon   context.CancelCauseFunc
	abandoned atomic.Int64
}

// OpenStorage makes the store at rawURL, http:// or https://. It sends nothing yet.
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
	// The endpoint keeps connections for longer, so that none is lost that is about to be used.
	transport.IdleConnTimeout = 30 * time.Second
	s := &Storage{url: u, token: token, client: client, waitBefore: backoff}
	s.life, s.abandon = context.WithCancelCause(context.Background())
	s.reads, s.writes = lane{storage: s, reads: true}, lane{storage: s}
	return s, nil
}

// Close drops the connections that wait for another request.
func (s *Storage) Close() error {
	s.client.CloseIdleConnections()
	return nil
}

// Abandon ends what is under way, of which it is not known then whether it has run, and all that comes
// after.
func (s *Storage) Abandon() { s.abandon(errAbandoned) }

// Abandoned is how many calls have failed because of Abandon.
func (s *Storage) Abandoned() int64 { return s.abandoned.Load() }

var errAbandoned = errors.New("it was given up")

// CloseIdle drops the connections that wait for another request, which then makes one: when a process has
// been asleep, the other side may have closed them.
func (s *Storage) CloseIdle() { s.client.CloseIdleConnections() }

// Apply implements the engine's contract. Batches that only read end early when ctx does; others that
// have been sent are waited for.
func (s *Storage) Apply(ctx context.Context, batches []store.Batch) ([]store.Result, error) {
	if err := ctx.Err(); err != nil || len(batches) == 0 {
		return nil, err
	}
	c := newSending(ctx, batches)
	l := &s.writes
	if c.reads {
		l = &s.reads
	}
	if err := l.send(c); err != nil {
		return nil, err
	}
	return fitting(c.results, batches), nil
}

// fitting is the first of the results, up to what the budget has room for and to that which fills it.
// A write that took effect is counted whatever it takes.
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
			b.Budget.Keep(weight)
		}
		if b.Budget.Full() {
			return results[:i+1]
		}
	}
	return results
}

// sending is a call of Apply on its way.
type sending struct {
	ctx   context.Context
	reads bool
	max   int64
	parts [][]byte // the batches on the wire
	stmts []int    // of each
	bytes int

	results []store.Result // so far, of the first batches
	err     error
	done    chan struct{}
}

// newSending writes the batches: their args are the caller's, who may leave before they are sent.
func newSending(ctx context.Context, batches []store.Batch) *sending {
	c := &sending{ctx: ctx, reads: true, done: make(chan struct{})}
	c.parts, c.stmts = make([][]byte, len(batches)), make([]int, len(batches))
	for i := range batches {
		b := &batches[i]
		c.reads = c.reads && b.ReadOnly
		c.parts[i], c.stmts[i] = wire.AppendBatch(nil, b), len(b.Stmts)
		c.bytes += len(c.parts[i]) + 1
		if room := b.Budget.Room(); room > 0 && (c.max == 0 || room < c.max) {
			c.max = room
		}
	}
	return c
}

// take takes what became of the next batches, and reports whether all have run or one of them never
// can.
func (c *sending) take(results []store.Result) (over bool) {
	for _, r := range results {
		if r.Refused != nil && r.Refused.Bad {
			c.err = errors.New(r.Refused.Reason)
			return true
		}
		c.results = append(c.results, r)
	}
	return len(c.results) == len(c.parts)
}

// left is how many batches have not run.
func (c *sending) left() int { return len(c.parts) - len(c.results) }
