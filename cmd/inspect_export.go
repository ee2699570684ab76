package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/meowdis/meowdis/cmd/internal/move"
	"github.com/meowdis/meowdis/internal/atomicfile"
	"github.com/meowdis/meowdis/redis/rdb"
	"github.com/meowdis/meowdis/transfer"
)

// exportFile writes keys to a new file and returns their number. The ending of the name chooses the format.
func exportFile(ctx context.Context, path string, keys transfer.Source, notify transfer.Notify) (n int64, err error) {
	if path == "" {
		return 0, errors.New("nothing was written: give the name of a file")
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return 0, fmt.Errorf("%s is a directory: give the name of a file in it", path)
	}
	if strings.EqualFold(filepath.Ext(path), ".rdb") {
		err = atomicfile.Write(path, false, func(f *os.File) error {
			spool := &spoolFile{dir: filepath.Dir(path)}
			w := transfer.NewRDBWriter(rdb.NewFileWriter(f, spool.open), notify)
			err := transfer.Run(ctx, keys, w, notify, nil)
			n = w.Keys()
			return errors.Join(err, spool.remove())
		})
		return n, writeError(path, err)
	}
	format, ok := move.FormatOf(path)
	if !ok {
		return 0, fmt.Errorf("%s: unknown ending: use one of %s", filepath.Base(path), strings.Join(append(move.Endings(), ".rdb"), ", "))
	}
	var failed *transfer.Key // the last one
	told := func(k *transfer.Key, why error) {
		if _, most := errors.AsType[*transfer.Incomplete](why); !most {
			failed = k
		}
		notify(k, why)
	}
	file := &outFile{path: path}
	err = file.write(nil, func(out io.Writer) error {
		return transfer.Run(ctx, keys, format.Write(out, told), told, func(p transfer.Part) {
			if p.Last && p.Err == nil && p.Key != failed {
				n++
			}
		})
	})
	return n, writeError(path, err)
}

// writeError adds the path to err, unless the user cancelled.
func writeError(path string, err error) error {
	if err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	return fmt.Errorf("writing %s: %w", path, err)
}
