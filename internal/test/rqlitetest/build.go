package rqlitetest

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// Server returns the path of rqlited, built from internal/test/rqlited and kept in Go's build
// cache. If it cannot be built, the test fails.
func Server(t testing.TB) string {
	t.Helper()
	path, err := build()
	if err != nil {
		t.Fatalf("these tests run a cluster of the real rqlite, which needs Go's module proxy and gcc: %v", err)
	}
	return path
}

var build = sync.OnceValues(func() (string, error) {
	dir, err := module()
	if err != nil {
		return "", err
	}
	cmd := exec.Command("go", "tool", "-n", "rqlited")
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	// Optimising SQLite would take half of the build time.
	cmd.Env = append(os.Environ(), "GOWORK=off", "CGO_ENABLED=1", "CGO_CFLAGS=-O1")
	out, err := cmd.Output()
	return strings.TrimSpace(string(out)), err
})

// module returns the directory of internal/test/rqlited, from the directory of any tested
// package.
func module() (string, error) {
	dir, err := os.Getwd()
	for err == nil {
		found := filepath.Join(dir, "internal", "test", "rqlited")
		if _, err := os.Stat(filepath.Join(found, "go.mod")); err == nil {
			return found, nil
		}
		if filepath.Dir(dir) == dir {
			return "", errors.New("internal/test/rqlited is missing")
		}
		dir = filepath.Dir(dir)
	}
	return "", err
}
