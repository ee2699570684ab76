package server_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/server"
	"github.com/meowdis/meowdis/store"
)

// waiting is a store whose reads last until their context ends or the test releases them. It reports the begin and the
// end of each read.
type waiting struct {
	begun, let chan struct{}
	ended      chan error
}

func newWaiting() *waiting {
	return &waiting{make(chan struct{}, 10), make(chan struct{}), make(chan error, 10)}
}

func (w *waiting) Apply(ctx context.Context, b []store.Batch) ([]store.Result, error) {
	w.begun <- struct{}{}
	select {
	case <-ctx.Done():
		w.ended <- ctx.Err()
		return nil, ctx.Err()
	case <-w.let:
		w.ended <- nil
	}
	results := make([]store.Result, len(b))
	for i := range b {
		results[i].Rows = make([][]store.Row, len(b[i].Stmts))
	}
	return results, nil
}

func (w *waiting) ApplyGroup(parts []*store.Part, took func(int)) int {
	return together(w, parts, took)
}

// together applies parts one by one, as a store without fast reads does.
func together(s engine.Store, parts []*store.Part, took func(int)) int {
	for i, p := range parts {
		if p.Batches[0].ReadOnly {
			p.Err = store.ErrLong
			took(i)
			continue
		}
		go func() {
			p.Results, p.Err = s.Apply(context.Background(), p.Batches)
			took(i)
		}()
	}
	return len(parts)
}

// TestReadsEndWithTheirClient ends a read whose client hangs up, over both protocols. The server still reads the
// commands that the client sent after it.
func TestReadsEndWithTheirClient(t *testing.T) {
	w := newWaiting()
	s := serve(t, server.Config{Engine: engine.New(w)})
	for what, hangUp := range map[string]func(){
		"RESP": func() {
			c := s.dial(t)
			c.send("GET k\r\n")
			<-w.begun
			c.Close()
		},
		"RESP, with more on its way": func() {
			c := s.dial(t)
			c.send("GET k\r\n")
			<-w.begun
			c.send("PING\r\nGE")
			c.Close()
		},
		"REST": func() {
			ctx, cancel := context.WithCancel(context.Background())
			r, err := http.NewRequestWithContext(ctx, "GET", s.rest+"/get/k", nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Authorization", "Bearer "+token)
			go func() {
				<-w.begun
				cancel()
			}()
			if response, err := http.DefaultClient.Do(r); err == nil {
				response.Body.Close()
				t.Error("it was answered")
			}
		},
	} {
		hangUp()
		select {
		case err := <-w.ended:
			if err == nil {
				t.Errorf("%s: the read was carried out", what)
			}
		case <-time.After(time.Minute):
			t.Fatalf("%s: the read goes on", what)
		}
	}
}

// TestLongReadsAreAnswered runs reads that are long enough for the hangup check while the client stays. Commands sent
// during the read run after it, and the connection continues.
func TestLongReadsAreAnswered(t *testing.T) {
	w := newWaiting()
	s := serve(t, server.Config{Engine: engine.New(w)})
	c := s.dial(t)
	c.send("GET k\r\n")
	<-w.begun
	c.send("*2\r\n$4\r\nECHO\r\n$5\r\nhe")
	time.Sleep(server.LongEnough + 50*time.Millisecond) // the check runs about now
	c.send("llo\r\nPING\r\n")
	close(w.let)
	want(t, c.reply(), "(nil)")
	want(t, c.reply(), `"hello"`)
	want(t, c.reply(), "PONG")
	want(t, c.do("GET", "k"), "(nil)")
}

// TestWritesAreCarriedOut writes for a client that has hung up, also after a read that ended for that reason.
func TestWritesAreCarriedOut(t *testing.T) {
	w := newWaiting()
	s := serve(t, server.Config{Engine: engine.New(w)})
	for _, sent := range []string{"GET k\r\nSET k v\r\n", "*2\r\n$3\r\nGET\r\n$1\r\nk\r\n*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$1\r\nv\r\n"} {
		c := s.dial(t)
		c.send(sent)
		<-w.begun
		c.Close()
		if sent[0] != '*' { // inline commands run one by one
			if err := <-w.ended; err == nil {
				t.Error("the read was carried out")
			}
			<-w.begun
		}
		w.let <- struct{}{}
		if err := <-w.ended; err != nil {
			t.Error(err)
		}
	}
}

// TestReadsEndWithTheServer ends reads that take longer than the grace of a stopping server: one that waits for the
// store, and one that computes.
func TestReadsEndWithTheServer(t *testing.T) {
	w := newWaiting()
	s := serve(t, server.Config{Engine: engine.New(w), Grace: time.Millisecond})
	s.dial(t).send("GET k\r\n")
	<-w.begun
	s.stop()
	<-s.done
	if err := <-w.ended; err == nil {
		t.Error("the read was carried out")
	}

	st, err := local.Open(local.Memory, local.Options{SweepEvery: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	begun := make(chan struct{}, 10)
	s = serve(t, server.Config{Engine: engine.New(st, engine.WithHook(func() { begun <- struct{}{} })), Grace: time.Millisecond})
	s.dial(t).send("EVAL_RO \"redis.call('get', 'k') while true do end\" 0\r\n")
	<-begun
	s.stop()
	<-s.done
}
