package server_test

import (
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/server"
)

// TestTracking compares the invalidations of tracking clients with redis-server.
func TestTracking(t *testing.T) { playSchedules(t, "testdata/tracking.txt") }

// keeper is a client that caches the values it reads until they are invalidated.
type keeper struct {
	t    *testing.T
	conn net.Conn
	in   *resp.Reader
	kept map[string]int
	told int
	all  int // number of invalidations of all keys
}

func newKeeper(t *testing.T, addr string) *keeper {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	conn.SetDeadline(time.Now().Add(time.Minute))
	return &keeper{t: t, conn: conn, in: resp.NewReader(conn), kept: map[string]int{}}
}

// do sends commands, and returns the reply to the last of them.
func (k *keeper) do(commands ...string) (last resp.Value) {
	var out []byte
	for _, command := range commands {
		args, err := resp.SplitLine(command)
		if err != nil {
			k.t.Error(err)
		}
		out = resp.AppendCommand(out, args...)
	}
	k.conn.Write(out)
	for range commands {
		last = k.next()
		if last.IsError() {
			k.t.Errorf("%s: %s", commands, last.Str)
		}
	}
	return last
}

// next returns the next reply, and applies the messages before it.
func (k *keeper) next() resp.Value {
	for {
		v, err := k.in.ReadReply()
		if err != nil {
			k.t.Error(err)
			return resp.MakeError(err.Error())
		}
		switch {
		case v.Kind == resp.Push && string(v.Elems[0].Str) == "invalidate":
			k.forget(v.Elems[1])
		case v.Kind != resp.Push && len(v.Elems) == 3 && string(v.Elems[0].Str) == "message":
			k.forget(v.Elems[2])
		default:
			return v
		}
	}
}

// TestRedirectedToBusyClient redirects invalidations to a client that runs commands all the time. None is lost between
// a reply and the next command.
func TestRedirectedToBusyClient(t *testing.T) {
	const rounds = 1500
	s := serveFile(t, t.TempDir()+"/busy.sqlite", server.Config{})
	ear, reader := newKeeper(t, s.resp), newKeeper(t, s.resp)
	ear.do("HELLO 3", "SUBSCRIBE other")
	reader.do(fmt.Sprintf("CLIENT TRACKING on REDIRECT %d", ear.do("CLIENT ID").Int))
	var over atomic.Bool
	var busy sync.WaitGroup
	busy.Go(func() {
		for !over.Load() {
			ear.do("PING", "PING")
		}
	})
	for range rounds {
		reader.do("GET k", "SET k 1")
	}
	over.Store(true)
	busy.Wait()
	ear.do("PING")
	if ear.told != rounds {
		t.Errorf("%d of %d invalidations arrived", ear.told, rounds)
	}
}

func (k *keeper) forget(keys resp.Value) {
	k.told++
	if keys.IsNull() {
		k.all++
		clear(k.kept)
	}
	for _, key := range keys.Elems {
		delete(k.kept, string(key.Str))
	}
}

func (k *keeper) keep(key string, v resp.Value) {
	if n, err := strconv.Atoi(string(v.Str)); err == nil {
		k.kept[key] = n
	}
}

// read reads two keys in a random way and caches them.
func (k *keeper) read(a, b string) {
	switch rand.IntN(6) {
	case 0:
		v := k.do("MGET " + a + " " + b)
		k.keep(a, v.Elems[0])
		k.keep(b, v.Elems[1])
	case 1:
		v := k.do("MULTI", "GET "+a, "GET "+b, "EXEC")
		k.keep(a, v.Elems[0])
		k.keep(b, v.Elems[1])
	case 2:
		v := k.do("MULTI", "GET "+a, "INCR other", "GET "+b, "EXEC")
		k.keep(a, v.Elems[0])
		k.keep(b, v.Elems[2])
	case 3:
		v := k.do(`EVAL "local a = redis.call('get', KEYS[1]) return {a, redis.call('get', KEYS[2])}" 2 ` + a + " " + b)
		k.keep(a, v.Elems[0])
		k.keep(b, v.Elems[1])
	case 4:
		v := k.do(`EVAL "local a = redis.call('get', KEYS[1]) redis.call('incr', 'other') return {a, redis.call('get', KEYS[2])}" 2 ` + a + " " + b)
		k.keep(a, v.Elems[0])
		k.keep(b, v.Elems[1])
	default:
		k.keep(a, k.do("PING", "GET "+a))
		k.keep(b, k.do("GET "+b))
	}
}

