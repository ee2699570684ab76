package repl

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/meowdis/meowdis/keyspace"
	"github.com/meowdis/meowdis/redis/resp"
)

// atOnce replies like a REST endpoint that does not block: first with several empty replies.
type atOnce struct {
	keyspace.Session
	asked []string
	left  int
}

func (s *atOnce) Do(_ context.Context, args ...[]byte) (resp.Value, error) {
	s.asked = append(s.asked, string(bytes.Join(args, []byte(" "))))
	if string(args[0]) == "XREVRANGE" {
		return resp.MakeArray(resp.MakeArray(resp.MakeString("5-1"), resp.Nil)), nil
	}
	if s.left--; s.left >= 0 {
		return resp.Nil, nil
	}
	return resp.MakeString("there"), nil
}

func TestPolls(t *testing.T) {
	for line, want := range map[string]string{
		"XREAD COUNT 2 BLOCK 0 STREAMS s $":                "XREVRANGE s + - COUNT 1|XREAD COUNT 2 STREAMS s 5-1|XREAD COUNT 2 STREAMS s 5-1|XREAD COUNT 2 STREAMS s 5-1",
		"xreadgroup group block c block 60000 streams s >": "xreadgroup group block c streams s >|xreadgroup group block c streams s >|xreadgroup group block c streams s >",
		"XREAD BLOCK 1 STREAMS s 0":                        "XREAD STREAMS s 0",
		"XREAD STREAMS s 0":                                "XREAD STREAMS s 0",
		"XREAD BLOCK -1 STREAMS s 0":                       "XREAD BLOCK -1 STREAMS s 0",
		"XREAD BLOCK":                                      "XREAD BLOCK",
		"GET k":                                            "GET k",
	} {
		s := &atOnce{Session: newSession(t), left: 2}
		every := time.Millisecond
		if strings.Contains(line, "BLOCK 1 ") {
			every = time.Hour // the wait is over before
		}
		l := &loop{Options: &Options{Target: Target{Session: s, PollEvery: every}}}
		words, err := resp.SplitLine(line)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := l.doPolling(t.Context(), words); err != nil {
			t.Error(err)
		}
		if got := s.asked; !slices.Equal(got, strings.Split(want, "|")) {
			t.Errorf("%s: asked %q, want %q", line, got, want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	l := &loop{Options: &Options{Target: Target{Session: &atOnce{left: 1}, PollEvery: time.Hour}}}
	words, _ := resp.SplitLine("XREAD BLOCK 0 STREAMS s 0")
	if _, err := l.doPolling(ctx, words); err == nil {
		t.Error("Ctrl-C does not end it")
	}
}
