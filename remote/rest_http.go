package remote

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// request is one request to an endpoint.
type request struct {
	path       string // below the endpoint's URL, escaped
	body       []byte
	raw        bool // the body is an argument, not JSON
	encoding   encoding
	untilError bool
	repeatable bool
}

// encoding names the reply format that a request asks for.
type encoding byte

const (
	plainEncoding encoding = iota
	base64Encoding
	rawEncoding
)

// answer holds a response with its body.
type answer struct {
	status int
	media  string // the content type without parameters
	body   []byte
	asked  encoding
}

const (
	databaseHeader = "Meowdis-Database"
	pipelineHeader = "Meowdis-Pipeline"
	rulesHeader    = "Meowdis-Rules"
	untilErrorMode = "until-error"
	syncHeader     = "Upstash-Sync-Token"
)

// errOneDatabase reports an endpoint that does not confirm the requested database.
var errOneDatabase = errors.New("the endpoint does not confirm the database")

// errNoDatabase reports an endpoint with several databases but not the requested one.
var errNoDatabase = errors.New("the endpoint has no such database")

const errDBIndex = "ERR DB index is out of range"

const maxTries = 4

// backoff returns the wait before a retry.
func backoff(attempt int) time.Duration {
	return time.Duration(50 * math.Exp(float64(attempt)) * float64(time.Millisecond))
}

// post sends q, and retries after a network failure if that is safe.
func (r *REST) post(ctx context.Context, q request) (answer, error) {
	if err := r.identify(ctx, ""); err != nil {
		return answer{}, err
	}
	renewed := false
	for attempt := 0; ; attempt++ {
		a, err := r.try(ctx, q)
		if a.status == http.StatusUnauthorized && r.credentials != nil && !renewed {
			renewed = true
			was := r.token
			if err := r.identify(ctx, was); err != nil {
				return a, err
			}
			if r.token != was {
				a, err = r.try(ctx, q)
			}
		}
		if err == nil || attempt+1 == maxTries || ctx.Err() != nil || !mayRetry(err, q.repeatable) {
			return a, err
		}
		select {
		case <-time.After(r.waitBefore(attempt)):
		case <-ctx.Done():
			return a, ctx.Err()
		}
	}
}

// identify sets the token. refused is a token that the endpoint has refused, or "".
func (r *REST) identify(ctx context.Context, refused string) error {
	if r.credentials == nil {
		return nil
	}
	c, err := r.credentials(ctx, refused)
	r.token = c.Password
	return err
}

// mayRetry reports whether a failed request may be sent again: it was never sent, or it may run twice.
func mayRetry(err error, repeatable bool) bool {
	var network *networkError
	var cert *tls.CertificateVerificationError
	if !errors.As(err, &network) || errors.As(err, &cert) {
		return false
	}
	var op *net.OpError
	return repeatable || errors.As(err, &op) && op.Op == "dial"
}

// networkError reports a lost request or response.
type networkError struct {
	host string
	err  error
}

func (e *networkError) Error() string { return fmt.Sprintf("reaching %s: %v", e.host, explain(e.err)) }
func (e *networkError) Unwrap() error { return e.err }

// lost returns the error for a failed connection, or the cause of ctx if ctx ended it.
func (r *REST) lost(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	// url.Error would print the URL, which can contain a token.
	var outer *url.Error
	if errors.As(err, &outer) {
		err = outer.Err
	}
	return &networkError{r.base.Host, err}
}

func (r *REST) try(ctx context.Context, q request) (answer, error) {
	req, err := r.httpRequest(ctx, q)
	if err != nil {
		return answer{}, err
	}
	res, err := r.client.Do(req)
	if err != nil {
		return answer{}, r.lost(ctx, err)
	}
	defer res.Body.Close()
	a := answer{status: res.StatusCode, asked: q.encoding}
	a.media, _, _ = mime.ParseMediaType(res.Header.Get("Content-Type"))
	if a.body, err = io.ReadAll(res.Body); err != nil {
		return a, r.lost(ctx, err)
	}
	switch res.StatusCode {
	case http.StatusOK, http.StatusTooManyRequests:
	case http.StatusBadRequest:
		if text := errorText(a); strings.HasPrefix(text, sizeRefused) {
			return a, &tooLarge{text}
		}
	case http.StatusRequestEntityTooLarge:
		return a, &tooLarge{fmt.Sprintf("%s: HTTP 413 for %d bytes", sizeRefused, len(q.body))}
	case http.StatusUnauthorized:
		return a, r.unauthorized(a)
	default:
		return a, r.unexpected(a)
	}
	if token := res.Header.Get(syncHeader); token != "" {
		r.sync = token
	}
	r.ours = r.ours || res.Header.Get(databaseHeader) != ""
	r.stops = r.stops || q.untilError && res.Header.Get(pipelineHeader) == untilErrorMode
	switch confirmed := res.Header.Get(databaseHeader); {
	case r.db == 0 || confirmed == strconv.Itoa(r.db):
	case res.StatusCode == http.StatusBadRequest && strings.HasPrefix(errorText(a), errDBIndex):
		return a, errNoDatabase
	default:
		return a, errOneDatabase
	}
	return a, nil
}

