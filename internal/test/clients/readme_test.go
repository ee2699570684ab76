package clients

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/meowdis/meowdis/internal/test/clustertest"
	"github.com/meowdis/meowdis/internal/test/hermetic"
	"github.com/meowdis/meowdis/internal/test/oracle"
)

// pasted are the pages whose blocks are run, and what these print, in their order.
var pasted = []struct {
	page   string
	prints []string
}{
	{"README.md", []string{
		"OK\nhello\nshop.sqlite: 22,",
		"user:7175\n9972\nuser:2798\n",
		`{"name":"Ann1","city":"Oslo"}`,
		"would delete 2 keys (",
		"PREFIX",
		"nothing is wrong",
		"product:1\nname\nRed running shoes\nprice\n50\n",
		"9 to 5\ndistance\n0.00496",
		"49\n49\n{\"result\":\"49\"}",
		"{ name: 'Tom', lives: 9 }",
		"{ to: 'kitty' }",
		"ok  ",
	}},
	{"docs/exec.md", []string{"{\"name\":\"Tom\",\"lives\":\"9\"}", "1\n2\n3\n8\n", "Nothing is run.", "replies: 3"}},
	{"docs/explain.md", []string{"plan:", "string|1"}},
	{"docs/search.md", []string{"product:1\nname\nRed running shoes\nprice\n50\n1\nproduct:3\n2\nkind\nhat\nn\n2\nmean\n17.5\n", "9 to 5\ndistance\n0.00496", "search_postings"}},
	{"docs/modules.md", []string{"OK\n[8]\n1\n0\n", "weight:tom"}},
}

// TestBlocks runs every block of these pages as it stands, in their order, as somebody does who pastes
// them: in one directory, and those after "meowdis serve" in a second terminal. npm finds the packages
// in the directory node, and a port that another program has is replaced.
func TestBlocks(t *testing.T) {
	t.Parallel()
	nodePackages(t)
	for _, page := range pasted {
		t.Run(page.page, func(t *testing.T) {
			t.Parallel()
			printed := pasteAll(t, page.page)
			rest := printed
			for _, want := range page.prints {
				_, after, found := strings.Cut(rest, want)
				if !found {
					t.Fatalf("%q is missing after\n%s", want, strings.TrimSuffix(printed, rest))
				}
				rest = after
			}
		})
	}
}

// pasteAll runs the blocks of a page, and returns what they print.
func pasteAll(t *testing.T, page string) string {
	p := newPaste(t)
	var printed strings.Builder
	for _, b := range blocksOf(t, "../../../"+page) {
		text := p.withServers(p.withFreePorts(b.text))
		switch {
		case b.language != "sh":
			t.Errorf("line %d: nothing runs a block of %q", b.line, b.language)
		case serving.MatchString(text):
			p.serves(text)
		default:
			printed.WriteString(p.runs(b.line, text))
		}
	}
	return printed.String()
}

// block is one of a page: what stands between fences.
type block struct {
	language, text string
	line           int
}

func blocksOf(t *testing.T, file string) (found []block) {
	t.Helper()
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var b *block
	for i, line := range strings.Split(string(page), "\n") {
		fence, isFence := strings.CutPrefix(line, "```")
		switch {
		case isFence && b == nil:
			b = &block{language: fence, line: i + 1}
		case isFence:
			found, b = append(found, *b), nil
		case b != nil:
			b.text += line + "\n"
		}
	}
	if b != nil || len(found) == 0 {
		t.Fatalf("%s: %d blocks, and one that is open", file, len(found))
	}
	return found
}

// paste is the directory in which the blocks of a page are pasted.
type paste struct {
	t     *testing.T
	dir   string
	env   []string
	ports map[string]string // by those of the README
	// servers has the URLs of real servers by those of the README.
	servers map[string]string
}

