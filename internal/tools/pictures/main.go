// Command pictures draws the terminal pictures of the documentation from real
// runs: it builds meowdis, fills a file, drives the program in tmux and writes
// the screens as SVG into docs/. Run it with "make pictures"; files that are named are drawn
// alone.
package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/meowdis/meowdis/internal/test/terminal"
	"github.com/meowdis/meowdis/internal/tools/repo"
)

// The default terminal of a picture.
const (
	columns = 100
	rows    = 26
)

// picture is one screen: typed lines, each with the text to wait for before the next.
type picture struct {
	file   string
	prompt string // end of the last row after a line has run
	steps  []step

	columns, rows int // 0 means the default
}

type step struct {
	line string   // typed, then Enter
	keys []string // pressed if line is empty
	see  string
}

var pictures = []picture{
	{file: "docs/exec.svg", rows: 29, prompt: "$", steps: []step{
		{line: "clear"},
		{line: "meowdis exec HSET cat:1 name Tom lives 9", see: "2"},
		{line: "meowdis exec HGETALL cat:1", see: `"Tom"`},
		{line: "meowdis exec --json HGETALL cat:1", see: `"lives":"9"`},
		{line: `printf 'SET n 1\nINCR n\nLPUSH n x\nGET n\n' | meowdis exec; echo exit $?`, see: "exit 1"},
		{line: "meowdis exec -t shop.sqlite -o table ZREVRANGE ranking 0 4 WITHSCORES", see: "user:7175"},
	}},
	{file: "docs/repl.svg", rows: 28, prompt: ">", steps: []step{
		{line: "clear; meowdis repl shop.sqlite", see: "shop.sqlite"},
		{line: "HGETALL cart:70", see: "4)"},
		{line: "MULTI", see: "OK"},
		{line: "HINCRBY cart:70 pears 1", see: "QUEUED"},
		{line: "EXPIRE cart:70 3600", see: "(TX 2)"},
		{line: "EXEC", see: "2) (integer) 1"},
		{keys: []string{"Z", "R", "E", "V", "Tab", "Tab"}, see: "ZREVRANK"},
	}},
	{file: "docs/explain.svg", prompt: "$", steps: []step{
		{line: "clear"},
		{line: "meowdis explain shop.sqlite SCARD city:Bern", see: "plan:"},
		{line: "meowdis explain shop.sqlite LPUSH queue:mail order:7 | head -16", see: "DELETE"},
	}},
	{file: "docs/serve.svg", prompt: "$", rows: 30, steps: []step{
		{line: "set +m", see: "+m"}, // the server ends with the terminal
		{line: "clear"},
		{line: "export MEOWDIS_TOKEN=secret", see: "secret"},
		{line: "meowdis serve shop.sqlite --http 8379 --resp 6380 2>serve.log & sleep 1", see: "RESP"},
		{line: "redis-cli -p 6380 ZSCORE ranking user:7", see: "49"},
		{line: "redis-cli -p 6380 HGETALL cart:1000", see: "4)"},
		{line: "curl -H 'Authorization: Bearer secret' http://127.0.0.1:8379/hgetall/cart:1000; echo", see: "result"},
		{line: "meowdis latency redis://127.0.0.1:6380 --limit 100", see: "of 100"},
	}},
	{file: "docs/stats.svg", prompt: "$", rows: 58, steps: []step{
		{line: "clear; meowdis stats shop.sqlite --top 4", see: "LARGEST"},
	}},
	{file: "docs/move.svg", prompt: "$", rows: 24, steps: []step{
		{line: "clear"},
		{line: "meowdis copy shop.sqlite orders.sqlite --match 'order:*'", see: "copied"},
		{line: "meowdis exec -t orders.sqlite SET order:70 paid", see: "OK"},
		{line: "meowdis diff shop.sqlite orders.sqlite --match 'order:*'; echo exit $?", see: "exit 1"},
		{line: "meowdis export orders.sqlite orders.rdb", see: "wrote"},
		{line: "meowdis import orders.rdb new.sqlite --prefix order:=old:", see: "imported"},
		{line: "meowdis keys new.sqlite -l 'old:7*' --limit 4", see: "old:7"},
		{line: "meowdis doctor new.sqlite", see: "nothing is wrong"},
	}},
	{file: "docs/agents.svg", prompt: "$", rows: 24, steps: []step{
		{line: "clear"},
		{line: "export MEOWDIS_DB=shop.sqlite", see: "shop.sqlite"},
		{line: "meowdis peek --json cart:1000", see: "pears"},
		{line: "meowdis keys --json -l --limit 3 'city:*'", see: "ttl_ms"},
		{line: "meowdis exec --json --read-only DEL order:1000; echo exit $?", see: "exit 1"},
	}},
	{file: "docs/go.svg", prompt: "$", rows: 24, steps: []step{
		{line: "cd cats", see: "cats"},
		{line: "clear"},
		{line: "cat cats_test.go", see: "FastForward"},
		{line: "go test -v", see: "ok "},
	}},
	{file: "docs/inspect.svg", columns: 112, rows: 28, steps: []step{
		{line: "clear; meowdis inspect shop.sqlite", see: "▸ session:"},
		{keys: []string{"j", "j", "Enter"}, see: "Oslo"},
		{keys: []string{"j", "j", "j", "j", "j", "j", "j", "Enter"}, see: "1010"},
		{keys: []string{"j", "j", "j"}, see: `"city": "Bern"`},
	}},
	{file: "docs/tree.svg", columns: 112, rows: 24, steps: []step{
		{line: "clear; meowdis inspect shop.sqlite", see: "▸ session:"},
		{keys: []string{"s", "b", "Enter"}, see: "SHARE"},
	}},
	{file: "docs/edit.svg", columns: 112, rows: 24, steps: []step{
		{line: "clear; meowdis inspect shop.sqlite", see: "▸ session:"},
		{keys: []string{"/", "cart:70", "Enter"}, see: "found"},
		{keys: []string{"Enter"}, see: "FIELD"},
		{keys: []string{"w", "e"}, see: "Edit "},
	}},
	{file: "docs/search.svg", columns: 112, rows: 24, steps: []step{
		{line: "clear; meowdis inspect shop.sqlite", see: "▸ session:"},
		{keys: []string{"/", ">1KB", "Enter"}, see: "searched all keys"},
	}},
	{file: "docs/palette.svg", columns: 112, rows: 24, steps: []step{
		{line: "clear; meowdis inspect shop.sqlite", see: "▸ session:"},
		{keys: []string{"C-p", "export", "Space", "csv"}, see: "export keys"},
	}},
	{file: "docs/compare.svg", columns: 112, rows: 24, steps: []step{
		{line: "clear; meowdis inspect shop.sqlite", see: "▸ session:"},
		{keys: []string{"/", "order:10", "Enter"}, see: "found"},
		{keys: []string{"Space", "j", "Space", "="}, see: "differ"},
	}},
	{file: "docs/compare-targets.svg", columns: 112, rows: 24, steps: []step{
		{line: "meowdis copy shop.sqlite monday.sqlite", see: "copied"},
		{line: "printf 'DEL order:1120\nHSET user:7 city Rome\nSET product:new soon\nPERSIST cart:100\nSET greeting Hello\n' | meowdis exec -t monday.sqlite", see: "OK"},
		{line: "clear; meowdis inspect shop.sqlite monday.sqlite", see: "▸ session:"},
		{keys: []string{"C-p", "all", "Space", "keys", "Space", "with", "Enter"}, see: "differences from"},
	}},
	{file: "docs/export.svg", columns: 112, rows: 24, steps: []step{
		{line: "clear; meowdis inspect shop.sqlite", see: "▸ session:"},
		{keys: []string{"/", "order:7", "Enter"}, see: "found"},
		{keys: []string{"*", ">"}, see: ".csv"},
	}},
	{file: "docs/undo.svg", columns: 112, rows: 28, steps: []step{
		{line: "clear; meowdis inspect shop.sqlite", see: "▸ session:"},
		{keys: []string{"j", "Enter"}, see: "1010"},
		{keys: []string{"j", "j", "j", "w"}, see: "unlocked"},
		{keys: []string{":", "FLUSHALL", "Enter"}, see: "undo restores all"},
	}},
	{file: "docs/overview.svg", columns: 112, rows: 40, steps: []step{
		{line: "clear; meowdis inspect shop.sqlite", see: "▸ session:"},
		{keys: []string{"O"}, see: "journal"},
	}},
}

