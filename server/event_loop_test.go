package server_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/internal/test/longcalls"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/server"
	"github.com/meowdis/meowdis/store"
)

// TestGoroutineEach runs the tests of connections without the loop.
func TestGoroutineEach(t *testing.T) {
	goroutineEach = true
	defer func() { goroutineEach = false }()
	for name, test := range map[string]func(*testing.T){
		"wire": TestWire, "wire with password": TestWireWithPassword, "partial command": TestPartialCommand,
		"long pipeline": TestLongPipeline, "big values": TestBigValues, "queue": TestQueueOutlivesBuffer,
		"max clients": TestMaxClients, "list and kill": TestClientListAndKill, "store failure": TestStoreFailure,
		"stop": TestGracefulStop, "violation": TestViolationIsTold, "hang up": TestReadsEndWithTheirClient,
		"long reads": TestLongReadsAreAnswered, "writes": TestWritesAreCarriedOut, "strangers": TestStrangersLeave,
		"deaf": TestClientThatTakesNothing, "deaf to many": TestClientThatTakesNothingOfMany, "too much": TestTooMuch,
		"does not read": TestClientThatDoesNotRead, "is done": TestClientThatIsDone, "stalls": TestClientsThatStall,
		"half-closed": TestHalfClosed, "order": TestOrder, "beside a slow one": TestBesideSlow,
		"waiting": TestWaiting, "many wait": TestManyWait, "wake-ups": TestNoWakeUpIsLost, "others write": TestOthersWrite,
		"waits end": TestStopEndsWaits, "kill": TestKillBusy, "many come and go": TestComeAndGo, "post": TestPost, "post to deaf": TestPostToDeaf,
		"schedules": TestSchedules, "tracking": TestTracking, "never stale": TestNeverStale, "big reply": TestMessageBesideBigReply,
	} {
		if testing.Short() && strings.HasPrefix(name, "wire") {
			continue // under the race detector this takes minutes and finds nothing new
		}
		t.Run(name, test)
	}
}

func command(words ...string) string {
	args := make([][]byte, len(words))
	for i, word := range words {
		args[i] = []byte(word)
	}
	return string(resp.AppendCommand(nil, args...))
}

// TestHalfClosed replies to all commands sent before the client closed its sending side.
func TestHalfClosed(t *testing.T) {
	s := serve(t, server.Config{})
	big := strings.Repeat("x", 300_000)
	for _, sent := range []struct{ say, want string }{
		{command("SET", "k", "1"), "+OK\r\n"},
		{command("SET", "k", "1") + command("INCR", "k"), "+OK\r\n:2\r\n"},
		{command("MULTI") + command("INCR", "k") + command("EXEC"), "+OK\r\n+QUEUED\r\n*1\r\n:3\r\n"},
		{command("CLIENT", "SETNAME", "a") + command("GET", "k") + command("CLIENT", "GETNAME"),
			"+OK\r\n$1\r\n3\r\n$1\r\na\r\n"},
		{command("GET", "k") + "*2\r\n$3\r\nGET\r\n$1", "$1\r\n3\r\n"},
		{command("SET", "k", big) + command("STRLEN", "k"), "+OK\r\n:300000\r\n"},
		{command("GET", "nothing") + "PING\r\n", "$-1\r\n+PONG\r\n"},
		{"", ""},
	} {
		c, err := net.Dial("tcp", s.resp)
		if err != nil {
			t.Fatal(err)
		}
		c.SetDeadline(time.Now().Add(time.Minute))
		io.WriteString(c, sent.say)
		c.(*net.TCPConn).CloseWrite()
		got, err := io.ReadAll(c)
		if string(got) != sent.want || err != nil {
			t.Errorf("%.60q: got %.100q, %v; want %q", sent.say, got, err, sent.want)
		}
		c.Close()
	}
}

