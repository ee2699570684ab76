package server_test

import (
	"strings"
	"testing"

	"github.com/meowdis/meowdis/internal/test/corpus"
	"github.com/meowdis/meowdis/internal/test/race"
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
	for _, tr := range transcripts(t) {
		t.Run(tr.Name, func(t *testing.T) {
			s := serveFile(t, t.TempDir()+"/corpus.sqlite", server.Config{})
			clients := []*peer{s.dial(t), s.dial(t)}
			for _, step := range tr.Steps {
				s.clock.Add(step.Clock)
				if _, err := s.store.Sweep(t.Context(), 1); err != nil {
					t.Fatal(err)
				}
				c := clients[step.Client-1]
				c.send(string(resp.AppendCommand(nil, step.Args...)))
				check(t, tr, step, c.reply())
			}
		})
	}
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
			for _, tr := range transcripts(t) {
				group, _, _ := strings.Cut(tr.Name, "_")
				if tr.NeedsConnection() || way != "body" && groups[group] {
					continue
				}
				groups[group] = true
				ran++
				t.Run(tr.Name, func(t *testing.T) {
					s := serve(t, server.Config{})
					clients := []*corpus.REST{{URL: s.rest, Token: token}, {URL: s.rest, Token: token}}
					tr.PlayREST(t, func(ms int64) { s.clock.Add(ms) }, send, clients)
				})
			}
			if ran == 0 {
				t.Error("no transcript can do without a connection")
			}
		})
	}
}
