package fuzz

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/internal/test/oracle"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/redis/resp"
)

// luaSides runs programs on meowdis and on the real Redis.
type luaSides struct {
	t       *testing.T
	session *engine.Session
	server  *oracle.Server
	theirs  *oracle.Conn
	log     string // redis-server's
	resp3   bool
	crashes int // programs that ended redis-server
	endless int // programs that meowdis ended after luaTime
}

func newLuaSides(t *testing.T, resp3 bool) *luaSides {
	st, err := local.Open(local.Memory, local.Options{SweepEvery: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close() })
	s := &luaSides{t: t, session: engine.New(st).Session(), log: filepath.Join(t.TempDir(), "redis.log"), resp3: resp3}
	s.restart()
	return s
}

// restart runs a new redis-server.
func (s *luaSides) restart() {
	os.Remove(s.log)
	s.ours(words("FLUSHALL"))
	if s.server != nil {
		s.server.End()
	}
	s.server = oracle.Start(s.t, "--logfile", s.log)
	s.theirs = s.server.Dial(s.t)
	if s.resp3 {
		s.theirs.Do(words("HELLO", "3")...)
	}
}

// crashed starts a new redis-server and logs the crash, unless what is "".
func (s *luaSides) crashed(what string) {
	if what != "" {
		b, _ := os.ReadFile(s.log)
		s.t.Logf("redis-server crashes: %s\n%s", what, bytes.Join(luaCrash.FindAll(b, 25), []byte("\n")))
	}
	s.crashes++
	s.restart()
}

// luaCrash matches the lines of redis-server's log that tell where it crashed.
var luaCrash = regexp.MustCompile(`(?m)^.*(crashed by|ASSERTION|==> |\+0x).*$`)

// luaTime limits a program on meowdis. redis-server, which cannot end a script that writes, does not get
// the programs that exceed it.
const luaTime = 5 * time.Second

// ours runs a call on meowdis and reports whether it ended within luaTime. A panic is an error reply.
func (s *luaSides) ours(call [][]byte) (v resp.Value, ended bool) {
	defer func() {
		if r := recover(); r != nil {
			v, ended = resp.MakeError(fmt.Sprintf("FUZZ panic: %v\n%s", r, debug.Stack())), true
		}
	}()
	ctx, stop := context.WithTimeout(context.Background(), luaTime)
	defer stop()
	v, err := s.session.Do(ctx, call...)
	if ctx.Err() != nil {
		return v, false
	}
	if err != nil {
		return resp.MakeError("FUZZ the engine failed: " + err.Error()), true
	}
	return v, true
}

// luaAddress matches the address of a printed table, function or coroutine.
var luaAddress = regexp.MustCompile(`0x[0-9a-f]{8,14}`)

// wire returns a reply as bytes, without addresses.
func (s *luaSides) wire(v resp.Value) []byte {
	b := resp.Append2(nil, v)
	if s.resp3 {
		b = resp.Append3(nil, v)
	}
	return luaAddress.ReplaceAll(b, []byte("0x"))
}

// luaIterator matches the end of the error for calling a value. For the iterator of a for loop, Redis names
// the variable that was last in its register; see docs/compatibility.md.
var luaIterator = regexp.MustCompile(`attempt to call (\w+ '[^']*' \()?a \w+ value\)?|(?m:^\$\d+)`)

// unnamed returns a reply without luaIterator's matches and the lengths of strings.
func unnamed(reply []byte) []byte { return luaIterator.ReplaceAll(reply, nil) }

// luaDifference is a program with different replies.
type luaDifference struct {
	program   *luaProgram
	got, want []byte
}

func (d *luaDifference) String() string {
	return fmt.Sprintf("%s\nmeowdis:      %q\nredis-server: %q", d.program.source(), d.got, d.want)
}

func (s *luaSides) difference(p *luaProgram, got, want resp.Value) *luaDifference {
	g, w := s.wire(got), s.wire(want)
	if s.same(p, g, w) {
		return nil
	}
	if p.hidden == "" && strings.Contains(p.source(), "tostring") { // the program can take an address apart
		p.hidden = hideAddresses
		defer func() { p.hidden = "" }()
		if got, ended := s.ours(p.call()); ended {
			if want, err := s.theirs.TryPipeline([][][]byte{p.call()}); err == nil && s.same(p, s.wire(got), s.wire(want[0])) {
				return nil
			}
		}
	}
	return &luaDifference{p, g, w}
}

