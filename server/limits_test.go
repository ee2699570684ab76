package server_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/server"
)

// web dials the REST port.
func (s *served) web(t *testing.T) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", strings.TrimPrefix(s.rest, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	c.SetDeadline(time.Now().Add(time.Minute))
	return c
}

// TestLongHeader reads only kilobytes of a header from a client that has shown no token yet.
func TestLongHeader(t *testing.T) {
	c := serve(t, server.Config{}).web(t)
	fmt.Fprintf(c, "GET /ping HTTP/1.1\r\nHost: x\r\nX: ")
	go c.Write(bytes.Repeat([]byte("x"), 4<<20)) // ends when the server closes the connection
	answer := make([]byte, 12)
	if _, err := io.ReadFull(c, answer); err != nil || string(answer) != "HTTP/1.1 431" {
		t.Errorf("%q, %v", answer, err)
	}
}

// gone fails the test unless the peer closes the connection without sending.
func gone(t *testing.T, c net.Conn) {
	t.Helper()
	c.SetReadDeadline(time.Now().Add(time.Minute))
	if n, err := c.Read(make([]byte, 1)); n > 0 || err == nil {
		t.Error("it was answered")
	} else if e, ok := err.(net.Error); ok && e.Timeout() {
		t.Error("it is still there")
	}
}

// TestStrangersLeave makes room for clients that know the secret by closing the oldest unauthenticated connection.
func TestStrangersLeave(t *testing.T) {
	s := serve(t, server.Config{RequirePass: "secret", MaxClients: 20}) // 2 may be unauthenticated
	known, overREST := s.dial(t), s.web(t)
	want(t, known.do("AUTH", "secret"), "OK")
	ping := func() {
		t.Helper()
		want(t, known.do("PING"), "PONG")
		fmt.Fprintf(overREST, "GET /ping HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n\r\n", token)
		buf := make([]byte, 1000)
		if n, err := overREST.Read(buf); err != nil || !strings.HasPrefix(string(buf[:n]), "HTTP/1.1 200") {
			t.Errorf("%q, %v", buf[:n], err)
		}
	}
	ping()
	var strangers, webs []net.Conn
	for range 30 {
		strangers, webs = append(strangers, s.dial(t)), append(webs, s.web(t))
	}
	for i := range 28 {
		gone(t, strangers[i])
		gone(t, webs[i])
	}
	ping()
	last := &peer{strangers[29], t, resp.NewReader(strangers[29])}
	want(t, last.do("AUTH", "secret"), "OK")
}

// TestMaxClientsOfListeners counts the clients of all listeners of a protocol together.
func TestMaxClientsOfListeners(t *testing.T) {
	s := serve(t, server.Config{MaxClients: 2})
	other, _ := s.over(t, func(ln net.Listener) net.Listener { return ln })
	want(t, s.dial(t).do("PING"), "PONG")
	want(t, dial(t, "tcp", other).do("PING"), "PONG")
	want(t, dial(t, "tcp", other).reply(), "(error) ERR max number of clients reached")
	want(t, s.dial(t).reply(), "(error) ERR max number of clients reached")
}

// TestMaxClientsOverREST replies with an error over the limit.
func TestMaxClientsOverREST(t *testing.T) {
	s := serve(t, server.Config{MaxClients: 2})
	for range 2 {
		c := s.web(t)
		fmt.Fprintf(c, "GET /ping HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n\r\n", token)
		if _, err := c.Read(make([]byte, 1000)); err != nil {
			t.Fatal(err)
		}
	}
	all, err := io.ReadAll(s.web(t))
	if err != nil || !strings.HasPrefix(string(all), "HTTP/1.1 503") || !strings.HasSuffix(string(all), `{"error":"ERR max number of clients reached"}`) {
		t.Errorf("%q, %v", all, err)
	}
}

