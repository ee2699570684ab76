package fuzz

import (
	"bytes"
	"context"
	"flag"
	"net"
	"path/filepath"
	"testing"
	"time"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/internal/test/oracle"
	"github.com/meowdis/meowdis/internal/test/storetest"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/server"
)

// meowdis is our side: clients, and their store.
type meowdis struct {
	store   *local.Store
	clients [2]client
	end     func()
}

// client is one of ours.
type client struct {
	do      doer
	inMulti func() bool // it has a transaction open
}

// meowdis returns our side with an empty store.
func (s *sides) meowdis() *meowdis {
	if s.serving == nil {
		return alone(s.t)
	}
	for _, c := range s.serving.clients {
		c.do(words("RESET")...)
	}
	s.serving.clients[0].do(words("FLUSHALL")...)
	return s.serving
}

var onAside = flag.Bool("aside", false, "on a file, stage every call that can be staged")

// openStore returns a store, and an engine that sweeps it between any two commands.
func openStore(t *testing.T) (*local.Store, *engine.Engine) {
	path, aside := local.Memory, engine.Option(func(*engine.Engine) {})
	if *onAside {
		path, aside = t.TempDir()+"/fuzz.sqlite", engine.WithStaging(-1)
	}
	st, err := local.Open(path, local.Options{SweepEvery: -1})
	if err != nil {
		t.Fatal(err)
	}
	seed := uint64(0)
	swept := storetest.Swept(st, func() int64 { return time.Now().UnixMilli() })
	return st, engine.New(swept, engine.WithSeed(func() uint64 { seed++; return seed }), aside)
}

// alone is meowdis without a server: sessions of an engine.
func alone(t *testing.T) *meowdis {
	st, e := openStore(t)
	m := &meowdis{store: st, end: func() { st.Close() }}
	for i := range m.clients {
		session := e.Session()
		m.clients[i] = client{inMulti: session.InMulti, do: func(args ...[]byte) resp.Value {
			v, err := session.Do(context.Background(), args...)
			if err != nil {
				return resp.MakeError("FUZZ the engine failed: " + err.Error())
			}
			return v
		}}
	}
	return m
}

// serve starts a server for our side until the test ends, for commands that need a server.
func (s *sides) serve() {
	st, e := openStore(s.t)
	socket := filepath.Join(filepath.Dir(s.socket), "meowdis.sock")
	ln, err := net.Listen("unix", socket)
	if err != nil {
		s.t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- server.New(server.Config{Engine: e}).ServeRESP(ctx, ln) }()
	s.t.Cleanup(func() {
		stop()
		if err := <-served; err != nil {
			s.t.Error(err)
		}
		st.Close()
	})
	s.serving = &meowdis{store: st, end: func() {}}
	for i := range s.serving.clients {
		s.serving.clients[i] = connected((&oracle.Server{Socket: socket}).Dial(s.t))
	}
}

// connected returns a client of a server. Only replies show whether it has a transaction open.
func connected(conn *oracle.Conn) client {
	multi := false
	return client{inMulti: func() bool { return multi }, do: func(args ...[]byte) resp.Value {
		v := conn.Do(args...)
		if v.IsError() && !bytes.HasPrefix(v.Str, []byte("EXECABORT")) {
			return v
		}
		switch nameOf(args) {
		case "MULTI":
			multi = true
		case "EXEC", "DISCARD", "RESET":
			multi = false
		}
		return v
	}}
}
