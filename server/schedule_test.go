package server_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/meowdis/meowdis/internal/test/oracle"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/server"
)

// TestSchedules plays schedules of several clients and compares the output of all of them after each step with
// redis-server's.
func TestSchedules(t *testing.T) { playSchedules(t, "testdata/schedules.txt") }

// played is the output of redis-server after each step, by schedule: TestGoroutineEach plays them again.
var played = map[string][]string{}

func playSchedules(t *testing.T, file string) {
	version := oracle.Start(t).Dial(t).Version()
	mask := masked(version)
	for _, s := range readSchedules(t, file) {
		if version.Before(oracle.Version(s.since)) {
			continue // this version sends own messages before the reply, and has no pubsub_clients
		}
		t.Run(s.name, func(t *testing.T) {
			got := newStage(t, "tcp", serveFile(t, t.TempDir()+"/schedule.sqlite", server.Config{}).resp, mask)
			got.steps = strings.Join(s.steps, "\n")
			want := played[got.steps]
			if want == nil {
				redis := oracle.Start(t)
				redis.Wait(t)
				real := newStage(t, "unix", redis.Socket, mask)
				real.steps = got.steps
				for _, step := range s.steps {
					want = append(want, real.play(step))
				}
				played[got.steps] = want
			}
			for i, step := range s.steps {
				if b := got.play(step); b != want[i] {
					t.Errorf("%s\nserver:\n%sredis-server:\n%s", step, b, want[i])
				}
			}
		})
	}
}

type schedule struct {
	name, since string
	steps       []string
}

func readSchedules(t *testing.T, file string) (all []schedule) {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(string(text), "\n") {
		if name, ok := strings.CutPrefix(line, "== "); ok {
			name, since, _ := strings.Cut(name, " !since ")
			all = append(all, schedule{name: name, since: since})
		} else if line != "" && !strings.HasPrefix(line, "#") {
			last := &all[len(all)-1]
			last.steps = append(last.steps, line)
		}
	}
	return all
}

// stage is a server with the clients of a schedule, by name.
type stage struct {
	t             *testing.T
	network, addr string
	mask          func([]byte) string
	steps         string // steps of the schedule
	order         []string
	watcher       *actor // polls INFO
	actors        map[string]*actor
}

type actor struct {
	conn net.Conn
	id   string // fetched when a step needs it
	gone bool
}

func newStage(t *testing.T, network, addr string, mask func([]byte) string) *stage {
	return &stage{t: t, network: network, addr: addr, mask: mask, actors: map[string]*actor{}}
}

// play makes an actor do a step and returns the output of each actor.
func (s *stage) play(step string) string {
	who, says, _ := strings.Cut(step, " ")
	who, waits := strings.CutSuffix(who, "!")
	a := s.actors[who]
	if a == nil {
		conn, err := net.Dial(s.network, s.addr)
		if err != nil {
			s.t.Fatal(err)
		}
		s.t.Cleanup(func() { conn.Close() })
		a = &actor{conn: conn}
		if strings.Contains(s.steps, "{"+who+"}") {
			conn.Write([]byte("CLIENT ID\r\n"))
			a.id = strings.Trim(string(a.hear(s.t, step)), ":\r\n")
		}
		s.actors[who], s.order = a, append(s.order, who)
	}
	for name, other := range s.actors {
		says = strings.ReplaceAll(says, "{"+name+"}", other.id)
	}
	if says == "(leaves)" {
		s.leave(who)
		return ""
	}
	var out []byte
	for _, command := range strings.Split(says, " ; ") {
		args, err := resp.SplitLine(command)
		if err != nil {
			s.t.Fatal(step, err)
		}
		out = resp.AppendCommand(out, args...)
	}
	a.conn.Write(out)
	if waits {
		s.until("blocked_clients:1\r")
		return ""
	}
	var all strings.Builder
	for _, name := range append([]string{who}, s.order...) {
		if got := s.actors[name].hear(s.t, step); len(got) > 0 {
			fmt.Fprintf(&all, "  %s: %q\n", name, s.mask(got))
		}
	}
	return all.String()
}

