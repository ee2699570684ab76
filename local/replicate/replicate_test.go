package replicate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

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
