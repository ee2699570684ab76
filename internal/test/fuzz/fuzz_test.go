package fuzz

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/meowdis/meowdis/internal/test/oracle"
	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/translator"
)

var (
	firstSeed = flag.Uint64("seed", 1, "the seed of the first case; the next has the next number")
	runFor    = flag.Duration("for", 0, "how long to run each group, instead of some cases")
)

const (
	caseLength = 60
	shortRun   = 20 // cases
	mostFound  = 5  // differences before a group's run ends
)

// groups are all that Redis 8.0 and meowdis have: commands on keys, and in those of served the ones
// that need a server.
var (
	groups = []string{"string", "hash", "list", "set", "sorted-set", "generic", "bitmap", "hyperloglog", "stream", "geo", vectorSets, "transactions", "scripting", "connection", "server"}
	served = []string{"connection", "server"}
)

// knownSince is the version of Redis that has a command first.
func knownSince(c *commands.Command) oracle.Version {
	if c.Name == "VISMEMBER" {
		return "8.0" // though it is documented since 8.2
	}
	return oracle.Version(c.Since)
}

// drawable are the commands of the table that a server of the version knows, by group.
func drawable(t *testing.T, server oracle.Version) map[string][]command {
	t.Helper()
	byGroup := map[string][]command{}
	for _, c := range commands.All() {
		if excluded[c.Name] != "" || strings.HasPrefix(c.Name, "DEBUG ") || c.Name == "WATCH" || !slices.Contains(groups, groupOf(c)) || server.Before(knownSince(c)) {
			continue
		}
		syntax, err := parseSyntax(c.Syntax)
		if err != nil {
			t.Error(err)
		}
		byGroup[groupOf(c)] = append(byGroup[groupOf(c)], command{
			Command: c, syntax: syntax.without(unknown(c.Name, server)),
			expires: strings.Contains(c.Syntax, "seconds") && c.Group != "server",
			random:  unqueued(words(strings.Fields(c.Name)...), treatments[c.Name]),
		})
	}
	return byGroup
}

func newGenerator(all map[string][]command, group string, seed uint64) *generator {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 0)), group: all[group], mix: 5, fills: true}
	switch group {
	case "generic", "transactions", "connection", "server":
		g.mix = 2 // what it is about must be there first
	case "scripting":
		g.mix, g.begin = 2, []step{{args: words("FUNCTION", "LOAD", running)}}
	case "hash":
		if all["hash"] != nil && slices.ContainsFunc(all["hash"], func(c command) bool { return c.Name == "HPTTL" }) {
			g.end = fieldTTLs
		}
	case "stream":
		g.mix = 20 // few other commands work on streams
		g.end = streamsInFull
	case vectorSets:
		g.mix = 10
		g.end = vectorsInFull
	}
	for _, name := range groups {
		// Redis keeps a cache in a HyperLogLog: as a string it must not be seen.
		onKeys := name != "transactions" && name != "scripting" && !slices.Contains(served, name)
		if onKeys && (group != "hyperloglog" && name != "hyperloglog" || name == "generic") {
			g.others = append(g.others, all[name]...)
		}
		if onKeys && name != vectorSets { // a module tells less of its keys
			g.keyed = append(g.keyed, all[name]...)
		}
	}
	return g
}

// TestDifferential runs random cases of each group on meowdis and on
// redis-server. In half of them everything that is longer than a byte is a large element, and in
// half of those and of the others no list is short, and in half of all everything is a long one.
func TestDifferential(t *testing.T) {
	defer func(n, few int, long int64) {
		translator.LargeElement, translator.MaxBoundElements, translator.LongList = n, few, long
	}(translator.LargeElement, translator.MaxBoundElements, translator.LongList)
	large, few, long := [...]int{translator.LargeElement, 2}, [...]int{translator.MaxBoundElements, 0}, [...]int64{translator.LongList, 0}
	if *onAside {
		defer func(few, parts int, less int64) {
			translator.MaxUnstagedStmts, translator.MaxUnstagedParts, translator.MaxUnstagedChanges = few, parts, less
		}(translator.MaxUnstagedStmts, translator.MaxUnstagedParts, translator.MaxUnstagedChanges)
		translator.MaxUnstagedStmts, translator.MaxUnstagedParts, translator.MaxUnstagedChanges = 0, 0, 0
	}
	all := drawable(t, newSides(t).version)
	for _, group := range groups {
		if len(all[group]) == 0 {
			continue // this redis-server has no vector sets
		}
		t.Run(group, func(t *testing.T) {
			s := newSides(t)
			if slices.Contains(served, group) {
				s.serve()
			}
			until := time.Now().Add(*runFor)
			found := map[string]bool{}
			for i := uint64(0); len(found) < mostFound; i++ {
				if *runFor == 0 && i == shortRun || *runFor > 0 && time.Now().After(until) {
					t.Logf("%d cases of %d commands", i, caseLength)
					break
				}
				seed := *firstSeed + i
				steps := newGenerator(all, group, seed).generate(caseLength)
				resp3 := seed%2 == 1
				translator.LargeElement, translator.MaxBoundElements = large[seed/2%2], few[seed/4%2]
				translator.LongList = long[seed/8%2]
				play := func(steps []step) *difference { return s.play(steps, resp3) }
				d := play(steps)
				if d == nil || found[d.command] {
					continue
				}
				found[d.command] = true
				steps, d = minimise(steps, d, play)
				t.Errorf("seed %d differs. What redis-server answers:\n\n%s\n%s", seed, transcript(steps, d.replies), d.what)
			}
		})
	}
}

