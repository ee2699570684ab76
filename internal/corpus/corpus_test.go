package corpus_test

import (
	"context"
	"flag"
	"os"
	"testing"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/internal/corpus"
	"github.com/meowdis/meowdis/internal/oracle"
	"github.com/meowdis/meowdis/local"
)

var update = flag.Bool("update", false, "write the replies that redis-server gives into the transcripts")

// start is the time at which every transcript begins.
const start = 1_700_000_000_000

func all(t *testing.T) []corpus.Transcript {
	t.Helper()
	ts, err := corpus.All()
	if err != nil {
		t.Fatal(err)
	}
	if len(ts) == 0 {
		t.Fatal("the corpus is empty")
	}
	return ts
}

// TestOracle runs the transcripts on the real Redis: they must say what it
// answers.
func TestOracle(t *testing.T) {
	server := oracle.Start(t)
	clients := []*oracle.Conn{server.Dial(t), server.Dial(t)}
	for _, tr := range all(t) {
		if tr.Since != "" {
			continue
		}
		t.Run(tr.Name, func(t *testing.T) {
			for _, c := range clients {
				c.Do([]byte("RESET"))
			}
			clients[0].Do([]byte("FLUSHALL"))
			var replies []string
			for _, s := range tr.Steps {
				if s.Clock != 0 {
					break // nobody can move the real Redis's clock
				}
				v := clients[s.Client-1].Do(s.Args...)
				replies = append(replies, corpus.Show(v))
				if !*update && !s.Matches(v) {
					t.Errorf("%s.txt:%d: %q\nredis-server: %s\ntranscript:   %s", tr.Name, s.Line, s.Args, corpus.Show(v), s.Want)
				}
			}
			if *update {
				rewrite(t, tr, replies)
			}
		})
	}
}

func rewrite(t *testing.T, tr corpus.Transcript, replies []string) {
	t.Helper()
	for _, s := range tr.Steps[len(replies):] {
		replies = append(replies, s.Want)
	}
	name := "transcripts/" + tr.Name + ".txt"
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(corpus.Update(string(text), tr, replies)), 0o644); err != nil {
		t.Fatal(err)
	}
}

// run plays a transcript on an engine.
func run(t *testing.T, tr corpus.Transcript, e *engine.Engine, now *int64) {
	t.Helper()
	clients := []*engine.Session{e.Session(), e.Session()}
	for _, s := range tr.Steps {
		*now += s.Clock
		v, err := clients[s.Client-1].Do(context.Background(), s.Args...)
		if err != nil {
			t.Fatalf("%s.txt:%d: %q: %v", tr.Name, s.Line, s.Args, err)
		}
		if !s.Matches(v) {
			t.Errorf("%s.txt:%d: %q\nmeowdis:    %s\ntranscript: %s", tr.Name, s.Line, s.Args, corpus.Show(v), s.Want)
		}
	}
}

func newEngine(s engine.Store, now *int64) *engine.Engine {
	seed := uint64(0)
	return engine.New(s, engine.WithClock(func() int64 { return *now }), engine.WithSeed(func() uint64 { seed++; return seed }))
}

func testLocal(t *testing.T, path func(t *testing.T) string) {
	for _, tr := range all(t) {
		t.Run(tr.Name, func(t *testing.T) {
			now := int64(start)
			s, err := local.Open(path(t), local.Options{Now: func() int64 { return now }, SweepEvery: -1})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			run(t, tr, newEngine(s, &now), &now)
		})
	}
}

func TestFile(t *testing.T) {
	testLocal(t, func(t *testing.T) string { return t.TempDir() + "/corpus.sqlite" })
}

func TestMemory(t *testing.T) {
	testLocal(t, func(*testing.T) string { return local.Memory })
}
