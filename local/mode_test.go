package local_test

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/internal/test/storetest"
	"github.com/meowdis/meowdis/local"
)

// TestNewFilesAreTheOwners: only the owner can read new files, the files beside them, and backups. An existing
// file keeps its mode.
func TestNewFilesAreTheOwners(t *testing.T) {
	if runtime.GOOS == "windows" {
		return // modes mean nothing here
	}
	dir := t.TempDir()
	path, shared := filepath.Join(dir, "t.sqlite"), filepath.Join(dir, "shared.sqlite")
	if err := os.WriteFile(shared, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(shared, 0o664); err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{path, shared} {
		s := open(t, p, local.Options{})
		storetest.NewClient(t, engine.New(s)).Want("SET k v", "OK")
	}
	f, err := local.OpenFile(shared, true)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Backup(t.Context(), filepath.Join(dir, "backup.sqlite"), local.BackupOptions{}); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]os.FileMode{
		"t.sqlite": 0o600, "t.sqlite-wal": 0o600, "t.sqlite-shm": 0o600, "backup.sqlite": 0o600,
		"shared.sqlite": 0o664, "shared.sqlite-wal": 0o664,
	} {
		info, err := os.Stat(filepath.Join(dir, name))
		switch {
		case err != nil:
			t.Error(err)
		case info.Mode() != want:
			t.Errorf("%s: %v, want %v", name, info.Mode(), want)
		}
	}
}
