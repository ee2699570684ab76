package remote

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"

	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/store/wire"
)

// maxAnswer bounds the bytes of a response. The endpoint may ignore the limit in the request.
const maxAnswer = 4 << 30

// ErrUnknown is wrapped by the error of a write that may have taken effect.
var ErrUnknown = errors.New("it is not known whether the write took effect")

// PublicMessage describes err for clients. The error itself contains the address of the endpoint.
func (s *Storage) PublicMessage(err error) string {
	var network *networkError
	var status *statusError
	says := ""
	switch {
	case errors.As(err, &network):
		says = "its storage cannot be reached"
	case errors.As(err, &status) && status.status == http.StatusRequestEntityTooLarge:
		says = "this is too large for its storage"
	case errors.As(err, &status):
		says = "its storage refuses to work"
	case errors.Is(err, context.Canceled), errors.Is(err, errAbandoned):
		says = "it was interrupted"
	default:
		says = "its storage gives no answer that can be read"
	}
	if errors.Is(err, ErrUnknown) {
		says += ", and " + ErrUnknown.Error()
	}
	return says
}

// statusError reports an HTTP status other than 200.
type statusError struct {
	host   string
	status int
	says   string
}

func (e *statusError) Error() string {
	switch e.status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return fmt.Sprintf("%s refuses this: %s", e.host, e.says)
	}
	return fmt.Sprintf("%s answers %d: %s", e.host, e.status, e.says)
}

// post sends the remaining batches of the calls, and retries after a failure if that is safe.
func (s *Storage) post(ctx context.Context, group []*sending, reads bool) ([]store.Result, error) {
	body, stmts := unsent(group, reads)
	for attempt := 0; ; attempt++ {
		results, err := s.try(ctx, body, stmts, reads)
		if err == nil {
			return results, nil
		}
		again, ran := verdict(err, reads)
		if !again || attempt+1 == maxTries || s.wait(ctx, attempt) != nil {
			if ran && !reads {
				err = fmt.Errorf("%w; %w", err, ErrUnknown)
			}
			return nil, err
		}
	}
}

const (
	// Endpoints accept more in one request. A long pipeline is split into several.
	maxSentBatches = 10_000
	maxSentBytes   = 8 << 20 // unless a single batch is larger
)

// unsent encodes a request with the batches of the calls that have not run, up to the limits.
func unsent(group []*sending, reads bool) (body []byte, stmts []int) {
	body = wire.AppendStart(nil)
	for _, c := range group {
		for i := len(c.results); i < len(c.parts); i++ {
			if n := len(stmts); n == maxSentBatches || n > 0 && len(body)+len(c.parts[i]) > maxSentBytes {
				return wire.AppendEnd(body, reads, group[0].max), stmts
			}
			if len(stmts) > 0 {
				body = append(body, ',')
			}
			body, stmts = append(body, c.parts[i]...), append(stmts, c.stmts[i])
		}
	}
	return wire.AppendEnd(body, reads, group[0].max), stmts
}

// verdict reports whether a failed request may be sent again, and whether it may have run.
func verdict(err error, reads bool) (again, ran bool) {
	var status *statusError
	if errors.As(err, &status) {
		fails := status.status >= 500
		return reads && (fails || status.status == http.StatusTooManyRequests), fails
	}
	var network *networkError
	if !errors.As(err, &network) {
		return false, true
	}
	var op *net.OpError
	var late net.Error
	dialling := errors.As(err, &op) && op.Op == "dial"
	waited := errors.As(err, &late) && late.Timeout() // a timeout has used up the wait
	return mayRetry(err, reads) && !waited, !dialling
}

// try sends one request.
func (s *Storage) try(ctx context.Context, body []byte, stmts []int, reads bool) ([]store.Result, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url.String(), bytes.NewReader(body))
	if err != nil {
		return nil, errors.New("the URL of the storage endpoint cannot be used")
	}
	if s.token != "" {
		req.Header.Set("Authorization", "Bearer "+s.token)
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := s.client.Do(req)
	if err != nil {
		return nil, s.lost(ctx, err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return nil, s.refused(res)
	}
	in := &errReader{from: res.Body}
	results, err := wire.ReadResponse(in, stmts, reads, wire.Limits{Bytes: maxAnswer})
	if err != nil && in.err != nil {
		return nil, s.lost(ctx, in.err)
	}
	if err != nil {
		err = fmt.Errorf("%s: %w: is this the URL of a storage endpoint?", s.url.Host, err)
	}
	return results, err
}

// errReader records the error of reading a response.
type errReader struct {
	from io.Reader
	err  error
}

func (h *errReader) Read(b []byte) (int, error) {
	n, err := h.from.Read(b)
	if err != nil && err != io.EOF {
		h.err = err
	}
	return n, err
}

func (s *Storage) lost(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	var outer *url.Error
	if errors.As(err, &outer) { // url.Error would print the URL
		err = outer.Err
	}
	return &networkError{s.url.Host, err}
}

// refused returns the error for a response other than 200.
func (s *Storage) refused(res *http.Response) error {
	const most = 64 << 10
	body, _ := io.ReadAll(io.LimitReader(res.Body, most)) // an error here does not matter: the status suffices
	says := errorText(answer{status: res.StatusCode, body: body})
	if res.StatusCode == http.StatusUnauthorized && s.token == "" {
		says += "; no token was given"
	}
	return &statusError{s.url.Host, res.StatusCode, says}
}