// hideAddresses begins a program whose tostring returns no addresses.
const hideAddresses = `local tostring = function(...) local s = tostring(...) return (s:gsub('^(%l+): 0x%x+$', '%1: 0x')) end `

// same compares replies.
func (s *luaSides) same(p *luaProgram, got, want []byte) bool {
	return bytes.Equal(got, want) || bytes.Equal(unnamed(got), unnamed(want)) && strings.Contains(p.source(), " in ")
}

// play runs programs, on meowdis first, and returns the differences. A program that crashes redis-server
// or does not end has none.
func (s *luaSides) play(programs []*luaProgram) (found []*luaDifference) {
	var run []*luaProgram
	var calls [][][]byte
	var got []resp.Value
	for _, p := range programs {
		long := time.AfterFunc(20*time.Second, func() { s.t.Logf("does not end:\n%s", p.source()) })
		v, ended := s.ours(p.call())
		long.Stop()
		if !ended {
			s.endless++
			s.t.Logf("does not end:\n%s", p.source())
			continue
		}
		if bytes.Contains(s.wire(v), []byte("not enough memory")) { // Redis has no such limit; see docs/compatibility.md
			continue
		}
		run, calls, got = append(run, p), append(calls, p.call()), append(got, v)
	}
	if len(run) == 0 {
		return nil
	}
	programs = run
	replies, err := s.theirs.TryPipeline(calls)
	if err != nil && len(programs) == 1 {
		what := err.Error() + "\n" + programs[0].source()
		if bytes.HasPrefix(got[0].Str, []byte("ERR unknown error")) {
			what = "" // error({}), which docs/compatibility.md names
		}
		s.crashed(what)
		return nil
	}
	if err != nil {
		was := s.crashes
		s.restart()
		for i := range programs {
			found = append(found, s.play(programs[i:i+1])...)
		}
		if s.crashes == was {
			s.crashed("not when the programs run one by one")
		}
		return found
	}
	for i, p := range programs {
		if d := s.difference(p, got[i], replies[i]); d != nil {
			found = append(found, d)
		}
	}
	return found
}

// minimise removes statements and replaces expressions with smaller ones while the replies differ.
func (s *luaSides) minimise(found *luaDifference) *luaDifference {
	p := found.program
	again := func() bool {
		ds := s.play([]*luaProgram{p})
		if len(ds) == 0 {
			return false
		}
		found = ds[0]
		return true
	}
	if !again() {
		return found
	}
	for smaller := true; smaller; {
		smaller = false
		for _, at := range p.root.all() {
			if s.shrink(at, again) {
				smaller = true
			}
		}
	}
	return found
}

// shrink makes a piece smaller if again then still reports a difference.
func (s *luaSides) shrink(p *piece, again func() bool) (smaller bool) {
	if p.kind == body {
		return p.removeParts(again)
	}
	if p.kind == 0 || len(p.parts) < 2 && p.kind != statement {
		return false
	}
	was := p.parts
	for _, kid := range p.all()[1:] {
		if p.kind == statement && (kid.kind != body || was[0] == any(kid)) {
			continue
		}
		p.parts = []any{kid, "\n"}
		if p.kind != statement {
			p.parts = kid.parts
		}
		if again() {
			return true
		}
	}
	if p.kind != statement {
		for _, simple := range []string{"nil", "1", "'a'", "{}", "f"} {
			p.parts = []any{simple}
			if again() {
				return true
			}
		}
	}
	p.parts = was
	return false
}

// removeParts removes each part of p without which again still reports a difference.
func (p *piece) removeParts(again func() bool) (smaller bool) {
	for i := 0; i < len(p.parts); {
		was := p.parts
		p.parts = append(append([]any(nil), was[:i]...), was[i+1:]...)
		if again() {
			smaller = true
			continue
		}
		p.parts = was
		i++
	}
	return smaller
}

// all returns p and the pieces in it.
func (p *piece) all() []*piece {
	list := []*piece{p}
	for _, part := range p.parts {
		if kid, ok := part.(*piece); ok {
			list = append(list, kid.all()...)
		}
	}
	return list
}
