package server

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/redis/resp"
)

func TestFeedIsBounded(t *testing.T) {
	f := newFeed("messages", "SUBSCRIBE")
	message := func(i int) resp.Value {
		return resp.MakeArray(resp.MakeString("message"), resp.MakeString("news"), resp.MakeString(fmt.Sprint(i)+strings.Repeat("x", 2*maxLineBytes)))
	}
	for i := range 5 * maxFeedLines {
		if err := f.addLine(message(i)); err != nil {
			t.Fatal(err)
		}
	}
	lines, came, ended, err := f.snapshot()
	if len(lines) != maxFeedLines || came != 5*maxFeedLines || ended || err != nil || len(f.lines) > 2*maxFeedLines {
		t.Errorf("%d lines of %d, %v %v, and %d in memory", len(lines), came, ended, err, len(f.lines))
	}
	if last := lines[maxFeedLines-1][1]; !strings.HasPrefix(last, fmt.Sprint(5*maxFeedLines-1)) || len(last) > maxLineBytes {
		t.Errorf("the last line has %d bytes: %.20s", len(last), last)
	}
	f.togglePause()
	if err := f.addLine(message(0)); err != nil {
		t.Fatal(err)
	}
	if held, came, _, _ := f.snapshot(); len(held) != maxFeedLines || came != 5*maxFeedLines+1 || held[maxFeedLines-1][1] != lines[maxFeedLines-1][1] {
		t.Error("a line came while the screen was held")
	}
}

// TestFeedEnds checks that a feed says why it ended, and that leaving the view ends it.
func TestFeedEnds(t *testing.T) {
	lost := errors.New("connection reset")
	for name, listen := range map[string]Listener{
		"NOPERM": func(_ context.Context, _ [][]byte, _ func(error), each func(resp.Value) error) error {
			return each(resp.MakeError("NOPERM this user may not listen"))
		},
		"connection reset": func(context.Context, [][]byte, func(error), func(resp.Value) error) error { return lost },
		"other processes": func(_ context.Context, _ [][]byte, notice func(error), _ func(resp.Value) error) error {
			notice(errors.New("no messages of other processes"))
			return context.Canceled
		},
	} {
		f := newFeed("", "MONITOR")
		f.run(listen, nil)()
		if _, _, ended, err := f.snapshot(); !ended || err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: ended %v with %v", name, ended, err)
		}
	}
	f := newFeed("", "MONITOR")
	run := f.run(func(ctx context.Context, _ [][]byte, _ func(error), _ func(resp.Value) error) error {
		<-ctx.Done()
		return context.Cause(ctx)
	}, nil)
	f.close()
	run()
	if _, _, ended, err := f.snapshot(); !ended || err != nil {
		t.Errorf("left by the person: ended %v with %v", ended, err)
	}
}

func TestMonitored(t *testing.T) {
	for line, want := range map[string]string{
		`1700000000.123456 [3 127.0.0.1:5] "set" "a\x00b" "two words"`: `3|127.0.0.1:5|set "a\x00b" "two words"`,
		`1700000000.1 [0 lua] "get" "k"`:                               "0|lua|get k",
		"something else":                                               "||something else",
	} {
		if got := strings.Join(parseMonitorLine(line)[1:], "|"); got != want {
			t.Errorf("%s: %s, want %s", line, got, want)
		}
	}
}

// TestManyRows checks that a view keeps a bounded number of rows.
func TestManyRows(t *testing.T) {
	v := views()[clientsView]
	var list strings.Builder
	for i := range 3 * maxRows {
		fmt.Fprintf(&list, "id=%d addr=127.0.0.1:%d name= age=1 idle=1 db=0 cmd=get user=default\n", i+1, i)
	}
	v.setReplies([]resp.Value{resp.MakeString(list.String()), resp.MakeInt(2)}, 0)
	if len(v.rows) != maxRows || v.note != "the first 1,000 of 3,000" {
		t.Errorf("%d rows: %s", len(v.rows), v.note)
	}
	v.setReplies([]resp.Value{resp.MakeError("NOPERM no"), resp.MakeError("NOPERM no")}, 0)
	if v.err == nil || v.rows != nil {
		t.Errorf("refused: %v, and %d rows", v.err, len(v.rows))
	}
}
