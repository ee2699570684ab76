package cmd_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// internals are words of the language and its libraries that mean nothing to
// users of the program.
var internals = regexp.MustCompile(`strconv|invalid syntax|arg\(s\)|context |EOF|dial |lookup |unmarshal|looking for|json:|goroutine|0x[0-9a-f]|%!|: (open|read|write|stat|lstat|mkdir|rename) |\.[0-9]{6,}`)

// TestWording gives verbs what they cannot use, and reads what they say: an exit
// code that is documented, and lines without the words of libraries.
func TestWording(t *testing.T) {
	t.Parallel()
	m := mover{t, t.TempDir()}
	m.run(0, "exec", "-t", "a.sqlite", "MSET", "a", strings.Repeat("v", 1000), "b", "2")
	m.run(0, "dump", "-t", "a.sqlite", "a.archive")
	m.run(0, "dump", "-t", "a.sqlite", "a.jsonl")
	m.run(0, "export", "-t", "a.sqlite", "a.rdb")
	m.run(0, "backup", "-t", "a.sqlite", "whole.sqlite")
	wrong := []string{"missing", ".", "nodir/x", "/dev/null"}
	for name, text := range map[string]string{
		"cut.archive": m.head("a.archive", 60), "cut.jsonl": m.head("a.jsonl", 100), "cut.rdb": m.head("a.rdb", 100), "cut.sqlite": m.head("whole.sqlite", 5000),
		"cut.aof": "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$5\r\nab", "future.rdb": "REDIS0099", "number.jsonl": `{"key":1}`, "type.jsonl": `{"key":"a","type":"foo","value":1}`,
		"score.jsonl": `{"key":"a","type":"zset","value":[{"member":"a","score":"x"}]}`, "field.jsonl": `{"kex":"a"}`, "list.jsonl": `{"key":"a","type":"list","value":7}`,
		"no.jsonl": "{]\n{}", "quote.txt": "SET a \"b\nGET", "a.manifest": "file gone.aof seq 1 type i\n", "b.manifest": "file x type q\n", "empty": "",
	} {
		if err := os.WriteFile(filepath.Join(m.dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		wrong = append(wrong, name)
	}
	var lines []string
	for _, name := range wrong {
		lines = append(lines, "restore -t n.sqlite "+name, "import -t n.sqlite "+name, "restore --salvage --skip -t n.sqlite "+name, "doctor "+name)
	}
	for _, format := range []string{"rdb", "aof", "commands", "sqlite", "jsonl", "archive", "x"} {
		lines = append(lines, "import -t n.sqlite --format "+format+" cut.archive", "import -t n.sqlite --format "+format+" cut.rdb")
	}
	for _, url := range []string{
		"redis://127.0.0.1:1", "http://127.0.0.1:1", "rediss://127.0.0.1:1", "unix://" + m.dir + "/none", "unix://" + m.dir,
		"redis://127.0.0.1:x", "http://[::1", "foo://x", "redis://127.0.0.1:99999", "redis://127.0.0.1/77", "https://",
	} {
		lines = append(lines, "exec -t "+url+" PING", "copy a.sqlite "+url)
	}
	lines = append(lines,
		"serve a.sqlite --http x", "serve a.sqlite --http 127.0.0.1:99999", "serve a.sqlite --http 192.0.2.1:5",
		"dump -t a.sqlite nodir/x", "dump -t a.sqlite .", "dump -t a.sqlite a.jsonl/x", "export -t a.sqlite nodir/x.rdb", "backup -t a.sqlite nodir/x",
		"backup -t a.sqlite a.jsonl/x", "copy a.sqlite nodir/x", "copy a.sqlite a.jsonl/x", "copy --resume x a.sqlite n.sqlite", "copy --resume 16:1 a.sqlite n.sqlite",
		"copy -n x a.sqlite n.sqlite", "copy a", "diff a b c", "diff --ttl-tolerance -1s a.sqlite a.sqlite", "diff --ttl-tolerance x a b",
		"exec --env-file none PING", "exec --eval none.lua", "exec --env-file . PING", "man a.jsonl", "restore", "vacuum a b", "doctor --limit x", "watch -i x GET k", "profile add x",
	)
	r := startResident(t)
	for i, line := range lines {
		line = strings.ReplaceAll(line, "n.sqlite", fmt.Sprintf("n%d.sqlite", i)) // each has a file of its own to make
		got := r.do(call{Dir: m.dir, Args: strings.Fields(line), Env: []string{"XDG_CONFIG_HOME=" + m.dir, "XDG_DATA_HOME=" + m.dir, "MEOWDIS_TOKEN=" + restToken}})
		// To salvage nothing is nothing wrong, nor is to examine an empty file.
		if got.Code < 1 || got.Code > 3 {
			if !strings.HasPrefix(line, "restore --salvage") && !strings.HasPrefix(line, "doctor") {
				t.Errorf("meowdis %s: %d: %s", line, got.Code, got.Stderr)
			}
		}
		if bad := internals.FindString(got.Stderr); bad != "" {
			t.Errorf("meowdis %s says %q: %s", line, bad, got.Stderr)
		}
	}
}

// head is the beginning of a file.
func (m mover) head(name string, n int) string {
	m.t.Helper()
	text, err := os.ReadFile(filepath.Join(m.dir, name))
	if err != nil {
		m.t.Fatal(err)
	}
	return string(text[:min(n, len(text))])
}
