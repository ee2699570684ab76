package replicate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/superfly/ltx"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/local/doctor"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/store/schema"
)

// master is a file that is written and streamed.
type master struct {
	t       *testing.T
	path    string
	file    *local.Store
	session *engine.Session
	tail    *local.Tail
	shipper *Shipper
	now     time.Time
	log     bytes.Buffer
}

func openMaster(t *testing.T, path string, place *Place) *master {
	t.Helper()
	m := &master{t: t, path: path, now: time.Now()}
	var err error
	if m.file, err = local.Open(path, local.Options{CacheBytes: 1 << 20}); err != nil {
		t.Fatal(err)
	}
	m.session = engine.New(m.file).Session()
	if m.tail, err = m.file.Tail(); err != nil {
		t.Fatal(err)
	}
	m.shipper = NewShipper(place, m.tail, Options{Path: path, CreatedAt: 7, Now: func() time.Time { return m.now }, Log: slog.New(slog.NewTextHandler(&m.log, nil))})
	t.Cleanup(m.close)
	return m
}

func (m *master) close() {
	if m.file != nil {
		m.tail.Close()
		m.file.Close()
		m.file = nil
	}
}

func (m *master) do(words ...string) {
	m.t.Helper()
	do(m.t, m.session, words...)
}

func do(t *testing.T, session *engine.Session, words ...string) resp.Value {
	t.Helper()
	args := make([][]byte, len(words))
	for i, w := range words {
		args[i] = []byte(w)
	}
	v, err := session.Do(context.Background(), args...)
	if err != nil || v.IsError() {
		t.Fatalf("%v: %s %v", words, v.Str, err)
	}
	return v
}

func (m *master) ship() {
	m.t.Helper()
	if err := m.shipper.Ship(context.Background()); err != nil {
		m.t.Fatal(err)
	}
}

