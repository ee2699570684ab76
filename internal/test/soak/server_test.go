package soak

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/meowdis/meowdis/cmd"
	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/internal/test/capture"
	"github.com/meowdis/meowdis/internal/test/hermetic"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/server"
)

// In a process of its own this binary serves the file that the environment names, or is
// meowdis.
const (
	servedFile = "SOAK_SERVES"
	isMeowdis  = "SOAK_IS_MEOWDIS"
	token      = "purr"
)

func TestMain(m *testing.M) {
	switch path := os.Getenv(servedFile); {
	case path != "":
		fmt.Fprintln(os.Stderr, serve(path))
		os.Exit(1)
	case os.Getenv(isMeowdis) != "":
		os.Exit(cmd.Main())
	}
	os.Exit(m.Run())
}

// serve serves the file until it is killed, and says where.
func serve(path string) error {
	file, err := local.Open(path, local.Options{IsolateSlowReads: true, RowCacheBytes: 1 << 20, SweepEvery: time.Millisecond, Report: func(err error) { fmt.Fprintln(os.Stderr, err) }})
	if err != nil {
		return err
	}
	srv := server.New(server.Config{Engine: engine.New(file), Token: token})
	ended := make(chan error)
	for _, face := range []struct {
		scheme string
		serve  func(context.Context, net.Listener) error
	}{{"redis", srv.ServeRESP}, {"http", srv.ServeREST}} {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return err
		}
		go func() { ended <- face.serve(context.Background(), listener) }()
		fmt.Printf("%s://%s\n", face.scheme, listener.Addr())
	}
	return <-ended
}

// process is a server that can be killed.
type process struct {
	cmd         *exec.Cmd
	redis, rest string // URLs
	log         capture.Buffer
}

// start serves the file and sweeps all the time.
func start(t *testing.T, path string) *process {
	t.Helper()
	p := &process{cmd: exec.Command(self(t))}
	p.cmd.Env = append(os.Environ(), servedFile+"="+path)
	p.cmd.Stderr = os.Stderr
	p.launch(t)
	return p
}

// startVerb runs "meowdis serve" on the file, with flags, and keeps its log. files is how
// many the process may have open, 0 for as many as it likes.
func startVerb(t *testing.T, path string, files int, flags ...string) *process {
	t.Helper()
	args := append([]string{self(t), "serve", path, "--http", "0", "--resp", "0"}, flags...)
	p := &process{cmd: exec.Command(args[0], args[1:]...)}
	if files > 0 {
		limited := []string{"-c", fmt.Sprintf(`ulimit -n %d && exec "$0" "$@"`, files)}
		p.cmd = exec.Command("sh", append(limited, args...)...)
	}
	p.cmd.Env = append(hermetic.Environ(), isMeowdis+"=1", "MEOWDIS_TOKEN="+token)
	p.cmd.Stderr = &p.log
	p.launch(t)
	return p
}

func self(t *testing.T) string {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return exe
}

// launch starts the process, and waits until it says where it serves.
func (p *process) launch(t *testing.T) {
	t.Helper()
	out, err := p.cmd.StdoutPipe()
	if err == nil {
		err = p.cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.kill)
	lines := bufio.NewScanner(out)
	for p.redis == "" || p.rest == "" {
		if !lines.Scan() {
			t.Fatalf("the server did not start\n%s", p.log.String())
		}
		words := strings.Fields(lines.Text())
		switch url := words[len(words)-1]; {
		case strings.HasPrefix(url, "redis://"):
			p.redis = url
		case strings.HasPrefix(url, "http://"):
			p.rest = url
		}
	}
}

// kill ends the server as kill -9 does.
func (p *process) kill() {
	if p.cmd.ProcessState == nil {
		p.cmd.Process.Kill()
		p.cmd.Wait()
	}
}