func newPaste(t *testing.T) *paste {
	dir, bin := t.TempDir(), t.TempDir()
	if err := os.Symlink(build(t), filepath.Join(bin, "meowdis")); err != nil {
		t.Fatal(err)
	}
	p := &paste{t: t, dir: dir, ports: map[string]string{}, servers: map[string]string{}, env: []string{"PATH=" + bin + string(os.PathListSeparator) + os.Getenv("PATH"), "HOME=" + dir}}
	packages, err := filepath.Abs("node/node_modules")
	if err != nil {
		t.Fatal(err)
	}
	npm := fmt.Sprintf("#!/bin/sh\n[ \"$1\" = install ] && shift || exit\nfor name; do [ -d '%[1]s'/\"$name\" ] || exit; done\nln -sfn '%[1]s' node_modules\n", packages)
	for name, script := range map[string]string{"npm": npm, "go": goHere(t)} {
		if err := os.WriteFile(filepath.Join(bin, name), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

// goHere returns a script in place of go: for "go get" of this module it takes the module from here, and all else it
// hands to go with the caches and flags of this process, so that nothing is compiled twice.
func goHere(t *testing.T) string {
	t.Helper()
	module, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	program, err := exec.LookPath("go")
	if err != nil {
		t.Fatal(err)
	}
	env := strings.Split(run(t, ".", nil, "go", "env", "GOMODCACHE", "GOCACHE", "GOFLAGS"), "\n")
	return fmt.Sprintf(`#!/bin/sh
export GOMODCACHE=%[2]s GOCACHE=%[3]s GOFLAGS='-mod=mod %[5]s' GOPROXY=off CGO_ENABLED=0
[ "$1" = get ] || exec %[4]s "$@"
cp %[1]s/go.sum . && %[4]s mod edit -replace github.com/meowdis/meowdis=%[1]s -require github.com/meowdis/meowdis@v0.0.0
`, module, env[0], env[1], program, env[2])
}

var (
	serving = regexp.MustCompile(`(?m)^([A-Z_]+=\S+ )*meowdis serve .*\n\z`)
	portOf  = regexp.MustCompile(`--(?:http|resp) ([0-9]+)`)
)

// withFreePorts replaces the ports that a server could not have.
func (p *paste) withFreePorts(text string) string {
	for _, m := range portOf.FindAllStringSubmatch(text, -1) {
		ln, err := net.Listen("tcp", "127.0.0.1:"+m[1])
		if err != nil {
			if ln, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
				p.t.Fatal(err)
			}
		}
		_, p.ports[m[1]], _ = net.SplitHostPort(ln.Addr().String())
		ln.Close()
	}
	for port, free := range p.ports {
		text = strings.ReplaceAll(text, port, free)
	}
	return text
}

// withServers starts a redis-server for each of the servers that blocks move keys between, and writes the script that
// switches clients.
func (p *paste) withServers(text string) string {
	start := map[string]func() string{
		"redis://old": func() string {
			server := oracle.Start(p.t)
			server.Dial(p.t).Do([]byte("SET"), []byte("cat"), []byte("Tom"))
			return "unix://" + server.Socket
		},
		"redis://new":       func() string { return "unix://" + oracle.Start(p.t).Socket },
		"redis://node:7000": func() string { return "redis://" + clustertest.Start(p.t, 3, false).Masters[0].Address },
	}
	for url, run := range start {
		if !strings.Contains(text, url) {
			continue
		}
		if p.servers[url] == "" {
			p.servers[url] = run()
		}
		text = strings.ReplaceAll(text, url, p.servers[url])
	}
	if strings.Contains(text, "./switch.sh") {
		if err := os.WriteFile(filepath.Join(p.dir, "switch.sh"), []byte("#!/bin/sh\n"), 0o755); err != nil {
			p.t.Fatal(err)
		}
	}
	return text
}

func (p *paste) command(text string) *exec.Cmd {
	cmd := exec.Command("bash", "-euo", "pipefail", "-c", text)
	cmd.Dir = p.dir
	cmd.Env = append(hermetic.Environ(), p.env...)
	return cmd
}

// runs pastes a block into a shell, and returns what it prints.
func (p *paste) runs(line int, text string) string {
	p.t.Helper()
	cmd := p.command(text)
	var log bytes.Buffer
	cmd.Stderr = &log
	out, err := cmd.Output()
	if err != nil {
		p.t.Fatalf("the block of line %d: %v\n%s%s%s", line, err, text, out, &log)
	}
	return string(out)
}

// serves starts a server, which ends with the test, and waits until it can be reached.
func (p *paste) serves(text string) {
	p.t.Helper()
	cmd := p.command(text)
	var log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &log, &log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() {
		syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM)
		if err := cmd.Wait(); err != nil {
			p.t.Errorf("%s: %v\n%s", text, err, &log)
		}
	})
	for _, port := range p.ports {
		for deadline := time.Now().Add(time.Minute); ; <-time.After(20 * time.Millisecond) {
			c, err := net.Dial("tcp", "127.0.0.1:"+port)
			if err == nil {
				c.Close()
				break
			}
			if time.Now().After(deadline) {
				p.t.Fatalf("%s: cannot be reached: %v", text, err)
			}
		}
	}
}
