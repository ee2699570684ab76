package server_test

import (
	"bytes"
	"cmp"
	"flag"
	"fmt"
	"maps"
	"net"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/meowdis/meowdis/internal/test/oracle"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/server"
)

// A scene is a sequence of steps of several clients, with the replies that each client gets after each step.
// testdata/waiting.txt has scenes, separated by blank lines:
//
//	1> BLPOP q 0                client 1 sends a command,
//	1: waits                    and has no reply yet
//	2> RPUSH q a | LLEN q       two commands in one packet
//	2: (integer) 1
//	2: (integer) 0
//	1: 1) "q"                   replies of the other clients
//	1: 2) "a"
//	1>> BLPOP q 0.01            no check whether it waits
//	1> (leaves)                 closes its connection
//	2> CLIENT UNBLOCK {1}       {1} is the ID of client 1
//	!since 7.2                  earlier servers reply differently
//
// "go test ./server -run TestWaitingOracle -update" writes the replies of redis-server 8.0.

var update = flag.Bool("update", false, "write the replies of redis-server to testdata/waiting.txt")

const scenesFile = "testdata/waiting.txt"

type scene struct {
	since oracle.Version
	lines []string
}

func readScenes(t *testing.T) (all []scene) {
	t.Helper()
	text, err := os.ReadFile(scenesFile)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range strings.Split(strings.TrimSpace(string(text)), "\n\n") {
		s := scene{lines: strings.Split(part, "\n")}
		for _, line := range s.lines {
			if v, ok := strings.CutPrefix(line, "!since "); ok {
				s.since = oracle.Version(v)
			}
		}
		all = append(all, s)
	}
	return all
}

// party is a client of a scene.
type party struct {
	conn    net.Conn
	id      int64
	read    []byte // input that is not yet a complete reply
	pending int
	gone    bool
}

// take returns the next complete reply, if any.
func (p *party) take() (v resp.Value, some bool) {
	buf := make([]byte, 64<<10)
	for {
		from := bytes.NewReader(p.read)
		r := resp.NewReader(from)
		if v, err := r.ReadReply(); err == nil {
			p.read = p.read[len(p.read)-from.Len()-r.Buffered():]
			return v, true
		}
		n, err := readNow(p.conn, buf)
		p.read = append(p.read, buf[:n]...)
		if p.gone = err != nil; n == 0 {
			return v, false
		}
	}
}

// cast plays scenes on one server.
type cast struct {
	t       *testing.T
	dial    func() net.Conn
	control *party
	parties map[string]*party
	out     []string
}

func (s *cast) join() *party {
	p := &party{conn: s.dial()}
	p.id = s.do(p, "CLIENT", "ID").Int
	return p
}

func (s *cast) do(p *party, args ...string) (v resp.Value) {
	s.t.Helper()
	p.conn.Write(resp.AppendCommand(nil, words(args...)...))
	s.until(func() (some bool) {
		v, some = p.take()
		return some
	})
	return v
}

// state reports whether the server knows the client, and whether it is blocked.
func (s *cast) state(p *party) (known, waits bool) {
	line := string(s.do(s.control, "CLIENT", "LIST", "ID", fmt.Sprint(p.id)).Str)
	_, flags, known := strings.Cut(line, " flags=")
	flags, _, _ = strings.Cut(flags, " ")
	return known, strings.Contains(flags, "b")
}

// play plays a scene and returns it with the replies.
func (s *cast) play(lines []string) []string {
	s.t.Helper()
	s.begin()
	for _, line := range lines {
		s.line(line)
	}
	return s.end()
}

func (s *cast) begin() {
	s.out, s.parties = nil, map[string]*party{}
	s.do(s.control, "FLUSHALL")
}

// line plays a line of a scene. It skips replies.
func (s *cast) line(line string) {
	s.t.Helper()
	switch name, command, is := strings.Cut(line, "> "); {
	case strings.HasPrefix(line, "#") || strings.HasPrefix(line, "!"):
		s.out = append(s.out, line)
	case is && len(strings.TrimSuffix(name, ">")) == 1:
		s.out = append(s.out, line)
		s.step(name, command)
	}
}

func (s *cast) end() []string {
	for _, p := range s.parties {
		s.leave(p)
	}
	return s.out
}

