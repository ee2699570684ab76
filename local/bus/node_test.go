//go:build unix

package bus_test

import (
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/meowdis/meowdis/engine/pubsub"
	"github.com/meowdis/meowdis/local/bus"
)

// process is the bus node of one process.
type process struct {
	hub  *pubsub.Hub
	node *bus.Node
}

func begin(t *testing.T, file string) process {
	p := process{hub: pubsub.New()}
	p.node = bus.New(file, p.hub)
	t.Cleanup(func() { p.node.Close() })
	return p
}

// ear records the messages of a subscriber.
type ear struct {
	mu   sync.Mutex
	some chan struct{}
	told []string
}

func (e *ear) Deliver(m *pubsub.Message) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.told = append(e.told, string(m.Payload))
	select {
	case e.some <- struct{}{}:
	default:
	}
}

// wait waits until there are n messages.
func (e *ear) wait(t *testing.T, n int) []string {
	t.Helper()
	late := time.After(time.Minute)
	for {
		if all := e.all(); len(all) >= n {
			return all
		}
		select {
		case <-e.some:
		case <-late:
			t.Fatalf("%d messages, not %d", len(e.all()), n)
		}
	}
}

func (e *ear) all() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return append([]string(nil), e.told...)
}

func (p process) listen(t *testing.T, kind pubsub.Kind, name string) *ear {
	t.Helper()
	if err := p.hub.Join(kind); err != nil {
		t.Fatal(err)
	}
	e := &ear{some: make(chan struct{}, 1)}
	p.hub.Subscribe(e, kind, []byte(name))
	return e
}

func (p process) publish(channel, payload string) int64 {
	return p.hub.Publish(pubsub.Channel, []byte(channel), []byte(payload))
}

// TestProcesses counts and delivers messages while processes start, publish, listen and exit.
func TestProcesses(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.sqlite")
	a := begin(t, file)
	if n := a.publish("x", "nobody"); n != 0 {
		t.Errorf("%d subscribers of a channel without any", n)
	}
	if _, err := os.Stat(file + "-bus"); err == nil {
		t.Error("publishing has left something beside the file")
	}
	b, c := begin(t, file), begin(t, file)
	heardB := b.listen(t, pubsub.Channel, "x")
	if n := a.publish("x", "1"); n != 1 {
		t.Errorf("a reached %d of 1", n)
	}
	heardC := c.listen(t, pubsub.Pattern, "*")
	for _, p := range []process{a, b, c} {
		if n := p.publish("x", "2"); n != 2 {
			t.Errorf("it reached %d of 2", n)
		}
	}
	heardA := a.listen(t, pubsub.Channel, "x")
	for i, p := range []process{a, b, c} {
		for j := range 50 {
			if n := p.publish("x", fmt.Sprintf("%d:%02d", i, j)); n != 3 {
				t.Fatalf("it reached %d of 3", n)
			}
		}
	}
	for name, e := range map[string]*ear{"a": heardA, "b": heardB, "c": heardC} {
		if got := strings.Join(e.all(), " "); !strings.Contains(got, "0:48 0:49 1:00 1:01") || !strings.HasSuffix(got, "2:49") {
			t.Errorf("%s heard %s", name, got)
		}
	}
	b.node.Close()
	if n := a.publish("x", "3"); n != 2 {
		t.Errorf("it reached %d of 2", n)
	}
	a.node.Close()
	c.node.Close()
	if _, err := os.Stat(file + "-bus"); err == nil {
		t.Error("all have left, and the directory is there")
	}
}

// TestWatchers shows commands to MONITOR clients of other processes, whichever process started first.
func TestWatchers(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.sqlite")
	serves := begin(t, file)
	serves.listen(t, pubsub.Channel, "x")
	if serves.hub.Watched() {
		t.Error("nobody watches")
	}
	watcher := begin(t, file)
	seen := watcher.listen(t, pubsub.Commands, "")
	comes := begin(t, file)
	for i, p := range []process{serves, comes} {
		if !p.hub.Watched() {
			t.Fatalf("process %d is not told that somebody watches", i)
		}
		p.hub.Show(fmt.Appendf(nil, "line %d", i))
		p.node.Close() // if it exists
	}
	if got := fmt.Sprint(seen.all()); got != "[line 0 line 1]" {
		t.Errorf("seen: %s", got)
	}
	if n := watcher.publish("x", "hi"); n != 0 {
		t.Errorf("%d listen", n)
	}
}

