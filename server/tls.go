package server

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"log/slog"
	"net"
	"os"
	"sync"
	"time"

	"github.com/meowdis/meowdis/internal/atomicfile"
	"github.com/meowdis/meowdis/store"
)

// TLSFiles names the PEM files of a TLS server.
type TLSFiles struct {
	Cert, Key string // certificate chain and key of the server
	// ClientCA holds the certificate authorities of clients. Without it clients need no certificate.
	ClientCA string
	// ClientOptional accepts clients without a certificate. A certificate that a client sends must still be valid.
	ClientOptional bool
}

// TLS wraps listeners in TLS 1.2 and 1.3. The files may be renewed while it runs: each handshake uses the current
// files, and existing connections are kept. It is safe for concurrent use.
type TLS struct {
	files  TLSFiles
	logger *slog.Logger

	mu        sync.Mutex
	stamps    [3]stamp // stamps of the files in config
	config    *tls.Config
	lastError string // error of the files at the last handshake
}

// stamp identifies the version of a file.
type stamp struct {
	changed time.Time
	size    int64
}

// NewTLS reads the files. If the files change later and are invalid, the server logs the error and keeps using the old
// certificate.
func NewTLS(files TLSFiles, logger *slog.Logger) (*TLS, error) {
	t := &TLS{files: files, logger: logger}
	if err := t.read(t.stat()); err != nil {
		return nil, err
	}
	return t, nil
}

// Listener returns ln with TLS, for ServeRESP and ServeREST.
func (t *TLS) Listener(ln net.Listener) net.Listener { return tlsListener{ln, t} }

// tlsListener marks a listener whose connections use TLS. The handshake happens after Accept.
type tlsListener struct {
	net.Listener
	tls *TLS
}

// stat returns the current stamps of the files.
func (t *TLS) stat() (stamps [3]stamp) {
	for i, path := range []string{t.files.Cert, t.files.Key, t.files.ClientCA} {
		if info, err := os.Stat(path); err == nil {
			stamps[i] = stamp{info.ModTime(), info.Size()}
		}
	}
	return stamps
}

// read loads the configuration from the files. The caller took stamps before.
func (t *TLS) read(stamps [3]stamp) error {
	pair, err := tls.LoadX509KeyPair(t.files.Cert, t.files.Key)
	if err != nil {
		return fmt.Errorf("reading the certificate %s and its key %s: %w", t.files.Cert, t.files.Key, atomicfile.Pathless(err))
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{pair}}
	if t.files.ClientCA != "" {
		text, err := os.ReadFile(t.files.ClientCA)
		if err != nil {
			return fmt.Errorf("reading the client CA file %s: %w", t.files.ClientCA, atomicfile.Pathless(err))
		}
		config.ClientCAs = x509.NewCertPool()
		if !config.ClientCAs.AppendCertsFromPEM(text) {
			return fmt.Errorf("reading the client CA file %s: it contains no certificate", t.files.ClientCA)
		}
		config.ClientAuth = tls.RequireAndVerifyClientCert
		if t.files.ClientOptional {
			config.ClientAuth = tls.VerifyClientCertIfGiven
		}
	}
	t.config, t.stamps = config, stamps
	return nil
}

// current returns the configuration of the current files, or the previous configuration if the files are invalid.
func (t *TLS) current() *tls.Config {
	t.mu.Lock()
	defer t.mu.Unlock()
	stamps := t.stat()
	if stamps == t.stamps {
		t.lastError = ""
		return t.config
	}
	err := t.read(stamps)
	switch {
	case err == nil:
		t.lastError = ""
		t.logger.Info("the certificate was renewed", "file", t.files.Cert, "until", t.config.Certificates[0].Leaf.NotAfter)
	case err.Error() != t.lastError:
		t.lastError = err.Error()
		t.logger.Error("invalid certificate files, still using the old certificate", "error", err)
	}
	return t.config
}

// forProtocols returns a configuration that negotiates one of the protocols, or any if the list is empty.
func (t *TLS) forProtocols(protocols ...string) *tls.Config {
	return &tls.Config{
		NextProtos: protocols,
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
			config := t.current().Clone()
			config.NextProtos = protocols
			return config, nil
		},
	}
}

// handshakeTime limits the handshake.
const handshakeTime = 10 * time.Second

// handshake completes the TLS handshake. It returns nil at once for a connection without TLS.
func (c *client) handshake(ctx context.Context) error {
	conn := tlsOf(c.net)
	if conn == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, handshakeTime)
	defer cancel()
	done := make(chan error)
	// A separate goroutine, so the stack of the handshake does not stay with the client.
	go func() { done <- store.Caught(func() error { return conn.HandshakeContext(ctx) }) }()
	return <-done
}

// tlsOf returns the TLS layer of a connection, or nil.
func tlsOf(nc net.Conn) *tls.Conn {
	g, ok := nc.(*limitedConn)
	if !ok {
		return nil
	}
	conn, _ := g.Conn.(*tls.Conn)
	return conn
}

// hasClientCert reports whether the client sent a certificate of an authority in ClientCA.
func hasClientCert(nc net.Conn) bool {
	conn := tlsOf(nc)
	return conn != nil && len(conn.ConnectionState().VerifiedChains) > 0
}
