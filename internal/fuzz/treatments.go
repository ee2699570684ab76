package fuzz

import (
	"bytes"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/meowdis/meowdis/resp"
	"github.com/meowdis/meowdis/translator"
)

// treatment says how the replies of a command may differ, or how they are
// compared when Redis may answer anything. Commands without one must answer
// byte for byte.
type treatment struct {
	notes []string // as in a transcript

	// alike replies are the same, whatever else differs.
	alike func(got, want resp.Value) bool

	// special carries the command out on both sides and returns the replies to
	// compare by the notes.
	special func(ours, theirs doer, args [][]byte) (got, want resp.Value)
}

// doer runs a command on one of the two sides.
type doer func(args ...[]byte) resp.Value

var treatments = map[string]treatment{
	"KEYS": {notes: []string{"unordered"}},

	"SMEMBERS": {notes: []string{"unordered"}},
	"SDIFF":    {notes: []string{"unordered"}},
	"SINTER":   {notes: []string{"unordered"}},
	"SUNION":   {notes: []string{"unordered"}},
	"HKEYS":    {notes: []string{"unordered"}},
	"HVALS":    {notes: []string{"unordered"}},
	"HGETALL":  {notes: []string{"pairs"}},

	"TTL":         {notes: []string{"approx 10"}},
	"PTTL":        {notes: []string{"approx 10000"}},
	"EXPIRETIME":  {notes: []string{"approx 10"}},
	"PEXPIRETIME": {notes: []string{"approx 10000"}},

	// Redis answers for objects that it shares between keys, and an encoding
	// tells what a value has been through.
	"OBJECT IDLETIME": {notes: []string{"any"}},
	"OBJECT REFCOUNT": {notes: []string{"any"}},
	"OBJECT ENCODING": {alike: encodingsOfOneType},

	"XPENDING":        {alike: alikeButTimes},
	"XINFO CONSUMERS": {alike: alikeButTimes},
	"XINFO STREAM":    {alike: alikeButTimes},

	"GEOSEARCHSTORE":    {special: storeDistances},
	"GEORADIUS":         {special: storeDistances},
	"GEORADIUSBYMEMBER": {special: storeDistances},

	"SORT":    {special: sortAfresh},
	"SORT_RO": {special: sortAfresh},

	"SCAN":  {notes: []string{"unordered"}, special: scan(1)},
	"SSCAN": {notes: []string{"unordered"}, special: scan(2)},
	"HSCAN": {notes: []string{"pairs"}, special: scan(2)},
	"ZSCAN": {notes: []string{"pairs"}, special: scan(2)},

	// Redis writes down what it has counted, and takes that for a change.
	"PFCOUNT": {special: both},

	"BLPOP": {special: atOnce}, "BRPOP": {special: atOnce}, "BLMOVE": {special: atOnce}, "BRPOPLPUSH": {special: atOnce},
	"BLMPOP": {special: atOnce}, "BZPOPMIN": {special: atOnce}, "BZPOPMAX": {special: atOnce}, "BZMPOP": {special: atOnce},

	"DUMP": {special: exchange},

	// What only the one that is asked can know.
	"HELLO":     {alike: alikeButNumbers},
	"CLIENT ID": {alike: ofOneKind}, "CLIENT INFO": {alike: ofOneKind}, "CLIENT LIST": {alike: ofOneKind},
	"COMMAND": {alike: ofOneKind}, "COMMAND COUNT": {alike: ofOneKind}, "COMMAND DOCS": {alike: ofOneKind},
	"COMMAND INFO": {alike: ofOneKind}, "COMMAND LIST": {alike: ofOneKind},
	"INFO": {alike: ofOneKind}, "LASTSAVE": {alike: ofOneKind},
	"MEMORY DOCTOR": {alike: ofOneKind}, "MEMORY USAGE": {alike: ofOneKind}, "TIME": {alike: ofOneKind},
	"CONFIG GET":              {notes: []string{"pairs"}},
	"COMMAND GETKEYSANDFLAGS": {notes: []string{"unordered"}},

	"SPOP":        {special: spop},
	"RANDOMKEY":   {special: sample("KEYS", "*")},
	"SRANDMEMBER": {special: sample("SMEMBERS", "")},
	"HRANDFIELD":  {special: sample("HGETALL", "")},
	"ZRANDMEMBER": {special: sample("ZRANGE", "", "0", "-1", "WITHSCORES")},
}

