package repl

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/internal/test/oracle"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/redis/script"
	"github.com/meowdis/meowdis/remote"
)

// asking answers a debugger with commands, and records what it shows.
type asking struct {
	commands []string
	lines    []string
}

func (a *asking) ask(lines []string) (words []string, ok bool) {
	for _, line := range lines {
		if line != endOfDebugging {
			a.lines = append(a.lines, strings.TrimRight(line, " "))
		}
	}
	if len(a.commands) == 0 || len(lines) > 0 && lines[len(lines)-1] == endOfDebugging {
		return nil, false
	}
	command := a.commands[0]
	a.commands = a.commands[1:]
	a.lines = append(a.lines, "lua> "+command)
	return strings.Fields(command), true
}

func fileDebug(s *engine.Session) func(context.Context, [][]byte, bool, func([]string) ([]string, bool)) (resp.Value, error) {
	return func(ctx context.Context, args [][]byte, keep bool, ask func([]string) ([]string, bool)) (resp.Value, error) {
		d := &script.Debugger{Ask: ask}
		v, err := s.Debug(ctx, args, keep, d)
		ask(append(d.Lines(), endOfDebugging))
		return v, err
	}
}

// TestDebugger runs the same commands in our debugger and in Redis's.
func TestDebugger(t *testing.T) {
	server := oracle.Start(t)
	server.Dial(t)
	for _, c := range []struct{ script, commands string }{
		{"local a = 1\nlocal b = 'x\\n'\nredis.call('SET', KEYS[1], b)\nreturn redis.call('GET', KEYS[1])", "print;p a;s;p a;s;p;p b;p nope;list;whole;c"},
		{"local sum = 0\nfor i = 1, 3 do\n  sum = sum + i\nend\nreturn sum", "s;s;s;p i;s;s;p sum;c"},
		{"local t = {1, 'two', {3}}\nlocal m = {a=1}\nlocal n\nreturn {t, m}", "break 4;b;c;p t;p m;p n;b -4;b -4;b 99;b x;b 0;b;c"},
		{"local function double(x)\n  local y = x * 2\n  return y\nend\nlocal r = double(4)\nreturn r", "b 3;c;p;trace;p r;c"},
		{"redis.call('SET', 'a', 5)\nlocal n = redis.call('INCR', 'a')\nlocal e = redis.pcall('LPUSH', 'a', 1)\nreturn n", "n;n;n;p;eval 1 + 1;e #KEYS;e nope;e return;redis GET a;r;maxlen;maxlen 100;m 0;frob;c"},
		{"redis.breakpoint()\nredis.debug('seen', 1, nil, {true})\nreturn 1", "c;s;c"},
		{"return 1", "abort"},
		{"return redis.call('LRANGE', 'none', 0, -1)", "c"},
		{"local k = ARGV[1] .. KEYS[1]\nreturn k", "p KEYS;p ARGV;s;c"},
	} {
		args := [][]byte{[]byte("EVAL"), []byte(c.script), []byte("1"), []byte("key"), []byte("arg")}
		r, err := remote.OpenRedis(t.Context(), "unix://"+server.Socket, false, remote.Options{})
		if err != nil {
			t.Fatal(err)
		}
		theirs, ours := &asking{commands: strings.Split(c.commands, ";")}, &asking{commands: strings.Split(c.commands, ";")}
		want, err := r.Debug(t.Context(), args, false, theirs.ask)
		if err != nil {
			t.Fatal(err)
		}
		if v, err := r.Do(t.Context(), []byte("PING")); err != nil || string(v.Str) != "PONG" {
			t.Errorf("the session is unusable afterwards: %v, %v", v, err)
		}
		r.Close()
		s := newSession(t)
		got, err := fileDebug(s)(t.Context(), args, false, ours.ask)
		if err != nil {
			t.Fatal(err)
		}
		if a, b := shown(want), shown(got); a != b {
			t.Errorf("%s: we reply %s, Redis replies %s", c.script, b, a)
		}
		if !slices.Equal(ours.lines, theirs.lines) {
			t.Errorf("%s\nwe show\n%s\nRedis shows\n%s", c.script, strings.Join(ours.lines, "\n"), strings.Join(theirs.lines, "\n"))
		}
		if v, err := s.Do(t.Context(), []byte("DBSIZE")); err != nil || v.Int != 0 {
			t.Errorf("%s left keys", c.script)
		}
	}
}

func shown(v resp.Value) string { return string(resp.Printer{}.Append(nil, v)) }

// TestDebugCommands types into the debugger at the prompt.
func TestDebugCommands(t *testing.T) {
	file := filepath.Join(t.TempDir(), "add.lua")
	if err := os.WriteFile(file, []byte("local n = redis.call('INCRBY', KEYS[1], ARGV[1])\nreturn n\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := newSession(t)
	o := Options{Target: Target{Session: s, Debug: fileDebug(s)}}
	out, errs := typedInto(t, o, ":debug "+file+" n , 5\rs\rp n\r\rc\rGET n\r"+
		"SCRIPT DEBUG SYNC\rEVAL \"redis.call('SET','k','v') return 1\" 0\rc\rGET k\rEVAL \"return 2\" 0\r"+
		"SCRIPT DEBUG YES\rSCRIPT DEBUG NO\rEVAL \"return 3\" 0\rSCRIPT DEBUG MAYBE\rSCRIPT DEBUG YES\rEVAL \"return 4\" 0\rabort\rMULTI\r:debug "+file+"\r")
	mustShow(t, out, "* Stopped at 1, stop reason = step over\n-> 1   local n =", "lua> s", "<redis> INCRBY n 5\n<reply> 5\n* Stopped at 2", "lua> p n", "<value> 5", "(integer) 5", "db> GET n", "(nil)",
		"OK", "* Stopped at 1", "lua> c", "(integer) 1", "GET k", `"v"`, "EVAL", "(integer) 2", "OK", "OK", "(integer) 3", "ERR Use SCRIPT DEBUG YES/SYNC/NO", "* Stopped at 1", "script aborted for user request", "inside MULTI")
	mustShow(t, errs, "changes were discarded")
}

// TestDebuggedConnection debugs on a server, which closes the connection then. The next command does not call it lost.
func TestDebuggedConnection(t *testing.T) {
	f := &failing{Session: newSession(t), errs: []error{nil, nil, nil}, joins: 1}
	debug := fileDebug(f.Session.(*engine.Session))
	target := Target{Session: f, Connections: func() int { return f.joins }}
	target.Debug = func(ctx context.Context, args [][]byte, keep bool, ask func([]string) ([]string, bool)) (resp.Value, error) {
		f.lost = true
		return debug(ctx, args, keep, ask)
	}
	out, errs := typedInto(t, Options{Target: target}, "PING\rSCRIPT DEBUG YES\rEVAL \"return 1\" 0\rc\rPING\r")
	mustShow(t, out, "PONG", "* Stopped at 1", "(integer) 1", "PONG")
	if strings.Contains(errs, "reconnected") {
		t.Error(errs)
	}
}
