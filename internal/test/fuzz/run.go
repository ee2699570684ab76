package fuzz

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/meowdis/meowdis/internal/test/corpus"
	"github.com/meowdis/meowdis/internal/test/oracle"
	"github.com/meowdis/meowdis/internal/test/storetest"
	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
)

// sides are meowdis and the real Redis, each with two clients.
type sides struct {
	t       *testing.T
	theirs  [2]*oracle.Conn
	version oracle.Version // of Redis
	older   *oracle.Conn   // runs no case (ageing.go)
	socket  string         // of Redis
	// serving is meowdis with a server, shared by all cases. Without it, each case has its own
	// store.
	serving *meowdis
	// broken changes a reply of meowdis, to check that the difference is found.
	broken func(args [][]byte, v resp.Value) resp.Value
}

func newSides(t *testing.T) *sides {
	server := oracle.Start(t)
	s := &sides{t: t, socket: server.Socket, theirs: [2]*oracle.Conn{server.Dial(t), server.Dial(t)}, older: server.Dial(t)}
	s.version = s.older.Version()
	return s
}

// difference is the first difference in a case.
type difference struct {
	at      int      // the step that differed, or the number of steps if the contents differ
	command string   // its command, "" for the contents
	replies []string // Redis's, up to that step
	what    string   // description for users
}

// play runs a case on empty databases and returns the first difference, or nil. With resp3 it
// compares the replies in RESP3.
func (s *sides) play(steps []step, resp3 bool) *difference {
	meow := s.meowdis()
	defer meow.end()
	var pairs [2]*pair
	for i, theirs := range s.theirs {
		pairs[i] = &pair{sides: s, client: meow.clients[i], oracle: theirs, resp3: resp3}
		theirs.Do(words("RESET")...)
		if resp3 {
			pairs[i].hello()
		}
	}
	s.theirs[1].Do(words("FLUSHALL")...)
	s.theirs[1].Do(words("FUNCTION", "FLUSH")...)
	var replies []string
	for i, step := range steps {
		if step.age > 0 {
			s.age(meow, step.age)
			replies = append(replies, "")
			continue
		}
		p := pairs[step.client]
		got, want, same := p.compare(step.args)
		replies = append(replies, corpus.Show(want))
		if !same && p.outdated {
			s.theirs[0].Do(words("RESET")...)
			return nil // later steps may depend on it
		}
		if !same {
			return &difference{at: i, command: nameOf(step.args), replies: replies, what: fmt.Sprintf("meowdis answers\n%s", shown(got, resp3))}
		}
	}
	for _, p := range pairs {
		p.theirs(words("DISCARD")...)
	}
	broken, err := storetest.Broken(meow.store)
	if err != nil || broken != nil {
		return &difference{at: len(steps), replies: replies, what: fmt.Sprintf("doctor finds %q, %v", broken, err)}
	}
	ours, err := ourContents(meow.store, time.Now().UnixMilli())
	if err != nil {
		s.t.Fatal(err)
	}
	if diff := differences(ours, theirContents(func(args ...[]byte) resp.Value { return s.version.Doubles(pairs[0].theirs(args...)) })); diff != nil {
		return &difference{at: len(steps), replies: replies, what: strings.Join(diff, "\n")}
	}
	return nil
}

// shown formats a reply as in a transcript, in RESP3 form if only that differs.
func shown(v resp.Value, resp3 bool) string {
	if !resp3 {
		return corpus.Show(v)
	}
	return fmt.Sprintf("%s\nin RESP3 %q", corpus.Show(v), resp.Append3(nil, v))
}

func nameOf(args [][]byte) string {
	if cmd, _ := commands.Find(args); cmd != nil {
		return cmd.Name
	}
	return strings.ToUpper(string(args[0]))
}

// pair is one client on both sides.
type pair struct {
	*sides
	client
	oracle *oracle.Conn
	resp3  bool
	queue  []treatment // of the queued commands
	// outdated is set if Redis is older than 8.0 and newer versions reply differently to the
	// present call, or to a command of its EXEC.
	outdated bool
}

// hello switches replies to RESP3.
func (p *pair) hello() {
	p.oracle.Do(words("HELLO", "3")...)
	if p.serving != nil {
		p.do(words("HELLO", "3")...)
	}
}

func (p *pair) ours(args ...[]byte) resp.Value {
	v := p.do(args...)
	if p.broken != nil {
		v = p.broken(args, v)
	}
	return v
}

func (p *pair) theirs(args ...[]byte) resp.Value { return p.oracle.Do(args...) }

// compare runs a command on both sides.
func (p *pair) compare(args [][]byte) (got, want resp.Value, same bool) {
	queued := p.inMulti()
	how := treatments[nameOf(args)]
	how.changed = p.version.Before("8.0") && changed(nameOf(args))
	p.outdated = how.changed
	if later(args, p.version) || redisBug(args) || queued && unqueued(args, how) || !queued && undefined(p.theirs, args) {
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
	case queued && !p.inMulti():
		queue := p.queue
		p.queue = nil
		p.outdated = slices.ContainsFunc(queue, func(how treatment) bool { return how.changed })
		return got, want, p.sameAll(queue, got, want)
	case queued:
		how = treatment{}
	}
	return got, want, p.same(how, got, want)
}

// sameAll compares the replies of EXEC, each by its own command's rule.
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
	got, want = unsigned(p.version.Doubles(got)), unsigned(p.version.Doubles(want))
	if how.equal != nil && how.equal(got, want) {
		return true
	}
	step := corpus.Step{Notes: how.notes}
	if p.serving != nil { // in any protocol
		return bytes.Equal(resp.Append2(nil, got), resp.Append2(nil, want)) && bytes.Equal(resp.Append3(nil, got), resp.Append3(nil, want)) ||
			len(how.notes) > 0 && got.Kind == want.Kind && step.Same(got, want)
	}
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
