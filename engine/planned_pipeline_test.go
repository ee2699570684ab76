package engine_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/internal/test/longcalls"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
)

// unhurried is a store whose groups never take long, so only meowdis's own work does.
type unhurried struct{ *local.Store }

func (unhurried) SetTimeLimit(time.Duration) {}

func (s unhurried) ApplyGroup(parts []*store.Part, took func(int)) int {
	for i, p := range parts {
		p.Results, p.Err = s.Apply(context.Background(), p.Batches)
		took(i)
	}
	return len(parts)
}

func listed(list []string) (args [][]byte) {
	for _, word := range list {
		args = append(args, []byte(word))
	}
	return args
}

// TestLongCalls leaves long calls to the goroutine of a client: the loop neither plans nor decodes them. There
// a call has the same reply as alone, and ends with its client or its time limit, without a trace.
func TestLongCalls(t *testing.T) {
	ctx := context.Background()
	for _, test := range longcalls.All {
		name := test.Name()
		st, err := local.Open(local.Memory, local.Options{SweepEvery: -1})
		if err != nil {
			t.Fatal(err)
		}
		e := engine.New(unhurried{st})
		s := e.Session()
		for _, call := range test.Before {
			if v, err := s.Do(ctx, listed(call)...); err != nil || v.IsError() {
				t.Fatalf("%.60q: %.100s, %v", call, v.Str, err)
			}
		}
		calls := [][][]byte{listed(test.Words)}
		var r engine.PlannedPipeline
		planned := s.Plan(calls, &r)
		if planned == (test.Why != longcalls.Decoding) {
			t.Errorf("%s: the loop plans it: %v", name, planned)
		}
		size, _ := s.Do(ctx, []byte("DBSIZE"))

		gone, leave := context.WithCancel(ctx)
		leave()
		if test.Why < longcalls.Steps { // the store, which comes first, ends the others
			if err := s.Stream(gone, calls, func([]resp.Value) error { return nil }); !errors.Is(err, context.Canceled) {
				t.Errorf("%s, of a client that has left: %v", name, err)
			}
		}
		e.SetTimeLimit(1)
		if v, err := s.Do(ctx, calls[0]...); test.Why != longcalls.Arguments && (err != nil || !strings.Contains(string(v.Str), "nothing was changed")) {
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

// TestShortCalls lets the loop make the replies of short calls, once.
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
