package server_test

import (
	"errors"
	"io"
	"net/http"
	"testing"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/server"
	"github.com/meowdis/meowdis/store"
)

// health requests /healthz without a token.
func (s *served) health(t *testing.T) (int, string) {
	t.Helper()
	answer, err := http.Get(s.rest + "/healthz")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(text)
}

// TestHealth reports whether the server can read and write, but not the reason.
func TestHealth(t *testing.T) {
	for _, c := range []struct {
		name   string
		config server.Config
		status int
		says   string
	}{
		{"fine", server.Config{}, 200, "ok\n"},
		{"read-only", server.Config{Writable: func() error { return errors.New("a secret") }}, 503, "the database cannot be written\n"},
		{"broken", server.Config{Engine: engine.New(storeFunc(func([]store.Batch) ([]store.Result, error) {
			return nil, errors.New("a secret")
		}))}, 503, "the database cannot be read\n"},
	} {
		if status, says := serve(t, c.config).health(t); status != c.status || says != c.says {
			t.Errorf("%s: %d %q", c.name, status, says)
		}
	}
}
