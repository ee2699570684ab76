package repl

import (
	"bufio"
	"context"
	"net"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/embedded"
	"github.com/meowdis/meowdis/internal/test/oracle"
	"github.com/meowdis/meowdis/keyspace"
	"github.com/meowdis/meowdis/redis/resp"
)

// wired is a Session over a connection.
type wired struct {
	keyspace.Session
	do func(args ...[]byte) resp.Value
}

func (w wired) Do(_ context.Context, args ...[]byte) (resp.Value, error) { return w.do(args...), nil }

// TestOfferedSettings checks that CONFIG SET accepts all values that TAB offers, on Redis and on our own server.
func TestOfferedSettings(t *testing.T) {
	db, err := embedded.Open(embedded.Memory)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	conn, err := db.Dialer(t.Context(), "", "")
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for name, do := range map[string]func(args ...[]byte) resp.Value{
		"Redis": oracle.Start(t).Dial(t).Do, "meowdis": replies(t, conn),
	} {
		target := Target{Session: wired{newSession(t), do}}
		several := 0
		for _, p := range completions(target, "CONFIG SET ") {
			offered := completions(target, "CONFIG SET "+p+" ")
			// Those left out need an allocator of its own, and certificates.
			if len(offered) < 2 || p == "activedefrag" || strings.HasPrefix(p, "tls-") {
				continue
			}
			several++
			if p == "maxmemory-policy" && (len(offered) == 3) != (name == "meowdis") {
				t.Errorf("%s: offered %q", name, offered)
			}
			before := string(do([]byte("CONFIG"), []byte("GET"), []byte(p)).Elems[1].Str)
			for _, value := range append(offered, before) {
				if v := do([]byte("CONFIG"), []byte("SET"), []byte(p), []byte(value)); v.IsError() {
					t.Errorf("%s: CONFIG SET %s %s: %s", name, p, value, v.Str)
				}
			}
		}
		if several < 10 {
			t.Errorf("%s: %d parameters have several values", name, several)
		}
	}
}

func replies(t *testing.T, conn net.Conn) func(args ...[]byte) resp.Value {
	in := resp.NewReader(bufio.NewReader(conn))
	return func(args ...[]byte) resp.Value {
		t.Helper()
		if _, err := conn.Write(resp.AppendCommand(nil, args...)); err != nil {
			t.Fatal(err)
		}
		v, err := in.ReadReply()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}
