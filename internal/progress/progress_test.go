package progress

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
)

// TestProgress looks at a bar in a narrow terminal: it takes one line, counts from
// the beginning of the work, and leaves nothing on the screen.
func TestProgress(t *testing.T) {
	for _, total := range []int64{100000, -1} {
		var drawn bytes.Buffer
		p := New(&drawn, func() (int, int, error) { return 40, 12, nil }, "copying", "keys", total)
		p.began = time.Now().Add(time.Hour) // however slow the machine is
		p.Set(10000, total)
		p.Say("copying still")
		if drawn.Len() > 0 {
			t.Errorf("quick work shows %q", drawn.String())
		}
		p.began = time.Now().Add(-2 * quick)
		for deadline := time.Now().Add(10 * time.Second); drawn.Len() == 0 && time.Now().Before(deadline); {
			p.Set(50000, total) // draws ten times a second
		}
		p.End()
		shown := drawn.String()
		for line := range strings.SplitSeq(shown, "\r") {
			if ansi.StringWidth(line) >= 40 {
				t.Errorf("a line is too wide: %q", line)
			}
		}
		if lines := strings.Split(shown, "\r"); !strings.Contains(shown, "copying") || strings.TrimSpace(lines[len(lines)-2]) != "" || lines[len(lines)-1] != "" || total < 0 && strings.Contains(shown, " 0 keys") {
			t.Errorf("drawn: %q", shown)
		}
	}
}
