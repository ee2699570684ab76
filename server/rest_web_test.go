package server_test

import (
	"compress/gzip"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/server"
)

// TestCrossOrigin allows pages of some origins to use REST.
func TestCrossOrigin(t *testing.T) {
	some := serve(t, server.Config{Origins: []string{"https://a.test", "https://b.test"}})
	all, none := serve(t, server.Config{Origins: []string{"*"}}), serve(t, server.Config{})
	for _, c := range []struct {
		s              *served
		method, origin string
		status         int
		allowed        string
	}{
		{some, "OPTIONS", "https://a.test", 204, "https://a.test"},
		{some, "OPTIONS", "https://evil.test", 405, ""},
		{some, "GET", "https://b.test", 200, "https://b.test"},
		{some, "GET", "https://evil.test", 200, ""},
		{some, "GET", "", 200, ""},
		{all, "OPTIONS", "https://any.test", 204, "*"},
		{all, "GET", "https://any.test", 200, "*"},
		{none, "OPTIONS", "https://a.test", 405, ""},
		{none, "GET", "https://a.test", 200, ""},
	} {
		r, _ := http.NewRequest(c.method, c.s.rest+"/ping", nil)
		r.Header.Set("Authorization", "Bearer "+token)
		if c.origin != "" {
			r.Header.Set("Origin", c.origin)
		}
		if c.method == "OPTIONS" {
			r.Header.Del("Authorization") // browsers send none
			r.Header.Set("Access-Control-Request-Method", "POST")
			r.Header.Set("Access-Control-Request-Headers", "authorization,upstash-encoding")
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		h := answer.Header
		if answer.StatusCode != c.status || h.Get("Access-Control-Allow-Origin") != c.allowed {
			t.Errorf("%s from %q: %d, allowed %q", c.method, c.origin, answer.StatusCode, h.Get("Access-Control-Allow-Origin"))
		}
		if c.status == 204 && (h.Get("Access-Control-Allow-Headers") != "authorization,upstash-encoding" || !strings.Contains(h.Get("Access-Control-Allow-Methods"), "POST")) {
			t.Errorf("%s from %q: %v", c.method, c.origin, h)
		}
	}
}

// TestGzip compresses long replies for clients that accept it, if configured.
func TestGzip(t *testing.T) {
	value := strings.Repeat("v", 100_000)
	for _, on := range []bool{true, false} {
		s := serve(t, server.Config{Gzip: on})
		s.dial(t).do("SET", "k", value)
		for _, c := range []struct {
			path, accepts string
			compressed    bool
			want          string
		}{
			{"/get/k", "gzip, br", on, `{"result":"` + value + `"}`},
			{"/get/k", "identity", false, `{"result":"` + value + `"}`},
			{"/ping", "gzip", false, `{"result":"PONG"}`},
		} {
			r, _ := http.NewRequest("GET", s.rest+c.path, nil)
			r.Header.Set("Authorization", "Bearer "+token)
			r.Header.Set("Accept-Encoding", c.accepts)
			answer, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			body := io.Reader(answer.Body)
			if got := answer.Header.Get("Content-Encoding") == "gzip"; got != c.compressed {
				t.Errorf("%v, %s for %q: compressed is %v", on, c.path, c.accepts, got)
			} else if got {
				if body, err = gzip.NewReader(answer.Body); err != nil {
					t.Fatal(err)
				}
			}
			if text, err := io.ReadAll(body); err != nil || string(text) != c.want {
				t.Errorf("%s for %q: %d bytes, %v", c.path, c.accepts, len(text), err)
			}
			answer.Body.Close()
		}
	}
}

// TestReadOnlyToken runs commands that read, without KEYS and SCAN.
func TestReadOnlyToken(t *testing.T) {
	s := serve(t, server.Config{ReadOnlyToken: "look"})
	c := s.dial(t)
	c.do("SET", "k", "v")
	for path, want := range map[string]string{
		"/get/k":      `{"result":"v"}`,
		"/ping":       `{"result":"PONG"}`,
		"/set/k/w":    `{"error":"NOPERM User default_ro has no permissions to run the 'set' command"}`,
		"/keys/*":     `{"error":"NOPERM User default_ro has no permissions to run the 'keys' command"}`,
		"/scan/0":     `{"error":"NOPERM User default_ro has no permissions to run the 'scan' command"}`,
		"/acl/whoami": `{"error":"NOPERM User default_ro has no permissions to run the 'acl|whoami' command"}`,
	} {
		if _, got := s.as(t, "look", path); got != want {
			t.Errorf("%s: %s", path, got)
		}
	}
	want(t, c.do("AUTH", "default_ro", "look"), "OK")
	want(t, c.do("GET", "k"), `"v"`)
	want(t, s.dial(t).do("ACL", "SETUSER", "default_ro", "off"), "OK")
	if status, _ := s.as(t, "look", "/get/k"); status != 401 {
		t.Errorf("of a user that is off: %d", status)
	}
}
