package cmd

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/meowdis/meowdis/commands"
	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/remote"
	"github.com/meowdis/meowdis/resp"
)

// session is what a target of any kind gives: engine.Session, remote.REST and
// remote.Redis.
type session interface {
	Do(ctx context.Context, args ...[]byte) (resp.Value, error)
	Pipeline(ctx context.Context, calls [][][]byte) ([]resp.Value, error)
	PipelineUntilError(ctx context.Context, calls [][][]byte) ([]resp.Value, error)
	DB() int
	InMulti() bool
}

// connection is a session and how to end it.
type connection struct {
	session
	target target
	file   *local.Store // nil for a server, and for a file that the first write makes
	close  func() error
}

// chosen reports whether the target itself names a database, including 0.
func (c *connection) chosen() bool {
	u := c.target.url
	return c.DB() != 0 || u != nil && !c.target.isREST() && (u.Query().Has("db") || u.Scheme != "unix" && strings.Trim(u.Path, "/") != "")
}

// openFile opens the target's file; the default one is made with its directory.
// A target that is read-only is opened so.
func (o *targetOptions) openFile(t target, options local.Options) (*local.Store, error) {
	if o.refusesWrites(t) {
		options.ReadOnly = t.path != local.Memory
	} else if t.source == defaultSource {
		if err := os.MkdirAll(filepath.Dir(t.path), 0o700); err != nil {
			return nil, fmt.Errorf("making the directory of the default file, %s: %w", filepath.Dir(t.path), local.Pathless(err))
		}
	}
	options.Full = o.full
	return local.Open(t.path, options)
}

// canMake reports whether the target's file can be made as far as its directory is
// concerned.
func (o *targetOptions) canMake(t target) bool {
	info, err := os.Stat(filepath.Dir(t.path))
	return t.source == defaultSource || err == nil && info.IsDir()
}

// onlyReads reports whether a command is known to write nothing.
func onlyReads(args [][]byte) bool {
	cmd := commands.Called(args)
	return cmd != nil && cmd.Flags&commands.ReadOnly != 0
}

// runOn is how a file is opened to run args on it, or a script where there are none.
// Unless args writes at once, a file that is missing is made by the first write, and
// one that may not be written is read. A file that somebody has named to read from it
// must be there.
func runOn(t target, file local.Options, args [][]byte) local.Options {
	cmd := commands.Called(args)
	file.OrRead = cmd == nil || cmd.Flags&commands.Write == 0
	file.ReadOnly = onlyReads(args) && t.source != defaultSource && t.isNew()
	return file
}

// refusesWrites reports whether the target is read-only, by --read-only or by its
// profile.
func (o *targetOptions) refusesWrites(t target) bool { return o.readOnly || t.settings.ReadOnly }

// connect opens a session on the target that the options choose, in the database
// that they choose, and keeps it from writing to one that is read-only. A file is
// opened with the given options.
func (o *targetOptions) connect(ctx context.Context, s *streams, file local.Options, resp3 bool) (*connection, error) {
	t, err := o.resolve(s.getenv)
	if err != nil {
		return nil, err
	}
	o.tell(t, s)
	return o.connectTo(ctx, t, file, resp3)
}

// connectTo is connect for a target that is known.
func (o *targetOptions) connectTo(ctx context.Context, t target, file local.Options, resp3 bool) (*connection, error) {
	c := &connection{target: t}
	reach := o.reach.to(t)
	if err := reach.TLS.Check(); err != nil {
		return nil, usageError{err}
	}
	switch {
	case t.isREST():
		r, err := remote.OpenREST(t.url.String(), t.token, reach)
		if err != nil {
			return nil, usageError{err}
		}
		c.session, c.close = r, r.Close
	case t.url != nil:
		r, err := remote.OpenRedis(ctx, t.url.String(), resp3, reach)
		if err != nil {
			return nil, err
		}
		c.session, c.close = r, r.Close
	case file.OrRead && !file.ReadOnly && !o.refusesWrites(t) && t.isNew() && o.canMake(t):
		f, err := local.NewLate(t.path, func() (*local.Store, error) { return o.openFile(t, file) })
		if err != nil {
			return nil, err
		}
		c.session, c.close = engine.New(f).Session(), f.Close
	default:
		f, err := o.openFile(t, file)
		if err != nil {
			return nil, err
		}
		c.session, c.file, c.close = engine.New(f).Session(), f, f.Close
	}
	if err := o.choose(ctx, c); err != nil {
		return nil, errors.Join(err, c.close())
	}
	if o.refusesWrites(t) {
		rule := &readOnly{}
		if t.url != nil {
			rule.server = c.session
		}
		c.session = &guarded{session: c.session, refuse: rule.refuse}
	}
	return c, nil
}

// enter connects to a target whose keys are read or written by the verb itself. A
// server is asked whether it answers, so that it refuses once and not each key.
func (o *targetOptions) enter(ctx context.Context, t target, file local.Options) (*connection, error) {
	c, err := o.connectTo(ctx, t, file, false)
	if err == nil {
		if err = c.greet(ctx); err != nil {
			err = errors.Join(err, c.close())
		}
	}
	if errors.Is(err, remote.ErrNoPassword) && t.spare != "" {
		u := *t.url
		u.User, t.spare = url.UserPassword("", t.spare), ""
		t.url = &u
		return o.enter(ctx, t, file)
	}
	return c, err
}

// greet asks a server whether it answers to us.
func (c *connection) greet(ctx context.Context) error {
	switch s := plain(c.session).(type) {
	case *remote.Redis:
		return s.Greet(ctx)
	case *remote.REST:
		_, err := s.Do(ctx, []byte("PING"))
		return err
	}
	return nil
}

// databaseOf is the number of the database on the target: -n, or else the
// profile's.
func (o *targetOptions) databaseOf(t target) int {
	if o.database == 0 && (o.flags == nil || !o.flags.Changed("database")) {
		return t.settings.Database
	}
	return o.database
}

// choose selects the database that -n names, or else the profile. A URL may have
// named one, too.
func (o *targetOptions) choose(ctx context.Context, c *connection) error {
	n := o.databaseOf(c.target)
	asked := o.flags != nil && o.flags.Changed("database")
	if n == c.DB() || n == 0 && !asked {
		return nil
	}
	v, err := c.Do(ctx, []byte("SELECT"), strconv.AppendInt(nil, int64(n), 10))
	if err == nil && v.IsError() {
		err = usageError{fmt.Errorf("database %d: %s", n, v.Str)}
	}
	return err
}
