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

// TestDescriptions chooses the longest description beside which the bar fits.
func TestDescriptions(t *testing.T) {
	for width, want := range map[int]string{38: "long text", 37: "short", 10: "short"} {
		var drawn bytes.Buffer
		p := New(&drawn, func() (int, int, error) { return width, 24, nil }, "", "keys", 100)
		p.began = time.Now().Add(-2 * quick)
		for deadline := time.Now().Add(10 * time.Second); drawn.Len() == 0 && time.Now().Before(deadline); {
			p.Say("long text", "short") // draws ten times a second
		}
		if !strings.Contains(drawn.String(), want) {
			t.Errorf("%d columns: %q", width, drawn.String())
		}
	}
}

// TestBytes: sizes are shown as people write them, so that there is room for the time that is left.
func TestBytes(t *testing.T) {
	var drawn bytes.Buffer
	p := New(&drawn, func() (int, int, error) { return 80, 24, nil }, "running", "bytes", 12_533_780)
	p.began = time.Now().Add(-2 * quick)
	p.Set(1_310_654, 12_533_780)
	p.Set(2_621_308, 12_533_780)
	if !strings.Contains(drawn.String(), "1.3/12 MB") {
		t.Errorf("drawn: %q", drawn.String())
	}
}

// lines sends on what is drawn.
type lines chan string

func (l lines) Write(text []byte) (int, error) {
	l <- string(text)
	return len(text), nil
}

// TestWait: a long step shows what is being waited for, and leaves nothing on the line.
func TestWait(t *testing.T) {
	drawn := make(lines)
	p := New(drawn, func() (int, int, error) { return 20, 12, nil }, "packing", "files", -1)
	p.tick = time.Millisecond
	over := p.Wait("packing a file of some size")
	if line := <-drawn; line != "\rpacking a file of s" {
		t.Errorf("drawn: %q", line)
	}
	go func() {
		over()
		close(drawn)
	}()
	var last string
	for last = range drawn {
	}
	if last != "\r\x1b[K" {
		t.Errorf("drawn last: %q", last)
	}
}
