package cmd_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// form is a row of the table in docs/scripting.md.
type form struct {
	command, kind  string
	must, optional []string
}

var formRow = regexp.MustCompile("^\\| `(meowdis [^`]*)` \\| ([a-z ,]+) \\| (.*) \\|$")

// forms reads the table, and the whole page.
func forms(t *testing.T) (rows []form, page string) {
	t.Helper()
	text, err := os.ReadFile("../docs/scripting.md")
	if err != nil {
		t.Fatal(err)
	}
	var last form
	for line := range strings.Lines(string(text)) {
		m := formRow.FindStringSubmatch(strings.TrimSpace(line))
		if m == nil {
			continue
		}
		f := form{command: m[1], kind: m[2]}
		fields, more, _ := strings.Cut(m[3], ", and by type")
		for _, name := range strings.Fields(strings.ReplaceAll(fields, "`", "")) {
			if optional, is := strings.CutSuffix(name, "?"); is {
				f.optional = append(f.optional, optional)
			} else {
				f.must = append(f.must, name)
			}
		}
		f.optional = append(f.optional, strings.Fields(strings.NewReplacer("`", "", ",", "").Replace(more))...)
		if verb, as := strings.CutPrefix(m[3], "as "); as {
			if !strings.HasPrefix(last.command, "meowdis "+verb) {
				t.Errorf("%s: the row above is not that of %s", f.command, verb)
			}
			f.must, f.optional = last.must, last.optional
		} else {
			last = f
		}
		rows = append(rows, f)
	}
	return rows, string(text)
}

// check compares the fields of an object with the documented ones.
func (f form) check(t *testing.T, object []byte) {
	t.Helper()
	var got map[string]any
	if err := json.Unmarshal(object, &got); err != nil {
		t.Errorf("%s: %v in %s", f.command, err, object)
		return
	}
	for _, name := range f.must {
		if _, is := got[name]; !is {
			t.Errorf("%s: %s is missing in %s", f.command, name, object)
		}
	}
	for name := range maps.Keys(got) {
		if !slices.Contains(f.must, name) && !slices.Contains(f.optional, name) {
			t.Errorf("%s: %s is not documented, in %s", f.command, name, object)
		}
	}
}

// TestScripting runs each command of the table in docs/scripting.md, and compares what it
// prints with it. Every verb stands there.
func TestScripting(t *testing.T) {
	t.Parallel()
	config := "XDG_CONFIG_HOME=" + t.TempDir()
	rows, page := forms(t)
	dir := t.TempDir()
	sh := func(line string) *exec.Cmd {
		run := exec.Command("sh", "-c", "exec "+line)
		run.Dir, run.Env = dir, append(os.Environ(), config)
		return run
	}
	for _, line := range []string{
		"meowdis exec -t cats.sqlite HSET cat:1 name Tom", "meowdis exec -t cats.sqlite SET text v EX 1000",
		"meowdis exec -t dogs.sqlite SET dog Rex", "meowdis profile add dev -t cats.sqlite",
		"meowdis tenants add shop tom",
	} {
		if out, err := sh(line).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", line, err, out)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "commands.txt"), []byte("SET a 1\nINCR a\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	url := ""
	for _, f := range slices.Backward(rows) { // serve comes before health
		switch {
		case f.kind == "line at first":
			line, end := first(t, sh(f.command))
			defer end()
			f.check(t, line)
			var told struct {
				Listeners []struct{ Protocol, URL string }
			}
			json.Unmarshal(line, &told)
			for _, l := range told.Listeners {
				if l.Protocol == "REST" {
					url = l.URL
				}
			}
		case strings.HasSuffix(f.kind, "ended"):
			f.listens(t, sh)
		}
	}
	for _, f := range rows {
		if f.kind != "object" && f.kind != "lines" && f.kind != "array of objects" {
			continue
		}
		run := sh(strings.Replace(f.command, "URL", url, 1))
		var says bytes.Buffer
		run.Stderr = &says
		out, err := run.Output()
		if err != nil && !strings.HasPrefix(f.command, "meowdis diff") { // where 1 is that something differs
			t.Errorf("%s: %v\n%s", f.command, err, says.String())
			continue
		}
		objects := slices.Collect(bytes.Lines(out))
		switch f.kind {
		case "object":
			objects = [][]byte{out}
		case "array of objects":
			var elements []json.RawMessage
			if err := json.Unmarshal(out, &elements); err != nil {
				t.Errorf("%s: %v in %s", f.command, err, out)
			}
			objects = objects[:0]
			for _, e := range elements {
				objects = append(objects, e)
			}
		}
		if len(objects) == 0 {
			t.Errorf("%s prints nothing", f.command)
		}
		for _, object := range objects {
			f.check(t, object)
		}
	}
	help, err := exec.Command("meowdis", "help", "verbs").Output()
	if err != nil {
		t.Fatal(err)
	}
	help, _, _ = bytes.Cut(help, []byte("Topics:"))
	verbs := regexp.MustCompile(`(?m)^  ([a-z]+)  +[A-Z]`).FindAllSubmatch(help, -1)
	if len(verbs) < 30 {
		t.Errorf("the help lists %d verbs:\n%s", len(verbs), help)
	}
	for _, m := range verbs {
		if !regexp.MustCompile("`meowdis " + string(m[1]) + "[ `]").MatchString(page) {
			t.Errorf("docs/scripting.md does not say what %s prints", m[1])
		}
	}
}

// first starts a program and returns its first line, and what ends it.
func first(t *testing.T, run *exec.Cmd) (line []byte, end func()) {
	t.Helper()
	out, err := run.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	hung := time.AfterFunc(patience, func() { run.Process.Kill() })
	defer hung.Stop()
	line, err = bufio.NewReader(out).ReadBytes('\n')
	if err != nil {
		t.Errorf("%v prints nothing: %v", run.Args, err)
	}
	return line, func() {
		run.Process.Signal(syscall.SIGTERM)
		io.Copy(io.Discard, out)
		run.Wait()
	}
}

// listens starts a verb that prints what it hears, and publishes until it has.
func (f form) listens(t *testing.T, sh func(string) *exec.Cmd) {
	t.Helper()
	heard, told := make(chan struct{}), make(chan error, 1)
	go func() {
		for {
			if err := sh("meowdis exec -t cats.sqlite PUBLISH news hello").Run(); err != nil {
				told <- err
				return
			}
			select {
			case <-heard:
				told <- nil
				return
			case <-time.After(10 * time.Millisecond):
			}
		}
	}()
	line, end := first(t, sh(f.command))
	close(heard)
	if err := <-told; err != nil {
		t.Errorf("%s: %v", f.command, err)
	}
	end()
	f.check(t, line)
}