func main() {
	repo.Enter()
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "pictures:", err)
		os.Exit(1)
	}
}

func run() error {
	dir, err := os.MkdirTemp("", "pictures")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if out, err := exec.Command("go", "build", "-o", filepath.Join(dir, "bin", "meowdis"), ".").CombinedOutput(); err != nil {
		return fmt.Errorf("building: %w: %s", err, out)
	}
	env, err := goEnv()
	if err != nil {
		return err
	}
	if err := fill(dir, env); err != nil {
		return err
	}
	var failed error // the other pictures are drawn all the same
	for _, p := range pictures {
		if named := os.Args[1:]; len(named) > 0 && !slices.Contains(named, p.file) {
			continue
		}
		p.columns, p.rows = cmp.Or(p.columns, columns), cmp.Or(p.rows, rows)
		screen, err := p.take(dir, env)
		if err == nil {
			err = os.WriteFile(p.file, []byte(svg(screen, p.columns)), 0o644)
		}
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("%s: %w", p.file, err))
		}
	}
	return failed
}

// goEnv returns the variables of Go that the commands here and in the terminal share, so that go test in a picture finds
// everything compiled.
func goEnv() ([]string, error) {
	out, err := exec.Command("go", "env", "GOCACHE", "GOMODCACHE").Output()
	if err != nil {
		return nil, fmt.Errorf("asking where Go's caches are: %w", err)
	}
	caches := strings.Split(string(out), "\n")
	return []string{"CGO_ENABLED=0", "GOFLAGS=-mod=mod " + os.Getenv("GOFLAGS"), "GOCACHE=" + caches[0], "GOMODCACHE=" + caches[1]}, nil
}

