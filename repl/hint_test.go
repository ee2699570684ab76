package repl

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/meowdis/meowdis/redis/commands"
)

// TestHintOrder checks that hints show the most used options first, and leave out the least used ones.
func TestHintOrder(t *testing.T) {
	for _, c := range []struct {
		typed   string
		columns int
		want    string
	}{
		{"SET k v ", 200, "[EX seconds|PX milliseconds|KEEPTTL|EXAT unix-time-seconds|PXAT unix-time-milliseconds] [NX|XX|IFEQ ifeq-value|IFNE ifne-value|IFDEQ ifdeq-digest|IFDNE ifdne-digest] [GET]"},
		{"SET k v ", 60, "[EX seconds|PX milliseconds|KEEPTTL|…] [NX|XX|…] [GET]"},
		{"SET k v ", 30, "[EX seconds|…] [NX|…] …"},
		{"SET k v EX", 60, " seconds [NX|XX|IFEQ ifeq-value|IFNE ifne-value|…] [GET]"},
		{"XADD s ", 60, "<*|id> field value [field value ...] …"},
		{"XREADGROUP GROUP g c ", 70, "[COUNT count] [BLOCK milliseconds] STREAMS key [key ...] id [id ...] …"},
		{"ZADD k ", 200, "[NX|XX] [GT|LT] [CH] [INCR] score member [score member ...]"},
		{"SETEX k", 7, " secon…"},
		{"GET k x ", 12, " too many a…"},
		{"OBJECT ", 9, "ENCODING…"},
		{"GET k", 40, ""},
		{"GET", 0, ""},
	} {
		_, after := paint(c.typed, commands.Ours, true)
		got := ansi.Strip(after.render(c.columns))
		if got != c.want {
			t.Errorf("%q in %d columns: got %q, want %q", c.typed, c.columns, got, c.want)
		}
	}
}

// TestHintsFit checks that no hint is wider than the screen, for every command and width.
func TestHintsFit(t *testing.T) {
	for _, cmd := range commands.All() {
		_, after := paint(cmd.Name+" ", commands.Ours, true)
		for _, columns := range []int{0, 1, 5, 20, 60, 100, 400} {
			if shown := after.render(columns); ansi.StringWidth(shown) > columns || strings.Contains(shown, "\n") {
				t.Errorf("%s in %d columns: %q", cmd.Name, columns, shown)
			}
		}
	}
}
