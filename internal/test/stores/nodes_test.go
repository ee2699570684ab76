package stores_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/internal/test/storetest"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/remote"
)

func calls(lines ...string) (all [][][]byte) {
	for _, line := range lines {
		var call [][]byte
		for _, word := range strings.Fields(line) {
			call = append(call, []byte(word))
		}
		all = append(all, call)
	}
	return all
}

func trim(reply string) string { return strings.Trim(reply, `"`) }

func untilBlocked(e *engine.Engine) {
	for waiting := 0; waiting == 0; waiting, _, _ = e.Blocked() {
		time.Sleep(time.Millisecond)
	}
}

// TestNodes has several compute nodes, and the server of the file itself, change the same keys at once.
func TestNodes(t *testing.T) {
	const nodes, clients, each = 3, 5, 4
	e := newEndpoint(t, t.TempDir()+"/db.sqlite")
	engines := []*engine.Engine{e.engine}
	for range nodes {
		engines = append(engines, engine.New(e.client(t)))
	}
	first := storetest.NewClient(t, e.engine)
	first.Want("MSET f 0 s 0 m 0 w 0", "OK")
	var all sync.WaitGroup
	for i := range len(engines) * clients {
		all.Go(func() {
			c := storetest.NewClient(t, engines[i%len(engines)])
			for range each {
				c.Do("INCRBYFLOAT f 1")
				c.Do(`EVAL 'return redis.call("SET", KEYS[1], redis.call("GET", KEYS[1]) + 1)' 1 s`)
				c.Do("MULTI")
				c.Do("INCR m")
				c.Do("GET m")
				c.Do("EXEC")
				for done := false; !done && !t.Failed(); {
					c.Want("WATCH w", "OK")
					n, err := strconv.Atoi(trim(c.Do("GET w")))
					if err != nil {
						t.Error(err)
					}
					c.Want("MULTI", "OK")
					c.Want(fmt.Sprint("SET w ", n+1), "QUEUED")
					done = c.Do("EXEC") != "(nil)"
				}
			}
		})
	}
	all.Wait()
	for _, key := range []string{"f", "s", "m", "w"} {
		first.Want("GET "+key, strconv.Quote(strconv.Itoa(len(engines)*clients*each)))
	}
	storetest.Check(t, e.file)
}

// TestNodeWaits has a client of a compute node wait for what another node writes, and the other way round.
func TestNodeWaits(t *testing.T) {
	e := newEndpoint(t, t.TempDir()+"/db.sqlite")
	here, there := engine.New(e.client(t)), engine.New(e.client(t))
	for i, from := range []*engine.Engine{there, e.engine} {
		popped := make(chan string, 1)
		go func() { popped <- storetest.NewClient(t, here).Do("BLPOP l 0") }()
		untilBlocked(here)
		storetest.NewClient(t, from).Want(fmt.Sprint("RPUSH l ", i), "(integer) 1")
		if got, want := <-popped, fmt.Sprintf("1) \"l\"\n2) \"%d\"", i); got != want {
			t.Errorf("it popped %s", got)
		}
	}
	// One that waits at the file's own server is served inside the write.
	popped := make(chan string, 1)
	go func() { popped <- storetest.NewClient(t, e.engine).Do("BLPOP l 0") }()
	untilBlocked(e.engine)
	storetest.NewClient(t, here).Want("RPUSH l x", "(integer) 1")
	storetest.NewClient(t, here).Want("EXISTS l", "(integer) 0")
	<-popped
}

// TestRoundTrips counts the requests: one for a command, a pipeline, and a transaction.
func TestRoundTrips(t *testing.T) {
	e := newEndpoint(t, local.Memory)
	session := engine.New(e.client(t)).Session()
	for _, test := range []struct {
		calls [][][]byte
		want  int64
	}{
		{calls("SET a 1"), 1},
		{calls("GET a", "INCR b", "LPUSH l x y", "GET nothing", "NOCOMMAND"), 1},
		{calls("MULTI", "SET a 2", "INCR a", "GET a", "EXEC"), 1},
		{calls("WATCH a"), 1},
		{calls("MULTI", "INCR a", "EXEC"), 1},
		{calls("INCRBYFLOAT a 1"), 2},
	} {
		before := e.requests.Load()
		if _, err := session.Pipeline(context.Background(), test.calls); err != nil {
			t.Fatal(err)
		}
		if got := e.requests.Load() - before; got != test.want {
			t.Errorf("%q takes %d requests, not %d", test.calls, got, test.want)
		}
	}
}

// TestBadNetwork loses requests before they run and answers after they have: what is acknowledged has happened
// once, what failed and is known to has not, and what is not known has at most once.
func TestBadNetwork(t *testing.T) {
	e := newEndpoint(t, t.TempDir()+"/db.sqlite")
	to := http.DefaultTransport
	var random sync.Mutex
	dice := rand.New(rand.NewPCG(1, 2))
	roll := func() int {
		random.Lock()
		defer random.Unlock()
		return dice.IntN(12)
	}
	var lost atomic.Int64
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fate := roll()
		drop := func() {
			lost.Add(1)
			if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
				conn.Close()
			}
		}
		if fate == 0 {
			drop()
			return
		}
		out, err := http.NewRequest(r.Method, e.url, r.Body)
		if err != nil {
			t.Error(err)
			return
		}
		out.Header = r.Header
		answer, err := to.RoundTrip(out)
		if err != nil {
			t.Error(err)
			return
		}
		defer answer.Body.Close()
		switch fate {
		case 1:
			drop()
		case 2:
			lost.Add(1)
			w.WriteHeader(http.StatusBadGateway)
		default:
			w.WriteHeader(answer.StatusCode)
			io.Copy(w, answer.Body)
		}
	}))
	defer proxy.Close()
	const clients, each = 8, 40
	var all sync.WaitGroup
	for i := range clients {
		all.Go(func() {
			s, err := remote.OpenStorage(proxy.URL, token, remote.Options{})
			if err != nil {
				t.Error(err)
				return
			}
			defer s.Close()
			session := engine.New(s).Session()
			key := fmt.Sprint("n", i)
			acknowledged, unknown := 0, 0
			for range each {
				_, err := session.Do(context.Background(), []byte("INCR"), []byte(key))
				switch {
				case err == nil:
					acknowledged++
				case errors.Is(err, remote.ErrUnknown):
					unknown++
				default:
					t.Errorf("a failure that is known: %v", err)
				}
			}
			n, _ := strconv.Atoi(trim(storetest.NewClient(t, e.engine).Do("GET " + key)))
			if n < acknowledged || n > acknowledged+unknown {
				t.Errorf("%s is %d: %d were acknowledged and %d are not known", key, n, acknowledged, unknown)
			}
		})
	}
	all.Wait()
	if lost.Load() == 0 {
		t.Error("nothing was lost")
	}
	storetest.Check(t, e.file)
}
