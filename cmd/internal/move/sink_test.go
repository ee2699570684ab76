package move

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	_ "modernc.org/sqlite" // an independent way to read the file

	"github.com/meowdis/meowdis/cmd/internal/targets"
	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/redis/rdb"
	"github.com/meowdis/meowdis/transfer"
)

// countdown is a context that is cancelled when it is asked for the n-th time.
type countdown struct {
	context.Context
	left   atomic.Int64
	cancel context.CancelFunc
}

func newCountdown(n int) *countdown {
	c := &countdown{}
	c.Context, c.cancel = context.WithCancel(context.Background())
	c.left.Store(int64(n))
	return c
}

func (c *countdown) ask() {
	if c.left.Add(-1) == 0 {
		c.cancel()
	}
}

func (c *countdown) Err() error {
	c.ask()
	return c.Context.Err()
}

func (c *countdown) Done() <-chan struct{} {
	c.ask()
	return c.Context.Done()
}

// TestCancelledFlush cancels a move into a file at each point at which its last flush, and Close, look at the
// context. The file closes, another process can write to it, and it holds whole keys only.
func TestCancelledFlush(t *testing.T) {
	long := make(rdb.List, 300)
	for i := range long {
		long[i] = fmt.Append(nil, i)
	}
	for _, existing := range []transfer.Existing{transfer.Refuse, transfer.Replace, transfer.Skip} {
		cancelled := true
		for n := 1; cancelled; n++ {
			path := filepath.Join(t.TempDir(), "cats.sqlite")
			file, err := local.Open(path, local.Options{SweepEvery: -1, SingleConn: true, BulkLoad: true})
			if err != nil {
				t.Fatal(err)
			}
			c := &targets.Conn{Session: engine.New(file).Session(), File: file}
			ctx := newCountdown(n)
			w := NewWriter(c, existing, nil, func(k *transfer.Key, err error) { t.Errorf("%s: %v", k, err) })
			put := func(k *transfer.Key, first, last bool, v transfer.Value) {
				if err == nil {
					err = w.Put(ctx, transfer.Part{Key: k, Value: v, First: first, Last: last})
				}
			}
			put(&transfer.Key{Name: []byte("s"), Type: transfer.StringType}, true, true, rdb.String("tom"))
			put(&transfer.Key{Name: []byte("h"), Type: transfer.HashType, ExpiresAt: 1 << 42}, true, true, rdb.Hash{{Name: []byte("f"), Value: []byte("v")}})
			list := &transfer.Key{Name: []byte("l"), Type: transfer.ListType}
			put(list, true, false, long)
			if err == nil {
				err = w.Flush(ctx)
			}
			put(list, false, true, long)
			err = w.Close(ctx, err)
			if cancelled = ctx.left.Load() <= 0; cancelled && err != nil && !errors.Is(err, context.Canceled) || !cancelled && err != nil {
				t.Fatalf("%d: %v", n, err)
			}
			closed := make(chan error, 1)
			go func() { closed <- file.Close() }()
			select {
			case err := <-closed:
				if err != nil {
					t.Fatal(err)
				}
			case <-time.After(time.Minute):
				t.Fatalf("cancelled the %dth time it is asked, the move keeps the file open", n)
			}
			holds(t, path, w.Written())
		}
	}
}

// holds checks that a file can be written to, and holds so many keys, all of them whole.
func holds(t *testing.T, path string, written transfer.Written) {
	t.Helper()
	file, err := local.Open(path, local.Options{SweepEvery: -1, BusyTimeout: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	s := engine.New(file).Session()
	do := func(words ...string) int64 {
		v, err := s.Do(context.Background(), call(words)...)
		if err != nil || v.IsError() {
			t.Fatal(words, v, err)
		}
		return v.Int
	}
	if n := do("DBSIZE"); n != written.Keys {
		t.Errorf("%d keys, and %d were counted", n, written.Keys)
	}
	if n := do("LLEN", "l"); n != 0 && n != 600 {
		t.Errorf("%d elements of a list", n)
	}
	do("SET", "another", "process")
}

func call(words []string) [][]byte {
	args := make([][]byte, len(words))
	for i, w := range words {
		args[i] = []byte(w)
	}
	return args
}

// TestLoad: writing keys into an empty file leaves building the hash index to the end.
func TestLoad(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cats.sqlite")
	file, err := local.Open(path, local.Options{SweepEvery: -1, SingleConn: true, BulkLoad: true})
	if err != nil {
		t.Fatal(err)
	}
	indexes := func() (n int) {
		t.Helper()
		db, err := sql.Open("sqlite", path)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		if err := db.QueryRow("SELECT count(*) FROM sqlite_schema WHERE name = 'keys_by_hash'").Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	ctx := context.Background()
	c := &targets.Conn{Session: engine.New(file).Session(), File: file}
	for i := range 2 {
		w := NewWriter(c, transfer.Refuse, nil, func(k *transfer.Key, err error) { t.Errorf("%s: %v", k, err) })
		for j := range 10 {
			k := &transfer.Key{Name: fmt.Appendf(nil, "%d:%d", i, j), Type: transfer.HashType}
			if err := w.Put(ctx, transfer.Whole(k, rdb.Hash{{Name: []byte("f"), Value: []byte("v")}})); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(ctx, nil); err != nil {
			t.Fatal(err)
		}
		// The second writer looks for leftovers among the keys of the first.
		if n := indexes(); n != i {
			t.Errorf("%d indexes after writer %d", n, i+1)
		}
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	if n := indexes(); n != 1 {
		t.Error("the index is missing at the end")
	}
}
