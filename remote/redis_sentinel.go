package remote

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"time"

	"github.com/meowdis/meowdis/redis/resp"
)

// sentinels says who knows the master: the addresses of sentinels, and the name that they monitor it by.
type sentinels struct {
	addresses []string
	name      string
	auth      [][]byte // of the sentinels: optional user, then password; the URL's own are the master's
}

// IsSentinel reports whether a URL names sentinels: redis-sentinel://a:26379,b:26379/NAME, or rediss-sentinel:// for a
// master with TLS.
func IsSentinel(u *url.URL) bool {
	return u != nil && (u.Scheme == "redis-sentinel" || u.Scheme == "rediss-sentinel")
}

// parseSentinels returns the sentinels of a URL, and the database after the name, if any.
func parseSentinels(u *url.URL) (s sentinels, db string, err error) {
	s.name, db, _ = strings.Cut(strings.Trim(u.Path, "/"), "/")
	for host := range strings.SplitSeq(u.Host, ",") {
		if _, _, err := net.SplitHostPort(host); err != nil {
			host = net.JoinHostPort(strings.Trim(host, "[]"), "26379")
		}
		s.addresses = append(s.addresses, host)
	}
	if password := u.Query().Get("sentinel_password"); password != "" {
		if user := u.Query().Get("sentinel_user"); user != "" {
			s.auth = append(s.auth, []byte(user))
		}
		s.auth = append(s.auth, []byte(password))
	}
	if s.name == "" {
		return s, db, errors.New("the name of the master is missing: give redis-sentinel://HOST:26379/NAME")
	}
	return s, db, nil
}

// locate returns the address of the master, from the first sentinel that knows it.
func (s *server) locate(ctx context.Context) (string, error) {
	var errs []error
	for _, address := range s.sentinels.addresses {
		options := s.options
		options.Credentials = nil // for the master
		r := &Redis{server: server{network: "tcp", address: address, auth: s.sentinels.auth, options: options}}
		v, err := r.Do(ctx, []byte("SENTINEL"), []byte("GET-MASTER-ADDR-BY-NAME"), []byte(s.sentinels.name))
		r.Close()
		switch {
		case err != nil:
			errs = append(errs, err)
		case v.IsError() && strings.HasPrefix(string(v.Str), "NOAUTH "):
			errs = append(errs, fmt.Errorf("sentinel %s wants a password: add ?sentinel_password=… (and sentinel_user=…) to the URL", address))
		case v.IsError():
			errs = append(errs, fmt.Errorf("sentinel %s: %s", address, v.Str))
		case len(v.Elems) != 2:
			errs = append(errs, fmt.Errorf("sentinel %s knows no master %q", address, s.sentinels.name))
		default:
			return net.JoinHostPort(string(v.Elems[0].Str), string(v.Elems[1].Str)), nil
		}
	}
	return "", unreachable{errors.Join(errs...)}
}

// connectToMaster connects to the master of the moment. During a failover it asks the sentinels again, until the
// timeout.
func (r *Redis) connectToMaster(ctx context.Context) error {
	for deadline := time.Now().Add(r.server.options.timeout()); ; {
		located, err := r.tryMaster(ctx)
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if !located && r.made == 0 || !errors.Is(err, ErrUnreachable) || time.Now().After(deadline) {
			return err
		}
		timer := time.NewTimer(100 * time.Millisecond)
		select {
		case <-timer.C:
		case <-ctx.Done():
		}
		timer.Stop()
	}
}

// tryMaster asks the sentinels for the master, and connects to it. located is false if no sentinel knew it.
func (r *Redis) tryMaster(ctx context.Context) (located bool, err error) {
	address, err := r.server.locate(ctx)
	if err != nil {
		return false, err
	}
	r.server.address = address
	if host, _, bad := net.SplitHostPort(address); bad == nil && r.server.tls != nil && r.server.options.TLS.SNI == "" {
		r.server.tls = r.server.tls.Clone()
		r.server.tls.ServerName = host
	}
	if err := r.connectOnce(ctx); err != nil {
		return true, err
	}
	if err := r.checkMaster(ctx); err != nil {
		r.drop()
		return true, err
	}
	return true, nil
}

// checkMaster returns an error if the server has become a replica, which the sentinels may not know yet. A user
// without ROLE is not checked.
func (r *Redis) checkMaster(ctx context.Context) error {
	replies, err := r.exchange(ctx, [][][]byte{{[]byte("ROLE")}})
	if err != nil || replies[0].Kind != resp.Array || len(replies[0].Elems) == 0 || string(replies[0].Elems[0].Str) == "master" {
		return err
	}
	return unreachable{fmt.Errorf("%s is a replica now", r.server.address)}
}
