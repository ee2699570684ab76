package repl

import (
	"flag"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/meowdis/meowdis/embedded"
	"github.com/meowdis/meowdis/internal/test/oracle"
	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
)

var update = flag.Bool("update", false, "write the replies of the examples in help.txt")

// omitted stands for a reply in help.txt that differs from run to run.
const omitted = "…"

// TestExamples runs the examples of HELP here and, where it has the commands, on Redis 8.0 or later.
func TestExamples(t *testing.T) {
	db, err := embedded.Open(embedded.Memory)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	conn, err := db.Dialer(t.Context(), "", "")
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	redis := oracle.Start(t).Dial(t)
	ours, theirs, compared := replies(t, conn), redis.Do, !redis.Version().Before("8.0")
	var written strings.Builder
	example := false
	lines := strings.Split(strings.TrimSuffix(helpText, "\n"), "\n")
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		written.WriteString(line + "\n")
		if name, begins := strings.CutPrefix(line, "example "); begins {
			example = true
			for _, do := range []func(...[]byte) resp.Value{ours, theirs} {
				for _, reset := range []string{"DISCARD", "FLUSHALL", "SCRIPT FLUSH", "FUNCTION FLUSH", "RESET"} {
					typedReply(t, do, reset)
				}
			}
			if commands.Lookup(name) == nil {
				t.Errorf("an example of %s, which is not a command", name)
			}
		}
		typed, isCall := strings.CutPrefix(line, "> ")
		if !example || !isCall {
			continue
		}
		end := i + 1
		for end < len(lines) && !strings.HasPrefix(lines[end], "> ") && !strings.HasPrefix(lines[end], "example ") {
			end++
		}
		want := strings.Join(lines[i+1:end], "\n")
		got := typedReply(t, ours, typed)
		if redis := typedReply(t, theirs, typed); compared && want != omitted && redis != got && !strings.Contains(redis, "unknown command") && !strings.Contains(redis, "unknown subcommand") {
			t.Errorf("%s: we reply %s, Redis replies %s", typed, got, redis)
		}
		switch {
		case want == omitted && !*update && strings.HasPrefix(got, "(error)"):
			t.Errorf("%s: %s", typed, got)
		case want == omitted:
			got = omitted
		case got != want && !*update:
			t.Errorf("%s: got\n%s\nwant\n%s", typed, got, want)
		}
		written.WriteString(got + "\n")
		i = end - 1
	}
	if *update {
		if err := os.WriteFile("help.txt", []byte(written.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func typedReply(t *testing.T, do func(...[]byte) resp.Value, line string) string {
	t.Helper()
	args, err := resp.SplitLine(line)
	if err != nil {
		t.Fatal(line, err)
	}
	return strings.TrimRight(string(resp.Printer{}.Append(nil, do(args...))), "\n")
}

// TestHelpCoversTheTable checks that every option has a meaning, that data commands have two
// examples, and that every text is used.
func TestHelpCoversTheTable(t *testing.T) {
	used := map[string]bool{}
	var walk func(name string, args []commands.Argument)
	walk = func(name string, args []commands.Argument) {
		for _, a := range args {
			if a.Token != "" && optionMeaning(name, a.Token) == "" {
				t.Errorf("%s %s has no meaning", name, a.Token)
			}
			used[a.Token] = true
			walk(name, a.Arguments)
		}
	}
	for _, c := range commands.All() {
		if c.Group != "cluster" && !strings.HasPrefix(c.Name, "DEBUG") {
			walk(c.Name, c.SyntaxTree())
		}
		data := slices.Contains([]string{"string", "hash", "list", "set", "sorted-set", "stream", "geo", "bitmap", "hyperloglog", "generic"}, c.Group)
		n := 0
		for _, line := range allHelp().examples[c.Name] {
			if strings.HasPrefix(line, "> "+c.Name) {
				n++
			}
		}
		if inRedis := c.Docs(); data && n < 2 && member(inRedis, "complexity").Str != nil && len(c.Subcommands()) == 0 && !strings.Contains(c.Name, "HELP") && !strings.HasPrefix(c.Name, "PF") {
			t.Errorf("%s has %d examples", c.Name, n)
		}
	}
	for _, o := range allHelp().options {
		if !used[o.name] {
			t.Errorf("no command has the option %s", o.name)
		}
		if !slices.ContainsFunc(commands.All(), func(c *commands.Command) bool { ok, _ := path.Match(o.command, c.Name); return ok }) {
			t.Errorf("option %s of the unknown command %s", o.name, o.command)
		}
	}
}

// TestHelpPage reads whole pages at two widths.
func TestHelpPage(t *testing.T) {
	page := Help(commands.Ours, []string{"zadd"}, 80)
	mustShow(t, page, "ZADD key [NX|XX]", "Adds ", "NX  ", "only add new members", "XX  ", "GT  ", "INCR  ", "complexity  O(log(N))", "since       1.2.0", "group       sorted-set",
		"related     ", "ZINCRBY", "history     2.4.0  Accepts multiple elements.", "6.2.0", "> ZADD board 10 tom 20 felix\n  (integer) 2", "> ZADD board GT CH 15 tom\n  (integer) 1")
	mustShow(t, Help(commands.Ours, []string{"SETNX"}, 80), "deprecated  since 2.6.12: use SET with the NX argument")
	mustShow(t, Help(commands.Ours, []string{"EXPIRE"}, 80), "only if the key has no TTL")
	mustShow(t, Help(commands.Ours, []string{"XGROUP"}, 80), "XGROUP CREATE key group", "XGROUP DESTROY key group")
	mustShow(t, Help(commands.Ours, []string{"xgroup", "create"}, 80), "MKSTREAM", "> XGROUP CREATE log mailers $ MKSTREAM")
	for _, c := range commands.All() {
		for line := range strings.Lines(Help(commands.Ours, strings.Fields(c.Name), 80)) {
			if ansi.StringWidth(strings.TrimRight(line, "\n")) > 80 && !strings.HasPrefix(line, "  1)") {
				t.Errorf("%s: too wide: %q", c.Name, line)
			}
		}
	}
}