// TestNeverStale looks for cached values older than a write that the writer knows to be done.
func TestNeverStale(t *testing.T) {
	const keys, writes = 8, 400
	for _, mode := range []string{"", "NOLOOP", "BCAST PREFIX k", "OPTOUT", "REDIRECT"} {
		t.Run("mode "+mode, func(t *testing.T) {
			s := serveFile(t, t.TempDir()+"/keep.sqlite", server.Config{})
			var written [keys]atomic.Int64
			var writers, readers sync.WaitGroup
			var over atomic.Bool
			var told atomic.Int64
			for range 3 {
				k := newKeeper(t, s.resp)
				ear := k
				if k.do("HELLO 3"); mode == "REDIRECT" {
					ear = newKeeper(t, s.resp)
					ear.kept = k.kept
					id := ear.do("CLIENT ID").Int
					ear.do("SUBSCRIBE __redis__:invalidate")
					k.do(fmt.Sprintf("CLIENT TRACKING on REDIRECT %d", id))
				} else {
					k.do("CLIENT TRACKING on " + mode)
				}
				readers.Go(func() {
					for !over.Load() && !t.Failed() {
						i, j := rand.IntN(keys), rand.IntN(keys)
						a, b := fmt.Sprint("k", i), fmt.Sprint("k", j)
						k.read(a, b)
						least := [2]int{int(written[i].Load()), int(written[j].Load())}
						ear.do("PING")
						for at, key := range []string{a, b} {
							if n, has := k.kept[key]; has && n < least[at] {
								t.Errorf("%s is %d when %d was written", key, n, least[at])
							}
						}
					}
					told.Add(int64(ear.told))
				})
			}
			for w := range 2 {
				k := newKeeper(t, s.resp)
				writers.Go(func() {
					for n := 1; n <= writes; n++ {
						i := 2*rand.IntN(keys/2) + w
						set := fmt.Sprintf("SET k%d %d", i, n)
						switch n % 4 {
						case 0:
							k.do("MULTI", "PING", set, "EXEC")
						case 1:
							k.do(fmt.Sprintf(`EVAL "return redis.call('set', KEYS[1], ARGV[1])" 1 k%d %d`, i, n))
						case 2:
							k.do(set, "PING")
						default:
							k.do(set)
						}
						written[i].Store(int64(n))
					}
				})
			}
			writers.Wait()
			over.Store(true)
			readers.Wait()
			if told.Load() == 0 {
				t.Error("no one was told anything")
			}
		})
	}
}

// TestOthersAreNoticed invalidates all keys when another process writes.
func TestOthersAreNoticed(t *testing.T) {
	path := t.TempDir() + "/others.sqlite"
	s := serveFile(t, path, server.Config{})
	k := newKeeper(t, s.resp)
	k.do("SET k 1")
	k.do("HELLO 3")
	k.do("CLIENT TRACKING on")
	k.keep("k", k.do("GET k"))
	other, err := local.Open(path, local.Options{Now: s.clock.Load, SweepEvery: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	before := k.all
	writer := engine.New(other, engine.WithClock(s.clock.Load)).Session()
	if v, err := writer.Do(t.Context(), []byte("SET"), []byte("k"), []byte("2")); err != nil || v.IsError() {
		t.Fatal(v, err)
	}
	for deadline := time.Now().Add(time.Minute); k.all == before; k.do("PING") {
		if time.Now().After(deadline) {
			t.Fatal("it was not told")
		}
	}
	if len(k.kept) > 0 {
		t.Errorf("it keeps %v", k.kept)
	}
}

// TestExpiredAreTold invalidates keys that the sweep has deleted.
func TestExpiredAreTold(t *testing.T) {
	s := serveFile(t, t.TempDir()+"/expired.sqlite", server.Config{})
	k := newKeeper(t, s.resp)
	k.do("SET k 1 PX 50", "SET l 1")
	k.do("HELLO 3")
	k.do("CLIENT TRACKING on")
	k.keep("k", k.do("GET k"))
	k.keep("l", k.do("GET l"))
	s.clock.Add(100)
	if _, err := s.store.Sweep(t.Context(), 10); err != nil {
		t.Fatal(err)
	}
	k.do("PING")
	if fmt.Sprint(k.kept) != "map[l:1]" {
		t.Errorf("it keeps %v", k.kept)
	}
}

// TestMessageBesideBigReply sends messages to a client that receives a reply in pieces.
func TestMessageBesideBigReply(t *testing.T) {
	s := serveFile(t, t.TempDir()+"/big.sqlite", server.Config{})
	to, k, w := newKeeper(t, s.resp), newKeeper(t, s.resp), newKeeper(t, s.resp)
	w.do("SET big " + strings.Repeat("x", 8<<20))
	to.do("HELLO 3")
	k.do(fmt.Sprintf("CLIENT TRACKING on BCAST REDIRECT %d", to.do("CLIENT ID").Int))
	for range 3 {
		to.conn.Write([]byte("MGET big big\r\nPING\r\n"))
		for n := range 200 {
			w.do(fmt.Sprint("SET k ", n))
		}
		if v := to.next(); len(v.Elems) != 2 || len(v.Elems[0].Str) != 8<<20 || len(v.Elems[1].Str) != 8<<20 {
			t.Fatalf("a reply has %d elements", len(v.Elems))
		}
		if v := to.next(); string(v.Str) != "PONG" {
			t.Fatalf("a reply is %s", v.Str)
		}
	}
	if to.do("PING"); to.told < 600 {
		t.Errorf("it was told %d times", to.told)
	}
}
