package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/internal/hermetic"
	"github.com/meowdis/meowdis/internal/terminal"
)

const wordList = "/usr/share/dict/american-english"

// TestTour runs the README's tour as a new user would, and holds its answers
// against the word list; then it looks at the file in the REPL and the inspector.
func TestTour(t *testing.T) {
	words, err := os.ReadFile(wordList)
	if err != nil {
		t.Fatalf("the tour needs a word list (Debian: apt-get install wamerican): %v", err)
	}
	dir := t.TempDir()
	build := exec.Command("go", "build", "-o", filepath.Join(dir, "meowdis"), ".")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building: %v\n%s", err, out)
	}
	got := strings.Split(runTour(t, dir), "\n")
	facts := countWords(strings.Fields(string(words)))
	for i, want := range []string{
		strconv.Itoa(facts.words + facts.letters + 1), "3", strconv.Itoa(facts.m),
	} {
		if got[i] != want {
			t.Errorf("answer %d of the tour is %q, not %q", i+1, got[i], want)
		}
	}
	if got[4] != strconv.Itoa(facts.longest) {
		t.Errorf("the longest word has %s letters, not %d", got[4], facts.longest)
	}
	if ttl, err := strconv.Atoi(got[9]); err != nil || ttl < 86000 || ttl > 86400 {
		t.Errorf("TTL answered %q", got[9])
	}
	if rest := strings.Join(got[10:], "\n"); !strings.Contains(rest, "word:zebra\n") || !strings.Contains(rest, "INSERT INTO zsets") ||
		!strings.Contains(rest, "zset|1|"+strconv.Itoa(facts.words)+"\n") {
		t.Errorf("the rest of the tour answered %.2000s", rest)
	}
	lookAround(t, dir)
}

func runTour(t *testing.T, dir string) string {
	t.Helper()
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, tour, ok := strings.Cut(string(readme), "<!-- tour -->\n```sh\n")
	tour, _, ok2 := strings.Cut(tour, "```\n<!-- /tour -->")
	if !ok || !ok2 {
		t.Fatal("the README has no tour")
	}
	cmd := exec.Command("bash", "-euo", "pipefail", "-c", tour)
	cmd.Dir = dir
	cmd.Env = append(hermetic.Environ(), "PATH="+dir+string(os.PathListSeparator)+os.Getenv("PATH"), "HOME="+dir)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("the tour failed: %v\n%s%s", err, out, stderr.Bytes())
	}
	return string(out)
}

type wordFacts struct{ words, letters, m, longest int }

func countWords(words []string) (f wordFacts) {
	letters := map[byte]bool{}
	for _, w := range words {
		first := w[0]
		if 'A' <= first && first <= 'Z' {
			first += 'a' - 'A'
		}
		letters[first] = true
		if first == 'm' {
			f.m++
		}
		f.longest = max(f.longest, len(w))
	}
	f.words, f.letters = len(words), len(letters)
	return f
}

// lookAround opens the tour's file in a real terminal.
func lookAround(t *testing.T, dir string) {
	s, err := terminal.Start(80, 24, "PATH="+dir+string(os.PathListSeparator)+os.Getenv("PATH"), "HOME="+dir, "MEOWDIS_DB=words.sqlite")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	const prompt = "$"
	for _, step := range []struct{ line, see string }{
		{"cd " + dir, prompt},
		{"meowdis repl", "words.sqlite>"},
		{"ZSCORE lengths zebra", `"5"`},
		{"quit", prompt},
		{"meowdis inspect words.sqlite", "word:"},
	} {
		if err := s.Run(step.line); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Wait(step.see, func(screen string) bool {
			return strings.Contains(screen, step.see) && (step.see != prompt || strings.HasSuffix(strings.TrimSpace(screen), prompt))
		}); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Press("q"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Wait("the shell to be back", func(screen string) bool {
		return strings.HasSuffix(strings.TrimSpace(screen), prompt)
	}); err != nil {
		t.Fatal(err)
	}
}
