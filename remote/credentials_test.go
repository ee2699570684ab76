package remote_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/remote"
)

// rotating is a server whose password changes. It refuses the commands of connections with an old one.
func rotating(t *testing.T, password *atomic.Value) (url string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				own := ""
				for in := resp.NewReader(conn); ; {
					args, err := in.ReadCommand()
					if err != nil {
						return
					}
					reply := "+PONG\r\n"
					switch {
					case string(args[0]) == "AUTH" && string(args[len(args)-1]) != password.Load():
						reply = "-WRONGPASS invalid username-password pair or user is disabled.\r\n"
					case string(args[0]) == "AUTH" && (len(args) != 3 || string(args[1]) != "cat"):
						reply = "-ERR AUTH without the user of the URL\r\n"
					case string(args[0]) == "AUTH":
						own, reply = string(args[len(args)-1]), "+OK\r\n"
					case own != password.Load():
						reply = "-NOAUTH Authentication required.\r\n"
					}
					if _, err := conn.Write([]byte(reply)); err != nil {
						return
					}
				}
			}()
		}
	}()
	return "redis://cat@" + l.Addr().String()
}

func TestCredentials(t *testing.T) {
	ctx := context.Background()
	var password atomic.Value
	password.Store("1")
	url := rotating(t, &password)
	var refused []string
	next, until := "0", time.Time{}
	failure := error(nil)
	o := remote.Options{Credentials: func(_ context.Context, no string) (remote.Credentials, error) {
		if refused = append(refused, no); no == next {
			next = password.Load().(string)
		}
		return remote.Credentials{Password: next, Until: until}, failure
	}}
	r, err := remote.OpenRedis(ctx, url, false, o)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	expect := func(line, want string, calls ...string) {
		t.Helper()
		v, err := r.Do(ctx, commandOf(line)...)
		got := string(v.Str)
		if err != nil {
			got = err.Error()
		}
		if !strings.HasPrefix(got, want) || fmt.Sprint(refused) != fmt.Sprint(calls) {
			t.Errorf("%s: %q, and the credentials were asked for with %q", line, got, refused)
		}
		refused = nil
	}
	expect("PING", "PONG", "", "0") // the first password was refused
	password.Store("2")
	expect("INCR n", "PONG", "1", "") // refused while connected
	until = time.Now().Add(-time.Second)
	password.Store("3")
	expect("PING", "PONG", "2", "")
	expect("PING", "PONG", "") // expired, so it connects again
	until = time.Time{}
	expect("PING", "PONG", "")
	expect("PING", "PONG")
	password.Store("4")
	failure = errors.New("no token")
	expect("PING", "no token", "3")
}

func TestRESTCredentials(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer good" {
			w.WriteHeader(http.StatusUnauthorized)
			io.WriteString(w, `{"error":"WRONGPASS"}`)
			return
		}
		io.WriteString(w, `{"result":"PONG"}`)
	}))
	defer server.Close()
	last, asked := "bad", 0
	r, err := remote.OpenREST(server.URL, "", remote.Options{Credentials: func(_ context.Context, refused string) (remote.Credentials, error) {
		if refused == "bad" {
			last, asked = "good", asked+1
		}
		return remote.Credentials{Password: last}, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for range 2 {
		if v, err := r.Do(context.Background(), []byte("INCR"), []byte("n")); err != nil || string(v.Str) != "PONG" {
			t.Errorf("%s, %v", v.Str, err)
		}
	}
	if asked != 1 {
		t.Errorf("asked %d times", asked)
	}
}
