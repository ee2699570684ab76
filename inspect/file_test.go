package inspect

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/inspect/client"
	"github.com/meowdis/meowdis/internal/test/storetest"
	"github.com/meowdis/meowdis/keyspace"
	"github.com/meowdis/meowdis/keyspace/catalog"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/transfer"
	"github.com/meowdis/meowdis/translator"
)

// index implements Index with a real store.
type index struct {
	*catalog.Catalog
	*local.Store
}

// file implements Client with a real store, and is the target of a session.
type file struct {
	*fake
	t       *testing.T
	session *engine.Session
	index   index
	another func() *engine.Session // opens another client
}

func newFile(t *testing.T) *file {
	t.Helper()
	f := &file{fake: newFake(), t: t}
	now := func() int64 { return f.clock.now }
	s, err := local.Open(local.Memory, local.Options{Now: now, SweepEvery: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	storetest.CheckAtEnd(t, s)
	var seed atomic.Uint64
	e := engine.New(s, engine.WithClock(now), engine.WithSeed(func() uint64 { return seed.Add(1) }))
	f.session, f.another = e.Session(), e.Session
	f.index = index{catalog.New(s, now), s}
	f.fake.options = f.opened
	return f
}

// opened sets the options for a writable file.
func (f *file) opened(o *Options) {
	o.Index = f.index
	o.Unlock = func(context.Context) (keyspace.Client, error) { return f, nil }
	o.Explain, o.Scratch, o.Exporter = f.explain, f.scratch, exportScript
}

// scratch returns an empty store.
func (f *file) scratch(context.Context) (keyspace.Client, func() error, error) {
	s, err := local.Open(local.Memory, local.Options{Now: func() int64 { return f.clock.now }, SweepEvery: -1})
	if err != nil {
		return nil, nil, err
	}
	return engine.New(s, engine.WithClock(func() int64 { return f.clock.now })).Session(), s.Close, nil
}

// explain returns the SQL of a command, without arguments and plans.
func (f *file) explain(db int, call [][]byte) string {
	cmd, bad := commands.Find(call)
	if cmd == nil {
		return string(bad.Str)
	}
	var b strings.Builder
	for i, stmt := range translator.Translate(cmd, call, translator.Env{Now: f.clock.now, DB: db}).Batch.Stmts {
		fmt.Fprintf(&b, "%d. %s\n", i+1, strings.Join(strings.Fields(stmt.SQL), " "))
	}
	return b.String()
}

func (f *file) Pipeline(ctx context.Context, calls [][][]byte) ([]resp.Value, error) {
	return f.session.Pipeline(ctx, calls)
}

// do runs a command whose words are separated by spaces.
func (f *file) do(line string) {
	f.t.Helper()
	v, err := f.session.Do(context.Background(), client.Command(strings.Fields(line)...)...)
	if err != nil || v.IsError() {
		f.t.Fatalf("%s: %v %s", line, err, v.Str)
	}
}

// shop fills f with a small data set of all types.
func (f *file) shop() *file {
	for i := range 30 {
		f.do(fmt.Sprintf("HSET user:%02d name Ann%d mail ann%d@example.com", i, i, i))
		f.do(fmt.Sprintf("SET session:%02x token-%d PX %d", i*7, i, 20_000+i*40_000))
		f.do(fmt.Sprintf("SET cache:page:%d <p>%s</p>", i, strings.Repeat("x", i*i)))
		f.do(fmt.Sprintf("RPUSH cache:list:%d a b c", i%3))
	}
	f.do("SADD tags red green blue")
	f.do("ZADD board 1.5 ann 2 bob 30 cid")
	f.do("XADD events 1-1 kind login user 7")
	f.do("XADD events 2-1 kind logout user 7")
	f.do(`JSON.SET doc $ {"name":"Ann","tags":["a","b"],"address":{"city":"Bern","zip":3000}}`)
	f.do("ARSET slots 7 seven eight")
	f.do("ARINSERT slots zero")
	f.do("XGROUP CREATE events ops 0")
	f.do("XREADGROUP GROUP ops worker COUNT 1 STREAMS events >")
	f.do("HSET cart apple 3 pear 1 plum 12")
	f.do("HPEXPIRE cart 90000 FIELDS 1 pear")
	f.do(`SET config {"theme":"dark","sizes":[1,2,3],"nested":{"on":true,"off":null}}`)
	f.do("SET packed eyJuYW1lIjoiVG9tIiwibGl2ZXMiOjl9")
	return f
}

// exportScript writes keys as commands.
func exportScript(ctx context.Context, path string, keys transfer.Source, notify transfer.Notify) (n int64, err error) {
	out, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return 0, err
	}
	defer out.Close()
	err = transfer.Run(ctx, keys, transfer.NewScriptWriter(out, notify), notify, func(p transfer.Part) {
		if p.Last {
			n++
		}
	})
	return n, err
}
