package replicate

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/superfly/ltx"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/local"
)

// copied is a copy that follows.
type copied struct {
	t        *testing.T
	path     string
	file     *local.Store
	engine   *engine.Engine
	session  *engine.Session
	follower *Follower
}

func openFollower(t *testing.T, p *Place) *copied {
	t.Helper()
	c := &copied{t: t, path: filepath.Join(t.TempDir(), "copy.sqlite")}
	if _, err := p.Restore(context.Background(), c.path, time.Time{}, nil); err != nil {
		t.Fatal(err)
	}
	c.open(p)
	return c
}

func (c *copied) open(p *Place) {
	c.t.Helper()
	var err error
	if c.file, err = local.Open(c.path, local.Options{ReadOnly: true, WriteRefusal: "it is a copy"}); err != nil {
		c.t.Fatal(err)
	}
	to, err := local.OpenCopy(c.path)
	if err != nil {
		c.t.Fatal(err)
	}
	c.engine = engine.New(c.file)
	c.session = c.engine.Session()
	c.follower = NewFollower(p, to, FollowOptions{Log: slog.New(slog.DiscardHandler)})
	c.t.Cleanup(func() { to.Close(); c.file.Close() })
}

func (c *copied) follow() {
	c.t.Helper()
	if err := c.follower.Follow(context.Background()); err != nil {
		c.t.Fatal(err)
	}
}

func (c *copied) examine() {
	c.t.Helper()
	examine(c.t, c.file)
}

// TestFollow reads pairs of keys from a copy while they change together: they are always equal.
func TestFollow(t *testing.T) {
	p := directoryPlace(t)
	m := openMaster(t, filepath.Join(t.TempDir(), "cats.sqlite"), p)
	m.do("MSET", "a", "0", "b", "0")
	m.ship()
	f := openFollower(t, p)
	stop := make(chan struct{})
	var reader sync.WaitGroup
	session := f.engine.Session()
	reader.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			v, err := session.Do(context.Background(), []byte("MGET"), []byte("a"), []byte("b"))
			if err != nil || v.IsError() || string(v.Elems[0].Str) != string(v.Elems[1].Str) {
				t.Errorf("%+v, %v", v, err)
				return
			}
		}
	})
	for i := range 40 {
		value := fmt.Sprint(i)
		m.do("MSET", "a", value, "b", value, fmt.Sprint("key", i), string(make([]byte, i*1000)))
		if i%10 == 9 {
			m.do("FLUSHALL")
			m.do("MSET", "a", value, "b", value)
		}
		if m.ship(); i%3 == 0 {
			m.now = m.now.Add(40 * time.Second)
		}
		if i%2 == 0 {
			f.follow()
			if got := get(t, f.session, "a"); got != value {
				t.Fatalf("%s, not %s", got, value)
			}
		}
	}
	close(stop)
	reader.Wait()
	f.examine()
	v, err := f.session.Do(context.Background(), []byte("SET"), []byte("a"), []byte("1"))
	if err != nil || string(v.Str) != "READONLY it is a copy" {
		t.Errorf("%s, %v", v.Str, err)
	}
	if s := f.follower.Status(); s.TXID != m.shipper.Status().TXID-1 || s.LastError != "" || s.LastPoll.IsZero() {
		t.Errorf("%+v", s)
	}
}

