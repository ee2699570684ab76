package server_test

import (
	"context"
	"net"
	"path/filepath"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/server"
)

// TestSocketClients lists clients of a unix socket in Redis's form, and serves them without a password.
func TestSocketClients(t *testing.T) {
	s := serve(t, server.Config{})
	path := filepath.Join(t.TempDir(), "s")
	ln, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- s.server.ServeRESP(ctx, ln) }()
	defer func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}()
	a, b, watcher := dial(t, "unix", path), dial(t, "unix", path), s.dial(t)
	want(t, watcher.do("MONITOR"), "OK")
	want(t, a.do("SET", "k", "v"), "OK")
	if line := show(watcher.reply()); !strings.Contains(line, " [0 unix:"+path+"] \"SET\" \"k\" \"v\"") {
		t.Errorf("MONITOR: %s", line)
	}
	if line := string(b.do("CLIENT", "INFO").Str); !strings.Contains(line, " addr="+path+":0 laddr="+path+":0 ") || !strings.Contains(line, " flags=U ") {
		t.Error(line)
	}
	want(t, b.do("CLIENT", "KILL", "ADDR", path+":0"), "(integer) 1")
	a.wantClosed()
}