// TestFindsAndMinimises breaks meowdis and checks that this is found.
func TestFindsAndMinimises(t *testing.T) {
	s := newSides(t)
	incremented := 0
	s.broken = func(args [][]byte, v resp.Value) resp.Value {
		switch {
		case nameOf(args) == "SET":
			incremented = 0
		case nameOf(args) == "INCR" && string(args[1]) == "a" && v.Kind == resp.Int:
			if incremented++; incremented == 2 {
				v.Int++
			}
		}
		return v
	}
	var steps []step
	for i := range 40 {
		steps = append(steps, step{args: words("INCRBY", "n", fmt.Sprint(i))})
	}
	steps[7].args = words("SET", "a", "5")
	steps[11].args = words("INCR", "a")
	steps[29].args = words("INCR", "a")
	d := s.play(steps, false)
	if d == nil || d.at != 29 {
		t.Fatalf("the difference is %+v", d)
	}
	incremented = 0
	steps, d = minimise(steps, d, func(steps []step) *difference {
		incremented = 0
		return s.play(steps, false)
	})
	if got, want := transcript(steps, d.replies), "> INCR a\n(integer) 1\n> INCR a\n(integer) 2\n"; got != want {
		t.Errorf("the shortest case is\n%swant\n%s", got, want)
	}
}

// TestFindsContents changes a value without a command.
func TestFindsContents(t *testing.T) {
	s := newSides(t)
	s.broken = func(args [][]byte, v resp.Value) resp.Value {
		if nameOf(args) == "SET" {
			s.theirs[1].Do(words("APPEND", "a", "x")...)
			s.theirs[1].Do(words("SET", "a\x00", "x", "EX", "100")...)
		}
		return v
	}
	d := s.play([]step{{args: words("SET", "a", "")}, {args: words("SET", "b", "5")}}, true)
	want := `key "a\x00" of database 0
meowdis:      nothing
redis-server: a string with a short time to live, ["x"]
key a of database 0
meowdis:      a string with no time to live, [""]
redis-server: a string with no time to live, ["x"]`
	if d == nil || d.what != want {
		t.Errorf("got %+v", d)
	}
}

// TestSyntax reads the notation.
func TestSyntax(t *testing.T) {
	for text, want := range map[string]string{
		"":                                "",
		"key [key ...]":                   "key key*",
		"[NX|XX] [GET]":                   "(NX|XX)? GET?",
		"<LEFT|RIGHT> key":                "(LEFT|RIGHT) key",
		"key [EX seconds|PERSIST]":        "key (EX seconds|PERSIST)?",
		"key [count [WITHVALUES]]":        "key (count WITHVALUES?)?",
		"score member [score member ...]": "score member (score member)*",
		"[GET pattern [GET pattern ...]]": "(GET pattern (GET pattern)*)?",
	} {
		n, err := parseSyntax(text)
		if got := n.String(); err != nil || got != want {
			t.Errorf("%q is %q, want %q (%v)", text, got, want, err)
		}
	}
	for _, bad := range []string{"[key", "key]", "<a|b", "a>"} {
		if _, err := parseSyntax(bad); err == nil {
			t.Errorf("%q is a syntax", bad)
		}
	}
}

// String writes a syntax as a regular expression would.
func (n node) String() string {
	var kids []string
	for _, kid := range n.kids {
		kids = append(kids, kid.String())
	}
	group := func() string {
		if one := kids[0]; !strings.ContainsAny(one, " |") || strings.HasPrefix(one, "(") && strings.Index(one, ")") == len(one)-1 {
			return one
		}
		return "(" + kids[0] + ")"
	}
	switch n.kind {
	case sequence:
		return strings.Join(kids, " ")
	case choice:
		return "(" + strings.Join(kids, "|") + ")"
	case optional:
		return group() + "?"
	case repeated:
		return group() + "*"
	}
	return n.text
}
