package targets

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/meowdis/meowdis/cmd/internal/exit"
	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/remote"
	"github.com/meowdis/meowdis/remote/rqlite"
	"github.com/meowdis/meowdis/store/schema"
)

// Store is an open remote store.
type Store interface {
	engine.Store
	io.Closer
}

// storagePrefix marks the URL of a storage endpoint where a REST endpoint is possible, too.
const storagePrefix = "storage+"

// stores maps the schemes of remote stores to functions that open them. Opening sends nothing yet.
var stores = map[string]func(ctx context.Context, u *url.URL, token string, o remote.Options) (Store, error){
	storagePrefix + "http":  openEndpoint,
	storagePrefix + "https": openEndpoint,
	"rqlite":                openRqlite,
	"rqlites":               openRqlite,
}

func openEndpoint(_ context.Context, u *url.URL, token string, o remote.Options) (Store, error) {
	return remote.OpenStorage(strings.TrimPrefix(u.String(), storagePrefix), token, o)
}

// openRqlite opens a cluster. The token is the password of the user that the URL names.
func openRqlite(_ context.Context, u *url.URL, token string, r remote.Options) (Store, error) {
	o, secure, err := rqlite.FromURL(u)
	if err != nil {
		return nil, err
	}
	if o.User != "" {
		o.Password = cmp.Or(o.Password, token)
	}
	if secure {
		if o.TLS, err = r.TLS.Config(); err != nil {
			return nil, err
		}
	}
	o.Timeout = r.Timeout
	return rqlite.Open(o)
}

// IsStorage reports whether the target is a remote store: commands run here, and their SQL there.
func (t Target) IsStorage() bool { return t.URL != nil && stores[t.URL.Scheme] != nil }

// IsServer reports whether the target itself runs commands.
func (t Target) IsServer() bool { return t.URL != nil && !t.IsStorage() }

// isStorageURL reports whether a URL names a storage in every context.
func isStorageURL(raw string) bool {
	scheme, _, _ := strings.Cut(raw, "://")
	return stores[scheme] != nil
}

// fromStorageURL returns the target of MEOWDIS_STORAGE_URL, where http and https are storage endpoints.
func fromStorageURL(raw, token, source string) (Target, error) {
	spec, err := storageSpec(raw)
	if err != nil {
		return Target{}, exit.Usagef("%s is not %w", source, err)
	}
	return FromURL(spec, token, source)
}

// OpenStore opens the remote store of the target, and creates missing tables if the target is writable.
func (o *Options) OpenStore(ctx context.Context, t Target) (s Store, err error) {
	reach := o.Reach.to(t)
	if err := reach.TLS.Check(); err != nil {
		return nil, exit.Usage(err)
	}
	if s, err = stores[t.URL.Scheme](ctx, t.URL, t.token, reach); err != nil {
		return nil, exit.Usage(err)
	}
	if err = o.prepare(ctx, t, s); err != nil {
		return nil, errors.Join(fmt.Errorf("opening %s: %w", t, err), s.Close())
	}
	return s, nil
}

func (o *Options) prepare(ctx context.Context, t Target, s Store) error {
	if !o.RefusesWrites(t) {
		return schema.Ready(ctx, s.Apply, time.Now().UnixMilli())
	}
	version, err := schema.StoredVersion(ctx, s.Apply)
	switch {
	case err != nil:
		return err
	case version == 0:
		return errors.New("it is empty: the first command that writes creates its tables")
	}
	return schema.CheckVersion(version)
}

// schemes lists the schemes of URLs that name a target.
func schemes() []string {
	all := []string{"http", "https", "redis", "rediss", "cluster", "clusters", "redis-sentinel", "rediss-sentinel", "unix", "ssh"}
	for scheme := range stores {
		all = append(all, scheme)
	}
	slices.Sort(all[10:])
	return all
}
