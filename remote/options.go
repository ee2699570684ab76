package remote

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/meowdis/meowdis/store"
)

// Options sets how a server is reached. The zero value suits most servers.
type Options struct {
	TLS TLS
	// Timeout bounds connecting, a request to a REST endpoint, and the wait for a server's reply unless the
	// command may block. 0 means 10 seconds to connect and 30 for the rest.
	Timeout time.Duration
	IP      string // "4" or "6" for addresses of that version only; "" for both
	// Credentials, if not nil, returns the user and the password, or the token of a REST endpoint. It is called for each
	// connection, and again after the server has refused the password.
	Credentials CredentialsFunc
	// Dial, if not nil, connects in place of the network, such as through another machine.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

// dial connects to an address.
func (o Options) dial(ctx context.Context, network, address string) (net.Conn, error) {
	if network == "tcp" {
		network += o.IP
	}
	if o.Dial != nil {
		return o.Dial(ctx, network, address)
	}
	var d net.Dialer
	return d.DialContext(ctx, network, address)
}

// TLS sets the trusted authorities and the client certificate for URLs that ask for TLS. The zero value trusts
// the system's authorities.
type TLS struct {
	CACert    string // path of a PEM file with the only authorities to trust
	CACertDir string // path of a directory of such files, beside CACert
	Cert, Key string // paths of a client certificate and its key in PEM form; both or none
	SNI       string // server name to request and verify instead of the URL's host
	Insecure  bool   // trusts any certificate
}

const (
	defaultTimeout     = 30 * time.Second
	defaultDialTimeout = 10 * time.Second
)

func (o Options) timeout() time.Duration     { return cmp.Or(o.Timeout, defaultTimeout) }
func (o Options) dialTimeout() time.Duration { return cmp.Or(o.Timeout, defaultDialTimeout) }

// client returns an HTTP client for endpoints on host.
func (o Options) client(host string) (*http.Client, error) {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	var err error
	if transport.TLSClientConfig, err = o.TLS.config(host); err != nil {
		return nil, err
	}
	transport.TLSHandshakeTimeout = o.dialTimeout()
	if o.Dial != nil {
		transport.Proxy = nil
	}
	if o.Dial != nil || o.IP != "" {
		transport.DialContext = o.dial
	}
	// Node.js and workerd close a connection that is idle for 5 s. A request written at that moment is lost, and may
	// not be repeated.
	transport.IdleConnTimeout = 4 * time.Second
	return &http.Client{
		Transport: transport,
		Timeout:   o.timeout(),
		// A redirect would send commands, and perhaps the token, to a host that the user did not name.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}, nil
}

// Check returns an error if the files that t names cannot be used.
func (t TLS) Check() error {
	_, err := t.config("")
	return err
}

// Config returns the TLS configuration for servers that prove their host names, or t.SNI if set.
func (t TLS) Config() (*tls.Config, error) { return t.config("") }

// config returns the TLS configuration for the server on host.
func (t TLS) config(host string) (*tls.Config, error) {
	c := &tls.Config{ServerName: cmp.Or(t.SNI, host), InsecureSkipVerify: t.Insecure}
	if t.CACert != "" {
		pem, err := os.ReadFile(t.CACert)
		if err != nil {
			return nil, fmt.Errorf("reading the authorities to trust, %s: %w", t.CACert, pathless(err))
		}
		if c.RootCAs = x509.NewCertPool(); !c.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("%s has no certificate in PEM form", t.CACert)
		}
	}
	if t.CACertDir != "" {
		if c.RootCAs == nil {
			c.RootCAs = x509.NewCertPool()
		}
		if err := addDirectory(c.RootCAs, t.CACertDir); err != nil {
			return nil, err
		}
	}
	if (t.Cert == "") != (t.Key == "") {
		return nil, errors.New("a client certificate needs its key, and the key its certificate")
	}
	if t.Cert != "" {
		pair, err := tls.LoadX509KeyPair(t.Cert, t.Key)
		if err != nil {
			return nil, fmt.Errorf("reading the client certificate, %s with %s: %w", t.Cert, t.Key, pathless(err))
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, nil
}

// addDirectory adds the certificates of all files in a directory. Other files are ignored.
func addDirectory(pool *x509.CertPool, dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("reading the authorities to trust, %s: %w", dir, pathless(err))
	}
	any := false
	for _, e := range entries {
		if path := filepath.Join(dir, e.Name()); isRegular(path) {
			pem, err := os.ReadFile(path)
			if err != nil {
				return fmt.Errorf("reading the authorities to trust, %s: %w", path, pathless(err))
			}
			any = pool.AppendCertsFromPEM(pem) || any
		}
	}
	if !any {
		return fmt.Errorf("no file in %s has a certificate in PEM form", dir)
	}
	return nil
}

// isRegular reports whether path is a file that certificates may be in. OpenSSL's directories have links.
func isRegular(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Size() < maxPEM
}

const maxPEM = 16 << 20

func pathless(err error) error {
	var path *os.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}

// plaintextProbeDelay limits a TLS handshake before the server is asked whether it speaks Redis
// without TLS: such a server waits for the end of a line.
const plaintextProbeDelay = 300 * time.Millisecond

// errPlaintext reports a server that speaks Redis without TLS.
var errPlaintext = errors.New("it speaks Redis without TLS: give redis:// if that is meant")

// handshake returns conn wrapped in TLS.
func (s server) handshake(ctx context.Context, conn net.Conn) (net.Conn, error) {
	secure := tls.Client(conn, s.tls)
	done := make(chan error, 1)
	go func() { done <- store.Caught(func() error { return secure.HandshakeContext(ctx) }) }()
	timer := time.NewTimer(plaintextProbeDelay)
	defer timer.Stop()
	var err error
	select {
	case err = <-done:
	case <-timer.C:
		if s.options.Dial == nil && s.speaksPlaintext(ctx) {
			err = errPlaintext
		} else {
			err = <-done
		}
	}
	if err != nil {
		conn.Close() // which also ends a handshake in progress
		return nil, err
	}
	return secure, nil
}

// speaksPlaintext reports whether the server answers a PING sent without TLS.
func (s server) speaksPlaintext(ctx context.Context) bool {
	bounded, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	conn, err := s.options.dial(bounded, s.network, s.address)
	if err != nil {
		return false
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(time.Second))
	if _, err := conn.Write([]byte("PING\r\n")); err != nil {
		return false
	}
	first := make([]byte, 1)
	_, err = conn.Read(first)
	return err == nil && (first[0] == '+' || first[0] == '-')
}
