package rqlite

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"
)

// Options say which cluster, and how it is used.
type Options struct {
	Nodes          []string // as host:port, one at least
	TLS            *tls.Config
	User, Password string
	Level          string        // of reads: see levels
	Timeout        time.Duration // after which a command fails that no node carries out, 0 for DefaultTimeout

	Now        func() int64  // Unix ms, nil for the system clock
	SweepEvery time.Duration // the pause between the sweeps of expired keys; 0 is a second, negative for never
	Report     func(error)   // what fails in the background, nil for nothing
}

// DefaultTimeout is longer than a cluster takes to choose another leader.
const DefaultTimeout = 30 * time.Second

// levels are those of reads, as rqlite calls them; the first is what "" stands for. A weak read may
// come from a leader that has just been deposed, one of level none from whatever a node has. strong
// is what linearizable becomes where a node cannot do that: see node.level.
var levels = []string{linearizable, "strong", "weak", "none"}

const linearizable = "linearizable"

const defaultPort = "4001"

// IsAddress reports whether text is the address of a cluster, right or wrong.
func IsAddress(text string) bool {
	return strings.HasPrefix(text, "rqlite://") || strings.HasPrefix(text, "rqlites://")
}

// Parse reads the address of a cluster:
//
//	rqlite://[user:password@]host[:port][,host[:port]…][?tls&ca=FILE&level=LEVEL&timeout=TIME]
//
// rqlites is rqlite with ?tls. ca has the certificates that are trusted in place of the system's.
func Parse(address string) (o Options, err error) {
	scheme, rest, _ := strings.Cut(address, "://")
	rest, query, _ := strings.Cut(rest, "?")
	rest = strings.TrimSuffix(rest, "/")
	if at := strings.LastIndexByte(rest, '@'); at >= 0 {
		if o.User, o.Password, err = credentials(rest[:at]); err != nil {
			return o, err
		}
		rest = rest[at+1:]
	}
	for host := range strings.SplitSeq(rest, ",") {
		node, err := nodeAddress(host)
		if err != nil {
			return o, err
		}
		o.Nodes = append(o.Nodes, node)
	}
	values, err := url.ParseQuery(query)
	if err != nil {
		return o, fmt.Errorf("%q is not a list of parameters", query)
	}
	if scheme == "rqlites" {
		values.Set("tls", "")
	}
	return o, o.set(values)
}

func credentials(text string) (user, password string, err error) {
	user, password, _ = strings.Cut(text, ":")
	if user, err = url.PathUnescape(user); err == nil {
		password, err = url.PathUnescape(password)
	}
	if err != nil {
		err = errors.New("the user or the password is not percent-encoded as in URLs") // which is not shown
	}
	return user, password, err
}

func nodeAddress(host string) (string, error) {
	name, port, err := net.SplitHostPort(host)
	if err != nil {
		name, port = strings.Trim(host, "[]"), defaultPort
		if strings.Contains(name, ":") && !strings.HasPrefix(host, "[") {
			return "", fmt.Errorf("%q is not host:port", host)
		}
	}
	if name == "" || port == "" || strings.ContainsAny(name, "/ ") {
		return "", fmt.Errorf("%q is not host:port", host)
	}
	return net.JoinHostPort(name, port), nil
}

func (o *Options) set(values url.Values) error {
	secure, ca := false, ""
	for name, all := range values {
		v := all[0]
		switch name {
		case "tls":
			secure = v != "false" && v != "0"
		case "ca":
			secure, ca = true, v
		case "level":
			if !slices.Contains(levels, v) {
				return fmt.Errorf("level %q is none of %s", v, strings.Join(levels, ", "))
			}
			o.Level = v
		case "timeout":
			d, err := time.ParseDuration(v)
			if err != nil || d <= 0 {
				return fmt.Errorf("timeout %q is not a time such as 10s", v)
			}
			o.Timeout = d
		default:
			return fmt.Errorf("there is no parameter %q; there are tls, ca, level and timeout", name)
		}
	}
	if !secure {
		return nil
	}
	o.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
	if ca == "" {
		return nil
	}
	text, err := os.ReadFile(ca)
	if err != nil {
		return err
	}
	if o.TLS.RootCAs = x509.NewCertPool(); !o.TLS.RootCAs.AppendCertsFromPEM(text) {
		return fmt.Errorf("%s has no certificates", ca)
	}
	return nil
}
