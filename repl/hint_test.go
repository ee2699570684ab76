package repl

import (
	"strings"
	"testing"
)

func TestArgumentHint(t *testing.T) {
	for _, c := range []struct{ typed, want string }{
		{"", ""},
		{"se", ""},
		{"nope ", ""},
		{"get", " key"},
		{"GET ", "key"},
		{"GET k", ""},
		{"SETEX k ", "seconds value"},
		{"3 SETEX k 10", " value"},
		{`SETEX "a b" 10 `, "value"},
		{`SETEX "a`, ""},
		{"SET k v px 5 ", "[NX|XX|IFEQ ifeq-value|IFNE ifne-value|IFDEQ ifdeq-digest|IFDNE ifdne-digest] [GET]"},
		{"SET k v get nx ", "[EX seconds|PX milliseconds|EXAT unix-time-seconds|PXAT unix-time-milliseconds|KEEPTTL]"},
		{"SET k v EX", " [NX|XX|IFEQ ifeq-value|IFNE ifne-value|IFDEQ ifdeq-digest|IFDNE ifdne-digest] [GET]"},
		{"MSET a 1 b 2 ", "[key value ...]"},
		{"DEL a b ", "[key ...]"},
		{"OBJECT encoding ", "key"},
		{"LINSERT k before ", "pivot element"},
		{"LMPOP 2 a ", "[key ...] <LEFT|RIGHT> [COUNT count]"},
		{"LMPOP 2 a b right ", "[COUNT count]"},
	} {
		if got := argumentHint(c.typed); got != c.want {
			t.Errorf("%q: got %q, want %q", c.typed, got, c.want)
		}
	}
	if got := argumentHint("OBJECT"); !strings.HasPrefix(got, " ") || !strings.Contains(got, "ENCODING") {
		t.Errorf("a container's subcommands: %q", got)
	}
}

func TestPainterKeepsTheCursor(t *testing.T) {
	h := &hinter{colour: true, width: func() int { return 30 }, prompt: "db> "}
	paint := func(line string, pos int) string { return string(h.Paint([]rune(line), pos)) }
	for _, c := range []struct {
		line string
		pos  int
		want string
	}{
		{"SETEX k ", 8, "SETEX k \x1b[2mseconds value\x1b[0m\x1b[13D"},
		{"SETEX key:12 ", 13, "SETEX key:12 \x1b[2mseconds val…\x1b[0m\x1b[12D"},
		{"SETEX k ", 3, "SETEX k "},
		{"SETEX k \n", 9, "SETEX k \n"},
		{"SETEX key:1234567890abcdef", 26, "SETEX key:1234567890abcdef\x1b[2m seconds value\x1b[0m\x1b[14D"},
		{"GET k", 5, "GET k"},
	} {
		if got := paint(c.line, c.pos); got != c.want {
			t.Errorf("%q: got %q, want %q", c.line, got, c.want)
		}
	}
	h.colour = false
	if got := paint("SETEX k ", 8); got != "SETEX k " {
		t.Errorf("without colour: %q", got)
	}
}
