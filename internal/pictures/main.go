// Command pictures draws the terminal pictures of the documentation from real
// runs: it builds meowdis, fills a file, drives the program in tmux and writes
// the screens as SVG into docs/. Run it with "make pictures".
package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/meowdis/meowdis/internal/terminal"
)

const (
	columns = 100
	rows    = 26
)

// picture is one screen: lines that are typed, each with what must be seen
// before the next.
type picture struct {
	file   string
	prompt string // what the last line ends with when a line has run
	steps  []step
}

type step struct {
	line string   // typed, then Enter
	keys []string // pressed, when line is empty
	see  string
}

var pictures = []picture{
	{"docs/exec.svg", "$", []step{
		{line: "clear"},
		{line: "meowdis exec HSET user:1 name Ada lang Go", see: "2"},
		{line: "meowdis exec HGETALL user:1", see: `"Go"`},
		{line: "meowdis exec --json HGETALL user:1", see: `"lang":"Go"`},
		{line: `printf 'SET n 1\nINCR n\nLPUSH n x\nGET n\n' | meowdis exec; echo exit $?`, see: "exit 1"},
		{line: "meowdis explain INCR n | head -8", see: "plan:"},
	}},
	{"docs/repl.svg", ">", []step{
		{line: "clear; meowdis repl", see: "words.sqlite"},
		{line: "SCARD letter:q", see: "(integer)"},
		{line: "ZREVRANGE lengths 0 1 WITHSCORES", see: "4)"},
		{line: "MULTI", see: "OK"},
		{line: "INCR visits", see: "QUEUED"},
		{line: "EXPIRE visits 3600", see: "(TX 2)"},
		{line: "EXEC", see: "2) (integer) 1"},
		{keys: []string{"S", "E", "T", "Space", "k", "Space", "v", "Space"}, see: "SET k v"},
	}},
	{"docs/stats.svg", "$", []step{
		{line: "clear; meowdis stats --prefixes 4 --top 4", see: "LARGEST"},
	}},
	{"docs/move.svg", "$", []step{
		{line: "clear"},
		{line: "meowdis copy words.sqlite cats.sqlite --match '*cat*'", see: "copied"},
		{line: "meowdis exec --db cats.sqlite SET word:cat 4", see: "OK"},
		{line: "meowdis diff words.sqlite cats.sqlite --match '*cat*'; echo exit $?", see: "exit 1"},
		{line: "meowdis export --db cats.sqlite cats.rdb", see: "wrote"},
		{line: "meowdis exec --db cats.sqlite -o table SCAN 0 MATCH 'word:cat?' COUNT 200000", see: "word:cats"},
		{line: "meowdis doctor cats.sqlite", see: "nothing is wrong"},
	}},
	{"docs/inspect.svg", "", []step{
		{line: "clear; meowdis inspect words.sqlite", see: "lengths"},
		{keys: []string{"/"}, see: "/"},
		{line: "l*", see: "lengths"},
		{keys: []string{"Enter"}, see: "lengths"},
	}},
}

func main() {
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
	if err := fill(dir); err != nil {
		return err
	}
	for _, p := range pictures {
		screen, err := p.take(dir)
		if err != nil {
			return fmt.Errorf("%s: %w", p.file, err)
		}
		if err := os.WriteFile(p.file, []byte(svg(screen, columns, rows)), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// fill makes words.sqlite as the README's tour does.
func fill(dir string) error {
	var script strings.Builder
	words, err := os.ReadFile("/usr/share/dict/american-english")
	if err != nil {
		return fmt.Errorf("the pictures show a word list (Debian: apt-get install wamerican): %w", err)
	}
	for _, w := range strings.Fields(string(words)) {
		letter := strings.ToLower(w[:1])
		fmt.Fprintf(&script, "SET \"word:%s\" %d\nSADD \"letter:%s\" \"%s\"\nZADD lengths %d \"%s\"\n", w, len(w), letter, w, len(w), w)
	}
	cmd := exec.Command(filepath.Join(dir, "bin", "meowdis"), "exec", "--db", filepath.Join(dir, "words.sqlite"))
	cmd.Stdin = strings.NewReader(script.String())
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("filling the file: %w: %.500s", err, out)
	}
	return nil
}

func (p picture) take(dir string) (screen string, err error) {
	t, err := terminal.Start(columns, rows, "PATH="+filepath.Join(dir, "bin")+":"+os.Getenv("PATH"), "HOME="+dir,
		"MEOWDIS_DB=words.sqlite", "COLORTERM=truecolor")
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, t.Close()) }()
	if err := t.Run("cd " + dir); err != nil {
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
	time.Sleep(time.Second) // for the last frame to be drawn
	return t.Coloured()
}