// TestOrder replies to many clients, each in the order of its commands, for all commands and all packet boundaries.
func TestOrder(t *testing.T) {
	s := serve(t, server.Config{})
	var clients sync.WaitGroup
	for id := range 20 {
		c := s.dial(t)
		key := fmt.Sprint("k", id)
		say, wants := "", []string{}
		for i := range 50 {
			n := fmt.Sprint(i)
			for _, step := range [][2]string{
				{command("SET", key, n), "OK"},
				{command("GET", key), `"` + n + `"`},
				{"ECHO inline" + n + "\r\n", `"inline` + n + `"`},
				{command("CLIENT", "SETNAME", n), "OK"},
				{command("INCRBYFLOAT", key, "0.5"), `"` + n + `.5"`},
				{command("GET"), "(error) ERR wrong number of arguments for 'get' command"},
				{command("LPUSH", key, "x"), "(error) WRONGTYPE Operation against a key holding the wrong kind of value"},
				{command("STRLEN", key), "(integer) " + fmt.Sprint(len(n)+2)},
				{command("CLIENT", "GETNAME"), `"` + n + `"`},
			} {
				say, wants = say+step[0], append(wants, step[1])
			}
		}
		clients.Go(func() {
			go func() {
				for cut := 1 + id*7; len(say) > 0; cut = cut*3%5000 + 1 {
					n := min(cut, len(say))
					io.WriteString(c, say[:n])
					say = say[n:]
				}
			}()
			c.SetReadDeadline(time.Now().Add(time.Minute))
			for i, want := range wants {
				if v, err := c.r.ReadReply(); err != nil || show(v) != want {
					t.Errorf("reply %d is %s, %v, want %s", i, show(v), err, want)
					return
				}
			}
		})
	}
	clients.Wait()
}

// TestBesideSlow serves other clients during slow reads.
func TestBesideSlow(t *testing.T) {
	w := newWaiting()
	s := serve(t, server.Config{Engine: engine.New(w)})
	slow := s.dial(t)
	slow.send(command("GET", "k"))
	<-w.begun
	writes := s.dial(t)
	writes.send(command("SET", "k", "v"))
	<-w.begun
	other := s.dial(t)
	for range 10 {
		want(t, other.do("ECHO", "hi"), `"hi"`)
		want(t, other.do("CLIENT", "GETNAME"), "(nil)")
	}
	close(w.let)
	want(t, slow.reply(), "(nil)")
	writes.reply()
}

// TestKillBusy kills clients that are idle, run a command, or have sent half a command.
func TestKillBusy(t *testing.T) {
	w := newWaiting()
	s := serve(t, server.Config{Engine: engine.New(w)})
	reads, half, rests := s.dial(t), s.dial(t), s.dial(t)
	reads.send(command("SET", "k", "v"))
	<-w.begun
	half.send(command("PING") + "*2\r\n$3\r\nGET\r\n$1")
	want(t, half.reply(), "PONG")
	want(t, rests.do("PING"), "PONG")
	killer := s.dial(t)
	want(t, killer.do("CLIENT", "KILL", "TYPE", "normal"), "(integer) 3")
	for _, c := range []*peer{reads, half, rests} {
		c.wantClosed()
	}
	if got := string(killer.do("CLIENT", "LIST").Str); strings.Count(got, "\n") != 1 {
		t.Errorf("the list is %q", got)
	}
	close(w.let)
}

// TestClientThatTakesNothingOfMany closes a client that does not read many small replies.
func TestClientThatTakesNothingOfMany(t *testing.T) {
	s := serve(t, server.Config{WriteTimeout: 500 * time.Millisecond})
	c := s.dial(t)
	c.do("SET", "k", strings.Repeat("x", 100_000))
	deaf := s.dial(t)
	ask := []byte(strings.Repeat(command("GET", "k"), 1000))
	for deadline := time.Now().Add(time.Minute); ; {
		deaf.SetWriteDeadline(time.Now().Add(time.Second))
		if _, err := deaf.Write(ask); err != nil && !strings.Contains(err.Error(), "timeout") {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("it is still served")
		}
	}
	want(t, c.do("STRLEN", "k"), "(integer) 100000")
}

// TestComeAndGo closes clients at random moments.
func TestComeAndGo(t *testing.T) {
	s := serve(t, server.Config{})
	first := command("SET", "k", "v")
	all := first + command("GET", "k") + command("MULTI") + command("INCR", "n") + command("EXEC") +
		"PING\r\n" + command("QUIT")
	var clients sync.WaitGroup
	for range 8 {
		clients.Go(func() {
			for n := range len(all) {
				c, err := net.Dial("tcp", s.resp)
				if err != nil {
					t.Error(err)
					return
				}
				io.WriteString(c, all[:n])
				if n%3 == 0 && n >= len(first) {
					c.Read(make([]byte, 1))
				}
				c.Close()
			}
		})
	}
	clients.Wait()
	c := s.dial(t)
	want(t, c.do("GET", "k"), `"v"`)
	for deadline := time.Now().Add(time.Minute); ; <-time.After(5 * time.Millisecond) {
		if n := bytes.Count(c.do("CLIENT", "LIST").Str, []byte("\n")); n == 1 {
			break
		} else if time.Now().After(deadline) {
			t.Fatalf("%d clients are listed", n)
		}
	}
}

