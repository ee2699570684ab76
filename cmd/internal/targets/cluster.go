package targets

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"

	"github.com/meowdis/meowdis/cmd/internal/exit"
	"github.com/meowdis/meowdis/remote"
	"github.com/meowdis/meowdis/remote/cluster"
)

// isCluster reports whether a URL says that its target is a Redis Cluster: cluster://a,b,c, or clusters:// for TLS.
func isCluster(u *url.URL) bool {
	return u != nil && (u.Scheme == "cluster" || u.Scheme == "clusters")
}

// IsCluster reports whether the connection is to a whole Redis Cluster.
func (c *Conn) IsCluster() bool {
	_, is := Plain(c.Session).(*cluster.Session)
	return is
}

// NodeOf returns a function that returns the master that has a key now; nil unless the connection is to a cluster.
func (c *Conn) NodeOf() func(name []byte) string {
	whole, is := Plain(c.Session).(*cluster.Session)
	if !is {
		return nil
	}
	return whole.Owners()
}

// servers returns the URLs of the servers that a URL names, separated by commas: one, except of a cluster.
func servers(u *url.URL) []string {
	if !isCluster(u) {
		return []string{u.String()}
	}
	var all []string
	for host := range strings.SplitSeq(u.Host, ",") {
		one := *u
		one.Scheme, one.Host = "redis"+strings.TrimPrefix(u.Scheme, "cluster"), host
		all = append(all, one.String())
	}
	return all
}

// onServer connects c to a Redis server, or to the cluster that the server belongs to.
func (o *Options) onServer(ctx context.Context, c *Conn, t Target, resp3 bool) error {
	reach := o.Reach.to(t)
	var r *remote.Redis
	var errs []error
	for _, raw := range servers(t.URL) {
		var err error
		if r, err = remote.OpenRedis(ctx, raw, resp3, reach); err == nil {
			break
		}
		errs = append(errs, err)
		if !errors.Is(err, remote.ErrUnreachable) {
			break
		}
	}
	if r == nil || len(errs) == len(servers(t.URL)) {
		return errors.Join(errs...)
	}
	c.Session, c.end = r, r.Close
	err := o.onCluster(ctx, c, r, reach)
	if err != nil {
		err = errors.Join(err, r.Close())
	}
	return err
}

// onCluster makes c a session on the cluster of r, if r is a node of one that has other nodes. meowdis itself, as a
// cluster, has none.
func (o *Options) onCluster(ctx context.Context, c *Conn, r *remote.Redis, reach remote.Options) error {
	if o.Reach.thisNode {
		return nil
	}
	mode, err := r.Mode(ctx)
	if err != nil {
		return err
	}
	if mode != "cluster" {
		if isCluster(c.Target.URL) && mode != "" {
			return fmt.Errorf("%s is not a node of a Redis Cluster: give redis://", r.Address())
		}
		return nil
	}
	mapped, err := o.Reach.addresses()
	if err != nil {
		return err
	}
	var seeds []string
	for _, raw := range servers(c.Target.URL) {
		if u, err := url.Parse(raw); err == nil && u.Port() != "" {
			seeds = append(seeds, u.Host)
		}
	}
	s, err := cluster.Open(ctx, r, seeds, cluster.Options{Options: reach, Map: mapped, Replicas: o.Reach.replicas})
	if err != nil {
		return fmt.Errorf("%w; --this-node uses one node", err)
	}
	if s.IsSpread() {
		c.Session, c.end = s, s.Close
	}
	return nil
}

// addresses returns the map of --cluster-map.
func (o *Reach) addresses() (map[string]string, error) {
	mapped := map[string]string{}
	for _, pair := range o.mapped {
		from, to, ok := strings.Cut(pair, "=")
		if !ok || from == "" || to == "" {
			return nil, exit.Usagef("--cluster-map %s: give FROM=TO, two hosts or two addresses such as 10.0.0.1:6379=localhost:7001", pair)
		}
		_, _, err1 := net.SplitHostPort(from)
		_, _, err2 := net.SplitHostPort(to)
		if (err1 == nil) != (err2 == nil) {
			return nil, exit.Usagef("--cluster-map %s: give two hosts, or two addresses with ports", pair)
		}
		mapped[from] = to
	}
	return mapped, nil
}
