// Package authority signs certificates for tests.
package authority

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Authority is a certificate authority in a directory: its certificate is ca.pem, next to the
// certificates that it signs.
type Authority struct {
	Cert *x509.Certificate

	t   *testing.T
	dir string
	key *ecdsa.PrivateKey
}

// New creates an authority for a test.
func New(t *testing.T) *Authority {
	t.Helper()
	a := &Authority{t: t, dir: t.TempDir()}
	a.Cert, a.key = a.sign("ca", &x509.Certificate{IsCA: true, KeyUsage: x509.KeyUsageCertSign, BasicConstraintsValid: true})
	return a
}

// Path returns the path of one of the authority's files.
func (a *Authority) Path(file string) string { return filepath.Join(a.dir, file) }

// Server creates NAME.pem and NAME-key.pem for a server with these host names or addresses.
func (a *Authority) Server(name string, template x509.Certificate, names ...string) {
	a.t.Helper()
	template.DNSNames, template.ExtKeyUsage = names, []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	a.sign(name, &template)
}

// Client creates NAME.pem and NAME-key.pem for a client.
func (a *Authority) Client(name string) {
	a.t.Helper()
	a.sign(name, &x509.Certificate{ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})
}

// Pair reads NAME.pem and NAME-key.pem.
func (a *Authority) Pair(name string) tls.Certificate {
	a.t.Helper()
	pair, err := tls.LoadX509KeyPair(a.Path(name+".pem"), a.Path(name+"-key.pem"))
	if err != nil {
		a.t.Fatal(err)
	}
	return pair
}

// Pool returns a pool with the authority's certificate.
func (a *Authority) Pool() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(a.Cert)
	return pool
}

// sign creates NAME.pem and NAME-key.pem. A certificate without dates is valid for two hours.
func (a *Authority) sign(name string, template *x509.Certificate) (*x509.Certificate, *ecdsa.PrivateKey) {
	a.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	a.must(err)
	template.Subject = pkix.Name{CommonName: name}
	template.SerialNumber, err = rand.Int(rand.Reader, big.NewInt(1<<62))
	a.must(err)
	if template.NotAfter.IsZero() {
		template.NotBefore, template.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	}
	parent, signer := template, key
	if a.Cert != nil {
		parent, signer = a.Cert, a.key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signer)
	a.must(err)
	private, err := x509.MarshalPKCS8PrivateKey(key)
	a.must(err)
	a.write(name+".pem", "CERTIFICATE", der)
	a.write(name+"-key.pem", "PRIVATE KEY", private)
	cert, err := x509.ParseCertificate(der)
	a.must(err)
	return cert, key
}

func (a *Authority) write(file, kind string, der []byte) {
	a.t.Helper()
	a.must(os.WriteFile(a.Path(file), pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600))
}

func (a *Authority) must(err error) {
	a.t.Helper()
	if err != nil {
		a.t.Fatal(err)
	}
}
