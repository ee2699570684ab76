package remote_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/meowdis/meowdis/internal/test/authority"
	"github.com/meowdis/meowdis/remote"
)

// wantsCertificates is the configuration of a server called redis.test, which wants to see a
// certificate of its clients.
func wantsCertificates(a *authority.Authority) *tls.Config {
	a.Server("server", x509.Certificate{}, "redis.test")
	a.Client("client")
	return &tls.Config{Certificates: []tls.Certificate{a.Pair("server")}, ClientCAs: a.Pool(), ClientAuth: tls.RequireAndVerifyClientCert}
}

// answerPings answers every line of a PING.
func answerPings(t *testing.T, ln net.Listener) string {
	t.Helper()
	t.Cleanup(func() { ln.Close() })
	go func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				for in := bufio.NewScanner(conn); in.Scan(); {
					if in.Text() == "PING" {
						io.WriteString(conn, "+PONG\r\n")
					}
				}
			}()
		}
	}()
	return ln.Addr().String()
}

func listenLocally(t *testing.T) net.Listener {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return ln
}

// ping opens a session and sends a PING, and returns what went wrong.
func ping(url string, o remote.Options) error {
	r, err := remote.OpenRedis(context.Background(), url, false, o)
	if err != nil {
		return err
	}
	defer r.Close()
	_, err = r.Do(context.Background(), []byte("PING"))
	return err
}

// TestTLS reaches a server that proves its name and wants a certificate, with and
// without what that takes.
func TestTLS(t *testing.T) {
	a := authority.New(t)
	address := answerPings(t, tls.NewListener(listenLocally(t), wantsCertificates(a)))
	ca, cert, key := a.Path("ca.pem"), a.Path("client.pem"), a.Path("client-key.pem")
	for name, c := range map[string]struct {
		tls  remote.TLS
		says string // "" for success
	}{
		"all that it takes":    {remote.TLS{CACert: ca, Cert: cert, Key: key, SNI: "redis.test"}, ""},
		"any certificate":      {remote.TLS{Cert: cert, Key: key, Insecure: true}, ""},
		"no authority":         {remote.TLS{Cert: cert, Key: key, SNI: "redis.test"}, "cannot be trusted"},
		"another name":         {remote.TLS{CACert: ca, Cert: cert, Key: key}, "cannot be trusted"},
		"no certificate":       {remote.TLS{CACert: ca, SNI: "redis.test"}, "certificate required: give the client's with --cert"},
		"a key alone":          {remote.TLS{CACert: ca, Key: key}, "needs its key"},
		"a file that is not":   {remote.TLS{CACert: a.Path("none.pem")}, "none.pem: no such file"},
		"a directory":          {remote.TLS{CACertDir: filepath.Dir(ca), Cert: cert, Key: key, SNI: "redis.test"}, ""},
		"an empty directory":   {remote.TLS{CACertDir: t.TempDir()}, "has a certificate in PEM form"},
		"no directory":         {remote.TLS{CACertDir: a.Path("none")}, "no such file"},
		"no certificate in it": {remote.TLS{CACert: key}, "has no certificate in PEM form"},
	} {
		err := ping("rediss://"+address, remote.Options{TLS: c.tls})
		if c.says == "" && err != nil || c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%s: %v, want %q", name, err, c.says)
		}
	}
	if err := ping("redis://"+address, remote.Options{}); err == nil || !strings.Contains(err.Error(), "does it want TLS? Then give rediss://") {
		t.Errorf("without TLS: %v", err)
	}
	plain := answerPings(t, listenLocally(t))
	if err := ping("redis://"+plain, remote.Options{IP: "4"}); err != nil {
		t.Errorf("IPv4 only: %v", err)
	}
	if err := ping("redis://"+plain, remote.Options{IP: "6"}); err == nil || !strings.Contains(err.Error(), "no suitable address") {
		t.Errorf("IPv6 only: %v", err)
	}
	if err := ping("rediss://"+plain, remote.Options{}); err == nil || !strings.Contains(err.Error(), "it speaks Redis without TLS: give redis://") {
		t.Errorf("TLS with a plain port: %v", err)
	}
}

// TestTLSOfREST is TestTLS for an endpoint.
func TestTLSOfREST(t *testing.T) {
	a := authority.New(t)
	web := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, `{"result":"PONG"}`)
	}))
	web.TLS = wantsCertificates(a)
	web.StartTLS()
	t.Cleanup(web.Close)
	for says, o := range map[string]remote.TLS{
		"":                  {CACert: a.Path("ca.pem"), Cert: a.Path("client.pem"), Key: a.Path("client-key.pem"), SNI: "redis.test"},
		"cannot be trusted": {Cert: a.Path("client.pem"), Key: a.Path("client-key.pem")},
	} {
		r, err := remote.OpenREST(web.URL, "T", remote.Options{TLS: o})
		if err != nil {
			t.Fatal(err)
		}
		remote.WithoutWaiting(r)
		if _, err = r.Do(context.Background(), []byte("PING")); says == "" && err != nil || says != "" && (err == nil || !strings.Contains(err.Error(), says)) {
			t.Errorf("%v, want %q", err, says)
		}
	}
}

// TestTimeout gives servers up that take connections and never answer.
func TestTimeout(t *testing.T) {
	silent := listenLocally(t)
	t.Cleanup(func() { silent.Close() })
	for _, scheme := range []string{"redis://", "rediss://"} {
		err := ping(scheme+silent.Addr().String(), remote.Options{Timeout: 20 * time.Millisecond})
		if err == nil || !strings.Contains(err.Error(), "it does not answer") {
			t.Errorf("%s: %v", scheme, err)
		}
	}
	r, err := remote.OpenREST("http://"+silent.Addr().String(), "T", remote.Options{Timeout: 20 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	remote.WithoutWaiting(r)
	if _, err := r.Do(context.Background(), []byte("PING")); err == nil || !strings.Contains(err.Error(), "it does not answer") {
		t.Errorf("REST: %v", err)
	}
}
