package local

import (
	"context"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	sqlite3 "modernc.org/sqlite/lib"

	"github.com/meowdis/meowdis/store"
)

// TestExplainingKeepsLocks explains an open error while a transaction of this process holds locks on the file:
// the locks must stay.
func TestExplainingKeepsLocks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.sqlite")
	s, err := Open(path, Options{SweepEvery: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	err = s.Transact(context.Background(), false, func(func(store.Batch) (store.Result, error)) error {
		if err := explain(path, false, &sqliteError{code: sqlite3.SQLITE_CANTOPEN}); !strings.Contains(err.Error(), "no permission to write") {
			t.Errorf("got %v", err)
		}
		if out, err := exec.Command("sqlite3", path, "BEGIN IMMEDIATE").CombinedOutput(); err == nil || !strings.Contains(string(out), "locked") {
			t.Errorf("another process has begun to write: %v %s", err, out)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
