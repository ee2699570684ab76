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

// TLSFiles are what a server shows the clients that speak TLS, and what it wants of them, in
// PEM files.
type TLSFiles struct {
	Cert, Key string // the chain of the server, and its key
	// ClientCA has the authorities of clients. Without it clients need no certificate.
	ClientCA string
	// ClientOptional lets in clients without a certificate. One that is shown must be right.
	ClientOptional bool
}

// TLS makes listeners speak TLS 1.2 and 1.3 by files that may be renewed: each handshake is by
// the files of its time, and connections that are there go on. It is safe for concurrent use.
type TLS struct {
	files  TLSFiles
	logger *slog.Logger

	mu      sync.Mutex
	stamps  [3]stamp // of the files that config is made of
	config  *tls.Config
	trouble string // what was wrong with the files of the handshake before
}

// stamp changes with a file.
type stamp struct {
	changed time.Time
	size    int64
}

// NewTLS reads the files. Later changes that cannot be used are told to the logger, and do not
// count until they can be.
func NewTLS(files TLSFiles, logger *slog.Logger) (*TLS, error) {
	t := &TLS{files: files, logger: logger}
	if err := t.read(t.look()); err != nil {
		return nil, err
	}
	return t, nil
}

// Listener makes the connections of ln speak TLS: it is for ServeRESP and ServeREST.
func (t *TLS) Listener(ln net.Listener) net.Listener { return secure{ln, t} }

// secure is a listener whose connections speak TLS once they have come in.
type secure struct {
	net.Listener
	tls *TLS
}

// look returns the stamps of the files as they are now.
func (t *TLS) look() (stamps [3]stamp) {
	for i, path := range []string{t.files.Cert, t.files.Key, t.files.ClientCA} {
		if info, err := os.Stat(path); err == nil {
			stamps[i] = stamp{info.ModTime(), info.Size()}
		}
	}
	return stamps
}

// read makes the configuration of the files, which have these stamps or newer ones.
func (t *TLS) read(stamps [3]stamp) error {
	pair, err := tls.LoadX509KeyPair(t.files.Cert, t.files.Key)
	if err != nil {
		return fmt.Errorf("reading the certificate %s and its key %s: %w", t.files.Cert, t.files.Key, atomicfile.Pathless(err))
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{pair}}
	if t.files.ClientCA != "" {
		text, err := os.ReadFile(t.files.ClientCA)
		if err != nil {
			return fmt.Errorf("reading the authorities of clients %s: %w", t.files.ClientCA, atomicfile.Pathless(err))
		}
		config.ClientCAs = x509.NewCertPool()
		if !config.ClientCAs.AppendCertsFromPEM(text) {
			return fmt.Errorf("reading the authorities of clients %s: there is no certificate in it", t.files.ClientCA)
		}
		config.ClientAuth = tls.RequireAndVerifyClientCert
		if t.files.ClientOptional {
			config.ClientAuth = tls.VerifyClientCertIfGiven
		}
	}
	t.config, t.stamps = config, stamps
	return nil
}

// current is the configuration by the files as they are now, or, while those are of no use, as
// they were.
func (t *TLS) current() *tls.Config {
	t.mu.Lock()
	defer t.mu.Unlock()
	stamps := t.look()
	if stamps == t.stamps {
		t.trouble = ""
		return t.config
	}
	err := t.read(stamps)
	switch {
	case err == nil:
		t.trouble = ""
		t.logger.Info("the certificate was renewed", "file", t.files.Cert, "until", t.config.Certificates[0].Leaf.NotAfter)
	case err.Error() != t.trouble:
		t.trouble = err.Error()
		t.logger.Error("the certificate that was there before is shown on", "error", err)
	}
	return t.config
}

// forProtocols is for connections that speak one of the protocols, or else whatever they like.
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

// handshakeTime is what a client has for the handshake.
const handshakeTime = 10 * time.Second

// handshake waits until a client who speaks TLS has agreed on it. Others are ready at once.
func (c *client) handshake(ctx context.Context) error {
	conn := tlsOf(c.net)
	if conn == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, handshakeTime)
	defer cancel()
	done := make(chan error)
	go func() { done <- store.Caught(func() error { return conn.HandshakeContext(ctx) }) }() // whose stack the client does not keep
	return <-done
}

// tlsOf is the TLS of a guest, nil without.
func tlsOf(nc net.Conn) *tls.Conn {
	g, ok := nc.(*limitedConn)
	if !ok {
		return nil
	}
	conn, _ := g.Conn.(*tls.Conn)
	return conn
}

// verified reports whether a peer has shown a certificate of one of the authorities of clients.
func verified(nc net.Conn) bool {
	conn := tlsOf(nc)
	return conn != nil && len(conn.ConnectionState().VerifiedChains) > 0
}
