package tenants_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/meowdis/meowdis/internal/test/foreignfile"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/redis/acl"
	"github.com/meowdis/meowdis/server/tenants"
)

func names(n int) (all []string) {
	for i := range n {
		all = append(all, fmt.Sprint("t", i))
	}
	return all
}

// Clients keep their state while their files are closed and opened again.
func TestOpenAndClose(t *testing.T) { bothWays(t, testOpenAndClose) }

func testOpenAndClose(t *testing.T) {
	h := open(t, 2, names(6)...)
	watcher, waiter, listener, tracker := h.of("t0"), h.of("t0"), h.of("t0"), h.of("t0")
	watcher.want("OK", "SELECT", "3")
	watcher.want("OK", "SET", "k", "1")
	watcher.want("OK", "WATCH", "k")
	watcher.want("OK", "MULTI")
	watcher.want("QUEUED", "INCR", "k")
	waiter.send("BLPOP", "list", "0")
	listener.do("SUBSCRIBE", "news")
	tracker.do("HELLO", "3")
	tracker.want("OK", "CLIENT", "TRACKING", "ON")
	tracker.want("(nil)", "GET", "list")

	others := func() {
		for i := range 5 {
			name := fmt.Sprint("t", i+1)
			h.of(name).want("OK", "SET", "k", name)
			if n := h.OpenFiles(); n > 2 {
				t.Errorf("%d files are open", n)
			}
		}
	}
	others()
	watcher.want("1) (integer) 2", "EXEC")
	others()
	watcher.want("OK", "WATCH", "k")
	others()
	h.of("t0").want("OK", "MSET", "a", "1")
	second := h.of("t0")
	second.want("OK", "SELECT", "3")
	second.want("OK", "SET", "k", "5")
	others()
	watcher.want("OK", "MULTI")
	watcher.want("QUEUED", "INCR", "k")
	watcher.want("(nil)", "EXEC")

	h.eventually("no file is open", func() bool { // the blocked client may have just begun
		h.Rest()
		return h.OpenFiles() == 0
	})
	h.of("t0").want("(integer) 1", "RPUSH", "list", "element")
	if got := waiter.reply(); got != "1) \"list\"\n2) \"element\"" {
		t.Errorf("the client that waits got %s", got)
	}
	if got := tracker.reply(); !strings.Contains(got, "invalidate") {
		t.Errorf("the client that tracks got %s", got)
	}
	others()
	h.of("t0").want("(integer) 1", "PUBLISH", "news", "hello")
	if got := listener.reply(); !strings.Contains(got, `"hello"`) {
		t.Errorf("the client that listens got %s", got)
	}
}

// A tenant without clients leaves memory when its file is closed.
func TestForgotten(t *testing.T) {
	h := open(t, 4, names(3)...)
	p := h.of("t0")
	p.want("OK", "SET", "k", "1")
	for _, name := range names(3) {
		h.wantREST(200, `{"result":`, h.token[name], "/get/k")
	}
	if n := h.Live(); n != 3 {
		t.Errorf("%d tenants are in memory", n)
	}
	h.Rest()
	h.eventually("only the tenant with a client is in memory", func() bool { return h.Live() == 1 })
	p.want("OK", "QUIT")
	h.Rest()
	h.eventually("no tenant is in memory", func() bool { return h.Live() == 0 })
	h.of("t0").want(`"1"`, "GET", "k")
}

// All slots are in use: further calls wait, and fail in the end.
func TestCrowded(t *testing.T) {
	h := open(t, 1, "tom", "kitty")
	leave, err := h.Keeps(t.Context(), h.token["tom"])
	if err != nil {
		t.Fatal(err)
	}
	kitty := h.of("kitty")
	h.SetPatience(10 * time.Millisecond)
	kitty.want("(error) ERR the database failed: too many databases are in use: try again later", "GET", "k")
	h.of("tom").want("(nil)", "GET", "k") // tom's file is open
	if n := h.Figures().Crowded; n != 1 {
		t.Errorf("%d calls failed", n)
	}
	h.SetPatience(time.Minute)
	kitty.send("GET", "k")
	leave()
	if got := kitty.reply(); got != "(nil)" {
		t.Errorf("the call that waited got %s", got)
	}
}

