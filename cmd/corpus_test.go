package cmd_test

import (
	"bytes"
	"errors"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/internal/test/corpus"
	"github.com/meowdis/meowdis/redis/resp"
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

// differs reports whether a step is of the commands that exec treats in its own way (a failed SELECT
// stops every script, a report is printed as it is) and of those whose help texts
// are not Redis's.
func differs(s corpus.Step) bool {
	switch strings.ToUpper(string(s.Args[0])) {
	case "SELECT", "AUTH", "HELLO":
		return strings.HasPrefix(s.Want, "(error)")
	case "INFO", "LOLWUT", "CLIENT", "FT.HYBRID", "FT.PROFILE": // the last two reply with times
		return true
	}
	return len(s.Args) == 2 && strings.EqualFold(string(s.Args[1]), "help")
}

// needsConnection reports whether steps use what a REST endpoint does not have.
func needsConnection(steps []corpus.Step) bool {
	return has(steps, "WATCH", "AUTH", "HELLO", "RESET", "QUIT", "CLIENT", "BLPOP", "BLMOVEM")
}

// leavesTraces reports whether steps may leave something to what follows that FLUSHALL does not
// end.
func leavesTraces(steps []corpus.Step) bool {
	return needsConnection(steps) || has(steps, "MULTI", "CONFIG", "DEBUG")
}

func has(steps []corpus.Step, names ...string) bool {
	return slices.ContainsFunc(steps, func(s corpus.Step) bool {
		return slices.Contains(names, strings.ToUpper(string(s.Args[0])))
	})
}

// anyLength reports whether a step's reply may have more or fewer lines than the
// transcript's: it is followed by an ECHO, which says where it ends.
func anyLength(s corpus.Step) bool { return slices.Contains(s.Notes, "any") }

const end = "the end of the reply"

// play runs the steps of transcripts as one script, each on an empty database, and compares what
// it prints.
func play(t *testing.T, transcripts []corpus.Transcript, target ...string) {
	t.Helper()
	var script []byte
	for _, tr := range transcripts {
		script = append(script, "FLUSHALL\nSELECT 0\n"...)
		for _, s := range tr.Steps {
			for _, arg := range s.Args {
				script = append(resp.AppendQuoted(script, arg, false), ' ')
			}
			script = append(script, '\n')
			if anyLength(s) {
				script = append(script, "ECHO '"+end+"'\n"...)
			}
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
	for _, tr := range transcripts {
		lines = lines[min(2, len(lines)):]
		for _, s := range tr.Steps {
			n, marks := strings.Count(s.Want, "\n")+1, 0
			if anyLength(s) {
				n, marks = slices.Index(lines, `"`+end+`"`), 1
			}
			if n < 0 || n > len(lines) {
				t.Fatalf("%s.txt:%d: the output ends too early", tr.Name, s.Line)
			}
			if got := strings.Join(lines[:n], "\n"); !s.MatchesText(got) {
				t.Fatalf("%s.txt:%d: %q\nmeowdis:    %s\ntranscript: %s", tr.Name, s.Line, s.Args, got, s.Want)
			}
			lines = lines[n+marks:]
		}
	}
}

// TestCorpus plays the transcripts through exec, a process for each group: on a file, and the first of each group over
// both protocols of a server.
func TestCorpus(t *testing.T) {
	t.Parallel()
	all, err := corpus.All()
	if err != nil {
		t.Fatal(err)
	}
	groups, begun := map[string][]corpus.Transcript{}, map[string]bool{}
	for _, tr := range all {
		tr.Steps = playable(tr)
		group, _, _ := strings.Cut(tr.Name, "_")
		if !begun[group] {
			begun[group] = true
			t.Run(tr.Name+" over networks", func(t *testing.T) {
				t.Parallel()
				_, redis := serveMemory(t)
				play(t, []corpus.Transcript{tr}, "-t", redis)
				if !needsConnection(tr.Steps) {
					rest, _ := serveMemory(t)
					play(t, []corpus.Transcript{tr}, "-t", rest, "--token", restToken)
				}
			})
		}
		if leavesTraces(tr.Steps) {
			group = tr.Name
		}
		groups[group] = append(groups[group], tr)
	}
	for name, transcripts := range groups {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			play(t, transcripts, "-t", t.TempDir()+"/corpus.sqlite")
		})
	}
}
