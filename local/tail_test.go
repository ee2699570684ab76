package local

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/meowdis/meowdis/internal/test/race"
	"github.com/meowdis/meowdis/store"
)

// shadow is an in-memory copy of a file, updated by a Tail's changes.
type shadow map[uint32][]byte

func (s shadow) take(t *testing.T, tail *Tail) {
	t.Helper()
	snap, err := tail.Take()
	if err != nil {
		t.Fatal(err)
	}
	defer snap.Close()
	read := func(page uint32) []byte {
		data, err := snap.Page(page)
		if err != nil {
			t.Fatal(err)
		}
		return bytes.Clone(data)
	}
	if snap.Whole {
		for page := uint32(1); page <= snap.Pages(); page++ {
			s[page] = read(page)
		}
	}
	for page := range snap.Changed.All() {
		delete(s, page)
		if page <= snap.Pages() {
			s[page] = read(page)
		}
	}
	if len(s) != int(snap.Pages()) {
		t.Fatalf("%d pages of %d", len(s), snap.Pages())
	}
	for page, data := range s {
		if !bytes.Equal(data, read(page)) {
			t.Fatalf("page %d is another one", page)
		}
	}
}

func openTailed(t *testing.T) (*Store, *Tail, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.sqlite")
	s, err := Open(path, Options{SweepEvery: -1, CacheBytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	tail, err := s.Tail()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tail.Close() })
	if err := s.exec("CREATE TABLE t(a INTEGER PRIMARY KEY, b BLOB)"); err != nil {
		t.Fatal(err)
	}
	return s, tail, path
}

func (s *Store) exec(sql string, args ...store.Value) error {
	_, err := s.Apply(context.Background(), []store.Batch{{Stmts: []store.Stmt{{SQL: sql, Args: args}}}})
	return err
}

// TestTail writes from this process and from another connection, restarts the WAL, shrinks the file, and
// compares the pages each time.
func TestTail(t *testing.T) {
	race.Skip(t)
	s, tail, path := openTailed(t)
	copied := shadow{}
	copied.take(t, tail)
	other, err := openConn(path, toWrite)
	if err != nil {
		t.Fatal(err)
	}
	defer other.close()
	r := rand.New(rand.NewPCG(1, 2))
	begun := map[[2]uint32]bool{}
	for i := range 200 {
		put := fmt.Sprintf("WITH RECURSIVE n(value) AS (SELECT %d UNION ALL SELECT value + 1 FROM n LIMIT %d) INSERT OR REPLACE INTO t SELECT value, randomblob(%d) FROM n", r.IntN(500), 1+r.IntN(50), 1+r.IntN(3000))
		switch n := r.IntN(10); {
		case n < 5:
			err = s.exec(put)
		case n < 7:
			err = other.script(put)
		case n == 7:
			err = other.script("PRAGMA wal_checkpoint(PASSIVE)")
		case n == 8:
			s.checkpoints.written.Store(1 << 40)
			_, err = s.checkpoint()
		case i%40 == 0:
			if err = s.exec("DELETE FROM t WHERE a % 2"); err == nil {
				err = other.script("VACUUM")
			}
		default:
			err = tail.Advance()
		}
		if err != nil {
			t.Fatal(err)
		}
		if r.IntN(3) == 0 {
			copied.take(t, tail)
		}
		snap, err := s.snapshot()
		if err != nil {
			t.Fatal(err)
		}
		begun[snap.Position().Salt] = true
		snap.Close()
	}
	copied.take(t, tail)
	if len(begun) < 5 {
		t.Errorf("the log has begun anew %d times", len(begun))
	}
}

