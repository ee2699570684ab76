package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/internal/test/corpus"
	"github.com/meowdis/meowdis/internal/test/hermetic"
)

// TestSample adds the command that CONTRIBUTING makes up as it says there: an entry, a
// function and a transcript. The program that is built of them has the command wherever
// commands are.
func TestSample(t *testing.T) {
	sample := readSample(t)
	dir := t.TempDir()
	program := buildWith(t, dir, map[string][2]string{ // after the first text of the file comes the second
		"redis/commands/set.go":   {"var setCommands = []Command{\n", sample.entry},
		"translator/set.go":       {"var setTranslations = translations{\n", sample.name},
		"translator/set_write.go": {"", sample.function},
	})
	run := func(args ...string) string {
		cmd := exec.Command(program, args...)
		cmd.Env = append(hermetic.Environ(), "HOME="+dir)
		out, _ := cmd.CombinedOutput() // an error reply ends with a status of its own
		return string(out)
	}
	file := filepath.Join(dir, "sample.sqlite")
	on := func(args ...string) string {
		return run(append([]string{"exec", "-t", file, "--output", "typed"}, args...)...)
	}

	tr, err := corpus.Parse("sample", sample.transcript)
	if err != nil || len(tr.Steps) == 0 {
		t.Fatalf("%d steps, %v", len(tr.Steps), err)
	}
	for _, s := range tr.Steps {
		args := make([]string, len(s.Args))
		for i, arg := range s.Args {
			args[i] = string(arg)
		}
		if got := strings.TrimSuffix(on(args...), "\n"); got != s.Want {
			t.Errorf("%q: got %s, want %s", args, got, s.Want)
		}
	}
	for _, c := range []struct{ what, got, want string }{
		{"arity", on("SKEEP", "cats"), "ERR wrong number of arguments for 'skeep' command"},
		{"COMMAND INFO", on("COMMAND", "INFO", "skeep"), `"skeep"`},
		{"COMMAND DOCS", on("COMMAND", "DOCS", "skeep"), "Removes all members of a set but those given"},
		{"COMMAND GETKEYS", on("COMMAND", "GETKEYS", "SKEEP", "cats", "tom"), `1) "cats"`},
		{"help", run("help", "SKEEP"), "key member [member ...]"},
		{"completion", run("__complete", "exec", "SKE"), "SKEEP\tRemoves all members"},
		{"a slip", on("SKEPP", "cats", "tom"), "Did you mean SKEEP?"},
		{"explain", run("explain", "SKEEP", "cats", "tom"), "DELETE FROM sets"},
	} {
		if !strings.Contains(c.got, c.want) {
			t.Errorf("%s: got %s, want it to have %q", c.what, c.got, c.want)
		}
	}
}

// sample is what CONTRIBUTING shows of adding a command.
type sample struct{ entry, name, function, transcript string }

var fenced = regexp.MustCompile("(?s)   ```([a-z]*)\n(.*?)   ```\n")

func readSample(t *testing.T) sample {
	t.Helper()
	text, err := os.ReadFile("CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "## Adding a command\n")
	section, _, _ = strings.Cut(section, "\n## ")
	blocks := map[string][]string{}
	for _, b := range fenced.FindAllStringSubmatch(section, -1) {
		lines := strings.Split(b[2], "\n")
		for i := range lines {
			lines[i] = strings.TrimPrefix(lines[i], "   ")
		}
		blocks[b[1]] = append(blocks[b[1]], strings.Join(lines, "\n"))
	}
	if len(blocks["go"]) != 3 || len(blocks[""]) != 1 {
		t.Fatalf("CONTRIBUTING.md shows %d pieces of Go and %d transcripts, not an entry, a name, a function, and a transcript",
			len(blocks["go"]), len(blocks[""]))
	}
	return sample{blocks["go"][0], blocks["go"][1], blocks["go"][2], blocks[""][0]}
}

// buildWith builds the program with an addition to each of some files, which stay as
// they are: after a text of the file, or at its end.
func buildWith(t *testing.T, dir string, additions map[string][2]string) (program string) {
	t.Helper()
	root, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	replaced := map[string]string{}
	for name, a := range additions {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		before, after, ok := strings.Cut(string(text), a[0])
		if a[0] == "" {
			before, after = string(text), ""
		}
		if !ok {
			t.Fatalf("%s has no %q", name, a[0])
		}
		changed := filepath.Join(dir, strings.ReplaceAll(name, "/", "_"))
		write(t, changed, before+a[0]+a[1]+after)
		replaced[filepath.Join(root, name)] = changed
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replaced})
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "overlay.json"), string(overlay))
	program = filepath.Join(dir, "meowdis")
	// Without optimising, since most of the program depends on these files and has to be compiled again.
	build := exec.Command("go", "build", "-overlay", filepath.Join(dir, "overlay.json"), "-gcflags=github.com/meowdis/meowdis/...=-N -l -dwarf=false",
		"-ldflags=-s -w", "-o", program, ".")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building with the sample of CONTRIBUTING.md: %v\n%s", err, out)
	}
	return program
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
