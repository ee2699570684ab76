package crash

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/server"
)

// In a process of its own this binary serves the file that the environment names.
const (
	servedFile = "CRASH_SERVES"
	token      = "purr"
)

func TestMain(m *testing.M) {
	if path := os.Getenv(servedFile); path != "" {
		fmt.Fprintln(os.Stderr, serve(path))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// serve serves the file until somebody kills it, and says where.
func serve(path string) error {
	file, err := local.Open(path, local.Options{Lanes: true, SweepEvery: time.Millisecond, Report: func(err error) { fmt.Fprintln(os.Stderr, err) }})
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
}

func start(t *testing.T, path string) *process {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := &process{cmd: exec.Command(exe)}
	p.cmd.Env = append(os.Environ(), servedFile+"="+path)
	p.cmd.Stderr = os.Stderr
	out, err := p.cmd.StdoutPipe()
	if err == nil {
		err = p.cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.kill)
	lines := bufio.NewScanner(out)
	for _, url := range []*string{&p.redis, &p.rest} {
		if !lines.Scan() {
			t.Fatal("the server did not start")
		}
		*url = lines.Text()
	}
	return p
}

// kill ends the server as kill -9 does.
func (p *process) kill() {
	if p.cmd.ProcessState == nil {
		p.cmd.Process.Kill()
		p.cmd.Wait()
	}
}
