package clients

import (
	"bufio"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/meowdis/meowdis/internal/oracle"
)

// programs are used as their own documentation shows, on servers of their own. They are
// told HOST PORT PASSWORD, or over REST, which redis-server does not speak, URL TOKEN.
var programs = []struct {
	name string
	args []string
	rest bool
}{
	{name: "BullMQ", args: []string{"node", "bullmq.mjs"}},
	{name: "socket.io", args: []string{"node", "chat.mjs"}},
	{name: "connect-redis", args: []string{"node", "sessions.mjs"}},
	{name: "rate-limiter-flexible and redlock", args: []string{"node", "limits.mjs"}},
	{name: "@upstash/ratelimit", args: []string{"node", "upstash-ratelimit.mjs"}, rest: true},
}

// TestPrograms runs them beside each other, since they wait for their own delays most of the time.
func TestPrograms(t *testing.T) {
	nodePackages(t)
	meowdis := build(t)
	for _, p := range programs {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			t.Run("meowdis", func(t *testing.T) {
				t.Parallel()
				resp, rest := serve(t, meowdis)
				if p.rest {
					start(t, p.args, rest.String(), token)
				} else {
					start(t, p.args, resp.Hostname(), resp.Port(), password)
				}
			})
			if p.rest {
				return
			}
			t.Run("redis-server", func(t *testing.T) {
				t.Parallel()
				redis := oracle.Start(t)
				port := redis.Port(t)
				redis.Dial(t).Do([]byte("CONFIG"), []byte("SET"), []byte("requirepass"), []byte(password))
				start(t, p.args, "127.0.0.1", port, password)
			})
		})
	}
}

// start runs a program to its end, in the directory that has the name of its interpreter.
func start(t *testing.T, program []string, args ...string) {
	t.Helper()
	run(t, program[0], nil, program[0], append(program[1:len(program):len(program)], args...)...)
}

// build builds meowdis and returns its path.
func build(t *testing.T) string {
	t.Helper()
	bin := filepath.Join(t.TempDir(), "meowdis")
	run(t, ".", nil, "go", "build", "-o", bin, "github.com/meowdis/meowdis")
	return bin
}

// serve runs meowdis serve on a file of its own until the test ends, which it must do
// in peace, and returns the URLs that it prints.
func serve(t *testing.T, bin string) (resp, rest *url.URL) {
	t.Helper()
	cmd := exec.Command(bin, "serve", "--db", filepath.Join(t.TempDir(), "program.sqlite"), "--resp", "127.0.0.1:0", "--http", "127.0.0.1:0")
	cmd.Env = append(os.Environ(), "MEOWDIS_REQUIREPASS="+password, "MEOWDIS_TOKEN="+token)
	var log strings.Builder
	cmd.Stderr = &log
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Signal(syscall.SIGTERM)
		if err := cmd.Wait(); err != nil || strings.Contains(log.String(), "level=ERROR") {
			t.Errorf("meowdis serve ended with %v\n%s", err, &log)
		}
	})
	for lines := bufio.NewScanner(out); (resp == nil || rest == nil) && lines.Scan(); {
		name, addr, _ := strings.Cut(lines.Text(), " ")
		u, err := url.Parse(addr)
		if err != nil {
			t.Fatal(err)
		}
		switch name {
		case "RESP":
			resp = u
		case "REST":
			rest = u
		}
	}
	if resp == nil || rest == nil {
		t.Fatalf("meowdis serve does not say where it is\n%s", &log)
	}
	return resp, rest
}
