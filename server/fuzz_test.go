package server_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/server"
	"github.com/meowdis/meowdis/server/rest"
)

// FuzzREST sends arbitrary requests in each form of reply. Each reply must be complete JSON or RESP2.
func FuzzREST(f *testing.F) {
	for _, c := range restCases {
		f.Add(c.path, []byte(c.body), byte(len(c.headers)))
	}
	f.Add("/%", []byte(nil), byte(0))
	f.Add("/pipeline", []byte(strings.Repeat("[", 100_000)), byte(0))
	f.Add("/pipeline", []byte(`[["SET","k","\ud800\u"],[true],[1e999],[]]`), byte(2))
	f.Add("/multi-exec", []byte(`[["EVAL"],["EXEC"]]`), byte(1))
	st, err := local.Open(local.Memory, local.Options{SweepEvery: -1})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { st.Close() })
	handler := server.New(server.Config{Engine: engine.New(st), Token: token}).REST()
	f.Fuzz(func(t *testing.T, path string, body []byte, form byte) {
		u, err := url.ParseRequestURI(path)
		if err != nil || strings.Contains(strings.ToUpper(path+string(body)), "DEBUG") { // DEBUG may sleep
			return
		}
		r := httptest.NewRequest(http.MethodPost, "/", bytes.NewReader(body))
		r.URL = u
		r.Header.Set("Authorization", "Bearer "+token)
		switch form % 4 {
		case 1:
			r.Header.Set("Upstash-Encoding", "base64")
		case 2:
			r.Header.Set("Upstash-Response-Format", "resp2")
		case 3:
			r.Header.Set(rest.PipelineHeader, rest.UntilError)
		}
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		switch {
		case w.Code != http.StatusOK && w.Code != http.StatusBadRequest:
			t.Fatalf("%s %q: HTTP %d %s", path, body, w.Code, w.Body)
		case w.Header().Get("Content-Type") != "application/octet-stream":
			if !json.Valid(w.Body.Bytes()) {
				t.Fatalf("%s %q: %s is no JSON", path, body, w.Body)
			}
			return
		}
		for in := resp.NewReader(w.Body); ; {
			if _, err := in.ReadReply(); errors.Is(err, io.EOF) {
				return
			} else if err != nil {
				t.Fatalf("%s %q: %v", path, body, err)
			}
		}
	})
}
