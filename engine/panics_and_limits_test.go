package engine

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/translator"
)

// TestDamaged calls a file damaged only if a missing row can cause the panic.
func TestDamaged(t *testing.T) {
	var none map[string]int
	for want, decoder := range map[string]func(*store.Result) resp.Value{
		string(damaged.Str):                     func(r *store.Result) resp.Value { return resp.MakeInt(r.Rows[0][0][0].Int()) },
		"panic: assignment to entry in nil map": func(*store.Result) resp.Value { none["a"] = 1; return resp.OK },
		"panic: a defect":                       func(*store.Result) resp.Value { panic("a defect") },
	} {
		e := &Engine{}
		said := func(v resp.Value, err error) string {
			if err != nil {
				return err.Error()
			}
			return string(v.Str)
		}
		v, err := e.decode(&translator.Plan{Decode: decoder}, &store.Result{Rows: [][]store.Row{nil}}, nil)
		if said := said(v, err); said != want {
			t.Errorf("%q, want %q", said, want)
		}
		then := func(r *store.Result) translator.Plan { return translator.Plan{Reply: decoder(r)} }
		next, err := e.nextPlan(&translator.Plan{Then: then}, &store.Result{Rows: [][]store.Row{nil}}, nil)
		if said := said(next.Reply, err); said != want {
			t.Errorf("%q, want %q", said, want)
		}
	}
}

// TestFaultyTranslation returns a panic as an error: other clients have done nothing wrong.
func TestFaultyTranslation(t *testing.T) {
	_, err := planned{call: call{cmd: commands.Lookup("GET")}}.plan(translator.Env{}, 0)
	if err == nil || !strings.Contains(err.Error(), "index out of range") {
		t.Errorf("the error is %v", err)
	}
}

// TestFaultyConnection replies with an error to a command of the connection, reports the stack and marks the session.
func TestFaultyConnection(t *testing.T) {
	var stacks []string
	e := New(nil)
	e.SetReport(func(p *store.Panic) { stacks = append(stacks, string(p.Stack)) })
	s := e.SessionOn(func(_ context.Context, _ *commands.Command, args [][]byte) (resp.Value, bool) {
		return resp.MakeBulk(args[9]), true
	})
	got, err := s.Do(context.Background(), []byte("CLIENT"), []byte("ID"))
	if err != nil || !strings.HasPrefix(string(got.Str), "ERR internal error: runtime error: index out of range") {
		t.Errorf("the reply is %+v, %v", got, err)
	}
	if !s.Broken() || len(stacks) != 1 || !strings.Contains(stacks[0], "TestFaultyConnection") {
		t.Errorf("broken: %v, reported: %q", s.Broken(), stacks)
	}
}

// TestWrittenIsAnswered makes the replies to what has been written, however long that takes, and ends what only reads.
func TestWrittenIsAnswered(t *testing.T) {
	gone, leave := context.WithCancel(context.Background())
	leave()
	e := New(nil)
	s := e.Session()
	long := func(r *store.Result) resp.Value {
		r.Work.Step(store.StepsPerCheck)
		return resp.OK
	}
	for _, reads := range []bool{false, true} {
		s.limitWork(gone)
		plan := translator.Plan{Batch: store.Batch{ReadOnly: reads}, Decode: long}
		replies := make([]resp.Value, 1)
		err := e.decodeAll(replies, []translator.Plan{plan}, make([]store.Result, 1), &s.work, 0, false)
		if errors.Is(err, context.Canceled) != reads || !reads && string(replies[0].Str) != "OK" {
			t.Errorf("it only reads: %v; it replies %+v, %v", reads, replies[0], err)
		}
	}
}