// unauthorized returns the error for a missing or wrong token.
func (r *REST) unauthorized(a answer) error {
	if r.token == "" {
		return fmt.Errorf("%s wants a token, and none was given: %s", r.base.Host, errorText(a))
	}
	return fmt.Errorf("%s refused the token: %s", r.base.Host, errorText(a))
}

func (r *REST) httpRequest(ctx context.Context, q request) (*http.Request, error) {
	u := *r.base
	if q.path != "" {
		under, err := url.Parse(strings.TrimSuffix(u.EscapedPath(), "/") + "/" + q.path)
		if err != nil {
			return nil, err
		}
		u.Path, u.RawPath = under.Path, under.RawPath
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, u.String(), bytes.NewReader(q.body))
	if err != nil {
		return nil, errors.New("the endpoint's URL cannot be used")
	}
	set := req.Header.Set
	if r.token != "" {
		set("Authorization", "Bearer "+r.token)
	}
	set("Content-Type", "application/json")
	if q.raw {
		set("Content-Type", "application/octet-stream")
	}
	set(syncHeader, r.sync)
	if len(q.body) > maxPipelineBytes { // an endpoint that refuses the size does so before the body is sent
		set("Expect", "100-continue")
	}
	switch q.encoding {
	case rawEncoding:
		set("Upstash-Response-Format", "resp2")
	case base64Encoding:
		set("Upstash-Encoding", "base64")
	}
	set(rulesHeader, "redis")
	if r.db != 0 {
		set(databaseHeader, strconv.Itoa(r.db))
	}
	if q.untilError {
		set(pipelineHeader, untilErrorMode)
	}
	return req, nil
}

// errorText returns the message of a refused request, whether it is JSON or not.
func errorText(a answer) string {
	var v item
	if json.Unmarshal(a.body, &v) == nil && v.Error != nil {
		return *v.Error
	}
	if text := strings.TrimPrefix(strings.TrimSpace(string(a.body)), "-"); text != "" && len(text) < 200 && utf8.ValidString(text) {
		return text
	}
	return http.StatusText(a.status)
}

// fitsJSON reports whether a call can be sent as JSON: it is valid UTF-8, or the endpoint is a meowdis, which
// takes the bytes of a JSON string unchanged.
func (r *REST) fitsJSON(args [][]byte) bool {
	for _, a := range args {
		if !r.ours && !utf8.Valid(a) {
			return false
		}
	}
	return true
}

// appendJSONCommand appends a call as a JSON array of strings. Bytes that are not UTF-8 are written unchanged.
func appendJSONCommand(out []byte, args [][]byte) []byte {
	const digits = "0123456789abcdef"
	out = append(out, '[')
	for i, a := range args {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, '"')
		for _, c := range a {
			switch {
			case c == '"' || c == '\\':
				out = append(out, '\\', c)
			case c < ' ':
				out = append(out, '\\', 'u', '0', '0', digits[c>>4], digits[c&15])
			default:
				out = append(out, c)
			}
		}
		out = append(out, '"')
	}
	return append(out, ']')
}

func jsonCommands(calls [][][]byte) []byte {
	body := []byte{'['}
	for i, args := range calls {
		if i > 0 {
			body = append(body, ',')
		}
		body = appendJSONCommand(body, args)
	}
	return append(body, ']')
}

// pathCommand encodes a call that JSON cannot carry: its arguments percent-encoded in the path, and the last
// one as the body.
func pathCommand(args [][]byte) (path string, body []byte) {
	last := len(args) - 1
	if last > 0 && len(args[last]) > 0 {
		args, body = args[:last], args[last]
	}
	segments := make([]string, len(args))
	for i, a := range args {
		segments[i] = url.PathEscape(string(a))
		if segments[i] == "." || segments[i] == ".." {
			segments[i] = strings.ReplaceAll(segments[i], ".", "%2E")
		}
	}
	return strings.Join(segments, "/"), body
}
