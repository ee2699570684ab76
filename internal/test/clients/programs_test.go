package clients

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/meowdis/meowdis/internal/test/oracle"
	"github.com/meowdis/meowdis/worker"
)

// program is one that is used as its own documentation shows, on a server of its own. It is told
// HOST PORT PASSWORD, or over REST, which redis-server does not speak, URL TOKEN.
type program struct {
	name string
	dir  string                      // where it runs, named after what it is written in
	args func(t *testing.T) []string // makes it ready and returns how it is started
	rest bool
	// flags are what serve needs for it; redis-server has no such flags, and is left out. Redis 8.0 as Debian has it
	// has no search either.
	flags []string
}

var programs = []program{
	{name: "BullMQ", dir: "node", args: script("bullmq.mjs")},
	{name: "socket.io", dir: "node", args: script("chat.mjs")},
	{name: "connect-redis", dir: "node", args: script("sessions.mjs")},
	{name: "rate-limiter-flexible and redlock", dir: "node", args: script("limits.mjs")},
	{name: "node-redis, search", dir: "node", args: script("node-redis-search.mjs"), flags: []string{}},
	{name: "redis-om", dir: "node", args: script("redis-om.mjs"), flags: []string{}},
	{name: "@langchain/redis", dir: "node", args: script("langchain.mjs"), flags: []string{}},
	{name: "@upstash/ratelimit", dir: "node", args: script("upstash-ratelimit.mjs"), rest: true},
	{name: "go-redis", dir: "golang", args: goTest("TestGoRedis")},
	{name: "go-redis for clusters", dir: "golang", args: goTest("TestGoRedisCluster"), flags: []string{"--cluster"}},
	{name: "asynq", dir: "golang", args: goTest("TestAsynq")},
	{name: "redigo", dir: "golang", args: goTest("TestRedigo")},
	{name: "rueidis", dir: "golang", args: goTest("TestRueidis")},
	{name: "redis-py", dir: "python", args: python("redis_py.py")},
	{name: "redis-py, search", dir: "python", args: python("redis_py_search.py"), flags: []string{}},
	{name: "Celery", dir: "python", args: python("celery_shop.py")},
	{name: "django-redis", dir: "python", args: python("django_cache.py")},
	{name: "Sidekiq", dir: "ruby", args: ruby("shop.rb")},
}

// TestPrograms runs them beside each other, since they wait for their own delays most of the time.
func TestPrograms(t *testing.T) {
	meowdis := build(t)
	for _, p := range programs {
		args := p.args(t)
		start := func(t *testing.T, more ...string) {
			run(t, p.dir, nil, args[0], append(args[1:len(args):len(args)], more...)...)
		}
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			t.Run("meowdis", func(t *testing.T) {
				t.Parallel()
				resp, rest := serve(t, meowdis, p.flags...)
				if p.rest {
					start(t, rest.String(), token)
				} else {
					start(t, resp.Hostname(), resp.Port(), password)
				}
			})
			if p.rest || p.flags != nil {
				return
			}
			t.Run("redis-server", func(t *testing.T) {
				t.Parallel()
				redis := oracle.Start(t)
				port := redis.Port(t)
				redis.Dial(t).Do([]byte("CONFIG"), []byte("SET"), []byte("requirepass"), []byte(password))
				start(t, "127.0.0.1", port, password)
			})
		})
	}
}

func script(name string) func(*testing.T) []string {
	return func(t *testing.T) []string {
		nodePackages(t)
		return []string{"node", name}
	}
}

// goTest is a test of the module in golang.
func goTest(name string) func(*testing.T) []string {
	return func(t *testing.T) []string {
		if err := golang(); err != nil {
			t.Fatal(err)
		}
		return []string{"./golang.test", "-test.run=^" + name + "$", "-test.timeout=2m"}
	}
}

// golang compiles the tests of that module, once. Its largest packages are not optimised: that would take most of
// the time.
var golang = sync.OnceValue(func() error {
	cmd := exec.Command("go", "test", "-c", "-gcflags=github.com/redis/...=-N -l")
	cmd.Dir = "golang"
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("compiling the clients in Go: %w\n%s", err, out)
	}
	return nil
})

// TestEmbedded has the clients in Go use a database in their own process.
func TestEmbedded(t *testing.T) {
	args := goTest("(TestEmbedded.*|Example.*)")(t)
	run(t, "golang", nil, args[0], args[1:]...)
}

// python is Debian's, which another one may hide.
func python(name string) func(*testing.T) []string {
	return func(t *testing.T) []string {
		for _, interpreter := range []string{"/usr/bin/python3", "python3"} {
			if exec.Command(interpreter, "-c", "import redis, celery, django_redis").Run() == nil {
				return []string{interpreter, "-B", name}
			}
		}
		t.Fatal("these tests run programs in Python: install redis-py, Celery and django-redis (Debian: apt-get install python3-redis python3-celery python3-django-redis)")
		return nil
	}
}

func ruby(name string) func(*testing.T) []string {
	return func(t *testing.T) []string {
		if err := exec.Command("ruby", "-e", "require 'sidekiq'").Run(); err != nil {
			t.Fatal("these tests run Sidekiq: install it (Debian: apt-get install ruby-sidekiq)")
		}
		return []string{"ruby", name}
	}
}

var (
	building sync.Once
	buildDir string // where meowdis is, "" before
)

// build builds meowdis, once, with the Worker that is tested, and returns its path. The Worker in it is another one than
// that of the package, so that what imports it is compiled again, which takes half as long without optimising.
func build(t *testing.T) string {
	t.Helper()
	building.Do(func() {
		dir, err := os.MkdirTemp("", "clients")
		if err != nil {
			t.Fatal(err)
		}
		packed, err := project()
		if err != nil {
			t.Fatal(err)
		}
		embedded, err := filepath.Abs(filepath.Join("../../../worker/project", worker.Packed))
		if err != nil {
			t.Fatal(err)
		}
		overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{embedded: filepath.Join(packed, worker.Packed)}})
		if err != nil {
			t.Fatal(err)
		}
		replaced := filepath.Join(dir, "overlay.json")
		if err := os.WriteFile(replaced, overlay, 0o600); err != nil {
			t.Fatal(err)
		}
		run(t, ".", nil, "go", "build", "-overlay", replaced, "-gcflags=github.com/meowdis/meowdis/cmd=-N -l -dwarf=false", "-ldflags=-s -w",
			"-o", filepath.Join(dir, "meowdis"), "github.com/meowdis/meowdis")
		buildDir = dir
	})
	if buildDir == "" {
		t.Fatal("meowdis could not be built")
	}
	return filepath.Join(buildDir, "meowdis")
}

// serve runs meowdis serve on a file of its own until the test ends, which it must do
// in peace, and returns the URLs that it prints.
func serve(t *testing.T, bin string, flags ...string) (resp, rest *url.URL) {
	t.Helper()
	cmd := exec.Command(bin, "serve", "-t", filepath.Join(t.TempDir(), "program.sqlite"), "--resp", "127.0.0.1:0", "--http", "127.0.0.1:0")
	cmd.Args = append(cmd.Args, flags...)
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
