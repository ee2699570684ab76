package engine_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
)

// unhurried is a store whose rounds never take long, so that only meowdis's own work does.
type unhurried struct{ *local.Store }

func (unhurried) SetTimeLimit(time.Duration) {}

func (s unhurried) Together(parts []*store.Part, took func(int)) int {
	for i, p := range parts {
		p.Results, p.Err = s.Apply(context.Background(), p.Batches)
		took(i)
	}
	return len(parts)
}

// reason is why a call is not for the loop.
type reason int

const (
	decoding reason = iota
	planning
	steps     // of which it has several
	arguments // of which it has many
)

// longCalls are what an event loop must not work on, and the calls that prepare them.
var longCalls = []struct {
	before [][]string
	call   []string
	why    reason
}{
	{[][]string{{"SETBIT", "b", "67108863", "0"}}, []string{"BITPOS", "b", "1"}, decoding},
	{[][]string{{"SETBIT", "b", "67108863", "0"}}, []string{"BITCOUNT", "b", "3", "-3", "BIT"}, decoding},
	{[][]string{{"SETBIT", "b", "8388607", "1"}}, []string{"BITOP", "NOT", "l", "b"}, steps},
	{[][]string{{"MSET", "a", strings.Repeat("ab", 500), "b", strings.Repeat("ba", 500)}}, []string{"LCS", "a", "b"}, decoding},
	{[][]string{{"JSON.SET", "j", "$", nested(100)}}, []string{"JSON.GET", "j", "$" + strings.Repeat("..*", 4)}, decoding},
	{[][]string{{"JSON.SET", "j", "$", "[" + strings.Repeat("1,", 300) + "1]"}}, []string{"JSON.GET", "j", "$[?(@ in $)]"}, decoding},
	{[][]string{{"JSON.SET", "j", "$", "[" + strings.Repeat("1,", 10000) + "1]"}}, []string{"JSON.TYPE", "j", "$[*]"}, decoding},
	{[][]string{{"JSON.SET", "j", "$", nested(100)}}, []string{"JSON.DEL", "j", "$" + strings.Repeat("..*", 4)}, steps},
	{nil, []string{"JSON.SET", "j", "$", "[" + strings.Repeat("1,", 50000) + "1]"}, planning},
	{[][]string{{"SET", strings.Repeat("a", 2000), "v"}}, []string{"KEYS", "*" + strings.Repeat("a", 1000) + "b"}, decoding},
	{[][]string{{"SADD", "s", strings.Repeat("a", 2000), "v"}}, []string{"SSCAN", "s", "0", "MATCH", "*" + strings.Repeat("a", 1000) + "b"}, decoding},
	{nil, []string{"COMMAND", "LIST", "FILTERBY", "PATTERN", strings.Repeat("*", 1000)}, planning},
	{nil, append([]string{"MGET"}, strings.Fields(strings.Repeat("k ", 5000))...), arguments},
	{loglogs(10), append([]string{"PFCOUNT"}, strings.Fields("h0 h1 h2 h3 h4 h5 h6 h7 h8 h9")...), decoding},
	{[][]string{{"SET", "f", "v"}}, append([]string{"BITFIELD_RO", "f"}, strings.Fields(strings.Repeat("GET i64 7 ", 1300))...), decoding},
}

// nested is an array in an array and so on.
func nested(depth int) string { return strings.Repeat("[", depth) + strings.Repeat("]", depth) }

func loglogs(n int) (calls [][]string) {
	for i := range n {
		calls = append(calls, []string{"PFADD", fmt.Sprint("h", i), fmt.Sprint(i)})
	}
	return calls
}

func listed(list []string) (args [][]byte) {
	for _, word := range list {
		args = append(args, []byte(word))
	}
	return args
}

