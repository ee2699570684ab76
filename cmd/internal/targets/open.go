package targets

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/meowdis/meowdis/cmd/internal/exit"
	"github.com/meowdis/meowdis/engine/pubsub"
	"github.com/meowdis/meowdis/internal/atomicfile"
	"github.com/meowdis/meowdis/keyspace"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/remote"
	"github.com/meowdis/meowdis/remote/cluster"
)

// Conn is an open session with its target.
type Conn struct {
	keyspace.Session
	Target Target
	File   *local.Store // nil for other targets, and for a file that the first write creates

	chosen bool // returned by Chosen
	end    func() error
	hub    *pubsub.Hub         // nil for a server
	limit  func(time.Duration) // nil for a server
}

// LimitTime makes commands that take longer than d fail without effect. A server has its own limits.
func (c *Conn) LimitTime(d time.Duration) {
	if c.limit != nil {
		c.limit(d)
	}
}

// Close closes the connection.
func (c *Conn) Close() error { return c.end() }

// Chosen reports whether the user named a database of the target, including 0. A later SELECT does not change that.
func (c *Conn) Chosen() bool { return c.chosen }

func (c *Conn) namesDatabase() bool {
	u := c.Target.URL
	if remote.IsSentinel(u) {
		return c.DB() != 0 || u.Query().Has("db") || strings.Contains(strings.Trim(u.Path, "/"), "/")
	}
	return c.DB() != 0 || c.Target.IsServer() && !c.Target.IsREST() && (u.Query().Has("db") || u.Scheme != "unix" && strings.Trim(u.Path, "/") != "")
}

// OpenFile opens the target's file, and creates the directory of the default file. A read-only target is opened for
// reading.
func (o *Options) OpenFile(t Target, options local.Options) (*local.Store, error) {
	if o.RefusesWrites(t) {
		options.ReadOnly = t.Path != local.Memory
	} else if err := o.MakeDirectory(t); err != nil {
		return nil, err
	}
	options.SyncFull = o.Full
	f, err := local.Open(t.Path, options)
	if errors.Is(err, fs.ErrNotExist) {
		if question := t.Question(); question != "" {
			err = fmt.Errorf("%w.%s", err, question)
		}
	}
	return f, err
}

// MakeDirectory creates the directory of the default file. The directory of any other file must exist.
func (o *Options) MakeDirectory(t Target) error {
	if !t.IsDefault() {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(t.Path), 0o700); err != nil {
		return fmt.Errorf("creating the directory of the default file, %s: %w", filepath.Dir(t.Path), atomicfile.Pathless(err))
	}
	return nil
}

// CanMake reports whether the directory of the target's file exists or will be created.
func (o *Options) CanMake(t Target) bool {
	info, err := os.Stat(filepath.Dir(t.Path))
	return t.IsDefault() || err == nil && info.IsDir()
}

// RefusesWrites reports whether --read-only or the profile makes the target read-only.
func (o *Options) RefusesWrites(t Target) bool { return o.readOnly || t.Settings.ReadOnly }

