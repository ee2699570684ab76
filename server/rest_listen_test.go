package server_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/meowdis/meowdis/server"
)

// events opens a stream of events.
func (s *served) events(t *testing.T, path, token string) (*http.Response, *bufio.Reader) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.rest+path, strings.NewReader("[]"))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Accept", "text/event-stream")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { res.Body.Close() })
	return res, bufio.NewReader(res.Body)
}

// event reads the next event. It returns "" at the end.
func event(t *testing.T, in *bufio.Reader) string {
	t.Helper()
	var text strings.Builder
	for {
		line, err := in.ReadString('\n')
		if line == "\n" || err == io.EOF {
			return text.String()
		}
		if err != nil {
			t.Fatal(err)
		}
		text.WriteString(line)
	}
}

// TestEvents streams messages published over either protocol.
func TestEvents(t *testing.T) {
	s := serve(t, server.Config{})
	c := s.dial(t)
	res, news := s.events(t, "/subscribe/news/a%2Cb", token)
	if res.StatusCode != 200 || res.Header.Get("Content-Type") != "text/event-stream" || res.Header.Get("Cache-Control") != "no-cache" {
		t.Errorf("%d %v", res.StatusCode, res.Header)
	}
	for _, want := range []string{"data: subscribe,news,1\n", "data: subscribe,a,b,2\n"} {
		if got := event(t, news); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	_, all := s.events(t, "/PSUBSCRIBE/*?_token=ignored", token)
	if got := event(t, all); got != "data: psubscribe,*,1\n" {
		t.Errorf("got %q", got)
	}
	_, seen := s.events(t, "/monitor", token)
	if got := event(t, seen); got != "data: \"OK\"\n" {
		t.Errorf("got %q", got)
	}
	want(t, c.do("PUBLISH", "news", "one, two"), "(integer) 2")
	want(t, c.do("PUBLISH", "a,b", "several\nlines\r\nand\rends\n"), "(integer) 2")
	if _, body := s.get(t, "/publish/news/hi"); body != `{"result":2}` {
		t.Errorf("publishing over REST: %s", body)
	}
	for _, want := range []string{"data: message,news,one, two\n", "data: message,a,b,several\ndata: lines\ndata: and\ndata: ends\ndata: \n", "data: message,news,hi\n"} {
		if got := event(t, news); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if got := event(t, all); got != "data: pmessage,*,news,one, two\n" {
		t.Errorf("got %q", got)
	}
	if got := event(t, seen); !regexp.MustCompile(`^data: \d{10}\.\d{6} \[0 127\.0\.0\.1:\d+\] "PUBLISH" "news" "one, two"\n$`).MatchString(got) {
		t.Errorf("got %q", got)
	}
	res.Body.Close()
	s.until(t, func() bool { return c.do("PUBSUB", "NUMSUB", "news").Elems[1].Int == 0 })
	s.stop()
	if got := event(t, all); got == "" {
		t.Error("what was sent before the end is missing")
	}
	for event(t, all) != "" {
	}
}

// TestEventsAreRefused gets an error in place of a stream.
func TestEventsAreRefused(t *testing.T) {
	s := serve(t, server.Config{})
	c := s.dial(t)
	want(t, c.do("ACL", "SETUSER", "bob", "on", ">pw", "+@all", "-monitor", "resetchannels", "&news"), "OK")
	bob := string(c.do("ACL", "RESTTOKEN", "bob", "pw").Str)
	for _, x := range []struct {
		path, token string
		status      int
		body        string
	}{
		{"/subscribe/news", "wrong", 401, `{"error":"WRONGPASS invalid or missing auth token"}`},
		{"/subscribe", token, 400, `{"error":"ERR wrong number of arguments for 'subscribe' command"}`},
		{"/monitor/x", token, 400, `{"error":"ERR wrong number of arguments for 'monitor' command"}`},
		{"/subscribe/other", bob, 400, `{"error":"NOPERM No permissions to access a channel"}`},
		{"/psubscribe/n*", bob, 400, `{"error":"NOPERM No permissions to access a channel"}`},
		{"/monitor", bob, 400, `{"error":"NOPERM User bob has no permissions to run the 'monitor' command"}`},
	} {
		res, body := s.events(t, x.path, x.token)
		text, err := io.ReadAll(body)
		if err != nil || res.StatusCode != x.status || string(text) != x.body {
			t.Errorf("%s: %d %s, %v", x.path, res.StatusCode, text, err)
		}
	}
	for _, rule := range [][]string{{"ACL", "SETUSER", "bob", "resetchannels", "&else"}, {"ACL", "DELUSER", "bob"}} {
		c.do("ACL", "SETUSER", "bob", "&news")
		_, in := s.events(t, "/subscribe/news", bob)
		if got := event(t, in); got != "data: subscribe,news,1\n" {
			t.Errorf("got %q", got)
		}
		c.do(rule...)
		if got := event(t, in); got != "" {
			t.Errorf("after %v: %q", rule, got)
		}
	}
}

// TestEventsThatAreNotRead closes a stream that is not read, and holds only some of its events.
func TestEventsThatAreNotRead(t *testing.T) {
	s := serve(t, server.Config{WriteTimeout: 500 * time.Millisecond})
	c := s.dial(t)
	nc, err := net.Dial("tcp", strings.TrimPrefix(s.rest, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	fmt.Fprintf(nc, "GET /subscribe/news?_token=%s HTTP/1.1\r\nHost: x\r\n\r\n", url.QueryEscape(token))
	s.until(t, func() bool { return c.do("PUBSUB", "NUMSUB", "news").Elems[1].Int == 1 })
	big := strings.Repeat("x", 1<<20)
	s.until(t, func() bool { return c.do("PUBLISH", "news", big).Int == 0 })
}

// until polls until is returns true.
func (s *served) until(t *testing.T, is func() bool) {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	for !is() {
		if time.Now().After(deadline) {
			t.Fatal("it does not happen")
		}
	}
}
