package fuzz

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/internal/corpus"
	"github.com/meowdis/meowdis/internal/oracle"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/resp"
	"github.com/meowdis/meowdis/translator"
)

// sides are meowdis and the real Redis, each with two clients.
type sides struct {
	t      *testing.T
	theirs [2]*oracle.Conn
	// broken changes a reply of meowdis, to see that the difference is found.
	broken func(args [][]byte, v resp.Value) resp.Value
}

func newSides(t *testing.T) *sides {
	server := oracle.Start(t)
	return &sides{t: t, theirs: [2]*oracle.Conn{server.Dial(t), server.Dial(t)}}
}

// difference is what a case showed.
type difference struct {
	at      int      // the step that differed, or the number of steps
	command string   // its command, "" for the contents
	replies []string // Redis's, up to that step
	what    string   // for people
}

// play runs a case on empty databases and returns the first difference, nil
// when there is none. RESP3 compares the replies in that protocol.
func (s *sides) play(steps []step, resp3 bool) *difference {
	meow, err := local.Open(local.Memory, local.Options{SweepEvery: -1})
	if err != nil {
		s.t.Fatal(err)
	}
	defer meow.Close()
	seed := uint64(0)
	e := engine.New(meow, engine.WithSeed(func() uint64 { seed++; return seed }))
	var pairs [2]*pair
	for i, theirs := range s.theirs {
		theirs.Do(words("RESET")...)
		if resp3 {
			theirs.Do(words("HELLO", "3")...)
		}
		pairs[i] = &pair{sides: s, session: e.Session(), oracle: theirs, resp3: resp3}
	}
	s.theirs[1].Do(words("FLUSHALL")...)
	var replies []string
	for i, step := range steps {
		p := pairs[step.client]
		got, want, same := p.do(step.args)
		replies = append(replies, corpus.Show(want))
		if !same {
			return &difference{at: i, command: nameOf(step.args), replies: replies, what: fmt.Sprintf("meowdis answers\n%s", shown(got, resp3))}
		}
	}
	for _, p := range pairs {
		p.theirs(words("DISCARD")...)
	}
	ours, err := ourContents(meow, time.Now().UnixMilli())
	if err != nil {
		s.t.Fatal(err)
	}
	if diff := differences(ours, theirContents(pairs[0].theirs)); diff != nil {
		return &difference{at: len(steps), replies: replies, what: strings.Join(diff, "\n")}
	}
	return nil
}

// shown is a reply as a transcript shows it, with its RESP3 form when that is
// what differs.
func shown(v resp.Value, resp3 bool) string {
	if !resp3 {
		return corpus.Show(v)
	}
	return fmt.Sprintf("%s\nin RESP3 %q", corpus.Show(v), resp.Append3(nil, v))
}

func nameOf(args [][]byte) string {
	if cmd, _ := translator.Find(args); cmd != nil {
		return cmd.Name
	}
	return strings.ToUpper(string(args[0]))
}

// pair is one client on both sides.
type pair struct {
	*sides
	session *engine.Session
	oracle  *oracle.Conn
	resp3   bool
	queue   []treatment // of the commands that EXEC will answer
}

func (p *pair) ours(args ...[]byte) resp.Value {
	v, err := p.session.Do(context.Background(), args...)
	if err != nil {
		v = resp.MakeError("FUZZ the engine failed: " + err.Error())
	}
	if p.broken != nil {
		v = p.broken(args, v)
	}
	return v
}

func (p *pair) theirs(args ...[]byte) resp.Value { return p.oracle.Do(args...) }

// do runs a command on both sides.
func (p *pair) do(args [][]byte) (got, want resp.Value, same bool) {
	queued := p.session.InMulti()
	how := treatments[nameOf(args)]
	if later(args) || !queued && waits(args) || queued && (sorts(args) || comparesTTL(args)) || !queued && undefined(p.theirs, args) {
		return resp.OK, resp.OK, true
	}
	if how.special != nil && !queued {
		got, want = how.special(p.ours, p.theirs, args)
	} else {
		got, want = p.ours(args...), p.theirs(args...)
	}
	switch {
	case queued && bytes.Equal(got.Str, resp.Queued.Str):
		p.queue = append(p.queue, how)
		return got, want, p.same(treatment{}, got, want)
	case queued && !p.session.InMulti():
		queue := p.queue
		p.queue = nil
		return got, want, p.sameAll(queue, got, want)
	case queued:
		how = treatment{}
	}
	return got, want, p.same(how, got, want)
}

// sameAll compares what EXEC answers, each reply as its command's are compared.
func (p *pair) sameAll(queue []treatment, got, want resp.Value) bool {
	if got.Kind != resp.Array || want.Kind != resp.Array || len(got.Elems) != len(want.Elems) || len(queue) != len(got.Elems) {
		return p.same(treatment{}, got, want)
	}
	for i, how := range queue {
		if !p.same(how, got.Elems[i], want.Elems[i]) {
			return false
		}
	}
	return true
}

func (p *pair) same(how treatment, got, want resp.Value) bool {
	got, want = unsigned(got), unsigned(want)
	if how.alike != nil && how.alike(got, want) {
		return true
	}
	step := corpus.Step{Notes: how.notes}
	if !p.resp3 {
		return step.Same(got, want)
	}
	wire := resp.Append3(nil, got)
	if bytes.Equal(wire, resp.Append3(nil, want)) {
		return true
	}
	got, err := resp.NewReader(bytes.NewReader(wire)).ReadReply()
	return err == nil && len(how.notes) > 0 && got.Kind == want.Kind && step.Same(got, want)
}