// leave closes an actor's connection.
func (s *stage) leave(who string) {
	s.until(fmt.Sprintf("connected_clients:%d\r", len(s.order)+1))
	s.actors[who].conn.Close()
	delete(s.actors, who)
	s.order = slices.DeleteFunc(s.order, func(name string) bool { return name == who })
	s.until(fmt.Sprintf("connected_clients:%d\r", len(s.order)+1))
}

// until waits until INFO has a line.
func (s *stage) until(line string) {
	a := s.watcher
	if a == nil {
		conn, err := net.Dial(s.network, s.addr)
		if err != nil {
			s.t.Fatal(err)
		}
		s.t.Cleanup(func() { conn.Close() })
		a = &actor{conn: conn}
		s.watcher = a
	}
	for deadline := time.Now().Add(time.Minute); ; {
		a.conn.Write([]byte("INFO clients\r\n"))
		got := a.hear(s.t, line)
		if bytes.Contains(got, []byte(line)) {
			return
		}
		if time.Now().After(deadline) {
			s.t.Fatalf("no %q in %s", line, got)
		}
	}
}

// hear returns an actor's output up to the error reply to an unknown command. It sends that command twice, since some
// messages follow all replies to one packet.
func (a *actor) hear(t *testing.T, step string) []byte {
	return append(a.hearOnce(t, step), a.hearOnce(t, step)...)
}

func (a *actor) hearOnce(t *testing.T, step string) []byte {
	if a.gone {
		return nil
	}
	const end = "THE-END"
	mark := []byte("-ERR unknown command '" + end + "', with args beginning with: \r\n")
	a.conn.Write([]byte(end + "\r\n"))
	a.conn.SetReadDeadline(time.Now().Add(time.Minute))
	var got []byte
	buf := make([]byte, 64<<10)
	for {
		n, err := a.conn.Read(buf)
		got = append(got, buf[:n]...)
		if bytes.Contains(got, mark) {
			return bytes.Replace(got, mark, nil, 1)
		}
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
			t.Fatalf("%s: no answer after %q", step, got)
		case err != nil && !errors.Is(err, io.EOF) && !strings.Contains(err.Error(), "reset by peer"):
			t.Fatal(err)
		case err != nil:
			a.gone = true
			return append(got, "(closed)"...)
		}
	}
}

// masked hides legitimate differences: clocks, addresses, and the fields of CLIENT LIST and INFO that are not about
// messages.
func masked(v oracle.Version) func([]byte) string {
	hello := differences(v)
	line := regexp.MustCompile(`\+\d{10}\.\d{6} \[(\d+) (?:unix:[^ \]]+|[\d.:]+|(lua))\]`)
	clients := regexp.MustCompile(`[$=]\d+\r\n(?:txt:)?((?:id=.*\n)+)`)
	of := regexp.MustCompile(` flags=(\w+) .*? sub=(\d+) psub=(\d+) ssub=(\d+) .*? cmd=([^ ]+) .*? redir=(\S+)`)
	redirected := regexp.MustCompile(`((?:redirect|tracking-redir-broken)\r\n):[1-9]\d*`)
	info := regexp.MustCompile(`[$=]\d+\r\n(?:txt:)?# (?:Stats|Clients)\r\n(?s:.*)`)
	fact := regexp.MustCompile(`(?:pubsub|tracking)\w+:\d+`)
	return func(got []byte) string {
		text := hello(got)
		text = redirected.ReplaceAllString(text, "$1:ID")
		text = line.ReplaceAllString(text, "+TIME [$1 $2]")
		text = clients.ReplaceAllStringFunc(text, func(list string) string {
			var all []string
			for _, m := range of.FindAllStringSubmatch(list, -1) {
				flags := strings.TrimSuffix(m[1], "U") // of a Unix socket
				if flags == "" {
					flags = "N"
				}
				if m[6] != "-1" && m[6] != "0" {
					m[6] = "ID"
				}
				all = append(all, flags+" "+strings.Join(m[2:], " "))
			}
			return strings.Join(all, ", ")
		})
		return info.ReplaceAllStringFunc(text, func(facts string) string { return strings.Join(fact.FindAllString(facts, -1), ", ") })
	}
}
