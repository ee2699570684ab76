package server_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/meowdis/meowdis/internal/test/authority"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/server"
)

// over serves on two more listeners, wrapped by made.
func (s *served) over(t *testing.T, made func(net.Listener) net.Listener) (overRESP, overREST string) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ends := make(chan error, 2)
	a, b := listen(t), listen(t)
	go func() { ends <- s.server.ServeRESP(ctx, made(a)) }()
	go func() { ends <- s.server.ServeREST(ctx, made(b)) }()
	t.Cleanup(func() {
		cancel()
		for range 2 {
			if err := <-ends; err != nil {
				t.Error(err)
			}
		}
	})
	return a.Addr().String(), b.Addr().String()
}

// secured serves over TLS, and returns what clients need to trust the server.
func (s *served) secured(t *testing.T, a *authority.Authority, files server.TLSFiles, log *slog.Logger) (overRESP, overREST string, trust *tls.Config) {
	t.Helper()
	a.Server("server", x509.Certificate{}, "meowdis.test", "127.0.0.1")
	files.Cert, files.Key = a.Path("server.pem"), a.Path("server-key.pem")
	secure, err := server.NewTLS(files, log)
	if err != nil {
		t.Fatal(err)
	}
	overRESP, overREST = s.over(t, secure.Listener)
	return overRESP, overREST, &tls.Config{RootCAs: a.Pool(), ServerName: "meowdis.test"}
}