// TestNothingIsMissing begins to listen while another process publishes: once it has reported that it listens,
// it misses nothing.
func TestNothingIsMissing(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.sqlite")
	a := begin(t, file)
	a.listen(t, pubsub.Channel, "other")
	var publisher sync.WaitGroup
	stop, sent := make(chan struct{}), 0
	var mu sync.Mutex
	publisher.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			mu.Lock()
			a.publish("x", fmt.Sprint(sent))
			sent++
			mu.Unlock()
		}
	})
	for range 10 {
		b := begin(t, file)
		e := b.listen(t, pubsub.Channel, "x")
		mu.Lock()
		next := sent
		mu.Unlock()
		first := 0
		fmt.Sscan(e.wait(t, 20)[0], &first)
		if first > next {
			t.Errorf("it listened from message %d on, and the first that came was %d", next, first)
		}
		b.node.Close()
	}
	close(stop)
	publisher.Wait()
}

// TestKilled removes the socket of a killed process, and does not wait for a process that never replies.
func TestKilled(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.sqlite")
	a := begin(t, file)
	heard := a.listen(t, pubsub.Channel, "x")
	stale := filepath.Join(file+"-bus", "1-killed")
	ln, err := net.ListenUnix("unix", &net.UnixAddr{Name: stale, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	ln.SetUnlinkOnClose(false)
	ln.Close()
	b := begin(t, file)
	if n := b.publish("x", "1"); n != 1 {
		t.Errorf("it reached %d of 1", n)
	}
	if _, err := os.Stat(stale); err == nil {
		t.Error("the socket of a killed process is still there")
	}

	deaf, err := net.Listen("unix", filepath.Join(file+"-bus", "2-stopped"))
	if err != nil {
		t.Fatal(err)
	}
	defer deaf.Close()
	defer bus.SetPatience(bus.SetPatience(100 * time.Millisecond))
	for i := range 20 {
		b.publish("x", fmt.Sprint("deaf ", i))
	}
	big := strings.Repeat("x", 8<<20)
	for i := range 10 { // more than the queue of a link holds
		b.publish("x", big)
		heard.wait(t, 22+i) // on a busy machine, the queue of a process that reads could become full, too
	}
	if got := heard.wait(t, 31); len(got) != 31 || got[0] != "1" || got[20] != "deaf 19" {
		t.Errorf("others heard %d messages", len(got))
	}
	conn, err := deaf.Accept()
	if err != nil {
		t.Fatal(err)
	}
	conn.SetReadDeadline(time.Now().Add(time.Minute))
	if _, err := io.Copy(io.Discard, conn); err != nil {
		t.Errorf("the connection of a process that does not read was not closed: %v", err)
	}
}

// TestOwner: a node refuses a directory that other users could have created or can enter.
func TestOwner(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.sqlite")
	dir := file + "-bus"
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("unix", filepath.Join(dir, "3-open"))
	if err != nil {
		t.Fatal(err)
	}
	a := begin(t, file)
	if err := a.hub.Join(pubsub.Channel); err == nil || !strings.Contains(err.Error(), "accessible to other users") {
		t.Errorf("it listens in a directory that all may enter: %v", err)
	}
	if n := a.publish("x", "1"); n != 0 {
		t.Errorf("it reached %d", n)
	}
	ln.Close()
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	a.listen(t, pubsub.Channel, "x")
	infos, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range infos {
		if info, err := e.Info(); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v", e.Name(), info.Mode())
		}
	}
	link := filepath.Join(t.TempDir(), "link.sqlite")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(file, link); err != nil {
		t.Fatal(err)
	}
	if n := begin(t, link).publish("x", "by another name"); n != 1 {
		t.Errorf("by a link it reached %d of 1", n)
	}
}

// TestLongPath listens beside a file whose path is longer than a socket's path can be.
func TestLongPath(t *testing.T) {
	dir := t.TempDir()
	for range 8 {
		dir = filepath.Join(dir, strings.Repeat("long", 10))
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "a.sqlite")
	a, b := begin(t, file), begin(t, file)
	err := a.hub.Join(pubsub.Channel)
	if _, noProc := os.Stat("/proc/self/fd"); noProc != nil {
		if err == nil || !strings.Contains(err.Error(), "too long") {
			t.Errorf("a path that is too long: %v", err)
		}
		return
	}
	a.listen(t, pubsub.Channel, "x")
	if n := b.publish("x", "hi"); err != nil || n != 1 {
		t.Errorf("it reached %d, %v", n, err)
	}
}