// compare plays a scene and reports the first difference.
func (s *cast) compare(lines []string) {
	s.t.Helper()
	if got := s.play(lines); !slices.Equal(got, lines) {
		s.differ(got, lines)
	}
}

// differ reports the first difference between two runs of a scene.
func (s *cast) differ(got, want []string) {
	s.t.Helper()
	i := 0
	for i < min(len(got), len(want)) && got[i] == want[i] {
		i++
	}
	s.t.Errorf("it goes\n%s\nand not\n%s", strings.Join(got[:min(i+3, len(got))], "\n"), strings.Join(want[:min(i+3, len(want))], "\n"))
}

func (s *cast) leave(p *party) {
	if !p.gone {
		p.gone, p.pending = true, 0
		p.conn.Close()
		s.until(func() bool { known, _ := s.state(p); return !known })
	}
}

func (s *cast) until(done func() bool) {
	s.t.Helper()
	for deadline := time.Now().Add(time.Minute); !done(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			s.t.Fatalf("nothing happens after\n%s", strings.Join(s.out, "\n"))
		}
	}
}

func (s *cast) step(name, command string) {
	s.t.Helper()
	name, all := strings.CutSuffix(name, ">")
	p := s.parties[name]
	if p == nil {
		p = s.join()
		s.parties[name] = p
	}
	for other, party := range s.parties {
		command = strings.ReplaceAll(command, "{"+other+"}", fmt.Sprint(party.id))
	}
	if command == "(leaves)" {
		s.leave(p)
	} else {
		var out []byte
		for _, one := range strings.Split(command, " | ") {
			args, err := resp.SplitLine(one)
			if err != nil {
				s.t.Fatal(err)
			}
			out = resp.AppendCommand(out, args...)
			p.pending++
		}
		p.conn.Write(out)
		for s.settle(name, p, !all); all && p.pending > 0; {
			s.settle(name, p, false)
		}
	}
	from := len(s.out)
	for before := -1; before < len(s.out); { // a step of one client may serve another
		before = len(s.out)
		for _, other := range slices.Sorted(maps.Keys(s.parties)) {
			if other != name {
				s.settle(other, s.parties[other], false)
			}
		}
	}
	slices.SortStableFunc(s.out[from:], func(a, b string) int { return cmp.Compare(a[0], b[0]) })
}

// settle reads a client's replies until it has all of them or is blocked.
func (s *cast) settle(name string, p *party, says bool) {
	s.t.Helper()
	waits := false
	s.until(func() bool {
		for p.pending > 0 && !p.gone {
			v, some := p.take()
			if !some {
				break
			}
			s.show(name, v, true)
			p.pending--
			waits = false
		}
		if p.pending == 0 || p.gone || waits { // and all replies before are read
			return true
		}
		_, waits = s.state(p)
		return false
	})
	switch {
	case p.pending == 0:
	case p.gone:
		s.show(name, resp.Value{}, false)
		p.pending = 0
	case says:
		s.out = append(s.out, name+": waits")
	}
}

func (s *cast) show(name string, v resp.Value, open bool) {
	text := "closed"
	if open {
		text = show(v)
	}
	for _, line := range strings.Split(text, "\n") {
		s.out = append(s.out, name+": "+line)
	}
}

func newCast(t *testing.T, network, addr string) *cast {
	s := &cast{t: t, dial: func() net.Conn {
		c, err := net.Dial(network, addr)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		return c
	}}
	s.control = s.join()
	return s
}

// TestWaitingOracle compares the scenes with a real Redis.
func TestWaitingOracle(t *testing.T) {
	redis := oracle.Start(t)
	version := redis.Dial(t).Version()
	s := newCast(t, "unix", redis.Socket)
	var all []string
	for _, sch := range readScenes(t) {
		if version.Before(sch.since) {
			continue
		}
		if *update {
			all = append(all, strings.Join(s.play(sch.lines), "\n"))
		} else {
			s.compare(sch.lines)
		}
	}
	if *update && !version.Before("8.0") {
		if err := os.WriteFile(scenesFile, []byte(strings.Join(all, "\n\n")+"\n"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// TestWaiting plays the scenes on a file.
func TestWaiting(t *testing.T) {
	served := serveFile(t, t.TempDir()+"/waiting.sqlite", server.Config{})
	s := newCast(t, "tcp", served.resp)
	for _, sch := range readScenes(t) {
		s.compare(sch.lines)
	}
}