// encodings are the names that OBJECT ENCODING knows, by type.
var encodings = [][]string{
	{"int", "embstr", "raw"}, {"quicklist"}, {"intset", "hashtable"}, {"listpack", "hashtable"}, {"listpack", "skiplist"},
}

func encodingsOfOneType(got, want resp.Value) bool {
	return slices.ContainsFunc(encodings, func(names []string) bool {
		return slices.Contains(names, string(got.Str)) && slices.Contains(names, string(want.Str))
	})
}

// alikeButTimes lets the times of consumers and pending entries differ by a few
// seconds. The size of Redis's tree may differ too, in which an empty node can be
// left.
func alikeButTimes(got, want resp.Value) bool {
	return alikeAt(resp.Downgrade(got), resp.Downgrade(want), false)
}

// alikeAt is alikeButTimes for a part of a reply, which may be a time itself.
func alikeAt(got, want resp.Value, time bool) bool {
	switch {
	case got.Kind != want.Kind || len(got.Elems) != len(want.Elems):
		return false
	case time && got.Kind == resp.Int:
		return max(got.Int-want.Int, want.Int-got.Int) < 10_000
	case got.Kind != resp.Array:
		return bytes.Equal(resp.Append2(nil, got), resp.Append2(nil, want))
	}
	for i := range got.Elems {
		if !alikeAt(got.Elems[i], want.Elems[i], isTime(want.Elems, i)) {
			return false
		}
	}
	return true
}

// isTime tells whether the element i is a time: behind its label, or before the
// number of deliveries that ends a pending entry.
func isTime(elems []resp.Value, i int) bool {
	if i > 0 && elems[i-1].Kind == resp.Bulk && slices.Contains([]string{"idle", "seen-time", "radix-tree-keys", "radix-tree-nodes"}, string(elems[i-1].Str)) {
		return true
	}
	return i == len(elems)-2 && (i == 1 || i == 2) && elems[0].Kind == resp.Bulk && elems[i+1].Kind == resp.Int
}

// leftOut are the commands that Redis 7.0 and meowdis both know and that are not
// made up, and why.
var leftOut = map[string]string{
	"BGREWRITEAOF": writesFiles, "BGSAVE": writesFiles, "SAVE": writesFiles,
	"CLIENT HELP": ownWords, "COMMAND HELP": ownWords, "CONFIG HELP": ownWords, "MEMORY HELP": ownWords,
	"MODULE HELP": ownWords, "OBJECT HELP": ownWords, "SCRIPT HELP": ownWords, "FUNCTION HELP": ownWords, "XGROUP HELP": ownWords, "XINFO HELP": ownWords,
	"CLIENT KILL": "closes the connections of the test", "QUIT": "closes the connections of the test",
	"CLIENT REPLY":    "what is not answered cannot be compared",
	"CLIENT TRACKING": "nobody is told of changes here, so that ON is refused",
	"DEBUG":           "Redis has its subcommands in no table, and queues what it will refuse",
	"LOLWUT":          "draws what it likes",
	"PFSELFTEST":      "keeps redis-server busy for seconds",
	"WAIT":            "waits for replicas",
}

const (
	writesFiles = "writes files, one at a time"
	ownWords    = "answers in words of its own"
)

// undrawn are options that are not made up, and why.
var undrawn = map[string]string{
	"XADD *":           "the ID would be the clock's",
	"XREAD BLOCK":      "waits",
	"XREADGROUP BLOCK": "waits",
}

// unsignalled are the commands on consumer groups and counters, which to Redis are
// no change of the key. To meowdis they are: an optimistic transaction must see
// them.
var unsignalled = map[string]bool{
	"XGROUP CREATE": true, "XGROUP SETID": true, "XGROUP DESTROY": true, "XGROUP CREATECONSUMER": true, "XGROUP DELCONSUMER": true,
	"XREADGROUP": true, "XACK": true, "XCLAIM": true, "XAUTOCLAIM": true, "XSETID": true,
}

// sorts tells whether the command is SORT or SORT_RO.
func sorts(args [][]byte) bool { return bytes.HasPrefix(args[0], []byte("SORT")) }

// comparesTTL tells whether the call sets a TTL under the condition that the
// present one is longer or shorter.
func comparesTTL(args [][]byte) bool {
	name := nameOf(args)
	if name != "EXPIRE" && name != "PEXPIRE" || len(args) < 4 {
		return false
	}
	return slices.ContainsFunc(args[3:], func(a []byte) bool {
		return bytes.EqualFold(a, []byte("GT")) || bytes.EqualFold(a, []byte("LT"))
	})
}