// TestClientThatTakesNothing closes a client that does not read, and frees its memory.
func TestClientThatTakesNothing(t *testing.T) {
	s := serve(t, server.Config{WriteTimeout: 500 * time.Millisecond})
	c := s.dial(t)
	const size = 40 << 20 // more than any socket buffers
	c.do("SET", "big", strings.Repeat("x", size))
	deaf, web := s.dial(t), s.web(t)
	deaf.send("GET big\r\nGET big\r\nSET after 1\r\n")
	fmt.Fprintf(web, "GET /get/big HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n\r\n", token)
	for _, conn := range []net.Conn{deaf, web} {
		// Writing to a closed connection fails eventually.
		for deadline := time.Now().Add(time.Minute); ; {
			if _, err := conn.Write([]byte("\r\n")); err != nil {
				break
			}
			if time.Now().After(deadline) {
				t.Fatal("it is still served")
			}
			<-time.After(10 * time.Millisecond)
		}
	}
	want(t, c.do("EXISTS", "after"), "(integer) 0")
	for deadline := time.Now().Add(time.Minute); s.server.Held() > 0; <-time.After(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d bytes are held", s.server.Held())
		}
	}
}

const tooMuch = "ERR request memory limit exceeded (serve --max-request-memory): ask for less at a time"

// TestTooMuch sends pipelines of any size over RESP, whose replies arrive in pieces. Single RESP replies and REST
// responses over the memory of one request are refused.
func TestTooMuch(t *testing.T) {
	s := serve(t, server.Config{MaxRequestMemory: 3 << 20})
	c := s.dial(t)
	value := strings.Repeat("v", 1<<20)
	c.do("SET", "v", value)
	c.do("SADD", "s", "a", "b")
	c.send(strings.Repeat("GET v\r\n", 20) + "MGET v v v\r\nSRANDMEMBER s -1000000\r\nMULTI\r\nGET v\r\nGET v\r\nGET v\r\nEXEC\r\nPING\r\n")
	for range 20 {
		if v := c.reply(); string(v.Str) != value {
			t.Fatalf("%.100s", v.Str)
		}
	}
	want(t, c.reply(), "(error) "+tooMuch)
	want(t, c.reply(), "(error) "+tooMuch)
	for range 4 {
		c.reply()
	}
	if v := c.reply(); len(v.Elems) != 3 || v.Elems[1].IsError() || string(v.Elems[2].Str) != tooMuch {
		t.Errorf("%.300s", show(v))
	}
	want(t, c.reply(), "PONG")
	item := `{"result":"` + value + `"}`
	for _, r := range []struct{ path, body, want string }{
		{"/mget/v/v/v", "", `{"error":"` + tooMuch + `"}`},
		{"/get/v", "", item},
		{"/pipeline", `[["GET","v"],["GET","v"],["GET","v"],["PING"]]`, `[` + item + `,` + item + `,{"error":"` + tooMuch + `"},{"result":"PONG"}]`},
		{"/multi-exec", `[["GET","v"],["GET","v"],["GET","v"],["PING"]]`, `[` + item + `,` + item + `,{"error":"` + tooMuch + `"},{"result":"PONG"}]`},
		{"/pipeline", `[["ECHO","` + value + value + `"]]`, `{"error":"` + tooMuch + `"}`},
	} {
		if _, got := s.request(t, "POST", r.path, r.body); got != r.want {
			t.Errorf("%s: %d bytes, %.200s", r.path, len(got), got)
		}
	}
	if n := s.server.Held(); n > 0 {
		t.Errorf("%d bytes are held", n)
	}
}

// TestRepliesInForms sends strings longer than a piece in each form of REST, cut in the middle of characters.
func TestRepliesInForms(t *testing.T) {
	s := serve(t, server.Config{})
	c := s.dial(t)
	for _, unit := range []string{"x", "xé", "€", "x😀", "\xff", "\x01\"", "é\x80"} {
		value := strings.Repeat(unit, 300_000/len(unit))
		c.do("SET", "k", value)
		plain := form{}.text(t, s)
		if want := jsonOf(value); plain != want {
			t.Errorf("%q: %d bytes of JSON, want %d", unit, len(plain), len(want))
		}
		if got := (form{"Upstash-Encoding: base64"}).text(t, s); got != base64Of(value) {
			t.Errorf("%q: %d bytes of base64", unit, len(got))
		}
	}
}

// form is a request header that selects a form.
type form []string

func (f form) text(t *testing.T, s *served) string {
	t.Helper()
	status, got := s.request(t, "GET", "/get/k", "", f...)
	if status != 200 {
		t.Errorf("%q: %d", f, status)
	}
	return got
}

func jsonOf(value string) string {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(map[string]string{"result": string([]rune(value))}); err != nil {
		panic(err)
	}
	return strings.TrimSpace(out.String())
}

func base64Of(value string) string {
	return `{"result":"` + base64.StdEncoding.EncodeToString([]byte(value)) + `"}`
}
