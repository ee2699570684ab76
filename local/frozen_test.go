package local

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/meowdis/meowdis/internal/test/foreignfile"
	"github.com/meowdis/meowdis/store"
)

// TestFrozen reads a file where no files can be created beside it. The tests may run as root, who can create
// files everywhere, so this test calls freeze as probe would; the scripts of cmd run as a user without
// permission.
func TestFrozen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "with space &#%41.db")
	if err := foreignfile.Make("redka", path); err != nil {
		t.Fatal(err)
	}
	still, err := statImmutable(path)
	if err != nil {
		t.Fatal(err)
	}
	s := &Store{path: path, fileState: fileState{immutable: still}, openConns: openConns{readers: newPool(1, 0)}, lifetime: lifetime{life: context.Background()}, clock: time.Now}
	s.used = s.closing.RUnlock
	c, err := s.tryProbe()
	if err != nil {
		t.Fatal(err)
	}
	s.readers.add(c)
	defer s.closeConns(false)
	count := []store.Batch{{ReadOnly: true, Stmts: []store.Stmt{{
		SQL: "SELECT count FROM keys WHERE db = 0 AND key = CAST('hash' AS BLOB)",
	}}}}
	results, err := s.Apply(context.Background(), count)
	if err != nil || len(results[0].Rows[0]) != 1 || results[0].Rows[0][0][0].Int() != 3 {
		t.Errorf("%v, %v", results, err)
	}
	if beside, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "*-*")); len(beside) > 0 {
		t.Errorf("it made %v", beside)
	}

	// Another process, which has permission, writes to the WAL first.
	if err := os.WriteFile(path+"-wal", []byte("something"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Apply(context.Background(), count); err == nil {
		t.Error("it reads past the log")
	}
	if err := os.Remove(path + "-wal"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Apply(context.Background(), count); err != nil {
		t.Error(err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write(make([]byte, 4096)); err != nil || f.Close() != nil {
		t.Fatal(err)
	}
	if _, err := s.Apply(context.Background(), count); err == nil {
		t.Error("it reads a file that is being changed")
	}
}