// unqueued tells whether a call stays out of transactions: what is compared in a
// way of its own, or not at all where Redis leaves the answer open. HELLO changes
// the form of the replies in the middle of EXEC's.
func unqueued(args [][]byte, how treatment) bool {
	cmd := translator.Lookup(nameOf(args))
	waits := cmd != nil && cmd.Flags&translator.Blocking != 0
	return how.special != nil && !waits || sorts(args) || comparesTTL(args) || byName(args) || trimsNodes(args) ||
		slices.Contains([]string{"HELLO", "DBSIZE", "MEMORY USAGE"}, nameOf(args))
}

// trimsNodes tells whether the call removes nodes of entries that are all older than
// an ID.
func trimsNodes(args [][]byte) bool {
	has := func(option string) bool {
		return slices.ContainsFunc(args, func(a []byte) bool { return bytes.EqualFold(a, []byte(option)) })
	}
	name := nameOf(args)
	return len(args) > 2 && (name == "XTRIM" || name == "XADD") && has("MINID") && has("~")
}

// halfANumber tells whether an argument only begins with a number of keys, which is
// enough for Redis when it is asked for the keys, and not when it runs the call.
func halfANumber(args [][]byte) bool {
	return slices.ContainsFunc(args, func(a []byte) bool {
		_, err := strconv.Atoi(string(a))
		return err != nil && len(a) > 0 && '1' <= a[0] && a[0] <= '9'
	})
}

// later tells whether the call has words that only a later Redis reads, also by
// chance; in the place of ZRANK's anything may stand.
func later(args [][]byte) bool {
	name := nameOf(args)
	if strings.HasPrefix(name, "COMMAND GETKEYS") {
		return halfANumber(args) || later(args[2:])
	}
	if (name == "ZRANK" || name == "ZREVRANK") && len(args) > 3 {
		return true
	}
	return slices.ContainsFunc(newer[name], func(word string) bool {
		return slices.ContainsFunc(args[1:], func(a []byte) bool { return bytes.EqualFold(a, []byte(word)) })
	})
}

// atOnce carries out a command that would wait for an element where there is none:
// then meowdis says so, and Redis is not asked.
func atOnce(ours, theirs doer, args [][]byte) (got, want resp.Value) {
	got = ours(args...)
	if bytes.HasPrefix(got.Str, []byte("ERR there is nothing to take")) {
		return resp.OK, resp.OK
	}
	return got, theirs(args...)
}

// exchange has each side go on with the value that the other one dumped: the
// payloads need not be the same, the values must be.
func exchange(ours, theirs doer, args [][]byte) (got, want resp.Value) {
	got, want = ours(args...), theirs(args...)
	if got.Kind != resp.Bulk || want.Kind != resp.Bulk {
		return got, want
	}
	expires := strconv.AppendInt(nil, max(0, theirs([]byte("PEXPIRETIME"), args[1]).Int), 10)
	restore := func(do doer, payload []byte) resp.Value {
		return do([]byte("RESTORE"), args[1], expires, payload, []byte("REPLACE"), []byte("ABSTTL"))
	}
	return restore(ours, want.Str), restore(theirs, got.Str)
}

// ofOneKind lets the text and the numbers of a reply differ, but not its kind.
func ofOneKind(got, want resp.Value) bool { return got.Kind == want.Kind && !got.IsError() }

// alikeButNumbers lets the numbers in a reply differ.
func alikeButNumbers(got, want resp.Value) bool {
	switch {
	case got.Kind != want.Kind || len(got.Elems) != len(want.Elems):
		return false
	case got.Kind == resp.Int:
		return true
	case len(got.Elems) == 0:
		return bytes.Equal(resp.Append3(nil, got), resp.Append3(nil, want))
	}
	for i := range got.Elems {
		if !alikeButNumbers(got.Elems[i], want.Elems[i]) {
			return false
		}
	}
	return true
}

// sortAfresh has Redis forget that an earlier number was out of range, for which
// its SORT refuses all numbers: any command that reads one as a long double does.
func sortAfresh(ours, theirs doer, args [][]byte) (got, want resp.Value) {
	theirs(words("INCRBYFLOAT", "afresh", "none")...) // at a key that no case has
	return ours(args...), theirs(args...)
}

