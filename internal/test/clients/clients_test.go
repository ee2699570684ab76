package clients

import (
	"context"
	"io"
	"net"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/internal/test/oracle"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/server"
)

const (
	password = "a secret"
	token    = "a token"
)

// target is a server to tour.
type target struct {
	network, addr string // of RESP
	url           string // of REST, "" without
}

// host and port are what a client that takes both is given: a socket's path and
// no port.
func (x target) host() string {
	if x.network == "unix" {
		return x.addr
	}
	host, _, _ := net.SplitHostPort(x.addr)
	return host
}

func (x target) port() string {
	if x.network == "unix" {
		return ""
	}
	_, port, _ := net.SplitHostPort(x.addr)
	return port
}

// tour runs a test with a served file and with redis-server.
func tour(t *testing.T, test func(t *testing.T, x target)) {
	t.Run("meowdis", func(t *testing.T) { test(t, serveFile(t)) })
	t.Run("redis-server", func(t *testing.T) {
		redis := oracle.Start(t)
		redis.Dial(t).Do([]byte("CONFIG"), []byte("SET"), []byte("requirepass"), []byte(password))
		test(t, target{network: "unix", addr: redis.Socket})
	})
}

// serveFile serves a file of its own until the test ends.
func serveFile(t *testing.T) target {
	t.Helper()
	st, err := local.Open(filepath.Join(t.TempDir(), "tour.sqlite"), local.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s := server.New(server.Config{Engine: engine.New(st), Token: token, RequirePass: password})
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	serve := func(face func(context.Context, net.Listener) error) string {
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		running.Go(func() {
			if err := face(ctx, ln); err != nil {
				t.Error(err)
			}
		})
		return ln.Addr().String()
	}
	t.Cleanup(func() {
		cancel()
		running.Wait()
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	return target{network: "tcp", addr: serve(s.ServeRESP), url: "http://" + serve(s.ServeREST)}
}

// node runs a script of the directory node.
func node(t *testing.T, script string, args ...string) {
	t.Helper()
	nodePackages(t)
	run(t, "node", nil, "node", append([]string{script}, args...)...)
}

var (
	packages  sync.Once
	installed bool
)

// nodePackages installs the packages of the directory node when they are not those of its lock file.
func nodePackages(t testing.TB) {
	t.Helper()
	packages.Do(func() {
		for _, tool := range []string{"node", "npm"} {
			if _, err := exec.LookPath(tool); err != nil {
				t.Fatalf("these tests drive Node's Redis clients: install Node.js 20 or newer with npm (%s is missing)", tool)
			}
		}
		run(t, "../../..", nil, ".ci/setup", "node")
		installed = true
	})
	if !installed {
		t.Fatal("Node's packages are not there")
	}
}

// run runs a command in dir and returns what it prints; failure fails the test.
func run(t testing.TB, dir string, stdin io.Reader, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Stdin = dir, stdin
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

func TestIoredis(t *testing.T) {
	tour(t, func(t *testing.T, x target) { node(t, "ioredis.mjs", x.host(), x.port(), password) })
}

func TestNodeRedis(t *testing.T) {
	tour(t, func(t *testing.T, x target) {
		for _, version := range []string{"2", "3"} {
			node(t, "node-redis.mjs", x.host(), x.port(), password, version)
		}
	})
}

func TestUpstash(t *testing.T) {
	url := serveFile(t).url
	node(t, "upstash.mjs", url, token)
	node(t, "upstash-search.mjs", url, token)
}
