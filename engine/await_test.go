package engine_test

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/internal/storetest"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/resp"
)

// asked is a reply that is on its way.
type asked chan string

func ask(t *testing.T, s *engine.Session, line string) asked {
	t.Helper()
	args := words(t, line)[0]
	reply := make(asked, 1)
	go func() {
		v, err := s.Do(context.Background(), args...)
		if err != nil {
			reply <- "error: " + err.Error()
			return
		}
		reply <- string(resp.AppendTyped(nil, v, false))
	}()
	return reply
}

func (a asked) want(t *testing.T, want string) {
	t.Helper()
	select {
	case got := <-a:
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	case <-time.After(20 * time.Second):
		t.Fatalf("no reply, want %s", want)
	}
}

func blocked(e *engine.Engine) int {
	n, _, _ := e.Blocked()
	return n
}

func untilBlocked(t *testing.T, e *engine.Engine, n int) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); blocked(e) != n; {
		if time.Now().After(deadline) {
			t.Fatalf("%d sessions wait, want %d", blocked(e), n)
		}
		time.Sleep(time.Millisecond)
	}
}

func engines(t *testing.T) map[string]*engine.Engine {
	file, err := local.Open(filepath.Join(t.TempDir(), "t.sqlite"), local.Options{SweepEvery: -1, Keep: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	memory, err := local.Open(local.Memory, local.Options{SweepEvery: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close(); memory.Close() })
	return map[string]*engine.Engine{
		"file": storetest.NewEngine(file, storetest.NewClock()), "memory": storetest.NewEngine(memory, storetest.NewClock()),
		"hostile": storetest.NewEngine(openHostile(t), storetest.NewClock()),
	}
}

func TestWaiters(t *testing.T) {
	for name, e := range engines(t) {
		t.Run(name, func(t *testing.T) {
			writer := e.Session()
			var replies []asked
			for i := range 5 {
				replies = append(replies, ask(t, e.Session(), "BLPOP a b 0"))
				untilBlocked(t, e, i+1)
			}
			ask(t, writer, "RPUSH b 1 2").want(t, "(integer) 2")
			for i := range 2 {
				replies[i].want(t, fmt.Sprintf("1) \"b\"\n2) \"%d\"", i+1))
			}
			ask(t, writer, "LLEN b").want(t, "(integer) 0")
			ask(t, writer, "EVAL \"redis.call('rpush','a',3);redis.call('rpush','a',4);return(redis.call('llen','a'))\" 0").want(t, "(integer) 2")
			replies[2].want(t, "1) \"a\"\n2) \"3\"")
			replies[3].want(t, "1) \"a\"\n2) \"4\"")
			ask(t, writer, "SET b x").want(t, "OK")
			ask(t, writer, "RPUSH a 5").want(t, "(integer) 1")
			replies[4].want(t, "1) \"a\"\n2) \"5\"")
			untilBlocked(t, e, 0)
		})
	}
}

// TestExactly waits for as many elements as it wants, while others take what it leaves.
func TestExactly(t *testing.T) {
	for name, e := range engines(t) {
		t.Run(name, func(t *testing.T) {
			writer := e.Session()
			all := ask(t, e.Session(), "BLMOVEM a b LEFT RIGHT 0 EXACTLY 3 BULK")
			untilBlocked(t, e, 1)
			ask(t, writer, "RPUSH a 1").want(t, "(integer) 1")
			ask(t, e.Session(), "BLPOP a 0").want(t, "1) \"a\"\n2) \"1\"")
			ask(t, writer, "RPUSH a 2 3").want(t, "(integer) 2")
			ask(t, writer, "RPUSH a 4 5").want(t, "(integer) 4")
			all.want(t, "1) \"2\"\n2) \"3\"\n3) \"4\"")
			ask(t, writer, "LLEN a").want(t, "(integer) 1")
		})
	}
}
