package local_test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/local"
)

// TestBackupOfStore copies open stores, in a file and in memory.
func TestBackupOfStore(t *testing.T) {
	for _, path := range []string{local.Memory, filepath.Join(t.TempDir(), "a.sqlite")} {
		s, err := local.Open(path, local.Options{SweepEvery: -1})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		to := filepath.Join(t.TempDir(), "copy.sqlite")
		set := engine.New(s).Session()
		for _, value := range []string{"v", "w"} { // the second one replaces the first
			if _, err := set.Do(context.Background(), []byte("SET"), []byte("k"), []byte(value)); err != nil {
				t.Fatal(err)
			}
			if err := s.Sync(); err != nil {
				t.Error(err)
			}
			if err := s.Backup(context.Background(), to, local.BackupOptions{Replace: true}); err != nil {
				t.Fatal(err)
			}
			c, err := local.Open(to, local.Options{ReadOnly: true, SweepEvery: -1})
			if err != nil {
				t.Fatal(err)
			}
			got, err := engine.New(c).Session().Do(context.Background(), []byte("GET"), []byte("k"))
			if err != nil || string(got.Str) != value {
				t.Errorf("%s: %q, %v", path, got.Str, err)
			}
			if err := c.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Backup(context.Background(), to, local.BackupOptions{}); err == nil {
			t.Error("it replaced the copy without being told to")
		}
	}
}
