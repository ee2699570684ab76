package lambda_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/server"
	"github.com/meowdis/meowdis/server/lambda"
)

// event builds the event of a function URL.
func event(method, path, query, body string, headers ...string) events.LambdaFunctionURLRequest {
	e := events.LambdaFunctionURLRequest{Version: "2.0", RawPath: path, RawQueryString: query, Body: body, Headers: map[string]string{"host": "x.lambda-url.aws"}}
	e.RequestContext.HTTP.Method, e.RequestContext.HTTP.SourceIP = method, "192.0.2.1"
	for i := 0; i < len(headers); i += 2 {
		e.Headers[headers[i]] = headers[i+1]
	}
	return e
}

func in64(e events.LambdaFunctionURLRequest) events.LambdaFunctionURLRequest {
	e.Body, e.IsBase64Encoded = base64.StdEncoding.EncodeToString([]byte(e.Body)), true
	return e
}

// TestFunction sends requests of Upstash's SDKs, in order, to one database.
func TestFunction(t *testing.T) {
	file, err := local.Open(local.Memory, local.Options{SweepEvery: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	answer := lambda.Function(server.New(server.Config{Engine: engine.New(file), Token: "purr"}).REST())
	auth := []string{"authorization", "Bearer purr"}
	with := func(more ...string) []string { return append(more, auth...) }
	for _, test := range []struct {
		event  events.LambdaFunctionURLRequest
		status int
		body   string
		is64   bool
	}{
		{event("POST", "/", "", `["SET","cat","tom"]`, auth...), 200, `{"result":"OK"}`, false},
		{in64(event("POST", "/", "", `["GET","cat"]`, auth...)), 200, `{"result":"tom"}`, false},
		{event("GET", "/get/cat", "", "", auth...), 200, `{"result":"tom"}`, false},
		{event("GET", "/set/a%20cat/%2Fpath", "EX=100", "", auth...), 200, `{"result":"OK"}`, false},
		{event("GET", "/get/a%20cat", "_token=purr", ""), 200, `{"result":"/path"}`, false},
		{in64(event("POST", "/set/bytes", "", "\xff\x00", auth...)), 200, `{"result":"OK"}`, false},
		{event("GET", "/get/bytes", "", "", with("upstash-response-format", "resp2")...), 200, "$2\r\n\xff\x00\r\n", true},
		{event("POST", "/pipeline", "", `[["INCR","n"],["NOPE"]]`, auth...), 200, `[{"result":1},{"error":"ERR unknown command 'NOPE', with args beginning with: "}]`, false},
		{event("POST", "/multi-exec", "", `[["INCR","n"],["INCR","n"]]`, auth...), 200, `[{"result":2},{"result":3}]`, false},
		{event("POST", "/", "", `["GET","cat"]`), 401, `{"error":"WRONGPASS invalid or missing auth token"}`, false},
		{event("DELETE", "/get/cat", "", "", auth...), 405, `{"error":"ERR method not allowed"}`, false},
		{event("GET", "/subscribe/news", "", "", auth...), 501, `{"error":"ERR a Lambda function cannot stream replies: use a server"}`, false},
		{event("GET", "/MONITOR", "", "", auth...), 501, `{"error":"ERR a Lambda function cannot stream replies: use a server"}`, false},
		{event("GET", "/get/%zz", "", "", auth...), 400, `{"error":"ERR failed to read the request"}`, false},
	} {
		// Encoded in JSON, like the platform's events.
		text, err := json.Marshal(test.event)
		if err != nil {
			t.Fatal(err)
		}
		var e events.LambdaFunctionURLRequest
		if err := json.Unmarshal(text, &e); err != nil {
			t.Fatal(err)
		}
		r, err := answer(context.Background(), e)
		if err != nil {
			t.Fatal(err)
		}
		body := r.Body
		if r.IsBase64Encoded {
			plain, err := base64.StdEncoding.DecodeString(body)
			if err != nil {
				t.Error(err)
			}
			body = string(plain)
		}
		if r.StatusCode != test.status || body != test.body || r.IsBase64Encoded != test.is64 {
			t.Errorf("%s %s: %d %q %v, want %d %q %v", e.RequestContext.HTTP.Method, e.RawPath, r.StatusCode, body, r.IsBase64Encoded, test.status, test.body, test.is64)
		}
	}
}

// TestLargeReply gets an error in place of a reply over the platform's limit.
func TestLargeReply(t *testing.T) {
	size := 0
	answer := lambda.Function(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, strings.Repeat("\"", size))
	}))
	for n, status := range map[int]int{3 << 20: 200, 4 << 20: 500} { // each byte is escaped as two
		size = n - 1000
		r, err := answer(context.Background(), event("GET", "/", "", ""))
		if err != nil || r.StatusCode != status {
			t.Errorf("%d bytes: %d %.100s, %v", n, r.StatusCode, r.Body, err)
		}
	}
}
