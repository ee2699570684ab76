package value

import (
	"strings"
	"testing"

	"github.com/meowdis/meowdis/redis/resp"
)

func TestWindowsShareALetter(t *testing.T) {
	// A three-byte character with two bytes in the second window.
	data := strings.Repeat("x", windowSize-1) + "東" + "end"
	first := window([]byte(data[:min(windowSize+overlap, len(data))]))
	second := window([]byte(data[windowSize:]))
	a, b := textWindow(0, first, 80), textWindow(1, second, 80)
	if last := a[len(a)-1]; !strings.HasSuffix(string(first.data[last.Start:last.End]), "x東") {
		t.Errorf("the first window ends with %q", first.data[last.Start:last.End])
	}
	if got := string(second.data[b[0].Start:b[0].End]); got != "end" {
		t.Errorf("the second window begins with %q", got)
	}
}

func TestScores(t *testing.T) {
	for in, want := range map[string]string{
		"3.1400000000000001": "3.14", "1e6": "1000000", "1234567.5": "1234567.5", "1e100": "1e+100", "inf": "inf", "-inf": "-inf", "0": "0",
	} {
		if got := score(resp.MakeString(in)); got != want {
			t.Errorf("score %s: %q, want %q", in, got, want)
		}
	}
}
