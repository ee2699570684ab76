package cmd

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestFileBytes knows the length of what is yet to be read, of files alone.
func TestFileBytes(t *testing.T) {
	name := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(name, []byte("SET k v\nGET k\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if got := fileBytes(f); got != 14 {
		t.Errorf("%d bytes of a file", got)
	}
	if _, err := f.Seek(8, io.SeekStart); err != nil {
		t.Fatal(err)
	}
	if got := fileBytes(f); got != 6 {
		t.Errorf("%d bytes after the first line", got)
	}
	in := &countingReader{Reader: f}
	if _, err := io.ReadAll(in); err != nil || in.n.Load() != 6 {
		t.Errorf("%d bytes were counted, %v", in.n.Load(), err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	if got := fileBytes(r); got != -1 {
		t.Errorf("%d bytes of a pipe", got)
	}
	if got := fileBytes(strings.NewReader("x")); got != -1 {
		t.Errorf("%d bytes of a reader", got)
	}
}
