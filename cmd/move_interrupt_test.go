package cmd_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/server"
)

// gate is an endpoint that answers so many requests, and lets the next one wait for
// as long as its client does.
type gate struct {
	url     string
	left    atomic.Int64  // requests until it shuts; negative while it is open
	reached chan struct{} // receives when a request waits
}

func (g *gate) shutAfter(requests int) { g.left.Store(int64(requests) + 1) }
func (g *gate) open()                  { g.left.Store(-1) }

func newGate(t *testing.T) *gate {
	t.Helper()
	file, err := local.Open(local.Memory, local.Options{SweepEvery: -1})
	if err != nil {
		t.Fatal(err)
	}
	g := &gate{reached: make(chan struct{}, 100)}
	g.open()
	handler := server.New(server.Config{Engine: engine.New(file), Token: restToken}).REST()
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if g.left.Load() >= 0 && g.left.Add(-1) <= 0 {
			g.left.Store(0)
			// The server notices that a client is gone once it has read the request.
			var body bytes.Buffer
			body.ReadFrom(r.Body)
			g.reached <- struct{}{}
			<-r.Context().Done()
			return
		}
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		web.Close()
		if err := file.Close(); err != nil {
			t.Error(err)
		}
	})
	g.url = web.URL
	return g
}

// mover runs meowdis in a directory of its own.
type mover struct {
	t   *testing.T
	dir string
}

func (m mover) command(args ...string) (*exec.Cmd, *bytes.Buffer) {
	limit := patience + time.Duration(*largeElement>>20)*4*time.Second
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	m.t.Cleanup(cancel)
	c := exec.CommandContext(ctx, "meowdis", args...)
	c.Dir = m.dir
	c.Env = append(os.Environ(), "XDG_CONFIG_HOME="+m.dir, "XDG_DATA_HOME="+m.dir, "MEOWDIS_TOKEN="+restToken)
	said := &bytes.Buffer{}
	c.Stdout, c.Stderr = said, said
	return c, said
}

// run runs meowdis to its end, which must be with this exit code.
func (m mover) run(code int, args ...string) string {
	m.t.Helper()
	c, said := m.command(args...)
	c.Run()
	if got := c.ProcessState.ExitCode(); got != code {
		m.t.Fatalf("meowdis %q: %d, not %d: %s", args, got, code, said)
	}
	return said.String()
}

