package local_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/meowdis/meowdis/internal/storetest"
	"github.com/meowdis/meowdis/local"
)

// TestMoved acknowledges no write to a file that is no longer under its name.
func TestMoved(t *testing.T) {
	if runtime.GOOS == "windows" {
		return // where a file that is open stays
	}
	for what, take := range map[string]func(path string) error{
		"deleted": os.Remove,
		"moved":   func(path string) error { return os.Rename(path, path+".old") },
		"replaced": func(path string) error {
			return errors.Join(os.WriteFile(path+".new", nil, 0o600), os.Rename(path+".new", path))
		},
	} {
		path := filepath.Join(t.TempDir(), "t.sqlite")
		s := open(t, path, local.Options{SweepEvery: -1})
		e := storetest.NewEngine(s, storetest.NewClock())
		c := storetest.NewClient(t, e)
		c.Want("SET k v", "OK")
		c.Want("GET k", `"v"`)
		if err := s.Moved(); err != nil {
			t.Errorf("not yet %s: %v", what, err)
		}
		if err := take(path); err != nil {
			t.Fatal(err)
		}
		for _, command := range [][][]byte{{[]byte("DEL"), []byte("k")}, {[]byte("INCRBYFLOAT"), []byte("n"), []byte("1")}} {
			if v, err := e.Session().Do(context.Background(), command...); !errors.Is(err, local.ErrMoved) {
				t.Errorf("%s, %s: %v, %v", what, command[0], v, err)
			}
		}
		if err := s.Moved(); !errors.Is(err, local.ErrMoved) {
			t.Errorf("%s: %v", what, err)
		}
		c.Want("GET k", `"v"`)
		if what == "moved" {
			if err := os.Rename(path+".old", path); err != nil {
				t.Fatal(err)
			}
			c.Want("SET k w", "OK")
		}
	}
}
