package cmd_test

import (
	"bytes"
	"errors"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/internal/corpus"
	"github.com/meowdis/meowdis/resp"
)

// playable is the beginning of a transcript that one script can play: one client
// and real time, without commands whose output is not a reply in its usual form.
func playable(tr corpus.Transcript) []corpus.Step {
	var steps []corpus.Step
	for _, s := range tr.Steps {
		if s.Client != 1 || s.Clock != 0 {
			break
		}
		if len(s.Args) > 0 && !differs(s) {
			steps = append(steps, s)
		}
	}
	return steps
}

// differs tells of the commands that exec treats in its own way (a failed SELECT
// stops every script, a report is printed as it is) and of those whose help texts
// are not Redis's.
func differs(s corpus.Step) bool {
	switch strings.ToUpper(string(s.Args[0])) {
	case "SELECT", "AUTH", "HELLO":
		return strings.HasPrefix(s.Want, "(error)")
	case "INFO", "LOLWUT", "CLIENT":
		return true
	}
	return len(s.Args) == 2 && strings.EqualFold(string(s.Args[1]), "help")
}

// needsConnection reports whether steps use what a REST endpoint does not have.
func needsConnection(steps []corpus.Step) bool {
	return slices.ContainsFunc(steps, func(s corpus.Step) bool {
		switch strings.ToUpper(string(s.Args[0])) {
		case "WATCH", "AUTH", "HELLO", "RESET", "QUIT", "CLIENT", "BLPOP":
			return true
		}
		return false
	})
}

// anyLength reports whether a step's reply may have more or fewer lines than the
// transcript's: it is followed by an ECHO, which says where it ends.
func anyLength(s corpus.Step) bool { return slices.Contains(s.Notes, "any") }

const end = "the end of the reply"

// play runs steps as a script and compares what it prints.
func play(t *testing.T, name string, steps []corpus.Step, target ...string) {
	t.Helper()
	var script []byte
	for _, s := range steps {
		for _, arg := range s.Args {
			script = append(resp.AppendQuoted(script, arg, false), ' ')
		}
		script = append(script, '\n')
		if anyLength(s) {
			script = append(script, "ECHO '"+end+"'\n"...)
		}
	}
	run := exec.Command("meowdis", append([]string{"exec", "--keep-going", "--no-raw", "--escape"}, target...)...)
	run.Stdin = bytes.NewReader(script)
	var exit *exec.ExitError
	out, err := run.Output()
	if err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1) {
		t.Fatalf("%v\n%s", err, exit.Stderr)
	}
	lines := strings.Split(string(out), "\n")
	for _, s := range steps {
		n, marks := strings.Count(s.Want, "\n")+1, 0
		if anyLength(s) {
			n, marks = slices.Index(lines, `"`+end+`"`), 1
		}
		if n < 0 || n > len(lines) {
			t.Fatalf("%s.txt:%d: the output ends too early", name, s.Line)
		}
		if got := strings.Join(lines[:n], "\n"); !s.MatchesText(got) {
			t.Fatalf("%s.txt:%d: %q\nmeowdis:    %s\ntranscript: %s", name, s.Line, s.Args, got, s.Want)
		}
		lines = lines[n+marks:]
	}
}

// TestCorpus plays the transcripts through exec: on a file, and over both
// protocols of a server.
func TestCorpus(t *testing.T) {
	all, err := corpus.All()
	if err != nil {
		t.Fatal(err)
	}
	for _, tr := range all {
		t.Run(tr.Name, func(t *testing.T) {
			t.Parallel()
			steps := playable(tr)
			play(t, tr.Name, steps, "--db", t.TempDir()+"/corpus.sqlite")
			_, redis := serveMemory(t)
			play(t, tr.Name, steps, "--url", redis)
			if !needsConnection(steps) {
				rest, _ := serveMemory(t)
				play(t, tr.Name, steps, "--url", rest, "--token", restToken)
			}
		})
	}
}
