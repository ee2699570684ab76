package cmd

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/meowdis/meowdis/cmd/internal/move"
	"github.com/meowdis/meowdis/cmd/internal/targets"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/redis/rdb"
	"github.com/meowdis/meowdis/server"
	"github.com/meowdis/meowdis/transfer"
)

// dumper creates dump files of the server's file, for replicas.
type dumper struct {
	file *local.Store
	log  *slog.Logger
}

// dump implements server.Config.Dump. It copies a snapshot of the file, and writes a dump of the copy, both in the
// file's directory, because that file system has room for data of this size.
func (d *dumper) dump(ctx context.Context, o server.DumpOptions) (_ *server.Dump, err error) {
	beside := ""
	if path := d.file.Path(); path != local.Memory {
		beside = filepath.Dir(path)
	}
	dir, err := os.MkdirTemp(beside, ".meowdis-replica-*")
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			os.RemoveAll(dir)
		}
	}()
	out, err := os.OpenFile(filepath.Join(dir, "dump.rdb"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	skipped, err := d.write(ctx, filepath.Join(dir, "copy.sqlite"), out, o)
	if err != nil {
		return nil, errors.Join(err, out.Close())
	}
	size, err := out.Seek(0, 2)
	if err == nil {
		_, err = out.Seek(0, 0)
	}
	if err != nil {
		return nil, errors.Join(err, out.Close())
	}
	return &server.Dump{ReadCloser: dumpFile{out, dir}, Size: size, Skipped: skipped}, nil
}

// write copies the file to copied, and writes a dump of the copy to out. It returns the number of keys that the dump lacks.
func (d *dumper) write(ctx context.Context, copied string, out *os.File, o server.DumpOptions) (left int, err error) {
	if err := d.file.Backup(ctx, copied, local.BackupOptions{AsIs: true, Began: o.Began}); err != nil {
		return 0, err
	}
	c, err := (&targets.Options{}).Connect(ctx, targets.Target{Path: copied}, local.Options{ReadOnly: true, SweepEvery: -1}, true)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	why := ""
	notify := func(k *transfer.Key, err error) {
		left, why = left+1, fmt.Sprintf("%.100q: %v", k.Name, err)
	}
	spool := &spoolFile{dir: filepath.Dir(copied)}
	w := transfer.NewRDBWriter(rdb.NewFileWriter(out, spool.open), notify)
	if !o.Modules {
		w.LeaveOutModules()
	}
	all, _, err := transfer.ReadDefinitions(ctx, c)
	if err == nil {
		err = w.Definitions(all)
	}
	if err == nil {
		err = transfer.Run(ctx, move.Keys(ctx, c, transfer.ReadOptions{}), w, notify, nil)
	}
	if left > 0 {
		d.log.Warn("some keys were not sent to a replica", "keys", left, "last", why)
	}
	return left, errors.Join(err, spool.remove())
}

// dumpFile removes its directory when it is closed.
type dumpFile struct {
	*os.File
	dir string
}

func (f dumpFile) Close() error { return errors.Join(f.File.Close(), os.RemoveAll(f.dir)) }