// TestStrayed writes to a copy, which is then replaced, and promotes it.
func TestStrayed(t *testing.T) {
	p := directoryPlace(t)
	m := openMaster(t, filepath.Join(t.TempDir(), "cats.sqlite"), p)
	m.do("SET", "tom", "1")
	m.ship()
	f := openFollower(t, p)
	f.follow()
	stray, err := local.Open(f.path, local.Options{})
	if err != nil {
		t.Fatal(err)
	}
	do(t, engine.New(stray).Session(), "SET", "stray", "1")
	stray.Close()
	m.do("SET", "tom", "2")
	m.ship()
	if err := f.follower.Follow(context.Background()); err == nil {
		t.Error("a copy that was written to follows as if it had not been")
	}
	f.follow()
	if get(t, f.session, "tom") != "2" || get(t, f.session, "stray") != "" {
		t.Error("the copy is not made anew")
	}
	f.examine()
	promoted, err := local.Open(f.path, local.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer promoted.Close()
	do(t, engine.New(promoted).Session(), "SET", "tom", "3")
	examine(t, promoted)
}

// TestFollowRestarts follows with a copy of an earlier state, and of another branch of it.
func TestFollowRestarts(t *testing.T) {
	p := directoryPlace(t)
	path := filepath.Join(t.TempDir(), "cats.sqlite")
	m := openMaster(t, path, p)
	m.do("SET", "tom", "1")
	m.ship()
	f := openFollower(t, p)
	f.follow()
	for i := range 5 {
		m.do("SET", "tom", fmt.Sprint(i))
		m.ship()
	}
	f.open(p)
	f.follow()
	if got := get(t, f.session, "tom"); got != "4" {
		t.Error(got)
	}
	// The stream returns to an earlier state, as after a restore in place.
	again := directoryPlace(t)
	other := openMaster(t, filepath.Join(t.TempDir(), "other.sqlite"), again)
	for i := range 20 {
		other.do("SET", "jerry", fmt.Sprint(i))
		other.ship()
	}
	p.files = again.files
	f.follower.Follow(context.Background())
	f.follow()
	if get(t, f.session, "jerry") != "19" || get(t, f.session, "tom") != "" {
		t.Error("the copy is a mixture")
	}
	f.examine()
	// The stream restarts, with fewer files than the copy has followed.
	third := directoryPlace(t)
	last := openMaster(t, filepath.Join(t.TempDir(), "last.sqlite"), third)
	last.do("SET", "spike", "1")
	last.ship()
	f.follow()
	p.files = third.files
	f.follow()
	if get(t, f.session, "spike") != "1" || get(t, f.session, "jerry") != "" {
		t.Error("the copy does not begin anew")
	}
	f.examine()
	// The place is emptied.
	f.follow()
	p.files = directoryPlace(t).files
	if err := f.follower.Follow(context.Background()); !errors.Is(err, ErrEmpty) || f.follower.Status().LastError == "" {
		t.Errorf("%v of an empty place", err)
	}
	if get(t, f.session, "spike") != "1" {
		t.Error("the copy is gone")
	}
}

// TestFollowAnotherStream: while a copy cannot reach the place, the place is emptied and receives another
// file's stream, whose transactions go beyond the copy's.
func TestFollowAnotherStream(t *testing.T) {
	p := directoryPlace(t)
	m := openMaster(t, filepath.Join(t.TempDir(), "cats.sqlite"), p)
	for i := range 6 {
		m.do("SET", fmt.Sprint("tom", i), string(make([]byte, 5000)))
		m.ship()
	}
	f := openFollower(t, p)
	f.follow()
	again := directoryPlace(t)
	other := openMaster(t, filepath.Join(t.TempDir(), "other.sqlite"), again)
	other.do("MSET", "first", "1", "large", string(make([]byte, 50000)))
	for i := range 10 {
		other.do("SET", "jerry", fmt.Sprint(i))
		if i == 9 {
			other.now = other.now.Add(2 * time.Minute)
		}
		other.ship()
	}
	p.files = again.files
	f.follower.looked = time.Time{}
	f.follower.Follow(context.Background())
	f.follow()
	if get(t, f.session, "jerry") != "9" || get(t, f.session, "first") != "1" || get(t, f.session, "tom1") != "" {
		t.Error("the copy is a mixture")
	}
	f.examine()
}

// TestFollowLate: a copy that could not reach its place for some time continues with files that began earlier.
func TestFollowLate(t *testing.T) {
	p := directoryPlace(t)
	m := openMaster(t, filepath.Join(t.TempDir(), "cats.sqlite"), p)
	write := func(n int) {
		for i := range n {
			m.do("SET", "tom", fmt.Sprint(i))
			m.ship()
		}
	}
	write(4)
	f := openFollower(t, p)
	f.follow()
	write(3)
	f.follow()
	write(5)
	m.now = m.now.Add(2 * time.Minute)
	write(1)
	f.follower.looked = time.Time{}
	all, err := p.all(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if files, err := plan(all, f.follower.at); err != nil || len(files) == 0 || files[0].MinTXID == 1 || files[0].MinTXID > f.follower.at {
		t.Fatalf("%+v, %v: not what is to be tested", files, err)
	}
	f.follow()
	if f.follower.at != ltx.TXID(m.shipper.Status().TXID) || get(t, f.session, "tom") != "0" {
		t.Error("the copy is not where the stream is")
	}
	f.examine()
}
