package replicate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/superfly/ltx"
)

// TestRestoreRefuses: a failed restore leaves no file.
func TestRestoreRefuses(t *testing.T) {
	p := directoryPlace(t)
	path := filepath.Join(t.TempDir(), "restored.sqlite")
	if _, err := p.Restore(context.Background(), path, time.Time{}, nil); !errors.Is(err, ErrEmpty) {
		t.Error(err)
	}
	m := openMaster(t, filepath.Join(t.TempDir(), "cats.sqlite"), p)
	for range 3 {
		m.do("INCR", "tom")
		m.ship()
	}
	all, err := p.all(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range all {
		of := p.files.(directory).path(f)
		whole, err := os.ReadFile(of)
		if err != nil {
			t.Fatal(err)
		}
		damaged := bytes.Clone(whole)
		damaged[len(damaged)/2] ^= 0x40
		for what, data := range map[string][]byte{"damaged": damaged, "cut": whole[:len(whole)-9], "empty": {}, "missing": nil} {
			if os.Remove(of); data == nil && i == len(all)-1 {
				continue // as if it had never existed
			}
			if data != nil {
				os.WriteFile(of, data, 0o600)
			}
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			if _, err := p.Restore(ctx, path, time.Time{}, nil); err == nil {
				t.Errorf("file %d is %s, and all is restored", i, what)
			}
			cancel()
			if _, err := os.Stat(path); err == nil {
				t.Fatalf("file %d is %s, and something is restored", i, what)
			}
		}
		os.WriteFile(of, whole, 0o600)
	}
	os.WriteFile(path+"-wal", nil, 0o600)
	if _, err := p.Restore(context.Background(), path, time.Time{}, nil); err == nil {
		t.Error("there is a log beside the new file")
	}
	os.Remove(path + "-wal")
	os.WriteFile(path, nil, 0o600)
	if _, err := p.Restore(context.Background(), path, time.Time{}, nil); err == nil {
		t.Error("a file was replaced")
	}
}

// TestRestoreMixed restores a stream with a file of another stream whose pages fit its own.
func TestRestoreMixed(t *testing.T) {
	p, again := directoryPlace(t), directoryPlace(t)
	m := openMaster(t, filepath.Join(t.TempDir(), "cats.sqlite"), p)
	other := openMaster(t, filepath.Join(t.TempDir(), "other.sqlite"), again)
	for i := range 5 {
		size := 1
		if i == 2 {
			size = 300_000
		}
		m.do("SET", fmt.Sprint("tom", i), strings.Repeat("m", size))
		m.ship()
		other.do("SET", fmt.Sprint("tom", i), strings.Repeat("o", size))
		other.ship()
	}
	third := &ltx.FileInfo{MinTXID: 3, MaxTXID: 3}
	if err := os.Rename(again.files.(directory).path(third), p.files.(directory).path(third)); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "restored.sqlite")
	if _, err := p.Restore(context.Background(), path, time.Time{}, nil); !errors.Is(err, errMixed) {
		t.Errorf("%v of two streams", err)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("there is a file")
	}
}
