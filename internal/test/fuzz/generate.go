package fuzz

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store/keytype"
)

// step is a command of a case. The second client changes keys that the first one
// watches.
type step struct {
	client int // 0 or 1
	args   [][]byte
	age    int64 // moves expiries this many ms earlier, instead of args
}

// command is a command that can be generated.
type command struct {
	*commands.Command
	syntax  node
	expires bool // it takes a time to live
	random  bool // it has a special treatment
}

// vectorSets is the group of the vector set commands. Redis puts them in group module.
const vectorSets = "vector-set"

// groupOf returns the group of a command in these tests.
func groupOf(c *commands.Command) string {
	if t, _ := keytype.OfCommand(c.Group, c.Name); t != nil && t.Name == keytype.VectorSet {
		return vectorSets
	}
	return c.Group
}

// generator generates cases. The same seed and table give the same case.
type generator struct {
	*rand.Rand
	group  []command // of the group under test
	others []command // of all groups
	keyed  []command // commands for COMMAND GETKEYS
	mix    int       // 1 of mix commands is from others
	begin  []step    // steps at the start of every case
	end    []step
	fills  bool    // generate large values, too
	making command // the command whose arguments are being generated
}

// generate returns a case of about n commands.
func (g *generator) generate(n int) []step {
	steps := slices.Clone(g.begin)
	for len(steps) < n {
		switch dice := g.IntN(100); {
		case dice < 1 && g.fills:
			steps = append(steps, g.fill())
		case dice < 6:
			steps = append(steps, g.transaction()...)
		case dice < 12:
			steps = append(steps, g.watched()...)
		case dice < 16:
			steps = append(steps, step{age: pick(g, ages)})
		default:
			steps = append(steps, step{args: g.command(false)})
		}
	}
	return append(steps, g.end...)
}

func words(line ...string) [][]byte {
	if line == nil {
		return nil
	}
	args := make([][]byte, len(line))
	for i, w := range line {
		args[i] = []byte(w)
	}
	return args
}

// transaction returns MULTI, some commands and usually EXEC.
func (g *generator) transaction() []step {
	steps := []step{{args: words("MULTI")}}
	for range 1 + g.IntN(5) {
		steps = append(steps, step{args: g.command(true)})
	}
	end := "EXEC"
	if g.IntN(10) == 0 {
		end = "DISCARD"
	}
	return append(steps, step{args: words(end)})
}

// fill creates a value too large for Redis's compact encodings.
func (g *generator) fill() step {
	args := words(pick(g, []string{"HSET", "SADD", "ZADD", "RPUSH"}), pick(g, keys))
	for i := range pick(g, []int{129, 200, 514}) {
		n := strconv.Itoa(i)
		switch string(args[0]) {
		case "HSET":
			args = append(args, words("f"+n, n)...)
		case "ZADD":
			args = append(args, words(strconv.Itoa(i/3), "m"+n)...)
		default:
			args = append(args, []byte(n))
		}
	}
	return step{args: args}
}

// watched checks whether a command counts as a change of a key. Known differences: setting a
// missing key with an expiry in the past is a change in Redis, but not in meowdis, which has
// no row to record it; a BITFIELD that creates a string and then fails is a change only in
// meowdis; a refused module command is a change only in Redis.
func (g *generator) watched() []step {
	change := g.command(true)
	for unsignalled[g.making.Name] || groupOf(g.making.Command) == vectorSets || g.making.Name == "BITFIELD" && contains(change, []byte("FAIL")) || endsAtOnce(change) {
		change = g.command(true)
	}
	return []step{
		{args: words("WATCH", pick(g, keys))},
		{client: 1, args: change},
		{args: words("MULTI")},
		{args: words("PING")},
		{args: words("EXEC")},
	}
}

// endsAtOnce reports whether a call may set an expiry in the past. A TTL of 0 is one for HSETEX, and an
// error elsewhere.
func endsAtOnce(call [][]byte) bool {
	for i := 2; i < len(call); i++ {
		switch option := strings.ToUpper(string(call[i])); {
		case strings.HasSuffix(option, "XAT"):
			return true
		case (option == "EX" || option == "PX") && i+1 < len(call) && string(call[i+1]) == "0":
			return true
		}
	}
	return false
}

func pick[T any](g *generator, from []T) T { return from[g.IntN(len(from))] }

