package cmd

import (
	"os"
	"path/filepath"
	"testing"
)

func TestLogBytes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.sqlite")
	if n := logBytes(path); n != 0 {
		t.Errorf("%d bytes of no log", n)
	}
	if err := os.WriteFile(path+"-wal", make([]byte, 1234), 0o600); err != nil {
		t.Fatal(err)
	}
	if n := logBytes(path); n != 1234 {
		t.Errorf("%d bytes of a log of 1234", n)
	}
}
