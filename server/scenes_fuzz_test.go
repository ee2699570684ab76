package server_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/internal/test/oracle"
	"github.com/meowdis/meowdis/server"
)

var (
	scenes    = flag.Int("scenes", 40, "how many scenes TestRandomScenes makes up")
	sceneSeed = flag.Uint64("scene-seed", 1, "of the first of them")
)

// Commands of random scenes: the blocking ones and the rest. @ stands for the key of a list, $ for the key of a sorted
// set, % for an element, ^ for the ID of an entry, {} for a client.
var (
	sceneWaits = []string{
		"BLPOP @ 0", "BLPOP @ @ 0", "BRPOP @ $ @ 0", "BLMOVE @ @ LEFT RIGHT 0", "BLMOVE @ @ RIGHT LEFT 0", "BRPOPLPUSH @ @ 0",
		"BLMPOP 0 2 @ @ LEFT COUNT 2", "BLMPOP 0 1 @ RIGHT", "BZPOPMIN $ 0", "BZPOPMAX $ $ 0", "BZMPOP 0 2 $ $ MIN COUNT 2", "BZMPOP 0 1 $ MAX",
		"XREAD BLOCK 0 STREAMS s $", "XREAD BLOCK 0 COUNT 1 STREAMS s 0", "XREAD BLOCK 0 STREAMS s +", "XREADGROUP GROUP g c BLOCK 0 STREAMS s >",
		"XREADGROUP GROUP g d BLOCK 0 COUNT 1 STREAMS s >",
	}
	sceneCalls = []string{
		"RPUSH @ %", "LPUSH @ % %", "RPUSH @ % % %", "LMOVE @ @ LEFT LEFT", "RPOPLPUSH @ @", "LPOP @", "LINSERT @ BEFORE % %", "LRANGE @ 0 -1", "RPUSHX @ %", "LTRIM @ 1 0",
		"ZADD $ 1 %", "ZADD $ 2 % 1 %", "ZINCRBY $ 1 %", "ZPOPMIN $", "ZUNIONSTORE $ 2 $ $", "ZRANGESTORE $ $ 0 -1", "GEOADD $ 1 1 %", "ZRANGE $ 0 -1 WITHSCORES",
		"XADD s ^ f %", "XADD s ^ f %", "XADD s NOMKSTREAM ^ f %", "XGROUP CREATE s g $ MKSTREAM", "XGROUP CREATE s g 0", "XGROUP DESTROY s g", "XGROUP SETID s g 0", "XTRIM s MAXLEN 1",
		"XACK s g ^", "XLEN s", "DEL @", "DEL $", "DEL s", "UNLINK @ $ s", "SET @ %", "SET s %", "RENAME @ @", "RENAME $ $", "RENAME @ $", "COPY @ @ REPLACE", "COPY $ $",
		"MOVE @ 1", "SWAPDB 0 1", "SWAPDB 0 0", "PEXPIRE @ -1", "EXPIRE $ -1", "FLUSHDB ASYNC", "SORT @ ALPHA", "SADD @ %", "HSET @ f %", "TYPE @", "EXISTS @ @ $ s",
		"RPUSH @ % | LLEN @ | LPOP @", "MULTI | RPUSH @ % | ZADD $ 1 % | LPOP @ | EXEC", "MULTI | RPUSH @ % | DEL @ | EXEC", "MULTI | RENAME @ @ | RPUSH @ % | XADD s ^ f % | EXEC",
		"MULTI | BLPOP @ 0 | BZPOPMIN $ 0 | XREAD BLOCK 0 STREAMS s 0 | EXEC", "SELECT 1 | RPUSH @ % | SELECT 0", "SELECT 1 | ZADD $ 1 % | SWAPDB 1 0 | SELECT 0",
		"EVAL \"redis.call('RPUSH','@','%','%');redis.call('LPOP','@');return{redis.call('LLEN','@')}\" 0", "EVAL \"redis.call('ZADD','$',1,'%');return(redis.call('RPUSH','@','%'))\" 0",
		"EVAL \"redis.call('RPUSH','@','%');error('no')\" 0", "EVAL \"return(redis.call('BLPOP','@',0))\" 0", "CLIENT UNBLOCK {}", "CLIENT UNBLOCK {} ERROR", "CLIENT UNBLOCK {} TIMEOUT",
	}
)

// sceneMaker generates a random scene while it is played.
type sceneMaker struct {
	random *rand.Rand
	entry  int // the last ID
}

func (m *sceneMaker) one(of ...string) string { return of[m.random.IntN(len(of))] }

// step returns a client's next step. A blocked client sometimes leaves, or sends more commands.
func (m *sceneMaker) step(name string, waits bool) string {
	command := m.one(sceneCalls...)
	switch n := m.random.IntN(20); {
	case n == 0:
		return name + "> (leaves)"
	case waits && n > 3:
		return ""
	case n < 8:
		command = m.one(sceneWaits...)
	}
	var b strings.Builder
	b.WriteString(name + "> ")
	for i, c := range command {
		alone := i+1 == len(command) || command[i+1] == ' '
		switch {
		case c == '@':
			b.WriteString(m.one("a", "b", "c"))
		case c == '$' && strings.HasSuffix(command[:i], "s "), c == '$' && strings.HasSuffix(command[:i], " g ") && alone:
			b.WriteString("$") // the end of the stream
		case c == '$':
			b.WriteString(m.one("y", "z"))
		case c == '%':
			b.WriteString(m.one("1", "2", "3", "4"))
		case c == '^':
			m.entry++
			fmt.Fprintf(&b, "%d-1", m.entry)
		default:
			b.WriteRune(c)
		}
	}
	return strings.ReplaceAll(b.String(), "{}", "{"+m.one("1", "2", "3", "4")+"}")
}

// scene generates and plays a scene of about 30 steps, and returns it with the replies.
func (m *sceneMaker) scene(s *cast) []string {
	s.begin()
	for range 30 {
		name := m.one("1", "2", "3", "4")
		p := s.parties[name]
		if p != nil && p.gone {
			continue
		}
		if step := m.step(name, p != nil && p.pending > 0); step != "" && s.knows(step) {
			s.line(step)
		}
	}
	return s.end()
}

// knows reports whether the clients named in a step exist.
func (s *cast) knows(step string) bool {
	_, name, names := strings.Cut(step, "{")
	return !names || s.parties[name[:1]] != nil
}

// TestRandomScenes plays random scenes on a file and compares them with a real Redis.
func TestRandomScenes(t *testing.T) {
	redis := oracle.Start(t)
	if redis.Dial(t).Version().Before("8.0") {
		t.Skip("earlier servers serve some in another order")
	}
	real := newCast(t, "unix", redis.Socket)
	ours := newCast(t, "tcp", serveFile(t, t.TempDir()+"/scenes.sqlite", server.Config{}).resp)
	for i := range uint64(*scenes) {
		seed := *sceneSeed + i
		maker := &sceneMaker{random: rand.New(rand.NewPCG(seed, 0))}
		want := maker.scene(real)
		if got := ours.play(want); !slices.Equal(got, want) {
			ours.differ(got, want)
			t.Fatalf("-scene-seed %d", seed)
		}
	}
}