// command generates one command. With plain, it is one without special treatment.
func (g *generator) command(plain bool) [][]byte {
	for {
		from := g.group
		if g.IntN(g.mix) == 0 {
			from = g.others
		}
		c := pick(g, from)
		if plain && c.random {
			continue
		}
		g.making = c
		args := bytes.Fields([]byte(c.Name))
		if call := g.scripted(c.Name, args, plain); call != nil {
			return call
		}
		if strings.HasPrefix(c.Name, "COMMAND GETKEYS") && len(g.keyed) > 0 {
			g.making = pick(g, g.keyed)
			args = g.write(append(args, bytes.Fields([]byte(g.making.Name))...), g.making.syntax)
			g.making = c
		} else {
			args = g.write(args, c.syntax)
		}
		if g.IntN(12) == 0 {
			args = g.spoil(args)
		}
		if !racy(c, args) && !(plain && byName(args)) {
			return args
		}
	}
}

// scripted often wraps a command in a script if name runs scripts. It returns nil if it does not.
func (g *generator) scripted(name string, args [][]byte, plain bool) [][]byte {
	if len(g.keyed) == 0 || g.IntN(3) == 0 {
		return nil
	}
	switch name {
	case "EVAL", "EVAL_RO":
		return g.script(append(args, []byte(pick(g, scripts))), plain)
	case "FCALL", "FCALL_RO":
		return g.script(append(args, fmt.Appendf(nil, "run%d", g.IntN(len(scripts)))), plain)
	}
	return nil
}

// script wraps a command of any group in a script.
func (g *generator) script(args [][]byte, plain bool) [][]byte {
	args = append(args, []byte("0"))
	for {
		c := pick(g, g.others)
		call := g.write(bytes.Fields([]byte(c.Name)), c.syntax)
		if _, treated := treatments[c.Name]; !treated && c.Group != "scripting" && !c.random && !racy(c, call) && !byName(call) && !(plain && c.random) {
			return append(args, call...)
		}
	}
}

// write appends words that match the syntax n.
func (g *generator) write(args [][]byte, n node) [][]byte {
	switch n.kind {
	case literal:
		word := n.text
		if g.IntN(10) == 0 {
			word = strings.ToLower(word)
		}
		return append(args, []byte(word))
	case placeholder:
		return append(args, []byte(g.argument(n.text)))
	case choice:
		return g.write(args, pick(g, n.kids))
	case optional:
		if g.IntN(3) == 0 {
			return g.write(args, n.kids[0])
		}
		return args
	case repeated:
		times := g.IntN(4)
		if n.kids[0].text == "component" && g.IntN(6) > 0 {
			times = 2 // most vectors are of three components
		}
		for range times {
			args = g.write(args, n.kids[0])
		}
		return args
	}
	return g.writeSequence(args, n.kids)
}

// writeSequence writes kids in order, except that options may be shuffled. A count of keys is
// usually right.
func (g *generator) writeSequence(args [][]byte, kids []node) [][]byte {
	if g.IntN(3) == 0 {
		kids = g.shuffleOptions(kids)
	}
	counted, from, width := -1, 0, 1
	if g.making.Name == "HSETEX" {
		width = 2 // words for each that numfields counts
	}
	for i, kid := range kids {
		if kid.kind == literal && kid.text == "STREAMS" {
			return g.writeStreams(args, kids[i:])
		}
		if counted >= 0 && kid.kind != placeholder && kid.kind != repeated {
			args[counted] = g.count((len(args) - from) / width)
			counted = -1
		}
		args = g.write(args, kid)
		if kid.kind == placeholder && (kid.text == "numkeys" || kid.text == "numfields" || kid.text == "num" && groupOf(g.making.Command) == vectorSets) {
			counted, from = len(args)-1, len(args)
		}
	}
	if counted >= 0 {
		args[counted] = g.count((len(args) - from) / width)
	}
	return args
}

// writeStreams writes "STREAMS key [key ...] id [id ...]" with one ID per key. Keys are
// distinct: meowdis reads all streams before it writes to any, which differs when XREADGROUP
// names one stream twice.
func (g *generator) writeStreams(args [][]byte, kids []node) [][]byte {
	args = g.write(args, kids[0])
	n := 1 + g.IntN(4)/2
	for _, at := range g.Perm(len(keys))[:n] {
		args = append(args, []byte(keys[at]))
	}
	for range n {
		args = g.write(args, kids[3])
	}
	return args
}