// TestLongCalls leaves what takes long to the goroutine of a client: the loop neither plans nor decodes it. There
// it gives the reply that it gives alone, and ends with its client or its time, without a trace.
func TestLongCalls(t *testing.T) {
	ctx := context.Background()
	for _, test := range longCalls {
		name := fmt.Sprintf("%.60s", strings.Join(test.call, " "))
		st, err := local.Open(local.Memory, local.Options{SweepEvery: -1})
		if err != nil {
			t.Fatal(err)
		}
		e := engine.New(unhurried{st})
		s := e.Session()
		for _, call := range test.before {
			if v, err := s.Do(ctx, listed(call)...); err != nil || v.IsError() {
				t.Fatalf("%.60q: %.100s, %v", call, v.Str, err)
			}
		}
		calls := [][][]byte{listed(test.call)}
		var r engine.PlannedPipeline
		planned := s.Plan(calls, &r)
		if planned == (test.why != decoding) {
			t.Errorf("%s: the loop plans it: %v", name, planned)
		}
		size, _ := s.Do(ctx, []byte("DBSIZE"))

		gone, leave := context.WithCancel(ctx)
		leave()
		if test.why < steps { // the store, which comes first, ends the others
			if err := s.Stream(gone, calls, func([]resp.Value) error { return nil }); !errors.Is(err, context.Canceled) {
				t.Errorf("%s, of a client that has left: %v", name, err)
			}
		}
		e.SetTimeLimit(1)
		if v, err := s.Do(ctx, calls[0]...); test.why != arguments && (err != nil || !strings.Contains(string(v.Str), "left no trace")) {
			t.Errorf("%s, in no time: %.100s, %v", name, v.Str, err)
		}
		e.SetTimeLimit(0)
		if now, _ := s.Do(ctx, []byte("DBSIZE")); now.Int != size.Int {
			t.Errorf("%s: it has left a trace", name)
		}

		want, err := e.Session().Do(ctx, calls[0]...)
		if err != nil || want.IsError() {
			t.Errorf("%s: %.100s, %v", name, want.Str, err)
		}
		if planned {
			if r = (engine.PlannedPipeline{}); !s.Plan(calls, &r) {
				t.Errorf("%s: the second time, it is not planned", name)
				continue
			}
			applyAlone(e, &r)
			if !r.Whole() || r.Decode() {
				t.Errorf("%s: the loop makes its reply", name)
			}
			var got resp.Value
			if err := r.Finish(ctx, func(replies []resp.Value) error { got = replies[0]; return nil }); err != nil || !sameValue(got, want) {
				t.Errorf("%s: a goroutine replies %.100s, %v; want %.100s", name, wire(got), err, wire(want))
			}
		}
		st.Close()
	}
}

// applyAlone applies a pipeline and waits for it: a slow machine leaves a write to the writer's goroutine.
func applyAlone(e *engine.Engine, p *engine.PlannedPipeline) {
	done := make(chan struct{})
	e.ApplyGroup([]*engine.PlannedPipeline{p}, func(int) { close(done) })
	<-done
}

func wire(v resp.Value) string { return string(resp.Append3(nil, v)) }

func sameValue(a, b resp.Value) bool { return wire(a) == wire(b) }

// TestShortCalls lets the loop make the replies of what is short, once.
func TestShortCalls(t *testing.T) {
	ctx := context.Background()
	st, err := local.Open(local.Memory, local.Options{SweepEvery: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	e := engine.New(unhurried{st})
	s := e.Session()
	for _, line := range []string{
		"SET k v", "GET k", "BITCOUNT k", "BITPOS k 1", "LCS k k", "JSON.SET j $ [1,2]", "JSON.GET j $..*",
		"KEYS *", "SCAN 0 MATCH k*", "COMMAND LIST FILTERBY PATTERN *",
	} {
		var r engine.PlannedPipeline
		if !s.Plan(split(t, []string{line}), &r) {
			if line != "JSON.SET j $ [1,2]" {
				t.Errorf("%s: the loop does not plan it", line)
			}
			s.Do(ctx, split(t, []string{line})[0]...)
			continue
		}
		if !r.Empty() {
			applyAlone(e, &r)
			if !r.Decode() {
				t.Errorf("%s: the loop does not decode it", line)
			}
		}
		replies := 0
		if err := r.Finish(ctx, func(v []resp.Value) error { replies += len(v); return nil }); err != nil || replies != 1 {
			t.Errorf("%s: %d replies, %v", line, replies, err)
		}
	}
}
