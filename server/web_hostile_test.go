package server_test

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/meowdis/meowdis/internal/test/authority"
	"github.com/meowdis/meowdis/server"
)

// TestBadRequests serves other clients while some send endless or too large headers, bodies and requests, with and
// without TLS.
func TestBadRequests(t *testing.T) {
	s := serve(t, server.Config{MaxRequest: 1 << 20, WriteTimeout: time.Second})
	_, overREST, trust := s.secured(t, authority.New(t), server.TLSFiles{}, slog.New(slog.DiscardHandler))
	s.dial(t).do("SET", "big", strings.Repeat("x", 40<<20))
	plain := func() net.Conn { return s.web(t) }
	secured := func() net.Conn {
		c, err := tls.Dial("tcp", overREST, trust)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		c.SetDeadline(time.Now().Add(time.Minute))
		return c
	}
	for name, dial := range map[string]func() net.Conn{"plain": plain, "TLS": secured} {
		head := "POST /set/k HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + token + "\r\n"
		slow, halfBody, deaf := dial(), dial(), dial()
		fmt.Fprint(slow, "GET /ping HTTP/1.1\r\nHost: x\r\nX-Slow: ")
		fmt.Fprint(halfBody, head+"Content-Length: 100\r\n\r\nhalf")
		fmt.Fprintf(deaf, "GET /get/big HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n\r\n", token)

		for what, request := range map[string]string{
			"announced": head + "Content-Length: 2000000\r\n\r\n",
			"chunked":   head + "Transfer-Encoding: chunked\r\n\r\n" + strings.Repeat("10000\r\n"+strings.Repeat("x", 0x10000)+"\r\n", 20) + "0\r\n\r\n",
		} {
			large := dial()
			go io.WriteString(large, request)
			buf := make([]byte, 4000)
			n, err := large.Read(buf)
			if err != nil || !strings.HasPrefix(string(buf[:n]), "HTTP/1.1 400") || !bytes.Contains(buf[:n], []byte("ERR max request size exceeded. Limit: 1048576 bytes")) {
				t.Errorf("%s, a body that is too large, %s: %q, %v", name, what, buf[:n], err)
			}
		}

		// A client that has closed its sending side still gets its reply, if that does not take long.
		half := dial()
		fmt.Fprintf(half, "GET /get/nothing HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer %s\r\n\r\n", token)
		half.(interface{ CloseWrite() error }).CloseWrite()
		if all, err := io.ReadAll(half); err != nil || !strings.HasSuffix(string(all), `{"result":null}`) && !strings.Contains(string(all), "its client hung up") {
			t.Errorf("%s, half closed: %q, %v", name, all, err)
		}
		for deadline := time.Now().Add(time.Minute); ; { // the client that does not read is closed
			if _, err := deaf.Write([]byte("\r\n")); err != nil {
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("%s: it is still served", name)
			}
			<-time.After(10 * time.Millisecond)
		}
	}
	if _, got := s.get(t, "/ping"); got != `{"result":"PONG"}` {
		t.Error(got)
	}
	for deadline := time.Now().Add(time.Minute); s.server.Held() > 0; <-time.After(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d bytes are held", s.server.Held())
		}
	}
}

// TestLargeBodyHTTP2 refuses a body that is too large over HTTP/2, too.
func TestLargeBodyHTTP2(t *testing.T) {
	s := serve(t, server.Config{MaxRequest: 1 << 20})
	_, overREST, trust := s.secured(t, authority.New(t), server.TLSFiles{}, slog.New(slog.DiscardHandler))
	web := &http.Transport{TLSClientConfig: trust, ForceAttemptHTTP2: true}
	t.Cleanup(web.CloseIdleConnections)
	r, _ := http.NewRequest("POST", "https://"+overREST+"/set/k", bytes.NewReader(make([]byte, 2<<20)))
	r.Header.Set("Authorization", "Bearer "+token)
	answer, err := web.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if text, err := io.ReadAll(answer.Body); answer.ProtoMajor != 2 || answer.StatusCode != 400 || !strings.Contains(string(text), "max request size exceeded") {
		t.Errorf("over HTTP/2: %s %d %q, %v", answer.Proto, answer.StatusCode, text, err)
	}
}
