package stores_test

import (
	"context"
	"flag"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/internal/test/corpus"
	"github.com/meowdis/meowdis/internal/test/storetest"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/remote"
	"github.com/meowdis/meowdis/server"
	"github.com/meowdis/meowdis/store"
)

const token = "a token"

// endpoint is a storage endpoint of a file.
type endpoint struct {
	file     *local.Store
	engine   *engine.Engine // of the same process
	url      string
	requests atomic.Int64
}

func newEndpoint(t testing.TB, path string) *endpoint {
	t.Helper()
	file, err := local.Open(path, local.Options{SweepEvery: -1, RowCacheBytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	e := &endpoint{file: file, engine: engine.New(file)}
	srv := server.New(server.Config{Engine: e.engine, PublicMessage: local.PublicMessage, Storage: server.Storage{
		Apply: file.Apply, Columns: file.Columns, Token: token, ReadOnlyToken: "only reads",
	}})
	handler := srv.Storage()
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		e.requests.Add(1)
		handler.ServeHTTP(w, r)
	}))
	e.url = web.URL
	t.Cleanup(func() {
		web.Close()
		if err := file.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

// client is a compute node's store.
func (e *endpoint) client(t testing.TB) *remote.Storage {
	t.Helper()
	s, err := remote.OpenStorage(e.url, token, remote.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// kit is a client for the kit, whose own table no guest could make.
type kit struct {
	*remote.Storage
	file *local.Store
}

func (k kit) Apply(ctx context.Context, batches []store.Batch) ([]store.Result, error) {
	if len(batches) == 1 && len(batches[0].Stmts) == 1 && strings.HasPrefix(batches[0].Stmts[0].SQL, "CREATE TABLE storetest") {
		return k.file.Apply(ctx, batches)
	}
	return k.Storage.Apply(ctx, batches)
}

// faults is for make test-stores: what fails behind an endpoint is refused by the file, which other tests
// show.
var faults = flag.Bool("faults", false, "refuse every statement of the corpus once")

func TestEndpointConformance(t *testing.T) {
	check := storetest.Contract
	if *faults {
		check = storetest.Run
	}
	check(t, func(t *testing.T) engine.Store {
		e := newEndpoint(t, t.TempDir()+"/db.sqlite")
		return kit{e.client(t), e.file}
	})
}

// TestEndpointCorpus plays every transcript.
func TestEndpointCorpus(t *testing.T) {
	all, err := corpus.All()
	if err != nil || len(all) == 0 {
		t.Fatal(len(all), err)
	}
	for _, tr := range all {
		t.Run(tr.Name, func(t *testing.T) {
			storetest.Play(t, tr, newEndpoint(t, local.Memory).client(t), false)
		})
	}
}
