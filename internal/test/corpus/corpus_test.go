package corpus_test

import (
	"bytes"
	"flag"
	"io"
	"os"
	"slices"
	"testing"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/internal/test/corpus"
	"github.com/meowdis/meowdis/internal/test/hostile"
	"github.com/meowdis/meowdis/internal/test/oracle"
	"github.com/meowdis/meowdis/internal/test/storetest"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/translator"
)

var update = flag.Bool("update", false, "write the replies that redis-server gives into the transcripts")

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
	version := clients[0].Version()
	for _, tr := range all(t) {
		if version.Before(tr.Since) || lacks(clients[0], tr) {
			continue
		}
		t.Run(tr.Name, func(t *testing.T) {
			for _, c := range clients {
				c.Do([]byte("RESET"))
			}
			clients[0].Do([]byte("FLUSHALL"))
			do := func(s corpus.Step) resp.Value { return clients[s.Client-1].Do(s.Args...) }
			if *update {
				rewrite(t, tr, version, do)
			} else {
				tr.On(version).Play(t, nil, do)
			}
		})
	}
}

// lacks reports whether the transcript needs a module that the server has not, whose
// commands have a dot in their name.
func lacks(server *oracle.Conn, tr corpus.Transcript) bool {
	return slices.ContainsFunc(tr.Steps, func(s corpus.Step) bool {
		return bytes.Contains(s.Args[0], []byte(".")) && server.Do([]byte("COMMAND"), []byte("INFO"), s.Args[0]).Elems[0].IsNull()
	})
}

// rewrite writes what do, a server of the version, answers into the transcript, up to the
// first step that needs another clock than the real one. A reply that its notes let pass stays.
func rewrite(t *testing.T, tr corpus.Transcript, version oracle.Version, do func(corpus.Step) resp.Value) {
	t.Helper()
	steps := slices.Clone(tr.Steps)
	for i, s := range steps {
		if s.Clock != 0 {
			break
		}
		steps[i] = s.Answered(version, do(s))
	}
	name := "transcripts/" + tr.Name + ".txt"
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(tr.Update(string(text), steps)), 0o644); err != nil {
		t.Fatal(err)
	}
}

// replay plays transcripts on the stores that open makes, each on an empty
// one, whose database must be sound at the end. With swept the store is swept meanwhile.
func replay(t *testing.T, swept bool, transcripts []corpus.Transcript, open func(t *testing.T) (store, error), options ...engine.Option) {
	for _, tr := range transcripts {
		t.Run(tr.Name, func(t *testing.T) {
			s, err := open(t)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			storetest.Play(t, tr, s, swept, options...)
		})
	}
}

// start is the time at which every transcript begins.
const start = corpus.Start

// newEngine is an engine whose clock is now.
func newEngine(s engine.Store, now *int64) *engine.Engine {
	seed := uint64(0)
	return engine.New(s, storetest.Unhurried(), engine.WithClock(func() int64 { return *now }), engine.WithSeed(func() uint64 { seed++; return seed }))
}

type store interface {
	engine.Store
	io.Closer
}

func openLocal(path string) (store, error) {
	return local.Open(path, local.Options{SweepEvery: -1, RowCacheBytes: 1 << 20})
}

func TestFile(t *testing.T) {
	replay(t, false, all(t), func(t *testing.T) (store, error) { return openLocal(t.TempDir() + "/corpus.sqlite") })
}

// TestAside plays those with calls that may be carried out aside as if each of them were a large one, and
// sweeps between their slices.
func TestAside(t *testing.T) {
	defer func(few, parts int, less int64) {
		translator.MaxUnstagedStmts, translator.MaxUnstagedParts, translator.MaxUnstagedChanges = few, parts, less
	}(translator.MaxUnstagedStmts, translator.MaxUnstagedParts, translator.MaxUnstagedChanges)
	translator.MaxUnstagedStmts, translator.MaxUnstagedParts, translator.MaxUnstagedChanges = 0, 0, 0
	some := slices.DeleteFunc(all(t), func(tr corpus.Transcript) bool {
		return !slices.ContainsFunc(tr.Steps, func(s corpus.Step) bool {
			cmd := commands.Called(s.Args)
			return cmd != nil && translator.MayStage(cmd)
		})
	})
	replay(t, true, some, func(t *testing.T) (store, error) { return openLocal(t.TempDir() + "/corpus.sqlite") }, engine.WithStaging(-1))
}

// TestMemory plays them as if no list were short, and sweeps before each batch, which shows that nothing is swept while
// no time passes.
func TestMemory(t *testing.T) {
	defer func(n int, long int64) { translator.MaxBoundElements, translator.LongList = n, long }(translator.MaxBoundElements, translator.LongList)
	translator.MaxBoundElements, translator.LongList = 0, 0
	replay(t, true, all(t), func(*testing.T) (store, error) { return openLocal(local.Memory) })
}

// TestLargeElements plays them as if everything that is longer than a byte were large.
func TestLargeElements(t *testing.T) {
	defer func(n int, long int64) { translator.LargeElement, translator.LongList = n, long }(translator.LargeElement, translator.LongList)
	translator.LargeElement, translator.LongList = 2, 0
	replay(t, false, all(t), func(*testing.T) (store, error) { return hostile.Open() })
}

func TestHostile(t *testing.T) {
	replay(t, false, all(t), func(*testing.T) (store, error) { return hostile.Open() })
}

func TestHostileSwept(t *testing.T) {
	expiring := slices.DeleteFunc(all(t), func(tr corpus.Transcript) bool { return !tr.Expires() })
	replay(t, true, expiring, func(*testing.T) (store, error) { return hostile.Open() })
}
