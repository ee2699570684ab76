package local_test

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/internal/test/storetest"
	"github.com/meowdis/meowdis/local"
)

func words(line ...string) (args [][]byte) {
	for _, w := range line {
		args = append(args, []byte(w))
	}
	return args
}

// TestBackup copies a file while another connection writes pairs of changes: the copy has both changes of each
// pair or none.
func TestBackup(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "db.sqlite")
	s := open(t, path, local.Options{})
	session := engine.New(s).Session()
	for i := range 200 { // more pages than one step copies
		if _, err := session.Do(context.Background(), words("SET", strconv.Itoa(i), string(make([]byte, 50_000)))...); err != nil {
			t.Fatal(err)
		}
	}
	var pairs atomic.Int64
	stop, stopped := make(chan struct{}), make(chan error, 1)
	written := make(chan struct{}) // wakes the waiting goroutine at the next pair, and at the end
	go func() {
		defer close(written)
		session := engine.New(s).Session()
		for {
			select {
			case <-stop:
				stopped <- nil
				return
			default:
			}
			_, err := session.Pipeline(context.Background(), [][][]byte{words("MULTI"), words("INCR", "n"), words("RPUSH", "l", "v"), words("EXEC")})
			if err != nil {
				stopped <- err
				return
			}
			pairs.Add(1)
			select {
			case written <- struct{}{}:
			default:
			}
		}
	}()
	f, err := local.OpenFile(path, true)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for i, name := range []string{"one", "two", "three"} {
		to := filepath.Join(dir, name)
		steps, before := 0, pairs.Load()
		err := f.Backup(context.Background(), to, local.BackupOptions{Progress: func(done, total int) {
			if steps++; done > total {
				t.Errorf("%d of %d pages", done, total)
			}
			<-written // other connections write between two steps
		}})
		if err != nil {
			t.Fatal(err)
		}
		if steps < 2 {
			t.Errorf("%d steps: nothing was tested", steps)
		}
		copied := open(t, to, local.Options{})
		storetest.Check(t, copied)
		c := engine.New(copied).Session()
		n, _ := c.Do(context.Background(), words("GET", "n")...)
		l, _ := c.Do(context.Background(), words("LLEN", "l")...)
		if string(n.Str) != "" && string(n.Str) != strconv.FormatInt(l.Int, 10) || l.Int < before {
			t.Errorf("copy %d has %s and %d, where %d were before", i, n.Str, l.Int, before)
		}
	}
	close(stop)
	if err := <-stopped; err != nil {
		t.Fatal(err)
	}
}

// TestBackupLeavesNothing: a backup does not overwrite files that it must not, and leaves no part of an
// unfinished copy.
func TestBackupLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "db.sqlite")
	s := open(t, path, local.Options{})
	storetest.NewClient(t, storetest.NewEngine(s, storetest.NewClock())).Want("SET k v", "OK")
	f, err := local.OpenFile(path, true)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	ctx := context.Background()
	if err := f.Backup(ctx, path, local.BackupOptions{Replace: true}); err == nil {
		t.Error("it replaced the file by itself")
	}
	to := filepath.Join(dir, "to")
	if err := f.Backup(ctx, to, local.BackupOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := f.Backup(ctx, to, local.BackupOptions{}); err == nil {
		t.Error("it replaced a backup unasked")
	}
	if err := f.Backup(ctx, to, local.BackupOptions{Replace: true}); err != nil {
		t.Error(err)
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	if err := f.Backup(cancelled, filepath.Join(dir, "never"), local.BackupOptions{}); err == nil {
		t.Error("a cancelled backup was made")
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		switch e.Name() {
		case "db.sqlite", "db.sqlite-wal", "db.sqlite-shm", "to":
		default:
			t.Errorf("%s is left", e.Name())
		}
	}
}