// fill creates shop.sqlite with meowdis demo, and a Go module with a test.
func fill(dir string, env []string) error {
	shop := exec.Command(filepath.Join(dir, "bin", "meowdis"), "demo", "shop.sqlite")
	shop.Dir = dir
	if out, err := shop.CombinedOutput(); err != nil {
		return fmt.Errorf("filling shop.sqlite: %w: %.500s", err, out)
	}
	return module(filepath.Join(dir, "cats"), catsTest, env)
}

// catsTest is the test in docs/go.svg.
const catsTest = `package cats

import (
	"testing"
	"time"

	"github.com/meowdis/meowdis/embedded"
)

func TestSession(t *testing.T) {
	db := embedded.RunT(t) // in memory; db.Dialer is for any Redis client

	db.Run("SET", "session:1", "Tom", "EX", 3600)
	db.FastForward(time.Hour)
	db.Check(nil, "GET", "session:1")
}
`

// module creates a module in dir that uses this one, with a test, and runs the test once.
func module(dir, test string, env []string) error {
	here, err := os.Getwd()
	if err != nil {
		return err
	}
	mod, err := os.ReadFile("go.mod")
	if err != nil {
		return err
	}
	sum, err := os.ReadFile("go.sum")
	if err != nil {
		return err
	}
	own := strings.Replace(string(mod), "module github.com/meowdis/meowdis", "module cats", 1) +
		"\nrequire github.com/meowdis/meowdis v0.0.0\n\nreplace github.com/meowdis/meowdis => " + here + "\n"
	err = errors.Join(os.MkdirAll(dir, 0o755),
		os.WriteFile(filepath.Join(dir, "go.mod"), []byte(own), 0o644),
		os.WriteFile(filepath.Join(dir, "go.sum"), sum, 0o644),
		os.WriteFile(filepath.Join(dir, "cats_test.go"), []byte(test), 0o644))
	if err != nil {
		return err
	}
	once := exec.Command("go", "test", "-v")
	once.Dir, once.Env = dir, append(os.Environ(), env...)
	if out, err := once.CombinedOutput(); err != nil {
		return fmt.Errorf("running the test: %w: %s", err, out)
	}
	return nil
}

func (p picture) take(dir string, env []string) (screen string, err error) {
	t, err := terminal.Start(p.columns, p.rows, append(env, "PATH="+filepath.Join(dir, "bin")+":"+os.Getenv("PATH"), "HOME="+dir,
		"COLORTERM=truecolor")...)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, t.Close()) }()
	if err := t.Run("cd " + dir); err != nil {
		return "", err
	}
	if _, err := t.Wait("the shell", func(screen string) bool {
		return strings.Contains(screen, dir) && strings.HasSuffix(strings.TrimSpace(screen), "$")
	}); err != nil {
		return "", err
	}
	for _, s := range p.steps {
		if s.line != "" {
			err = t.Run(s.line)
		} else {
			err = t.Press(s.keys...)
		}
		if err != nil {
			return "", err
		}
		_, err = t.Wait(strconv.Quote(s.see), func(screen string) bool {
			if s.line == "clear" {
				return strings.TrimSpace(screen) == p.prompt
			}
			return strings.Contains(screen, s.see) && (s.line == "" || strings.HasSuffix(strings.TrimSpace(screen), p.prompt))
		})
		if err != nil {
			return "", err
		}
	}
	time.Sleep(time.Second) // until the last frame is drawn
	return t.Coloured()
}