// sent returns the number of bytes in the place.
func sent(t *testing.T, p *Place) (bytes int64) {
	t.Helper()
	all, err := p.all(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range all {
		bytes += f.Size
	}
	return bytes
}

func directoryPlace(t *testing.T) *Place {
	t.Helper()
	p, err := Open(filepath.Join(t.TempDir(), "place"), os.Getenv)
	if err != nil {
		t.Fatal(err)
	}
	p.pause = time.Millisecond
	return p
}

// restored opens a session on the file restored from the place, as of a moment, in which doctor finds nothing.
func restored(t *testing.T, p *Place, moment time.Time) *engine.Session {
	t.Helper()
	path := filepath.Join(t.TempDir(), "restored.sqlite")
	if _, err := p.Restore(context.Background(), path, moment, nil); err != nil {
		t.Fatal(err)
	}
	file, err := local.Open(path, local.Options{SweepEvery: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	examine(t, file)
	return engine.New(file).Session()
}

func examine(t *testing.T, file *local.Store) {
	t.Helper()
	query := func(sql string, args ...store.Value) ([]store.Row, error) {
		r, err := file.Apply(context.Background(), []store.Batch{{ReadOnly: true, Stmts: []store.Stmt{{SQL: sql, Args: args}}}})
		if err != nil {
			return nil, err
		}
		return r[0].Rows[0], nil
	}
	found, err := doctor.Exam{Query: query, Now: time.Now().UnixMilli(), Version: schema.Version, Examples: 5}.Ours()
	if err != nil || doctor.IsWrong(found) {
		t.Errorf("doctor finds %+v, %v", found, err)
	}
}

func get(t *testing.T, session *engine.Session, key string) string {
	t.Helper()
	return string(do(t, session, "GET", key).Str)
}

// TestMoments streams for some days, and restores moments of them.
func TestMoments(t *testing.T) {
	p := directoryPlace(t)
	m := openMaster(t, filepath.Join(t.TempDir(), "cats.sqlite"), p)
	var moments []time.Time
	const n = 110
	for i := range n {
		m.do("SET", "tom", fmt.Sprint(i))
		m.do("RPUSH", "list", fmt.Sprint(i))
		m.ship()
		moments = append(moments, m.now)
		m.now = m.now.Add(31 * time.Minute)
	}
	if got := get(t, restored(t, p, time.Time{}), "tom"); got != fmt.Sprint(n-1) {
		t.Error(got)
	}
	for i := n - 1; m.now.Sub(moments[i]) < days; i -= 11 {
		session := restored(t, p, moments[i].Add(time.Second))
		if got := get(t, session, "tom"); got != fmt.Sprint(i) {
			t.Errorf("%s, not %d", got, i)
		}
		if got := do(t, session, "LLEN", "list").Int; got != int64(i+1) {
			t.Errorf("%d elements, not %d", got, i+1)
		}
	}
	for _, moment := range []time.Time{moments[0].Add(-time.Second), moments[1]} { // before the stream; no longer kept
		_, err := p.Restore(context.Background(), filepath.Join(t.TempDir(), "x"), moment, nil)
		if !errors.Is(err, ErrEmpty) {
			t.Error(err)
		}
	}
	if all, _ := p.all(context.Background()); len(all) > n {
		t.Errorf("%d files are kept", len(all))
	}
}

// TestGoesOn ends a server in several ways, and checks what the next one sends.
func TestGoesOn(t *testing.T) {
	p := directoryPlace(t)
	path := filepath.Join(t.TempDir(), "cats.sqlite")
	m := openMaster(t, path, p)
	random := make([]byte, 300_000)
	for i := range random {
		random[i] = byte(i * i >> 3 * 7)
	}
	m.do("SET", "big", string(random))
	m.ship()
	first := sent(t, p)
	m.close()
	m = openMaster(t, path, p)
	if m.ship(); sent(t, p) != first {
		t.Error("nothing was written, and something is sent")
	}
	m.do("SET", "tom", "1")
	m.ship()
	if sent(t, p) > first+first/4 {
		t.Error("all was sent for a small write")
	}
	m.do("SET", "tom", "2")
	// As after a kill: the WAL exists and continues.
	killed := filepath.Join(t.TempDir(), "killed.sqlite")
	for _, end := range []string{"", "-wal"} {
		copyFile(t, path+end, killed+end)
	}
	m.close()
	// Processes that only read leave the WAL to the next server.
	for _, o := range []local.Options{{ReadOnly: true}, {FallbackReadOnly: true}, {FallbackReadOnly: true, SingleConn: true, SweepEvery: -1}} {
		reader, err := local.Open(killed, o)
		if err != nil {
			t.Fatal(err)
		}
		if got := get(t, engine.New(reader).Session(), "tom"); got != "2" {
			t.Errorf("read %q", got)
		}
		if err := reader.Close(); err != nil {
			t.Error(err)
		}
	}
	m = openMaster(t, killed, p)
	m.do("SET", "jerry", "1")
	if m.ship(); sent(t, p) > first+first/4 {
		t.Error("all was sent after a kill")
	}
	session := restored(t, p, time.Time{})
	if get(t, session, "tom") != "2" || get(t, session, "jerry") != "1" || get(t, session, "big") != string(random) {
		t.Error("not all is there")
	}
	m.close()
	alone, err := local.Open(killed, local.Options{}) // writes, and streams nothing
	if err != nil {
		t.Fatal(err)
	}
	do(t, engine.New(alone).Session(), "SET", "spike", "1")
	alone.Close()
	m = openMaster(t, killed, p)
	if m.ship(); !strings.Contains(m.log.String(), "sending the whole file") {
		t.Error("nobody knows what has changed, and not all is sent")
	}
	if got := get(t, restored(t, p, time.Time{}), "spike"); got != "1" {
		t.Error(got)
	}
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	data, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, data, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

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

// TestSync replies to writes only after the place has them. They wait while it cannot be reached, and fail once it never
// will have them.
func TestSync(t *testing.T) {
	p := directoryPlace(t)
	b := &broken{files: p.files}
	p.files = b
	path := filepath.Join(t.TempDir(), "cats.sqlite")
	m := openMaster(t, path, p)
	m.shipper.o.Every = time.Millisecond
	m.file.SetConfirm(m.shipper.Sync)
	ctx, stop := context.WithCancel(context.Background())
	running := make(chan struct{})
	go func() {
		defer close(running)
		m.shipper.Run(ctx, time.Minute)
	}()
	var writers sync.WaitGroup
	for w := range 3 {
		session := engine.New(m.file).Session()
		writers.Go(func() {
			for i := range 10 {
				do(t, session, "SET", fmt.Sprint("key", w), fmt.Sprint(i))
			}
		})
	}
	writers.Wait()
	moment := restored(t, p, time.Time{})
	for w := range 3 {
		if got := get(t, moment, fmt.Sprint("key", w)); got != "9" {
			t.Errorf("the place has %q", got)
		}
	}

	b.gone.Store(true)
	replied := make(chan struct{})
	go func() {
		defer close(replied)
		do(t, engine.New(m.file).Session(), "SET", "late", "1")
	}()
	for m.shipper.Status().LastError == "" {
		time.Sleep(time.Millisecond)
	}
	select {
	case <-replied:
		t.Error("a write was acknowledged while the place could not be reached")
	default:
	}
	if got := get(t, m.session, "late"); got != "1" && got != "" { // reads do not wait
		t.Error(got)
	}
	b.gone.Store(false)
	<-replied
	if got := get(t, restored(t, p, time.Time{}), "late"); got != "1" {
		t.Errorf("the place has %q", got)
	}
	stop()
	<-running
	v, err := m.session.Do(context.Background(), []byte("SET"), []byte("tom"), []byte("1"))
	if !errors.Is(err, errStreamEnded) || !strings.Contains(local.PublicMessage(err), "perhaps not in its place") {
		t.Errorf("after the end of the stream a write replies %s, %v", v.Str, err)
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
	log := &lockedLog{}
	m.shipper.o.Log = slog.New(slog.NewTextHandler(log, nil))
	f.follower.o.Log = m.shipper.o.Log
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	late := time.Now().Add(20 * time.Second)
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

// lockedLog is a log for several goroutines.
type lockedLog struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lockedLog) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(line)
}

func (l *lockedLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// TestUnknown: writes fail although they took effect; a follower and a restore still get the right state.
func TestUnknown(t *testing.T) {
	p := directoryPlace(t)
	b := &broken{files: p.files}
	p.files = b
	m := openMaster(t, filepath.Join(t.TempDir(), "cats.sqlite"), p)
	m.ship()
	f := openFollower(t, p)
	for i := range 20 {
		m.do("SET", fmt.Sprint("key", i), fmt.Sprint(i))
		if b.late = nil; i%3 > 0 {
			b.late = errors.New("it may have been written")
		}
		m.now = m.now.Add(25 * time.Second)
		if err := m.shipper.Ship(context.Background()); !errors.Is(err, b.late) {
			t.Fatal(err)
		}
		f.follow()
		if got := get(t, f.session, fmt.Sprint("key", i)); got != fmt.Sprint(i) {
			t.Fatalf("%q is followed", got)
		}
		session := restored(t, p, time.Time{})
		if got := get(t, session, fmt.Sprint("key", i)); got != fmt.Sprint(i) {
			t.Fatalf("%q is restored", got)
		}
	}
	f.examine()
}

// TestGap removes files of the stream under a running server, and under one that starts.
func TestGap(t *testing.T) {
	p := directoryPlace(t)
	path := filepath.Join(t.TempDir(), "cats.sqlite")
	m := openMaster(t, path, p)
	lose := func() {
		t.Helper()
		for range 3 {
			m.do("INCR", "tom")
			m.ship()
		}
		news, err := p.list(context.Background(), 0)
		if err == nil {
			err = p.remove(context.Background(), news[len(news)-2:len(news)-1])
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	lose()
	m.now = m.now.Add(2 * sweepEvery)
	m.ship() // notices, when it looks for old files
	m.ship()
	if got := get(t, restored(t, p, time.Time{}), "tom"); got != "3" {
		t.Error(got)
	}
	lose()
	m.close()
	m = openMaster(t, path, p)
	m.ship()
	if got := get(t, restored(t, p, time.Time{}), "tom"); got != "6" {
		t.Error(got)
	}
}

// TestRival has two servers stream to one place.
func TestRival(t *testing.T) {
	p := directoryPlace(t)
	path := filepath.Join(t.TempDir(), "cats.sqlite")
	one := openMaster(t, path, p)
	one.do("SET", "tom", "1")
	one.ship()
	killed := filepath.Join(t.TempDir(), "killed.sqlite")
	copyFile(t, path, killed)
	copyFile(t, path+"-wal", killed+"-wal")
	two := openMaster(t, killed, p)
	two.do("SET", "tom", "2")
	two.ship()
	one.do("SET", "tom", "3")
	for range 3 {
		if err := one.shipper.Ship(context.Background()); !errors.Is(err, errRivalServer) {
			t.Fatal(err)
		}
	}
	two.do("SET", "tom", "4")
	two.ship()
	if got := get(t, restored(t, p, time.Time{}), "tom"); got != "4" {
		t.Error(got)
	}
	other := openMaster(t, filepath.Join(t.TempDir(), "other.sqlite"), p)
	other.shipper.id++
	if err := other.shipper.Check(context.Background()); !errors.Is(err, ErrOtherFile) {
		t.Error(err)
	}
	if err := other.shipper.Ship(context.Background()); !errors.Is(err, ErrOtherFile) {
		t.Error(err)
	}
}

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
			ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
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