// A damaged file affects only its tenant.
func TestBadFiles(t *testing.T) {
	h := open(t, 4, "damaged", "missing", "foreign", "directory", "replaced", "fine")
	for _, name := range []string{"damaged", "missing", "foreign", "directory", "replaced", "fine"} {
		h.of(name).want("OK", "SET", "k", name)
	}
	h.Rest()
	damage := func(name string, what []byte) {
		if err := os.WriteFile(h.path(name), what, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	damage("damaged", []byte(strings.Repeat("no database ", 1000)))
	for _, name := range []string{"missing", "directory", "foreign"} {
		if err := os.Remove(h.path(name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := foreignfile.Make("redka", h.path("foreign")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(h.path("directory"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, says := range map[string]string{
		"damaged": "it is damaged", "missing": "its file was deleted or moved",
		"foreign": "see the server's log", "directory": "see the server's log",
	} {
		p := h.of(name)
		for _, args := range [][]string{{"GET", "k"}, {"SET", "k", "v"}, {"BLPOP", "list", "0"}} {
			p.want("(error) ERR the database failed: "+says, args...)
		}
		h.wantREST(500, `{"error":"ERR the database failed: `+says, h.token[name], "/get/k")
		p.want("PONG", "PING")
	}
	if _, err := os.Stat(h.path("missing")); err == nil {
		t.Error("a missing file was made anew, and hides the loss")
	}

	// A replaced file serves the tenant unless the old one is in use.
	replaced := h.of("replaced")
	replaced.want(`"replaced"`, "GET", "k")
	path := h.path("replaced")
	other, err := local.Open(path+".new", local.Options{SingleConn: true, SweepEvery: -1})
	if err == nil {
		err = other.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
	replaced.want("(nil)", "GET", "k")
	replaced.want("OK", "SET", "k", "new")
	replaced.want(`"new"`, "GET", "k")
	h.of("fine").want(`"fine"`, "GET", "k")
	if n := h.Figures().Failed; n == 0 {
		t.Error("no failure was counted")
	}
}

// Expired keys in a closed file are swept, too.
func TestSweepClosed(t *testing.T) {
	h := open(t, 2, "tom")
	p := h.of("tom")
	p.want("OK", "SET", "k", "v", "PX", "1000")
	p.want("OK", "SET", "stays", "v")
	h.Rest()
	h.clock.Add(2000)
	if err := h.SweepClosed(t.Context(), "tom"); err != nil {
		t.Fatal(err)
	}
	if n := h.OpenFiles(); n != 0 {
		t.Errorf("%d files are open after the sweep", n)
	}
	p.want("(integer) 1", "DBSIZE")
	if got := p.do("INFO", "stats"); !strings.Contains(got, `expired_keys:1\r`) {
		t.Errorf("the sweep has not been counted: %s", got)
	}
}

// TestSweepIsNoClient connects the only allowed client of a tenant while its file is swept.
func TestSweepIsNoClient(t *testing.T) {
	h := open(t, 2)
	h.add("tom", tenants.Limits{Clients: 1})
	entered := make(chan error, 1)
	h.WhenOpened(func() {
		to, leave, bad := h.Enter(t.Context(), acl.Default, h.token["tom"])
		if to == nil {
			entered <- errors.New(string(bad.Str))
			return
		}
		leave()
		entered <- nil
	})
	if err := h.SweepClosed(t.Context(), "tom"); err != nil {
		t.Fatal(err)
	}
	if err := <-entered; err != nil {
		t.Error(err)
	}
	if n := h.Live(); n != 0 {
		t.Errorf("%d tenants are in memory after the sweep", n)
	}
}

// A stop writes and closes all files, even with connected clients.
func TestStop(t *testing.T) { bothWays(t, testStop) }

func testStop(t *testing.T) {
	h := open(t, 2, names(5)...)
	var paths []string
	for _, name := range names(5) {
		p := h.of(name)
		p.want("OK", "SET", "k", name)
		p.send("BLPOP", "list", "0")
		paths = append(paths, h.path(name))
	}
	h.stranger()
	h.stop()
	for i, path := range paths {
		for _, suffix := range []string{"-wal", "-shm"} {
			if _, err := os.Stat(path + suffix); err == nil {
				t.Errorf("%s%s is left", path, suffix)
			}
		}
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("file %d: %v, %v", i, info, err)
		}
	}
	book, err := tenants.OpenRegistry(h.dir, false, local.Options{SingleConn: true, SweepEvery: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer book.Close()
	if all, err := book.List(t.Context()); err != nil || len(all) != 5 {
		t.Errorf("the book has %v, %v", all, err)
	}
}