// stop starts meowdis and sends it a signal once the gate holds a request back.
func (m mover) stop(g *gate, requests int, signal os.Signal, args ...string) (code int, said string) {
	m.t.Helper()
	g.shutAfter(requests)
	c, out := m.command(args...)
	if err := c.Start(); err != nil {
		m.t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	select {
	case <-g.reached:
	case <-ended:
		m.t.Fatalf("meowdis %q ended before it was stopped: %s", args, out)
	}
	if err := c.Process.Signal(signal); err != nil {
		m.t.Fatal(err)
	}
	<-ended
	g.open()
	return c.ProcessState.ExitCode(), out.String()
}

// How many keys are moved: enough for some requests, and for a file some blocks.
const (
	movedKeys  = 1500
	manyBlocks = 3000
)

func newMover(t *testing.T, keys int) mover {
	t.Helper()
	m := mover{t, t.TempDir()}
	var script strings.Builder
	random := rand.NewChaCha8([32]byte{1})
	value := make([]byte, 500)
	for n := range keys {
		random.Read(value)
		if n%3 == 0 { // which takes more than one command
			fmt.Fprintf(&script, "HSET key:%d f %x\n", n, value)
			continue
		}
		fmt.Fprintf(&script, "SET key:%d %x\n", n, value)
	}
	c, said := m.command("exec", "--pipe", "-t", "a.sqlite")
	c.Stdin = strings.NewReader(script.String())
	if err := c.Run(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	m.run(0, "dump", "-t", "a.sqlite", "a.archive")
	m.run(0, "export", "-t", "a.sqlite", "a.rdb")
	return m
}

// TestInterruptedWrites stops verbs that write to an endpoint in the middle, and
// goes on as they say, or as the documentation says of a kill.
func TestInterruptedWrites(t *testing.T) {
	t.Parallel()
	m := newMover(t, movedKeys)
	for i, test := range []struct {
		requests int // before it is stopped; keys that may be there are asked for
		args     []string
		says     string // with the flags that go on
	}{
		{12, []string{"copy", "a.sqlite", "URL"}, `copied \d+ keys\nmeowdis: interrupted; the copied keys are kept; to continue, run the same command with (--resume \S+ --skip)\n$`},
		{11, []string{"copy", "a.sqlite", "URL", "--replace"}, `interrupted; the copied keys are kept; to continue, run the same command with (--resume \S+)\n$`},
		{10, []string{"restore", "-t", "URL", "a.archive"}, `restored \d+ keys\nmeowdis: interrupted; the keys written so far are kept: to continue, run the same command with (--skip)\n$`},
		{10, []string{"import", "-t", "URL", "a.rdb"}, `imported \d+ keys\nmeowdis: interrupted; the keys written so far are kept: to continue, run the same command with (--skip)\n$`},
	} {
		for _, signal := range []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGKILL} {
			if signal == syscall.SIGTERM && i > 0 {
				continue // it is SIGINT but for its number
			}
			g := newGate(t)
			args := strings.Fields(strings.ReplaceAll(strings.Join(test.args, " "), "URL", g.url))
			code, said := m.stop(g, test.requests, signal, args...)
			goOn := []string{"--skip"}
			if signal != syscall.SIGKILL {
				pattern := test.says
				if signal == syscall.SIGTERM {
					pattern = strings.ReplaceAll(pattern, "interrupted", "terminated")
				}
				found := regexp.MustCompile(pattern).FindStringSubmatch(said)
				if want := 128 + int(signal.(syscall.Signal)); code != want || found == nil {
					t.Errorf("%q, %v: %d: %s", test.args, signal, code, said)
					continue
				}
				goOn = strings.Fields(found[1])
			} else if args[len(args)-1] == "--replace" {
				goOn = nil
			}
			if n := strings.TrimSpace(m.run(0, "exec", "-t", g.url, "DBSIZE")); n == "0" || n == fmt.Sprint(movedKeys) {
				t.Errorf("%q, %v: it was not stopped in the middle: %s keys", test.args, signal, n)
			}
			m.run(0, append(args, goOn...)...)
			m.run(0, "diff", "a.sqlite", g.url)
			if left := strings.TrimSpace(m.run(0, "exec", "-t", g.url, "KEYS", "meowdis:moving:*")); left != "" {
				t.Errorf("%q, %v: it left %s", test.args, signal, left)
			}
		}
	}
}

// TestInterruptedReads stops verbs that read from an endpoint and make a file, of
// which there is all or nothing, and diff, which says that it did not see all.
func TestInterruptedReads(t *testing.T) {
	t.Parallel()
	m := newMover(t, movedKeys)
	g := newGate(t)
	m.run(0, "copy", "a.sqlite", g.url)
	for _, test := range []struct{ line, says string }{
		{"dump -t URL made.archive", "meowdis: interrupted; made.archive was not written\n"},
		{"dump -t URL made.jsonl", "meowdis: interrupted; made.jsonl was not written\n"},
		{"export -t URL made.rdb", "meowdis: interrupted; made.rdb was not written\n"},
		{"diff a.sqlite URL", "meowdis: interrupted; the output is incomplete: "},
		{"copy URL made.sqlite --dry-run", "meowdis: interrupted; nothing was copied\n"},
	} {
		args := strings.Fields(strings.ReplaceAll(test.line, "URL", g.url))
		if code, said := m.stop(g, 6, os.Interrupt, args...); code != 130 || !strings.HasPrefix(said, test.says) {
			t.Errorf("%s: %d: %s", test.line, code, said)
		}
		if made, _ := filepath.Glob(filepath.Join(m.dir, "*made*")); len(made) > 0 {
			t.Errorf("%s: it left %q", test.line, made)
		}
		if made, _ := filepath.Glob(filepath.Join(m.dir, ".*")); len(made) > 0 {
			t.Errorf("%s: it left %q", test.line, made)
		}
	}
}

// TestInterruptedInput stops a restore whose input has come to a halt.
func TestInterruptedInput(t *testing.T) {
	t.Parallel()
	m := newMover(t, manyBlocks)
	archive, err := os.ReadFile(filepath.Join(m.dir, "a.archive"))
	if err != nil {
		t.Fatal(err)
	}
	c, said := m.command("restore", "-t", "b.sqlite", "-")
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := in.Write(archive[:len(archive)*9/10]); err != nil {
		t.Fatal(err)
	}
	deadline := time.Now().Add(patience)
	for {
		size, _ := m.command("exec", "-t", "b.sqlite", "--read-only", "DBSIZE")
		size.Stdout, size.Stderr = nil, nil
		if out, _ := size.Output(); len(out) > 2 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("nothing was restored: %s", said)
		}
		<-time.After(20 * time.Millisecond)
	}
	if err := c.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	c.Wait() // the input is still open
	if code := c.ProcessState.ExitCode(); code != 130 || !strings.Contains(said.String(), "to continue, run the same command with --skip") {
		t.Errorf("%d: %s", code, said)
	}
	m.run(0, "restore", "-t", "b.sqlite", "--skip", "a.archive")
	m.run(0, "diff", "a.sqlite", "b.sqlite")
	m.run(0, "doctor", "b.sqlite")
}

// TestKilledIntoFile kills moves into a file at many moments. What is in it is whole, nothing
// else is, and the same command goes on.
func TestKilledIntoFile(t *testing.T) {
	t.Parallel()
	m := newMover(t, movedKeys)
	var script strings.Builder
	for i := range 40 {
		fmt.Fprintf(&script, "RPUSH long%s\n", strings.Repeat(fmt.Sprintf(" e%d", i), 1000))
	}
	c, said := m.command("exec", "--pipe", "-t", "a.sqlite")
	c.Stdin = strings.NewReader(script.String())
	if err := c.Run(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	m.run(0, "dump", "--force", "-t", "a.sqlite", "a.archive")
	m.run(0, "export", "--force", "-t", "a.sqlite", "a.rdb")
	began := time.Now()
	m.run(0, "copy", "a.sqlite", "whole.sqlite")
	whole := time.Since(began)
	killed := 0
	for n := range 12 {
		file := fmt.Sprintf("killed%d.sqlite", n)
		args := [][]string{{"copy", "a.sqlite", file, "--skip"}, {"restore", "-t", file, "a.archive", "--skip"}, {"import", "-t", file, "a.rdb", "--skip"}}[n%3]
		c, _ := m.command(args...)
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(whole * time.Duration(n+1) / 13)
		c.Process.Kill()
		if c.Wait() != nil {
			killed++
		}
		if _, err := os.Stat(filepath.Join(m.dir, file)); err != nil {
			continue // it had not come that far
		}
		if left := strings.TrimSpace(m.run(0, "exec", "-t", file, "KEYS", "meowdis:moving:*")); left != "" {
			t.Errorf("%q left %s", args, left)
		}
		m.run(0, "doctor", file)
		m.run(0, args...)
		m.run(0, "diff", "a.sqlite", file)
	}
	if killed == 0 {
		t.Error("no move was killed in the middle")
	}
}