// undefined tells whether Redis leaves open what the call answers: a range by
// name of a sorted set whose scores are not all the same; a SORT of a set or a
// sorted set, which have no order, by what may be the same; whether a TTL that is
// nearly the present one is more or less than that; whether dead keys count; and which
// entries are in a node with deleted ones, where a trim removes nodes.
func undefined(theirs doer, args [][]byte) bool {
	switch name := nameOf(args); {
	case name == "DBSIZE":
		return theirs(args...).Int != int64(len(theirs(words("KEYS", "*")...).Elems))
	case name == "MEMORY USAGE" && len(args) > 2:
		theirs([]byte("EXISTS"), args[2]) // removes a dead key, which counts until then
		return false
	case trimsNodes(args):
		info := flatten(theirs([]byte("XINFO"), []byte("STREAM"), args[1]))
		i := slices.IndexFunc(info, func(word []byte) bool { return string(word) == "max-deleted-entry-id" })
		return i >= 0 && string(info[i+1]) != "0-0"
	}
	if comparesTTL(args) {
		unit := int64(1)
		if bytes.EqualFold(args[0], []byte("EXPIRE")) {
			unit = 1000
		}
		n, _ := strconv.ParseInt(string(args[2]), 10, 64)
		apart := theirs([]byte("PTTL"), args[1]).Int - n*unit
		return -10_000 < apart && apart < 10_000
	}
	if sorts(args) && len(args) > 1 {
		has := func(option string) bool {
			return slices.ContainsFunc(args[2:], func(a []byte) bool { return bytes.EqualFold(a, []byte(option)) })
		}
		typ := string(theirs([]byte("TYPE"), args[1]).Str)
		return has("BY") && (typ == "set" || typ == "zset" && has("ALPHA")) || typ == "zset" && tinyScores(theirs, args[1])
	}
	if !byName(args) {
		return false
	}
	for _, key := range args[1:] {
		scores := theirs(words("ZRANGE", string(key), "0", "-1", "WITHSCORES")...)
		for i, pair := 3, flatten(scores); i < len(pair); i += 2 {
			if !bytes.Equal(pair[i], pair[1]) {
				return true
			}
		}
	}
	return false
}

// tinyScores tells whether the sorted set has a score so small that Redis takes it
// for out of range when it reads it back, and then refuses to sort.
func tinyScores(theirs doer, key []byte) bool {
	scores := flatten(theirs(words("ZRANGE", string(key), "0", "-1", "WITHSCORES")...))
	for i := 1; i < len(scores); i += 2 {
		if f, _ := strconv.ParseFloat(string(scores[i]), 64); f != 0 && math.Abs(f) < 0x1p-1022 {
			return true
		}
	}
	return false
}

// byName tells whether the call is about a range of names.
func byName(args [][]byte) bool {
	if bytes.HasSuffix(args[0], []byte("LEX")) || bytes.Equal(args[0], []byte("ZLEXCOUNT")) {
		return true
	}
	return bytes.HasPrefix(args[0], []byte("ZRANGE")) && slices.ContainsFunc(args, func(a []byte) bool {
		return bytes.EqualFold(a, []byte("BYLEX"))
	})
}

// both is nothing special, but for the transactions that it stays out of.
func both(ours, theirs doer, args [][]byte) (got, want resp.Value) {
	return ours(args...), theirs(args...)
}

// spop lets meowdis choose, and removes the same members from Redis. Their number
// must be the one that Redis would have chosen.
func spop(ours, theirs doer, args [][]byte) (got, want resp.Value) {
	var size resp.Value
	if len(args) > 1 {
		size = theirs([]byte("SCARD"), args[1])
	}
	got = ours(args...)
	members := got.Elems
	if got.Kind == resp.Bulk {
		members = []resp.Value{got}
	}
	if len(members) == 0 {
		return got, theirs(args...)
	}
	number := int64(1)
	if len(args) > 2 {
		number, _ = strconv.ParseInt(string(args[2]), 10, 64)
	}
	remove := append([][]byte{[]byte("SREM"), args[1]}, flatten(got)...)
	if n := theirs(remove...); n.Int != min(number, size.Int) || n.Int != int64(len(members)) {
		return got, resp.MakeError("FUZZ it had " + strconv.FormatInt(size.Int, 10) + " members, of which these are " + strconv.FormatInt(n.Int, 10))
	}
	return got, got
}

