package replicate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/meowdis/meowdis/internal/test/capture"
	"github.com/superfly/ltx"
)

// broken is a place that can fail.
type broken struct {
	files
	reach, late error // reach fails all requests; late fails writes that take effect

	gone   atomic.Bool  // fails all writes
	panics atomic.Int64 // the number of requests that panic
}

// fault panics if it should.
func (b *broken) fault() {
	if b.panics.Add(-1) >= 0 {
		panic("injected")
	}
}

func (b *broken) list(ctx context.Context, level int) ([]*ltx.FileInfo, error) {
	b.fault()
	if b.reach != nil {
		return nil, b.reach
	}
	return b.files.list(ctx, level)
}

func (b *broken) write(ctx context.Context, f *ltx.FileInfo, body body) error {
	b.fault()
	if b.reach != nil {
		return b.reach
	}
	if b.gone.Load() {
		return errors.New("gone")
	}
	return errors.Join(b.files.write(ctx, f, body), b.late)
}

func (b *broken) open(ctx context.Context, f *ltx.FileInfo, offset, size int64) (io.ReadCloser, error) {
	b.fault()
	if b.reach != nil {
		return nil, b.reach
	}
	return b.files.open(ctx, f, offset, size)
}

// TestOutage writes while the place cannot be reached: the WAL stays short, and the place catches up.
func TestOutage(t *testing.T) {
	p := directoryPlace(t)
	b := &broken{files: p.files}
	p.files = b
	m := openMaster(t, filepath.Join(t.TempDir(), "cats.sqlite"), p)
	m.do("SET", "tom", "before")
	m.ship()
	b.reach = errors.New("no way")
	longest := int64(0)
	rounds := 400
	if testing.Short() {
		rounds = 50
	}
	for i := range rounds {
		m.do("SET", fmt.Sprint("key", i%50), strings.Repeat(fmt.Sprint(i), 100_000))
		if i%5 == 0 {
			if err := m.shipper.Ship(context.Background()); !errors.Is(err, b.reach) {
				t.Fatal(err)
			}
		}
		longest = max(longest, m.file.Stats().Log)
	}
	if longest > 120<<20 { // of more than 100 MB written; the limit is 64 MB, with the cache of this test
		t.Errorf("the log has grown to %d bytes", longest)
	}
	if s := m.shipper.Status(); s.LastError == "" || s.Pending == 0 || s.TXID != 1 {
		t.Errorf("%+v", s)
	}
	if strings.Count(m.log.String(), "level=ERROR") != 1 {
		t.Errorf("the log says: %s", m.log.String())
	}
	b.reach = nil
	m.ship()
	if s := m.shipper.Status(); s.LastError != "" || s.Pending != 0 || !strings.Contains(m.log.String(), "works again") {
		t.Errorf("%+v", s)
	}
	if got := get(t, restored(t, p, time.Time{}), "key49"); got != strings.Repeat(fmt.Sprint(rounds-1), 100_000) {
		t.Errorf("%d bytes", len(got))
	}
}

// TestPanics makes requests of a shipper and of a follower panic while both run: the log has the stacks, and both
// continue.
func TestPanics(t *testing.T) {
	p := directoryPlace(t)
	b := &broken{files: p.files}
	p.files = b
	m := openMaster(t, filepath.Join(t.TempDir(), "cats.sqlite"), p)
	m.shipper.o.Every = time.Millisecond
	m.do("SET", "k", "0")
	m.ship()
	f := openFollower(t, p)
	f.follower.o.Every = time.Millisecond
	log := &capture.Buffer{}
	m.shipper.o.Log = slog.New(slog.NewTextHandler(log, nil))
	f.follower.o.Log = m.shipper.o.Log
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	late := time.Now().Add(time.Minute)
	for i := range 8 {
		b.panics.Store(int64(i + 1))
		m.do("SET", "k", fmt.Sprint(i))
		running.Go(func() { m.shipper.Run(ctx, time.Minute) })
		running.Go(func() { f.follower.Run(ctx) })
		for b.panics.Load() >= 0 || get(t, f.session, "k") != fmt.Sprint(i) {
			if time.Sleep(time.Millisecond); time.Now().After(late) {
				t.Fatalf("the copy does not follow: %+v %+v\n%s", m.shipper.Status(), f.follower.Status(), log.String())
			}
		}
		stop()
		running.Wait()
		ctx, stop = context.WithCancel(context.Background())
	}
	stop()
	if text := log.String(); strings.Count(text, "panic=injected") != 36 || strings.Count(text, "stack=") != 36 {
		t.Errorf("the log has %d stacks of 36 panics:\n%s", strings.Count(text, "stack="), text)
	}
}
