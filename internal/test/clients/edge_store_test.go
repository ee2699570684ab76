package clients

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/internal/test/corpus"
	"github.com/meowdis/meowdis/internal/test/storetest"
	"github.com/meowdis/meowdis/remote"
	"github.com/meowdis/meowdis/store/schema"
)

// edgeDatabases numbers the databases of the Worker, so that each test has an empty one.
var edgeDatabases atomic.Int64

// openEdge opens databases of a Worker as a compute node does.
func openEdge(url string) storetest.Open {
	return func(t *testing.T) engine.Store {
		t.Helper()
		s, err := remote.OpenStorage(url, fmt.Sprintf("test:store%d:storageToken", edgeDatabases.Add(1)), remote.Options{Timeout: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		if err := schema.Ready(context.Background(), s.Apply, corpus.Start); err != nil {
			t.Fatal(err)
		}
		return s
	}
}

// edgeStore holds a Durable Object that only executes SQL to what a store promises.
func edgeStore(t *testing.T, url string) {
	if *whole {
		storetest.Contract(t, openEdge(url))
	}
}

// edgeStoreCorpus plays one transcript of each group on a compute node before a Durable Object. All of them run inside
// the object in edgeCorpus, and on a compute node before another endpoint in internal/test/stores.
func edgeStoreCorpus(t *testing.T, url string) {
	if !*whole {
		return
	}
	all, err := corpus.All()
	if err != nil {
		t.Fatal(err)
	}
	open := openEdge(url)
	groups := map[string]bool{}
	for _, tr := range all {
		group, _, _ := strings.Cut(tr.Name, "_")
		if groups[group] {
			continue
		}
		groups[group] = true
		t.Run(tr.Name, func(t *testing.T) { storetest.Play(t, tr, open(t), false) })
	}
}
