package cmd

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/meowdis/meowdis/cmd/internal/exit"
	"github.com/meowdis/meowdis/cmd/internal/targets"
	"github.com/meowdis/meowdis/internal/atomicfile"
	"github.com/meowdis/meowdis/server"
)

// tlsOptions holds the TLS settings of a server.
type tlsOptions struct {
	files      server.TLSFiles
	selfSigned bool
	clients    string
}

func (o *tlsOptions) addFlags(f *pflag.FlagSet) {
	f.StringVar(&o.files.Cert, "tls-cert", "", "`FILE` with the server's certificate and its chain (PEM)")
	f.StringVar(&o.files.Key, "tls-key", "", "`FILE` with the key of that certificate (PEM)")
	f.StringVar(&o.files.ClientCA, "tls-ca", "", "`FILE` with the authorities of clients' certificates (PEM)")
	f.StringVar(&o.clients, "tls-auth-clients", "required", "with --tls-ca, whether a client's certificate is `required` or optional")
	f.BoolVar(&o.selfSigned, "tls-self-signed", false, "generate a self-signed certificate, for development")
}

// applyDirectives applies the TLS directives of redis.conf, unless a flag names a certificate.
func (o *tlsOptions) applyDirectives(said map[string][]string) error {
	if o.selfSigned || o.files.Cert != "" {
		return nil
	}
	one := func(name string) (value string) {
		if args := said[name]; len(args) == 1 {
			value = args[0]
		}
		return value
	}
	o.files.Cert, o.files.Key = one("tls-cert-file"), one("tls-key-file")
	switch wants := one("tls-auth-clients"); {
	case wants == "no" || o.files.ClientCA != "":
	case wants == "" || wants == "yes" || wants == "optional":
		o.files.ClientCA = one("tls-ca-cert-file")
		if wants == "optional" {
			o.clients = wants
		}
	default:
		return exit.Usagef("tls-auth-clients %s: give yes, no or optional", wants)
	}
	return nil
}

// load reads the certificates; it returns nil without any.
func (o *tlsOptions) load(s *streams, log *slog.Logger) (*server.TLS, error) {
	switch {
	case o.clients != "required" && o.clients != "optional":
		return nil, exit.Usagef("--tls-auth-clients %s: give required or optional", o.clients)
	case (o.files.Cert == "") != (o.files.Key == ""):
		return nil, exit.Usagef("give both --tls-cert and --tls-key")
	case o.selfSigned && o.files.Cert != "":
		return nil, exit.Usagef("give --tls-cert or --tls-self-signed, not both")
	case !o.selfSigned && o.files.Cert == "" && o.files.ClientCA != "":
		return nil, exit.Usagef("--tls-ca needs --tls-cert and --tls-key, or --tls-self-signed")
	case !o.selfSigned && o.files.Cert == "":
		return nil, nil
	}
	o.files.ClientOptional = o.clients == "optional"
	if o.selfSigned {
		if err := o.selfSign(s.out); err != nil {
			return nil, fmt.Errorf("creating a certificate: %w", err)
		}
	}
	return server.NewTLS(o.files, log)
}

// selfSign loads the last self-signed certificate or creates one, and prints its path and fingerprint.
func (o *tlsOptions) selfSign(out io.Writer) error {
	dir := targets.CertificateDirectory()
	if dir == "" {
		return errors.New("the home directory, where it is saved, is missing: set HOME, or give --tls-cert and --tls-key")
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return atomicfile.Pathless(err)
	}
	o.files.Cert, o.files.Key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	names := []string{"localhost", "127.0.0.1", "::1"}
	if host, err := os.Hostname(); err == nil && host != "localhost" {
		names = append(names, host)
	}
	cert := validCertificate(o.files, names, time.Now())
	if cert == nil {
		var err error
		if cert, err = newCertificate(o.files, names, time.Now()); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(out, "certificate %s\nsha256 %s\n", o.files.Cert, fingerprint(cert))
	return err
}

// fingerprint formats the SHA-256 as openssl x509 -fingerprint -sha256 does.
func fingerprint(cert *x509.Certificate) string {
	sum := sha256.Sum256(cert.Raw)
	return strings.ReplaceAll(fmt.Sprintf("% X", sum[:]), " ", ":")
}

// A certificate is valid for a year, which all clients accept. It is replaced in its last month.
const (
	certificateTime = 365 * 24 * time.Hour
	certificateLeft = 30 * 24 * time.Hour
)

// validCertificate returns the certificate in the files, or nil if it lacks a name or is about to expire.
func validCertificate(files server.TLSFiles, names []string, now time.Time) *x509.Certificate {
	pair, err := tls.LoadX509KeyPair(files.Cert, files.Key)
	if err != nil || now.Add(certificateLeft).After(pair.Leaf.NotAfter) {
		return nil
	}
	for _, name := range names {
		if pair.Leaf.VerifyHostname(name) != nil {
			return nil
		}
	}
	return pair.Leaf
}

// newCertificate writes a certificate that clients can trust as an authority, and its key.
func newCertificate(files server.TLSFiles, names []string, now time.Time) (*x509.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	serial, err := rand.Int(rand.Reader, big.NewInt(1<<62))
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: "meowdis, for development"},
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(certificateTime),
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		IsCA: true, BasicConstraintsValid: true,
	}
	for _, name := range names {
		if ip := net.ParseIP(name); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, name)
		}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return nil, err
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	for _, file := range []struct {
		path, kind string
		der        []byte
	}{{files.Key, "PRIVATE KEY", private}, {files.Cert, "CERTIFICATE", der}} {
		err := atomicfile.Write(file.path, true, func(f *os.File) error {
			return pem.Encode(f, &pem.Block{Type: file.kind, Bytes: file.der})
		})
		if err != nil {
			return nil, err
		}
	}
	return x509.ParseCertificate(der)
}
