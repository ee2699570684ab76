package remote_test

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/meowdis/meowdis/remote"
)

// authority signs certificates, and has its own in the file ca.pem of dir.
type authority struct {
	t    *testing.T
	dir  string
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{t: t, dir: t.TempDir()}
	a.cert, a.key = a.sign("ca", &x509.Certificate{IsCA: true, KeyUsage: x509.KeyUsageCertSign, BasicConstraintsValid: true})
	return a
}

// sign makes NAME.pem and NAME-key.pem.
func (a *authority) sign(name string, template *x509.Certificate) (*x509.Certificate, *ecdsa.PrivateKey) {
	a.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		a.t.Fatal(err)
	}
	template.SerialNumber, template.Subject = big.NewInt(1), pkix.Name{CommonName: name}
	template.NotBefore, template.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	parent, signer := template, key
	if a.cert != nil {
		parent, signer = a.cert, a.key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signer)
	if err != nil {
		a.t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		a.t.Fatal(err)
	}
	for file, block := range map[string]*pem.Block{name + ".pem": {Type: "CERTIFICATE", Bytes: der}, name + "-key.pem": {Type: "PRIVATE KEY", Bytes: private}} {
		if err := os.WriteFile(a.path(file), pem.EncodeToMemory(block), 0o600); err != nil {
			a.t.Fatal(err)
		}
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		a.t.Fatal(err)
	}
	return cert, key
}

func (a *authority) path(file string) string { return filepath.Join(a.dir, file) }

// serverConfig is that of a server called redis.test, which wants to see a
// certificate of its clients.
func (a *authority) serverConfig() *tls.Config {
	a.t.Helper()
	a.sign("server", &x509.Certificate{DNSNames: []string{"redis.test"}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}})
	a.sign("client", &x509.Certificate{ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})
	pair, err := tls.LoadX509KeyPair(a.path("server.pem"), a.path("server-key.pem"))
	if err != nil {
		a.t.Fatal(err)
	}
	clients := x509.NewCertPool()
	clients.AddCert(a.cert)
	return &tls.Config{Certificates: []tls.Certificate{pair}, ClientCAs: clients, ClientAuth: tls.RequireAndVerifyClientCert}
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
	a := newAuthority(t)
	address := answerPings(t, tls.NewListener(listenLocally(t), a.serverConfig()))
	ca, cert, key := a.path("ca.pem"), a.path("client.pem"), a.path("client-key.pem")
	for name, c := range map[string]struct {
		tls  remote.TLS
		says string // "" for success
	}{
		"all that it takes":    {remote.TLS{CACert: ca, Cert: cert, Key: key, SNI: "redis.test"}, ""},
		"any certificate":      {remote.TLS{Cert: cert, Key: key, Insecure: true}, ""},
		"no authority":         {remote.TLS{Cert: cert, Key: key, SNI: "redis.test"}, "cannot be trusted"},
		"another name":         {remote.TLS{CACert: ca, Cert: cert, Key: key}, "cannot be trusted"},
		"no certificate":       {remote.TLS{CACert: ca, SNI: "redis.test"}, "certificate required"},
		"a key alone":          {remote.TLS{CACert: ca, Key: key}, "needs its key"},
		"a file that is not":   {remote.TLS{CACert: a.path("none.pem")}, "none.pem: no such file"},
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
	if err := ping("rediss://"+plain, remote.Options{}); err == nil || !strings.Contains(err.Error(), "it speaks Redis without TLS: give redis://") {
		t.Errorf("TLS with a plain port: %v", err)
	}
}

// TestTLSOfREST is TestTLS for an endpoint.
func TestTLSOfREST(t *testing.T) {
	a := newAuthority(t)
	web := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, `{"result":"PONG"}`)
	}))
	web.TLS = a.serverConfig()
	web.StartTLS()
	t.Cleanup(web.Close)
	for says, o := range map[string]remote.TLS{
		"":                  {CACert: a.path("ca.pem"), Cert: a.path("client.pem"), Key: a.path("client-key.pem"), SNI: "redis.test"},
		"cannot be trusted": {Cert: a.path("client.pem"), Key: a.path("client-key.pem")},
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
