package server_test

import (
	"strings"
	"testing"

	"github.com/meowdis/meowdis/internal/test/corpus"
	"github.com/meowdis/meowdis/internal/test/race"
	"github.com/meowdis/meowdis/internal/test/storetest"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/server"
)

func transcripts(t *testing.T) []corpus.Transcript {
	t.Helper()
	all, err := corpus.All()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestCorpusRESP runs every transcript over a connection, and sweeps one key or field before each command. The store
// is a file, as in production, so the race detector sees each command run through all of its goroutines.
func TestCorpusRESP(t *testing.T) {
	race.Skip(t)
	shared := openShared(t, t.TempDir()+"/corpus.sqlite")
	for _, tr := range transcripts(t) {
		t.Run(tr.Name, func(t *testing.T) {
			s := shared.serve(t)
			clients := []*peer{s.dial(t), s.dial(t)}
			for _, step := range tr.Steps {
				shared.clock.Advance(step.Clock)
				if _, err := shared.store.Sweep(t.Context(), 1); err != nil {
					t.Fatal(err)
				}
				c := clients[step.Client-1]
				c.send(string(resp.AppendCommand(nil, step.Args...)))
				check(t, tr, step, c.reply())
			}
		})
	}
}

// shared is a store for one transcript after the other, which keeps its compiled statements.
type shared struct {
	store *local.Store
	clock *storetest.Clock
}

func openShared(t *testing.T, path string) *shared {
	t.Helper()
	s := &shared{clock: storetest.NewClock()}
	var err error
	s.store, err = local.Open(path, local.Options{Now: func() int64 { return s.clock.Now() }, SweepEvery: -1, RowCacheBytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.store.Close() })
	return s
}

// serve empties the store, and serves it with an engine and a clock of its own until the test ends.
func (s *shared) serve(t *testing.T) *served {
	t.Helper()
	s.clock = storetest.NewClock()
	storetest.Empty(t, s.store)
	storetest.CheckAtEnd(t, s.store)
	return serve(t, server.Config{Engine: storetest.NewEngine(s.store, s.clock)})
}

func check(t *testing.T, tr corpus.Transcript, step corpus.Step, got resp.Value) {
	t.Helper()
	if !step.Matches(got) {
		t.Errorf("%s.txt:%d: %q\nserver:     %s\ntranscript: %s", tr.Name, step.Line, step.Args, corpus.Show(got), step.Want)
	}
}

// TestCorpusREST runs the transcripts that need no connection over REST. The forms of a request differ in how
// arguments are parsed; the forms other than the JSON body run one transcript of each group.
func TestCorpusREST(t *testing.T) {
	race.Skip(t)
	ways := map[string]corpus.Way{
		"body":     (*corpus.REST).Body,
		"path":     (*corpus.REST).Path,
		"pipeline": (*corpus.REST).Pipeline,
	}
	for way, send := range ways {
		t.Run(way, func(t *testing.T) {
			ran := 0
			groups := map[string]bool{}
			shared := openShared(t, local.Memory)
			for _, tr := range transcripts(t) {
				group, _, _ := strings.Cut(tr.Name, "_")
				if tr.NeedsConnection() || way != "body" && groups[group] {
					continue
				}
				groups[group] = true
				ran++
				t.Run(tr.Name, func(t *testing.T) {
					s := shared.serve(t)
					clients := []*corpus.REST{{URL: s.rest, Token: token}, {URL: s.rest, Token: token}}
					tr.PlayREST(t, shared.clock.Advance, send, clients)
				})
			}
			if ran == 0 {
				t.Error("no transcript can do without a connection")
			}
		})
	}
}