func dialTLS(t *testing.T, addr string, config *tls.Config) *peer {
	t.Helper()
	c, err := tls.Dial("tcp", addr, config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return &peer{c, t, resp.NewReader(c)}
}

// logged collects a server's log.
type logged struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *logged) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// fetch requests a path with the token. It returns the HTTP version and the reply.
func fetch(t *testing.T, transport *http.Transport, url string) (string, string) {
	t.Helper()
	r, _ := http.NewRequest("GET", url, nil)
	r.Header.Set("Authorization", "Bearer "+token)
	t.Cleanup(transport.CloseIdleConnections)
	answer, err := (&http.Client{Transport: transport, Timeout: time.Minute}).Do(r)
	if err != nil {
		return "", err.Error()
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.Proto, string(text)
}

// TestTLS serves both protocols over TLS, including HTTP/2, beside the plain listeners.
func TestTLS(t *testing.T) {
	s := serve(t, server.Config{})
	overRESP, overREST, trust := s.secured(t, authority.New(t), server.TLSFiles{}, slog.New(slog.DiscardHandler))
	c := dialTLS(t, overRESP, trust)
	want(t, c.do("SET", "k", strings.Repeat("v", 1<<20)), "OK")
	want(t, c.do("STRLEN", "k"), "(integer) 1048576")
	want(t, c.do("SET", "k", "v"), "OK")
	want(t, s.dial(t).do("GET", "k"), `"v"`)
	if _, port, _ := net.SplitHostPort(overRESP); !strings.Contains(string(c.do("INFO", "server").Str), ":name=tls,bind=127.0.0.1,port="+port+"\r\n") {
		t.Error("INFO does not show the listener")
	}
	only2 := new(http.Protocols)
	only2.SetUnencryptedHTTP2(true)
	for _, c := range []struct {
		transport  *http.Transport
		url, proto string
	}{
		{&http.Transport{TLSClientConfig: trust}, "https://" + overREST, "HTTP/1.1"},
		{&http.Transport{TLSClientConfig: trust.Clone(), ForceAttemptHTTP2: true}, "https://" + overREST, "HTTP/2.0"},
		{&http.Transport{Protocols: only2}, s.rest, "HTTP/2.0"},
	} {
		if proto, got := fetch(t, c.transport, c.url+"/get/k"); proto != c.proto || got != `{"result":"v"}` {
			t.Errorf("%s: %s %s", c.url, proto, got)
		}
	}
}

// TestTLSOfRedisCLI connects with a TLS client that is not Go's.
func TestTLSOfRedisCLI(t *testing.T) {
	a := authority.New(t)
	overRESP, _, _ := serve(t, server.Config{}).secured(t, a, server.TLSFiles{}, slog.New(slog.DiscardHandler))
	_, port, _ := net.SplitHostPort(overRESP)
	out, err := exec.Command("redis-cli", "--tls", "--cacert", a.Path("ca.pem"), "--sni", "meowdis.test", "-h", "127.0.0.1", "-p", port, "PING").CombinedOutput()
	if err != nil || !strings.HasSuffix(string(out), "PONG\n") {
		t.Errorf("%s, %v", out, err)
	}
}

// TestClientCertificates requires certificates of clients, which then need no password.
func TestClientCertificates(t *testing.T) {
	a, other := authority.New(t), authority.New(t)
	a.Client("client")
	other.Client("client")
	s := serve(t, server.Config{})
	ping := func(addr string, config *tls.Config, pairs ...tls.Certificate) string {
		config = config.Clone()
		config.Certificates = pairs
		c, err := tls.Dial("tcp", addr, config)
		if err != nil {
			return err.Error()
		}
		defer c.Close()
		c.SetDeadline(time.Now().Add(time.Minute))
		fmt.Fprintf(c, "PING\r\n")
		v, err := resp.NewReader(c).ReadReply()
		if err != nil { // in TLS 1.3 the error follows the client's side of the handshake
			return err.Error()
		}
		return show(v)
	}
	required, _, trust := s.secured(t, a, server.TLSFiles{ClientCA: a.Path("ca.pem")}, slog.New(slog.DiscardHandler))
	optional, _, _ := s.secured(t, a, server.TLSFiles{ClientCA: a.Path("ca.pem"), ClientOptional: true}, slog.New(slog.DiscardHandler))
	trust.RootCAs = a.Pool()
	for _, c := range []struct {
		name, addr string
		pairs      []tls.Certificate
		says       string
	}{
		{"required and right", required, []tls.Certificate{a.Pair("client")}, "PONG"},
		{"required and missing", required, nil, "certificate required"},
		{"required and a server's", required, []tls.Certificate{a.Pair("server")}, "bad certificate"},
		{"required and of another", required, []tls.Certificate{other.Pair("client")}, "unknown certificate authority"},
		{"optional and missing", optional, nil, "PONG"},
		{"optional and of another", optional, []tls.Certificate{other.Pair("client")}, "unknown certificate authority"},
	} {
		if got := ping(c.addr, trust, c.pairs...); !strings.Contains(got, c.says) {
			t.Errorf("%s: %s", c.name, got)
		}
	}
}

// TestProtectedModeOverTLS serves clients on other machines without a password if they have a certificate. Other
// clients get the error of protected mode.
func TestProtectedModeOverTLS(t *testing.T) {
	a := authority.New(t)
	a.Client("client")
	a.Server("server", x509.Certificate{}, "meowdis.test")
	secure, err := server.NewTLS(server.TLSFiles{Cert: a.Path("server.pem"), Key: a.Path("server-key.pem"), ClientCA: a.Path("ca.pem"), ClientOptional: true}, slog.Default())
	if err != nil {
		t.Fatal(err)
	}
	addr, _ := serve(t, server.Config{}).over(t, func(ln net.Listener) net.Listener { return secure.Listener(elsewhere{ln}) })
	trust := &tls.Config{RootCAs: a.Pool(), ServerName: "meowdis.test"}
	if v := dialTLS(t, addr, trust).reply(); !strings.HasPrefix(string(v.Str), "DENIED ") {
		t.Errorf("without a certificate: %s", show(v))
	}
	trust.Certificates = []tls.Certificate{a.Pair("client")}
	want(t, dialTLS(t, addr, trust).do("PING"), "PONG")
}

// TestRenewedCertificate uses a renewed certificate for new clients once it is valid. Existing connections are kept.
func TestRenewedCertificate(t *testing.T) {
	a := authority.New(t)
	var log logged
	overRESP, _, trust := serve(t, server.Config{}).secured(t, a, server.TLSFiles{}, slog.New(slog.NewTextHandler(&log, nil)))
	c := dialTLS(t, overRESP, trust)
	want(t, c.do("SET", "k", "v"), "OK")
	shown := func() string {
		return dialTLS(t, overRESP, trust).Conn.(*tls.Conn).ConnectionState().PeerCertificates[0].SerialNumber.String()
	}
	first := shown()
	whole, err := os.ReadFile(a.Path("server.pem"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(a.Path("server.pem"), whole[:len(whole)/2], 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if again := shown(); again != first {
			t.Error("half a certificate has another number")
		}
	}
	a.Server("server", x509.Certificate{NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(9 * time.Hour)}, "meowdis.test", "and more names")
	if shown() == first {
		t.Error("the new certificate is not shown")
	}
	want(t, c.do("GET", "k"), `"v"`)
	if said := log.String(); strings.Count(said, "still using the old certificate") != 1 || strings.Count(said, "was renewed") != 1 {
		t.Errorf("the log says %q", said)
	}
	a.Server("server", x509.Certificate{NotBefore: time.Now().Add(-9 * time.Hour), NotAfter: time.Now().Add(-time.Hour)}, "meowdis.test")
	if _, err := tls.Dial("tcp", overRESP, trust); err == nil || !strings.Contains(err.Error(), "expired") {
		t.Errorf("a certificate that has expired: %v", err)
	}
	want(t, c.do("GET", "k"), `"v"`)
}

// TestSlowHandshake serves other clients while some send nothing, or no TLS.
func TestSlowHandshake(t *testing.T) {
	overRESP, overREST, trust := serve(t, server.Config{}).secured(t, authority.New(t), server.TLSFiles{}, slog.New(slog.DiscardHandler))
	for range 20 {
		dial(t, "tcp", overRESP)
		dial(t, "tcp", overREST)
	}
	want(t, dialTLS(t, overRESP, trust).do("PING"), "PONG")
	if _, got := fetch(t, &http.Transport{TLSClientConfig: trust}, "https://"+overREST+"/ping"); got != `{"result":"PONG"}` {
		t.Error(got)
	}
	plain := dial(t, "tcp", overRESP)
	plain.send("PING\r\n")
	plain.wantClosed()
}

func TestTLSFiles(t *testing.T) {
	a := authority.New(t)
	a.Client("client")
	ca, cert, key := a.Path("ca.pem"), a.Path("client.pem"), a.Path("client-key.pem")
	for says, files := range map[string]server.TLSFiles{
		"none.pem and its key " + key + ": no such file":             {Cert: a.Path("none.pem"), Key: key},
		"and its key " + a.Path("ca-key.pem") + ": tls: private key": {Cert: cert, Key: a.Path("ca-key.pem")},
		"client CA file " + key + ": it contains no certificate":     {Cert: cert, Key: key, ClientCA: key},
	} {
		if _, err := server.NewTLS(files, nil); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, want %q", err, says)
		}
	}
	if _, err := server.NewTLS(server.TLSFiles{Cert: cert, Key: key, ClientCA: ca}, nil); err != nil {
		t.Error(err)
	}
}
