package cmd

import (
	"context"
	"errors"
	"log/slog"

	"github.com/meowdis/meowdis/cmd/internal/exit"
	"github.com/meowdis/meowdis/cmd/internal/targets"
	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/engine/pubsub"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/local/bus"
	"github.com/meowdis/meowdis/remote"
	"github.com/meowdis/meowdis/remote/rqlite"
	"github.com/meowdis/meowdis/server"
	"github.com/meowdis/meowdis/store/logging"
)

// backend holds the file or storage behind a server.
type backend struct {
	file  *local.Store // nil for a storage
	ends  abandoner    // nil for a storage that cannot give up requests
	close func() error
}

// openBackend opens the target of a server, and adds to its config the functions that the target supports.
func (o *serveOptions) openBackend(ctx context.Context, s *streams, t targets.Target, c *server.Config, logger *slog.Logger) (*backend, error) {
	if t.IsStorage() {
		return o.openStorageBackend(ctx, t, c, logger)
	}
	if err := o.replicate.resume(ctx, s, t.Path); err != nil {
		return nil, err
	}
	file, copied, err := o.openFile(ctx, s, t, logger)
	if err != nil {
		return nil, err
	}
	b := &backend{file: file, ends: file, close: file.Close}
	saver, err := newSaver(ctx, file, o.backupDir)
	if err != nil {
		return nil, errors.Join(err, b.close())
	}
	b.before(func() error {
		saver.running.Wait()
		return nil
	})
	hub := pubsub.New()
	c.Engine, c.Writable, c.Save, c.SavePath = engine.New(file, engine.WithHub(hub)), file.Moved, saver.save, saver.copy
	c.Dump = (&dumper{file, logger}).dump
	c.StoreFigures = func() server.StoreFigures { return server.StoreFigures(file.Stats()) }
	c.Storage.Apply, c.Storage.Columns = file.Apply, file.Columns
	if t.Path != local.Memory {
		node := bus.New(t.Path, hub)
		b.before(node.Close)
		if err := hub.Join(pubsub.Channel); err != nil {
			logger.Warn("messages of other processes on the file are not received", "error", err)
		}
	}
	end, err := o.replicate.start(ctx, s, file, copied, c, o.grace)
	if err != nil {
		return nil, errors.Join(err, b.close())
	}
	b.before(end)
	return b, nil
}

// openFile opens the file. With --follow it opens a copy.
func (o *serveOptions) openFile(ctx context.Context, s *streams, t targets.Target, logger *slog.Logger) (*local.Store, *local.Copy, error) {
	options := local.Options{IsolateSlowReads: true, RowCacheBytes: rowCacheBytes, Report: logging.Errors(logger, "maintaining the file", "file", t.Path)}
	if o.replicate.follow != "" {
		return o.replicate.openCopy(ctx, s, t, options, &o.target)
	}
	file, err := o.target.OpenFile(t, options)
	if err != nil {
		return nil, nil, err
	}
	if err := forgetSource(t.Path); err != nil {
		return nil, nil, errors.Join(err, file.Close())
	}
	return file, nil, nil
}

// sweeper is a storage that deletes expired keys itself.
type sweeper interface{ StartSweep(report func(error)) }

// publisher is a storage that describes its errors for clients.
type publisher interface{ PublicMessage(error) string }

var (
	_ abandoner = (*local.Store)(nil)
	_ abandoner = (*remote.Storage)(nil)
	_ publisher = (*remote.Storage)(nil)
	_ publisher = (*rqlite.Store)(nil)
	_ sweeper   = (*rqlite.Store)(nil)
)

// before makes close call fn before anything that it closes now.
func (b *backend) before(fn func() error) {
	next := b.close
	b.close = func() error { return errors.Join(fn(), next()) }
}

// openStorageBackend opens a storage. It refuses flags that need a file.
func (o *serveOptions) openStorageBackend(ctx context.Context, t targets.Target, c *server.Config, logger *slog.Logger) (*backend, error) {
	switch {
	case len(o.addresses.storage)+len(o.addresses.storageTLS) > 0:
		return nil, exit.Usagef("--storage serves a file: give other servers the --storage-url that this one has")
	case o.replicate.to != "" || o.replicate.follow != "":
		return nil, exit.Usagef("--replicate and --follow are for a file, and %s is a storage", t)
	case o.backupDir != "":
		return nil, exit.Usagef("--backup-dir is for a file, and %s is a storage", t)
	case o.target.Full:
		return nil, exit.Usagef("--full is for a file: give it to the server that has the file")
	}
	s, err := o.target.OpenStore(ctx, t)
	if err != nil {
		return nil, err
	}
	if swept, can := s.(sweeper); can && !o.target.RefusesWrites(t) {
		swept.StartSweep(logging.Errors(logger, "maintaining the storage", "storage", t.String()))
	}
	if public, can := s.(publisher); can {
		c.PublicMessage = public.PublicMessage
	}
	b := &backend{close: s.Close}
	if ends, can := s.(abandoner); can {
		b.ends = ends
	}
	c.Engine = engine.New(s)
	return b, nil
}