// Connect opens a session on a target, in the chosen database. The session refuses writes if the target is read-only.
// A file is opened with the options in file.
func (o *Options) Connect(ctx context.Context, t Target, file local.Options, resp3 bool) (*Conn, error) {
	if file.ReadOnly {
		t = t.existing()
	}
	c := &Conn{Target: t}
	if o.Reach.jump.given && o.Flags != nil && (t.URL == nil || t.IsStorage() || t.over != nil) {
		return nil, exit.Usage(errNoJump)
	}
	reach := o.Reach.to(t)
	if err := reach.TLS.Check(); err != nil {
		return nil, exit.Usage(err)
	}
	switch {
	case t.IsStorage():
		s, err := o.OpenStore(ctx, t)
		if err != nil {
			return nil, err
		}
		c.useStore(s, s.Close)
	case t.IsREST():
		r, err := remote.OpenREST(t.URL.String(), t.token, reach)
		if err != nil {
			return nil, exit.Usage(err)
		}
		c.Session, c.end = r, r.Close
	case t.URL != nil:
		if err := o.onServer(ctx, c, t, resp3); err != nil {
			return nil, err
		}
	case file.FallbackReadOnly && !file.ReadOnly && !o.RefusesWrites(t) && t.IsNew() && o.CanMake(t):
		f, err := local.NewLazyStore(t.Path, func() (*local.Store, error) { return o.OpenFile(t, file) })
		if err != nil {
			return nil, err
		}
		c.useStore(f, f.Close)
	default:
		if err := o.onFile(ctx, c, t, file); err != nil {
			return nil, err
		}
	}
	if err := o.choose(ctx, c); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	c.chosen = c.namesDatabase()
	if o.RefusesWrites(t) {
		c.Session = c.Reading()
	}
	return c, nil
}

// onFile connects c to an existing file. When ctx ends, a load leaves building the index to the next process, so that
// Close is quick.
func (o *Options) onFile(ctx context.Context, c *Conn, t Target, file local.Options) error {
	open := func() (*local.Store, error) { return o.OpenFile(t, file) }
	if file.Immutable {
		if g := local.NewImmutableReader(t.Path, file, open); g.NeedsNoWAL() {
			c.useStore(g, g.Close)
			return nil
		}
	}
	f, err := open()
	if err != nil {
		return err
	}
	c.File = f
	keep := context.AfterFunc(ctx, f.EndBulkLoad)
	c.useStore(f, func() error {
		defer keep()
		return f.Close()
	})
	return nil
}

// Reading returns the session of c with a guard that refuses every command that may write.
func (c *Conn) Reading() keyspace.Session {
	rule := &ReadOnly{}
	if c.Target.IsServer() {
		rule.server = c.Session
	}
	return &Guard{Session: c.Session, Refuse: rule.Refuse}
}

// Enter connects to a target whose keys the verb itself reads or writes. It sends a server one command first, so that
// the server refuses once and not for each key.
func (o *Options) Enter(ctx context.Context, t Target, file local.Options) (*Conn, error) {
	c, err := o.Connect(ctx, t, file, false)
	if err == nil {
		if err = c.Greet(ctx); err != nil {
			err = errors.Join(err, c.Close())
		}
	}
	if errors.Is(err, remote.ErrNoPassword) && t.fallbackPassword != "" {
		u := *t.URL
		u.User, t.fallbackPassword = url.UserPassword("", t.fallbackPassword), ""
		t.URL = &u
		return o.Enter(ctx, t, file)
	}
	return c, err
}

// Greet checks that a server replies and accepts the password.
func (c *Conn) Greet(ctx context.Context) error {
	switch s := Plain(c.Session).(type) {
	case *remote.Redis:
		return s.Greet(ctx)
	case *cluster.Session:
		return s.Greet(ctx)
	case *remote.REST:
		_, err := s.Do(ctx, []byte("PING"))
		return err
	}
	return nil
}

// DatabaseOf returns the number of the database: -n, or else the profile's.
func (o *Options) DatabaseOf(t Target) int {
	if o.Database == 0 && (o.Flags == nil || !o.Flags.Changed("database")) {
		return t.Settings.Database
	}
	return o.Database
}

// choose selects the database of -n, or else of the profile. The URL may already have selected one.
func (o *Options) choose(ctx context.Context, c *Conn) error {
	n := o.DatabaseOf(c.Target)
	asked := o.Flags != nil && o.Flags.Changed("database")
	if n == c.DB() || n == 0 && !asked {
		return nil
	}
	v, err := c.Do(ctx, []byte("SELECT"), strconv.AppendInt(nil, int64(n), 10))
	if err == nil && v.IsError() {
		err = exit.Usage(fmt.Errorf("database %d: %s", n, v.Str))
	}
	return err
}