// TestTailSince resumes at another process's position, and refuses another WAL.
func TestTailSince(t *testing.T) {
	s, tail, _ := openTailed(t)
	if err := s.exec("INSERT INTO t VALUES(1, zeroblob(10000))"); err != nil {
		t.Fatal(err)
	}
	before, err := tail.Take()
	if err != nil {
		t.Fatal(err)
	}
	was := before.Position()
	before.Close()
	if err := s.exec("INSERT INTO t VALUES(2, zeroblob(10000))"); err != nil {
		t.Fatal(err)
	}
	now, err := tail.Take()
	if err != nil {
		t.Fatal(err)
	}
	defer now.Close()
	pages, ok, err := tail.Since(now, was, func(sum uint64) bool { return sum == was.Sum })
	if err != nil || !ok || fmt.Sprint(pages) != fmt.Sprint(now.Changed) {
		t.Errorf("%v, %v, %v; not %v", pages, ok, err, now.Changed)
	}
	for what, p := range map[string]Position{
		"none":        {},
		"another sum": {was.Salt, was.Offset, was.Sum + 1},
		"another log": {[2]uint32{1, 2}, was.Offset, was.Sum},
		"later":       {was.Salt, was.Offset * 10, was.Sum},
		"no frame":    {was.Salt, was.Offset + 1, was.Sum},
	} {
		if _, ok, err := tail.Since(now, p, func(sum uint64) bool { return sum == p.Sum }); ok || err != nil {
			t.Errorf("%s: %v, %v", what, ok, err)
		}
	}
}

// TestCopy applies snapshots to a copy while it is read.
func TestCopy(t *testing.T) {
	s, tail, path := openTailed(t)
	if err := tail.Advance(); err != nil {
		t.Fatal(err)
	}
	first, err := tail.Take()
	if err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(t.TempDir(), "copy.sqlite")
	var whole []byte
	for page := uint32(1); page <= first.Pages(); page++ {
		data, err := first.Page(page)
		if err != nil {
			t.Fatal(err)
		}
		whole = append(whole, data...)
	}
	first.Close()
	if err := os.WriteFile(to, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	reader, err := Open(to, Options{ReadOnly: true, WriteRefusal: "it is a copy"})
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	c, err := OpenCopy(to)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	count := func(s *Store) string {
		r, err := s.Apply(context.Background(), []store.Batch{{ReadOnly: true, Stmts: []store.Stmt{{SQL: "SELECT count(*), total(length(b)) FROM t"}}}})
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(r[0].Rows[0][0][0].Int(), r[0].Rows[0][0][1].Float())
	}
	put := func(whole bool) error {
		snap, err := tail.Take()
		if err != nil {
			t.Fatal(err)
		}
		defer snap.Close()
		pages := slices.Collect(snap.Changed.All())
		if whole {
			pages = nil
			for page := range snap.Pages() {
				pages = append(pages, page+1)
			}
		}
		return c.Put(context.Background(), whole, snap.Pages(), func() (p Page, err error) {
			for len(pages) > 0 && pages[0] > snap.Pages() {
				pages = pages[1:]
			}
			if len(pages) > 0 {
				p.Number, pages = pages[0], pages[1:]
				p.Data, err = snap.Page(p.Number)
			}
			return p, err
		})
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for i := range 30 {
		must(s.exec(fmt.Sprintf("INSERT INTO t VALUES(%d, randomblob(%d))", i, i*1000)))
		must(put(false))
		if got, want := count(reader), count(s); got != want {
			t.Fatalf("%s, not %s", got, want)
		}
	}
	must(s.exec("DELETE FROM t WHERE a > 3"))
	other, err := openConn(path, toWrite)
	must(err)
	must(other.script("VACUUM"))
	must(other.close())
	must(put(false))
	if got, want := count(reader), count(s); got != want {
		t.Fatalf("%s, not %s", got, want)
	}
	stray, err := openConn(to, toWrite)
	must(err)
	must(stray.script("INSERT INTO t VALUES(77, 'x')"))
	must(stray.close())
	if err := put(false); !errors.Is(err, ErrCopyChanged) {
		t.Errorf("%v", err)
	}
	must(put(true))
	if got, want := count(reader), count(s); got != want {
		t.Fatalf("%s, not %s", got, want)
	}
	if reader.ReadOnly() != "it is a copy" {
		t.Error(reader.ReadOnly())
	}
}
