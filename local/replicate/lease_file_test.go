package replicate

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
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

// TestLeaseFileInUse expects that a process waits for another one that has the file locked, and is refused when the wait
// is over.
func TestLeaseFileInUse(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cats.sqlite")
	first, err := OpenLeaseFile(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	over, cancel := context.WithDeadline(t.Context(), time.Unix(0, 0))
	defer cancel()
	if _, err := OpenLeaseFile(over, path); err == nil || !strings.HasPrefix(err.Error(), "another process streams or follows with this file") {
		t.Fatalf("the error is %v", err)
	}
	opened := make(chan error, 1)
	go func() {
		second, err := OpenLeaseFile(t.Context(), path)
		if err == nil {
			err = second.Close()
		}
		opened <- err
	}()
	select {
	case err := <-opened:
		t.Fatalf("it did not wait: %v", err)
	default:
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-opened; err != nil {
		t.Fatal(err)
	}
}
