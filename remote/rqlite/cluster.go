package rqlite

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/store/logging"
)

// cluster finds the leader and sends requests to it.
type cluster struct {
	client *http.Client
	o      Options

	mu      sync.Mutex
	reached bool            // a node has answered at least once
	at      int             // index in o.Nodes of the node to ask while the leader is unknown
	leader  string          // as a node named it, "" while unknown
	modern  map[string]bool // nodes whose linearizable reads can be trusted

	// Nodes may keep naming a leader that is down, or one that this process cannot reach. Until forwardUntil,
	// nodes are asked to forward requests instead of naming the leader. The next such period is twice
	// forwardFor.
	forwardUntil time.Time
	forwardFor   time.Duration

	// A leader that hangs is soon replaced. Until silentUntil, nodes that still name it are asked again: they would
	// forward a request to it, and wait for it for forwardTimeout.
	silent      string // the leader that did not answer, "" for none
	silentUntil time.Time
}

// request is sent again until a node answers it.
type request struct {
	path   string // without the level and the parameters for forwarding
	level  string
	body   []byte
	answer func(io.Reader) error // may be called more than once

	// unknown is set once a node may have run the request although no response arrived.
	unknown bool
}

const (
	// silenceTimeout limits how long a node may stay silent before it is probed, and how long it then has to
	// answer the probe.
	silenceTimeout = 2 * time.Second

	// electionTimeout limits how long nodes may name a leader that was silent before they must forward to it.
	electionTimeout = 3 * time.Second

	// forwardTimeout limits how long a node waits for the leader it forwards a request to.
	forwardTimeout = 10 * time.Second

	// startupGrace limits how long nodes that were just started may take to answer.
	startupGrace = 5 * time.Second

	// minForward and maxForward bound how long the leader is not asked directly.
	minForward, maxForward = time.Second, 5 * time.Minute

	firstPause, longestPause = 20 * time.Millisecond, 500 * time.Millisecond

	maxConns = 16
)

func newCluster(o Options) *cluster {
	return &cluster{
		o:      o,
		modern: map[string]bool{},
		client: &http.Client{
			Transport: &http.Transport{
				Proxy:               http.ProxyFromEnvironment,
				DialContext:         (&net.Dialer{Timeout: silenceTimeout}).DialContext,
				TLSClientConfig:     o.TLS,
				TLSHandshakeTimeout: silenceTimeout,
				MaxIdleConnsPerHost: maxConns,
			},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
}

// rejection reports a request that no node would accept.
type rejection struct{ says string }

func (r rejection) Error() string { return r.says }

// redirect reports that a node has named another leader.
type redirect struct{ leader string }

func (e redirect) Error() string { return "the leader is " + e.leader }

// errOutage reports a request that no node completed before its deadline.
var errOutage = errors.New("no node of the rqlite cluster completed it in time")

// errSilent reports a node that accepts connections but does not respond.
var errSilent = errors.New("it does not answer")

// errNotStarted reports a node that has not started the request.
var errNotStarted = errors.New("it has no leader")

// send sends r to the leader, and retries on other nodes until one answers or ctx ends.
func (c *cluster) send(ctx context.Context, r *request) error {
	pause, began := firstPause, time.Now()
	for {
		host, forward := c.target()
		err := c.try(ctx, r, host, forward)
		var to redirect
		switch {
		case err == nil:
			c.succeeded(host)
			return nil
		case errors.As(err, &to):
			if c.follow(host, to.leader) {
				continue
			}
		case errors.As(err, new(rejection)):
			return err
		case errors.Is(err, errAnswer):
			r.unknown = true
			return fmt.Errorf("%s: %w", host, err)
		default:
			if neverSent(err) && c.neverReached() && time.Since(began) > startupGrace {
				return rejection{"no node of the rqlite cluster can be reached: " + unwrapURL(err).Error()}
			}
			r.unknown = r.unknown || !errors.Is(err, errNotStarted) && !neverSent(err)
			c.failed(host, errors.Is(err, errSilent))
		}
		wait := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			wait.Stop()
			return fmt.Errorf("%w, the last one was %s: %w", errOutage, host, unwrapURL(err))
		case <-wait.C:
		}
		pause = min(2*pause, longestPause)
	}
}

// unwrapURL strips the request from an error of net/http: the caller reports the host itself.
func unwrapURL(err error) error {
	var of *url.Error
	if errors.As(err, &of) {
		return of.Err
	}
	return err
}

// neverReached reports whether no node has ever answered, so the addresses may be wrong.
func (c *cluster) neverReached() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.reached
}

// neverSent reports whether a request failed before it had a connection.
func neverSent(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial"
}

// target returns the node to ask, and whether it should forward the request to the leader.
func (c *cluster) target() (host string, forward bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return cmp.Or(c.leader, c.o.Nodes[c.at]), time.Now().Before(c.forwardUntil)
}

// follow records the leader that host named, and reports whether to ask it without a pause.
func (c *cluster) follow(host, leader string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if leader == host {
		c.next(host)
		return false
	}
	if leader == c.silent {
		c.next(host)
		if time.Now().After(c.silentUntil) { // it hangs only for this process
			c.silent = ""
			c.forward()
		}
		return false
	}
	at := host != c.leader // leaders that name each other must not be asked without a pause
	c.leader = leader
	return at
}

