package lambda

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/aws/aws-lambda-go/events"
)

// maxResponse limits a response, in bytes. The platform fails on larger responses.
const maxResponse = 6 << 20

// streams lists the paths with streamed replies, which a function cannot send.
var streams = []string{"subscribe", "psubscribe", "monitor"}

// Function returns a Lambda handler for function URL events (payload format 2.0) that calls h. Replies that are
// streamed or too large for a function become errors in Upstash's form.
func Function(h http.Handler) func(context.Context, events.LambdaFunctionURLRequest) (events.LambdaFunctionURLResponse, error) {
	return func(ctx context.Context, e events.LambdaFunctionURLRequest) (events.LambdaFunctionURLResponse, error) {
		r, err := request(ctx, e)
		if err != nil {
			return fault(http.StatusBadRequest, "ERR failed to read the request"), nil
		}
		first, _, _ := strings.Cut(strings.Trim(r.URL.Path, "/"), "/")
		if slices.Contains(streams, strings.ToLower(first)) {
			return fault(http.StatusNotImplemented, "ERR a Lambda function cannot stream replies: use a server"), nil
		}
		w := &recorder{header: http.Header{}}
		h.ServeHTTP(w, r)
		return w.response(), nil
	}
}

// request converts an event to an HTTP request.
func request(ctx context.Context, e events.LambdaFunctionURLRequest) (*http.Request, error) {
	body := []byte(e.Body)
	if e.IsBase64Encoded {
		var err error
		if body, err = base64.StdEncoding.DecodeString(e.Body); err != nil {
			return nil, err
		}
	}
	path, err := url.PathUnescape(e.RawPath)
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(ctx, e.RequestContext.HTTP.Method, "/", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.URL = &url.URL{Path: path, RawPath: e.RawPath, RawQuery: e.RawQueryString}
	for name, value := range e.Headers {
		r.Header.Set(name, value)
	}
	r.Host, r.RemoteAddr = e.Headers["host"], e.RequestContext.HTTP.SourceIP+":0"
	return r, nil
}

// recorder collects a response.
type recorder struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (w *recorder) Header() http.Header { return w.header }

func (w *recorder) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
}

func (w *recorder) Write(b []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.body.Write(b)
}

// response returns the recorded response. A body that is not text is encoded in base64.
func (w *recorder) response() events.LambdaFunctionURLResponse {
	w.WriteHeader(http.StatusOK)
	out := events.LambdaFunctionURLResponse{StatusCode: w.status, Headers: map[string]string{}}
	for name, values := range w.header {
		if name != "Content-Length" { // set by the platform
			out.Headers[name] = strings.Join(values, ", ")
		}
	}
	if body := w.body.Bytes(); isText(w.header.Get("Content-Type")) && utf8.Valid(body) {
		out.Body = string(body)
	} else {
		out.Body, out.IsBase64Encoded = base64.StdEncoding.EncodeToString(body), true
	}
	if size := encoded(out); size > maxResponse {
		return fault(http.StatusInternalServerError, fmt.Sprintf(
			"ERR the reply has %d bytes, more than the %d that a function can send: read less at a time (the command has run)", size, maxResponse))
	}
	return out
}

// encoded returns the size of the response in the platform's encoding.
func encoded(out events.LambdaFunctionURLResponse) int {
	if len(out.Body) < maxResponse/6 { // an escape takes at most 6 bytes
		return len(out.Body)
	}
	text, err := json.Marshal(out)
	if err != nil {
		return maxResponse + 1
	}
	return len(text)
}

func isText(contentType string) bool {
	media, _, err := mime.ParseMediaType(contentType)
	return err == nil && (media == "application/json" || strings.HasPrefix(media, "text/"))
}

// fault returns an error in Upstash's form.
func fault(status int, says string) events.LambdaFunctionURLResponse {
	body, err := json.Marshal(map[string]string{"error": says})
	if err != nil {
		panic(err) // unreachable: strings always encode
	}
	return events.LambdaFunctionURLResponse{
		StatusCode: status, Body: string(body), Headers: map[string]string{"Content-Type": "application/json"},
	}
}
