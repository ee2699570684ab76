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

	"github.com/meowdis/meowdis/internal/terminal"
)

// The terminal of a picture that asks for no other.
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

	columns, rows int // 0: as all
}

type step struct {
	line string   // typed, then Enter
	keys []string // pressed, when line is empty
	see  string
}

var pictures = []picture{
	{file: "docs/exec.svg", prompt: "$", steps: []step{
		{line: "clear"},
		{line: "meowdis exec HSET user:1 name Ada lang Go", see: "2"},
		{line: "meowdis exec HGETALL user:1", see: `"Go"`},
		{line: "meowdis exec --json HGETALL user:1", see: `"lang":"Go"`},
		{line: `printf 'SET n 1\nINCR n\nLPUSH n x\nGET n\n' | meowdis exec; echo exit $?`, see: "exit 1"},
		{line: "meowdis explain INCR n | head -8", see: "plan:"},
	}},
	{file: "docs/repl.svg", prompt: ">", steps: []step{
		{line: "clear; meowdis repl", see: "words.sqlite"},
		{line: "SCARD letter:q", see: "(integer)"},
		{line: "ZREVRANGE lengths 0 1 WITHSCORES", see: "4)"},
		{line: "MULTI", see: "OK"},
		{line: "INCR visits", see: "QUEUED"},
		{line: "EXPIRE visits 3600", see: "(TX 2)"},
		{line: "EXEC", see: "2) (integer) 1"},
		{keys: []string{"Z", "R", "E", "V", "Tab", "Tab"}, see: "ZREVRANK"},
	}},
	{file: "docs/stats.svg", prompt: "$", steps: []step{
		{line: "clear; meowdis stats --prefixes 4 --top 4", see: "LARGEST"},
	}},
	{file: "docs/move.svg", prompt: "$", steps: []step{
		{line: "clear"},
		{line: "meowdis copy words.sqlite cats.sqlite --match '*cat*'", see: "copied"},
		{line: "meowdis exec --db cats.sqlite SET word:cat 4", see: "OK"},
		{line: "meowdis diff words.sqlite cats.sqlite --match '*cat*'; echo exit $?", see: "exit 1"},
		{line: "meowdis export --db cats.sqlite cats.rdb", see: "wrote"},
		{line: "meowdis exec --db cats.sqlite -o table SCAN 0 MATCH 'word:cat?' COUNT 200000", see: "word:cats"},
		{line: "meowdis doctor cats.sqlite", see: "nothing is wrong"},
	}},
	{file: "docs/inspect.svg", columns: 112, rows: 28, steps: []step{
		{line: "clear; meowdis inspect shop.sqlite", see: "▸ session:"},
		{keys: []string{"j", "Enter"}, see: "▾ cart:"},
		{keys: []string{"j", "j", "j", "j", "j", "j", "Enter"}, see: "▾ order:"},
		{keys: []string{"j", "j", "j"}, see: `"city": "Bern"`},
	}},
	{file: "docs/overview.svg", columns: 112, rows: 40, steps: []step{
		{line: "clear; meowdis inspect shop.sqlite", see: "▸ session:"},
		{keys: []string{"O"}, see: "journal"},
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
		if named := os.Args[1:]; len(named) > 0 && !slices.Contains(named, p.file) {
			continue
		}
		p.columns, p.rows = cmp.Or(p.columns, columns), cmp.Or(p.rows, rows)
		screen, err := p.take(dir)
		if err != nil {
			return fmt.Errorf("%s: %w", p.file, err)
		}
		if err := os.WriteFile(p.file, []byte(svg(screen, p.columns, p.rows)), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// fill makes words.sqlite as the README's tour does, and shop.sqlite.
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
	if err := feed(dir, "words.sqlite", script.String()); err != nil {
		return err
	}
	return feed(dir, "shop.sqlite", shop())
}

// feed runs a script on a file.
func feed(dir, file, script string) error {
	cmd := exec.Command(filepath.Join(dir, "bin", "meowdis"), "exec", "--db", filepath.Join(dir, file))
	cmd.Stdin = strings.NewReader(script)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("filling %s: %w: %.500s", file, err, out)
	}
	return nil
}

// shop is a data set as an application has it: values of all types, and times to
// live from seconds to weeks.
func shop() string {
	var s strings.Builder
	add := func(format string, args ...any) { fmt.Fprintf(&s, format+"\n", args...) }
	cities := []string{"Bern", "Oslo", "Kyoto", "Lima"}
	for i := range 400 {
		add(`SET session:%04x '{"user":%d,"seen":"2026-05-%02d"}' EX %d`, i*163, i, 1+i%28, 20+i*i)
		add("HSET user:%d name Ann%d city %s", i, i, cities[i%4])
	}
	for i := range 60 {
		add(`SET order:%d '{"id":%d,"paid":%t,"total":{"amount":%d.90,"currency":"EUR"},"ship":{"name":"Ann","city":"%s","zip":%d},"items":[{"sku":"A-%d","n":1},{"sku":"B-7","n":2}]}' EX %d`,
			1000+i, 1000+i, i%3 != 0, 12+i, cities[(i+2)%4], 3000+i, i, 86400+i*9000)
		add("RPUSH queue:mail 'order %d'", 1000+i)
		add("XADD log:%s * order %d", cities[i%4], i)
		add("ZADD ranking %d A-%d", i*i%97, i)
		add("SADD tag:%s A-%d", cities[i%4], i)
	}
	for i := range 4 {
		add("HSET cart:%d A-%d 1 B-7 2 total '%d.50 EUR'", i, i, 20+i)
		add("EXPIRE cart:%d %d", i, 40+i*317)
	}
	for i := range 40 {
		add("SET cache:page:%d '<h1>%d</h1>' EX %d", i, i, 600+i*13)
	}
	return s.String()
}

func (p picture) take(dir string) (screen string, err error) {
	t, err := terminal.Start(p.columns, p.rows, "PATH="+filepath.Join(dir, "bin")+":"+os.Getenv("PATH"), "HOME="+dir,
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