// sample compares replies that are drawn at random: those of meowdis must be of
// Redis's kind and number, and among what the command line all answers there; a
// "" in it stands for the key.
func sample(all ...string) func(ours, theirs doer, args [][]byte) (got, want resp.Value) {
	return func(ours, theirs doer, args [][]byte) (got, want resp.Value) {
		got, want = ours(args...), theirs(args...)
		if resp.Downgrade(got).Kind != resp.Downgrade(want).Kind || got.IsError() || len(flatten(got)) != len(flatten(want)) {
			return got, want
		}
		line := words(all...)
		for i := range line {
			if len(line[i]) == 0 {
				line[i] = args[1]
			}
		}
		there := flatten(unsigned(theirs(line...)))
		for _, one := range flatten(got) {
			if !contains(there, one) {
				return got, want
			}
		}
		return got, got
	}
}

// storeDistances has Redis go on with the distances that meowdis stored, when
// they are the same but for the last digits: C and Go round sines differently.
func storeDistances(ours, theirs doer, args [][]byte) (got, want resp.Value) {
	got, want = ours(args...), theirs(args...)
	for i, arg := range args[1:] {
		if !bytes.EqualFold(arg, []byte("STOREDIST")) {
			continue
		}
		destination := args[1]
		if !bytes.EqualFold(args[0], []byte("GEOSEARCHSTORE")) && i+2 < len(args) {
			destination = args[i+2]
		}
		line := words("ZRANGE", string(destination), "0", "-1", "WITHSCORES")
		scores := func(v resp.Value) map[string]float64 {
			all := map[string]float64{}
			for pair := range slices.Chunk(flatten(v), 2) {
				all[string(pair[0])], _ = strconv.ParseFloat(string(pair[len(pair)-1]), 64)
			}
			return all
		}
		mine, others := scores(ours(line...)), scores(theirs(line...))
		for member, score := range mine {
			if other, there := others[member]; there && other != score && math.Abs(score-other) <= 1e-6 {
				theirs(words("ZADD", string(destination), strconv.FormatFloat(score, 'g', 17, 64), member)...)
			}
		}
	}
	return got, want
}

// unsigned is v with 0 for every -0, the score that only Redis's large sorted sets
// keep (docs/compatibility.md).
func unsigned(v resp.Value) resp.Value {
	switch {
	case v.Kind == resp.Double && v.Float == 0:
		v = resp.MakeDouble(0)
	case string(v.Str) == "-0":
		v.Str = []byte("0")
	}
	if len(v.Elems) > 0 {
		elems := make([]resp.Value, len(v.Elems))
		for i, e := range v.Elems {
			elems[i] = unsigned(e)
		}
		v.Elems = elems
	}
	return v
}

func contains(all [][]byte, one []byte) bool {
	for _, b := range all {
		if bytes.Equal(b, one) {
			return true
		}
	}
	return false
}

// flatten is every string and double in v, at any depth, as bytes.
func flatten(v resp.Value) [][]byte {
	switch v = resp.Downgrade(v); v.Kind {
	case resp.Bulk:
		return [][]byte{v.Str}
	case resp.Array:
		var all [][]byte
		for _, e := range v.Elems {
			all = append(all, flatten(e)...)
		}
		return all
	}
	return nil
}

// scan compares whole iterations, since cursors and the size of a step are
// everybody's own. at is the cursor's place.
func scan(at int) func(ours, theirs doer, args [][]byte) (got, want resp.Value) {
	return func(ours, theirs doer, args [][]byte) (got, want resp.Value) {
		got, want = ours(args...), theirs(args...)
		if got.Kind != resp.Array || want.Kind != resp.Array {
			return got, want
		}
		if string(args[at]) != "0" {
			return resp.OK, resp.OK
		}
		return iterate(ours, args, at, got), iterate(theirs, args, at, want)
	}
}

// iterate goes on with a scan to its end and returns all elements.
func iterate(do doer, args [][]byte, at int, reply resp.Value) resp.Value {
	args = append([][]byte(nil), args...)
	all := resp.EmptyArray
	for range 1000 {
		if len(reply.Elems) != 2 {
			return reply
		}
		all.Elems = append(all.Elems, reply.Elems[1].Elems...)
		args[at] = reply.Elems[0].Str
		if string(args[at]) == "0" {
			return all
		}
		reply = do(args...)
	}
	return resp.MakeError("FUZZ the iteration does not end")
}