func (g *generator) count(n int) []byte {
	if g.IntN(12) == 0 {
		return []byte(pick(g, counts))
	}
	return strconv.AppendInt(nil, int64(n), 10)
}

// shuffleOptions changes the order of the options at the end.
func (g *generator) shuffleOptions(kids []node) []node {
	kids = append([]node(nil), kids...)
	first := len(kids)
	for first > 0 && kids[first-1].kind == optional {
		first--
	}
	options := kids[first:]
	g.Shuffle(len(options), func(i, j int) { options[i], options[j] = options[j], options[i] })
	return kids
}

func (g *generator) argument(name string) string {
	pool := elements
	for _, key := range []string{g.making.Name + " " + name, groupOf(g.making.Command) + " " + name, name} {
		if there := pools[key]; there != nil {
			pool = there
			break
		}
	}
	if name == "value" && g.IntN(3) == 0 {
		pool = integers
	}
	if g.IntN(50) == 0 {
		pool = junk
	}
	return pick(g, pool)
}

// spoil returns a call that is likely to fail.
func (g *generator) spoil(args [][]byte) [][]byte {
	at := 1 + g.IntN(max(1, len(args)-1))
	switch {
	case at >= len(args) || g.IntN(3) == 0:
		return append(args, []byte(pick(g, junk)))
	case g.IntN(2) == 0:
		return append(args[:at:at], args[at+1:]...)
	}
	args[at] = []byte(pick(g, junk))
	return args
}

// racy reports whether a key could expire during the case: a number outside lifetimes is at
// the position of a lifetime.
func racy(c command, args [][]byte) bool {
	if !c.expires {
		return false
	}
	optionOnly := strings.Contains(c.Syntax, "EX seconds")
	given := !optionOnly
	var times [][]byte // possible lifetimes
	for i, a := range args {
		switch strings.ToUpper(string(a)) {
		case "EX", "PX", "EXAT", "PXAT":
			given = true
			times = append(times, args[i+1:min(i+2, len(args))]...)
		}
	}
	switch {
	case c.Group != "hash": // followed by numbers of fields, and by fields that are numbers
		times = args
	case !optionOnly:
		times = args[min(2, len(args)):min(3, len(args))]
	}
	for _, a := range times {
		if n, err := strconv.ParseInt(string(a), 10, 64); given && err == nil && 0 < n && n < 100000 {
			return true
		}
	}
	return false
}

// fieldTTLs reads, at the end of a case, the expiry of each hash field.
var fieldTTLs = func() (steps []step) {
	for _, key := range keys {
		steps = append(steps, step{args: words(append([]string{"HPTTL", key, "FIELDS", strconv.Itoa(len(elements))}, elements...)...)})
	}
	return steps
}()

// vectorsInFull reads, at the end of a case, the vectors and attributes of each vector set.
var vectorsInFull = func() (steps []step) {
	for _, key := range keys {
		steps = append(steps, step{args: words("VINFO", key)})
		for _, e := range elements {
			steps = append(steps, step{args: words("VEMB", key, e, "RAW")}, step{args: words("VGETATTR", key, e)})
		}
	}
	return steps
}()

// streamsInFull reads, at the end of a case, all properties of each stream.
var streamsInFull = func() (steps []step) {
	for _, key := range keys {
		steps = append(steps, step{args: words("XINFO", "STREAM", key, "FULL", "COUNT", "0")})
	}
	return steps
}()

// transcript formats steps as in the corpus, with the known replies.
func transcript(steps []step, replies []string) string {
	var out strings.Builder
	for i, s := range steps {
		if s.age > 0 {
			fmt.Fprintf(&out, "# %d ms later\n", s.age)
			continue
		}
		if s.client == 1 {
			out.WriteByte('2')
		}
		out.WriteByte('>')
		for _, a := range s.args {
			out.WriteByte(' ')
			out.Write(quoted(a))
		}
		out.WriteByte('\n')
		if i < len(replies) {
			out.WriteString(replies[i] + "\n")
		}
	}
	return out.String()
}

// quoted formats a word for a transcript, quoted if necessary.
func quoted(word []byte) []byte {
	plain := len(word) > 0 && !bytes.ContainsFunc(word, func(r rune) bool {
		return r <= ' ' || r > '~' || r == '"' || r == '\'' || r == '\\'
	})
	if plain {
		return word
	}
	return resp.AppendQuoted(nil, word, false)
}
