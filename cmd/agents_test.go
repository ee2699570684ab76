package cmd_test

import (
	"os/exec"
	"strings"
	"testing"
)

// TestAgentsTopic runs each command of the text for agents, in order.
func TestAgentsTopic(t *testing.T) {
	t.Parallel()
	text, err := exec.Command("meowdis", "help", "agents").Output()
	if err != nil {
		t.Fatal(err)
	}
	dir, ran := t.TempDir(), 0
	sh := func(line string) {
		t.Helper()
		run := exec.Command("sh", "-c", line)
		run.Dir = dir
		if out, err := run.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", line, err, out)
		}
	}
	sh("meowdis exec -t cats.sqlite HSET cat:1 name Tom")
	for line := range strings.Lines(string(text)) {
		if command, is := strings.CutPrefix(line, "  "); is && strings.Contains(command, "meowdis ") {
			sh(command)
			ran++
		}
	}
	if ran < 9 {
		t.Errorf("%d commands were found in\n%s", ran, text)
	}
}
