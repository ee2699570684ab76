package rqlite

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
	"time"
)

// Options names a cluster and sets how it is used.
type Options struct {
	Nodes          []string    // host:port, at least one
	TLS            *tls.Config // nil without TLS
	User, Password string
	Level          string        // read consistency, one of levels
	Timeout        time.Duration // per command, over all tries; 0 for DefaultTimeout
	Now            func() int64  // Unix ms, nil for the system clock
}

// DefaultTimeout is longer than the election of a new leader takes.
const DefaultTimeout = 30 * time.Second

// levels lists rqlite's read consistency levels; the first is the default. A weak read may come from a leader
// that was just deposed. A read of level none returns whatever the node has.
var levels = []string{linearizable, "strong", "weak", "none"}

const linearizable = "linearizable"

const defaultPort = "4001"

// FromURL parses the URL of a cluster. If secure is true, the caller sets Options.TLS.
//
//	rqlite://[user[:password]@]host[:port][,host[:port]…][?tls&level=LEVEL]
//
// rqlites is rqlite with ?tls.
func FromURL(u *url.URL) (o Options, secure bool, err error) {
	o.User = u.User.Username()
	o.Password, _ = u.User.Password()
	for host := range strings.SplitSeq(u.Host, ",") {
		node, err := nodeAddress(host)
		if err != nil {
			return o, false, err
		}
		o.Nodes = append(o.Nodes, node)
	}
	if strings.Trim(u.Path, "/") != "" {
		return o, false, fmt.Errorf("the URL of a cluster has no path: remove %s", u.Path)
	}
	values, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return o, false, errors.New("the parameters after ? are invalid")
	}
	secure = u.Scheme == "rqlites"
	for name, all := range values {
		switch v := all[0]; name {
		case "tls":
			secure = secure || v != "false"
		case "level":
			if !slices.Contains(levels, v) {
				return o, false, fmt.Errorf("invalid level %q: use %s", v, strings.Join(levels, ", "))
			}
			o.Level = v
		default:
			return o, false, fmt.Errorf("unknown parameter %q: use tls or level", name)
		}
	}
	return o, secure, nil
}

func nodeAddress(host string) (string, error) {
	name, port, err := net.SplitHostPort(host)
	if err != nil {
		name, port = strings.Trim(host, "[]"), defaultPort
		if strings.Contains(name, ":") && !strings.HasPrefix(host, "[") {
			name = ""
		}
	}
	if name == "" || port == "" {
		return "", fmt.Errorf("%q is not HOST:PORT", host)
	}
	return net.JoinHostPort(name, port), nil
}