// failed moves to another node after host failed, or was silent.
func (c *cluster) failed(host string, silent bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.leader != host:
	case silent:
		c.silent, c.silentUntil = host, time.Now().Add(electionTimeout)
	default:
		c.forward()
	}
	c.next(host)
}

// forward makes nodes forward requests to the leader for a while.
func (c *cluster) forward() {
	c.forwardFor = min(max(2*c.forwardFor, minForward), maxForward)
	c.forwardUntil = time.Now().Add(c.forwardFor)
}

func (c *cluster) next(host string) {
	if c.leader == host {
		c.leader = ""
	}
	if c.o.Nodes[c.at] == host {
		c.at = (c.at + 1) % len(c.o.Nodes)
	}
}

// try sends r to one node.
func (c *cluster) try(ctx context.Context, r *request, host string, forward bool) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer time.AfterFunc(silenceTimeout, func() { store.Guard(logging.Panic(slog.Default()), func() { c.probe(ctx, host, cancel) }) }).Stop()
	address := c.url(host, r.path+"&level="+c.level(host, r.level))
	if forward {
		address += "&timeout=" + forwardTimeout.String()
	} else {
		address += "&redirect"
	}
	q, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(r.body))
	if err != nil {
		return rejection{err.Error()}
	}
	q.Header.Set("Content-Type", "application/json")
	c.identify(q)
	p, err := c.client.Do(q)
	if errors.Is(err, http.ErrSchemeMismatch) || errors.As(err, new(*tls.CertificateVerificationError)) {
		return rejection{fmt.Sprintf("%s: %v", host, unwrapURL(err))}
	}
	if err == nil {
		c.answered(host, p.Header.Get("X-Rqlite-Version"))
		err = c.read(p, r.answer)
		p.Body.Close()
	}
	if err != nil && errors.Is(context.Cause(ctx), errSilent) {
		return errSilent
	}
	return err
}

// probe checks every silenceTimeout that the node responds, and cancels the request if it does not.
func (c *cluster) probe(ctx context.Context, host string, cancel context.CancelCauseFunc) {
	for ctx.Err() == nil {
		soon, done := context.WithTimeout(ctx, silenceTimeout)
		q, err := http.NewRequestWithContext(soon, http.MethodGet, c.url(host, "/readyz?noleader"), nil)
		if err == nil {
			var p *http.Response
			c.identify(q)
			if p, err = c.client.Do(q); err == nil {
				p.Body.Close() // any response will do
			}
		}
		if err != nil {
			cancel(errSilent)
		}
		<-soon.Done()
		done()
	}
}

// read passes a successful response to answer and turns any other into an error.
func (c *cluster) read(p *http.Response, answer func(io.Reader) error) error {
	if p.StatusCode == http.StatusOK {
		return answer(p.Body)
	}
	if to := p.Header.Get("Location"); to != "" && p.StatusCode/100 == 3 {
		u, err := url.Parse(to)
		if err != nil || u.Host == "" || (u.Scheme == "https") != (c.o.TLS != nil) {
			return rejection{fmt.Sprintf("a node names %q as the leader, which is not of this cluster", to)}
		}
		return redirect{u.Host}
	}
	text, _ := io.ReadAll(io.LimitReader(p.Body, 1000))
	says, _, _ := strings.Cut(strings.TrimSpace(string(text)), "\n")
	switch {
	case p.StatusCode == http.StatusUnauthorized || p.StatusCode == http.StatusForbidden:
		return rejection{"rqlite wants another user or password, or does not let this user do it"}
	case p.StatusCode == http.StatusServiceUnavailable || strings.Contains(says, "leader not found"):
		return fmt.Errorf("%w: %s", errNotStarted, says)
	case p.StatusCode/100 == 4 || p.StatusCode == http.StatusNotImplemented:
		return rejection{fmt.Sprintf("rqlite says %s: %s", p.Status, says)}
	}
	return fmt.Errorf("%s: %s", p.Status, says)
}

func (c *cluster) url(host, path string) string {
	if c.o.TLS != nil {
		return "https://" + host + path
	}
	return "http://" + host + path
}

func (c *cluster) identify(q *http.Request) {
	if c.o.User != "" {
		q.SetBasicAuth(c.o.User, c.o.Password)
	}
}

// answered records the version of a node.
func (c *cluster) answered(host, version string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reached, c.modern[host] = true, !before(version, linearizableSince)
}

// succeeded records that the leader is reachable, if host is the leader.
func (c *cluster) succeeded(host string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.leader == host {
		c.forwardFor = 0
	}
	if c.silent == host {
		c.silent = ""
	}
}

// linearizableSince names the first version whose linearizable reads can be trusted. Earlier versions ignore the
// leader's term (up to 8), or ignore it on some paths only.
var linearizableSince = []int{9, 1, 1}

// before reports whether version is older than since or cannot be parsed.
func before(version string, since []int) bool {
	var have []int
	for part := range strings.SplitSeq(strings.TrimPrefix(version, "v"), ".") {
		n, err := strconv.Atoi(part)
		if err != nil {
			break
		}
		have = append(have, n)
	}
	return slices.Compare(have, since) < 0
}

// level returns the level to request from host. It replaces linearizable by strong, which is an empty write,
// if host's linearizable reads cannot be trusted or its version is unknown.
func (c *cluster) level(host, level string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if level == linearizable && !c.modern[host] {
		return "strong"
	}
	return level
}