// TestPost posts messages to a client while its commands run. Messages arrive whole, and in order for each sender.
func TestPost(t *testing.T) {
	s := serve(t, server.Config{})
	c := s.dial(t)
	id := c.do("CLIENT", "ID").Int
	const n, tellers = 300, 4
	var telling sync.WaitGroup
	for who := range tellers {
		telling.Go(func() {
			for i := range n {
				s.server.Post(id, resp.Append2(nil, resp.MakeInt(int64(who*n+i))))
			}
		})
	}
	go io.WriteString(c, strings.Repeat(command("ECHO", strings.Repeat("x", 500)), n)+strings.Repeat("ECHO y\r\n", n))
	next := [tellers]int64{}
	replies := 0
	for range n*tellers + 2*n {
		v := c.reply()
		if v.Kind != resp.Int {
			replies++
			continue
		}
		if who := v.Int / n; v.Int%n != next[who] {
			t.Fatalf("teller %d says %d, want %d", who, v.Int%n, next[who])
		} else {
			next[who]++
		}
	}
	telling.Wait()
	if replies != 2*n {
		t.Errorf("%d replies, want %d", replies, 2*n)
	}
}

// TestPostToDeaf closes a client that reads none of its messages. Senders do not wait for it.
func TestPostToDeaf(t *testing.T) {
	s := serve(t, server.Config{WriteTimeout: time.Hour})
	c := s.dial(t)
	id := c.do("CLIENT", "ID").Int
	news := resp.Append2(nil, resp.MakeBulk(make([]byte, 1<<20)))
	other := s.dial(t)
	for deadline := time.Now().Add(time.Minute); ; {
		s.server.Post(id, news)
		if bytes.Count(other.do("CLIENT", "LIST").Str, []byte("\n")) == 1 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("it is still served")
		}
	}
}

// unhurried is a store whose visits never take long, so that only meowdis's own work does.
type unhurried struct{ *local.Store }

func (s unhurried) ApplyGroup(parts []*store.Part, took func(int)) int {
	for i, p := range parts {
		p.Results, p.Err = s.Apply(context.Background(), p.Batches)
		took(i)
	}
	return len(parts)
}

// TestLongCallsLeaveTheLoop stops long calls once they have left the loop, which has begun each at most once, and has
// the loop serve another client.
func TestLongCallsLeaveTheLoop(t *testing.T) {
	onLoop := map[longcalls.Reason]int64{longcalls.Decoding: 2, longcalls.Planning: 1, longcalls.Steps: 1} // translations and decoders
	for _, call := range longcalls.All {
		t.Run(call.Name(), func(t *testing.T) {
			st, err := local.Open(local.Memory, local.Options{SweepEvery: -1})
			if err != nil {
				t.Fatal(err)
			}
			defer st.Close()
			var armed atomic.Bool
			var begun atomic.Int64
			away, goOn := make(chan struct{}), make(chan struct{})
			s := serve(t, server.Config{Engine: engine.New(unhurried{st}, engine.WithHook(func() {
				switch {
				case !armed.Load():
				case bytes.Contains(debug.Stack(), []byte("(*loop).lead(")):
					begun.Add(1)
				case armed.CompareAndSwap(true, false):
					close(away)
					<-goOn
				}
			}))})
			defer func() {
				s.stop()
				<-s.done
			}()
			c, other := s.dial(t), s.dial(t)
			for _, words := range call.Before {
				if v := c.do(words...); v.IsError() {
					t.Fatalf("%.60q: %s", words, v.Str)
				}
			}
			armed.Store(true)
			sent := command(call.Words...)
			c.send(sent)
			select {
			case <-away:
			case <-time.After(time.Minute):
				t.Fatal("the loop computes it")
			}
			expected := onLoop[call.Why]
			if len(sent) > 64<<10 {
				expected = 0
			}
			if begun := begun.Load(); begun > expected {
				t.Errorf("the loop begins %d times, want at most %d", begun, expected)
			}
			want(t, other.do("GET", "missing"), "(nil)")
			close(goOn)
			if v := c.reply(); v.IsError() {
				t.Errorf("%s", v.Str)
			}
		})
	}
}
