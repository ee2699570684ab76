package replicate

import (
	"os"
	"path/filepath"
	"testing"
)

// TestCopiedLeaseFile checks that the file says which process has ended, unless it was copied from a file whose process
// may still run.
func TestCopiedLeaseFile(t *testing.T) {
	if bootID() == "" {
		t.Skip("the system has no boot ID")
	}
	dir := t.TempDir()
	place, err := Open(filepath.Join(dir, "place"), os.Getenv)
	if err != nil {
		t.Fatal(err)
	}
	open := func(path string) *LeaseFile {
		l, err := OpenLeaseFile(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
		return l
	}
	path := filepath.Join(dir, "cats.sqlite")
	first := open(path)
	if err := first.Remember(place, Held{Owner: "first"}); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path + leaseSuffix)
	if err != nil {
		t.Fatal(err)
	}
	copied := filepath.Join(dir, "copied.sqlite")
	if err := os.WriteFile(copied+leaseSuffix, b, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := open(copied).Previous(place); got != "" {
		t.Errorf("the copied file says that the process of %q has ended", got)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if got := open(path).Previous(place); got != "first" {
		t.Errorf("Previous = %q, want first", got)
	}
}
