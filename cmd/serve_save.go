package cmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/meowdis/meowdis/cmd/internal/exit"
	"github.com/meowdis/meowdis/internal/atomicfile"
	"github.com/meowdis/meowdis/local"
)

// saver saves the file of a server, until ctx ends.
type saver struct {
	ctx  context.Context
	file *local.Store
	copy string // the path of the copy, or ""

	running sync.WaitGroup
}

// newSaver returns a saver that copies the file into dir, unless dir is "".
func newSaver(ctx context.Context, file *local.Store, dir string) (*saver, error) {
	s := &saver{ctx: ctx, file: file}
	if dir == "" {
		return s, nil
	}
	name := "meowdis.sqlite"
	if file.Path() != local.Memory {
		name = filepath.Base(file.Path())
	}
	root, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	s.copy = filepath.Join(root, name)
	if err := atomicfile.CheckDirectory(s.copy); err != nil {
		return nil, fmt.Errorf("--backup-dir %s: %w", dir, err)
	}
	mine, err := os.Stat(file.Path())
	if there, bad := os.Stat(s.copy); err == nil && bad == nil && os.SameFile(mine, there) {
		return nil, exit.Usagef("--backup-dir %s is the directory of the file: give another", dir)
	}
	return s, nil
}

// save implements server.Config.Save.
func (s *saver) save(ctx context.Context) error {
	s.running.Add(1)
	defer s.running.Done()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.ctx, cancel)()
	err := s.file.Sync()
	if s.copy != "" {
		err = errors.Join(err, s.file.Backup(ctx, s.copy, local.BackupOptions{Replace: true}))
	}
	return err
}
