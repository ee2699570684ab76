package termprobe_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/internal/test/hermetic"
)

// TestInitialisedFirst builds the program: only there are all packages together.
func TestInitialisedFirst(t *testing.T) {
	program := t.TempDir() + "/meowdis"
	if out, err := exec.Command("go", "build", "-ldflags=-s -w", "-o", program, "github.com/meowdis/meowdis").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	run := exec.Command(program, "version")
	run.Env = append(hermetic.Environ(), "GODEBUG=inittrace=1")
	trace, err := run.CombinedOutput()
	if err != nil {
		t.Fatal(err)
	}
	ours := strings.Index(string(trace), "init github.com/meowdis/meowdis/cmd/internal/termprobe ")
	bubbletea := strings.Index(string(trace), "init github.com/charmbracelet/bubbletea ")
	if ours < 0 || bubbletea < 0 || ours > bubbletea {
		t.Errorf("bubbletea asks the terminal before it is called dumb:\n%s", trace)
	}
}
