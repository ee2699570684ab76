package local

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/meowdis/meowdis/internal/foreignfile"
	"github.com/meowdis/meowdis/store"
)

// TestImmutable reads a file where none can be made beside it. Whoever runs the
// tests may be allowed to make one everywhere, so that the test asks for what
// look does then.
func TestImmutable(t *testing.T) {
	path := filepath.Join(t.TempDir(), "with space &#%41.db")
	if err := foreignfile.Make("redka", path); err != nil {
		t.Fatal(err)
	}
	s := &Store{path: path, immutable: true, readers: newPool(1)}
	c, err := s.tryLook()
	if err != nil {
		t.Fatal(err)
	}
	defer c.close()
	rows, _, err := c.run(store.Stmt{SQL: "SELECT count FROM keys WHERE db = 0 AND key = CAST('hash' AS BLOB)"})
	if err != nil || len(rows) != 1 || rows[0][0].Int() != 3 {
		t.Errorf("%v, %v", rows, err)
	}
	if beside, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "*-*")); len(beside) > 0 {
		t.Errorf("it made %v", beside)
	}
	if err := os.WriteFile(path+"-wal", []byte("something"), 0o600); err != nil {
		t.Fatal(err)
	}
	if !hasWAL(path) {
		t.Error("it would pass over what is in the log")
	}
}
