package fuzz

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"github.com/meowdis/meowdis/redis/resp"
)

// treatment describes the allowed differences of a command's replies, or how to compare
// replies that Redis leaves open. Replies of commands without a treatment must be equal byte
// for byte.
type treatment struct {
	notes []string // as in a transcript

	// changed is set if this version of the server replies differently from Redis 8.0.
	changed bool

	// equal reports whether the replies are equal, apart from allowed differences.
	equal func(got, want resp.Value) bool

	// special runs the command on both sides and returns replies to compare by the notes.
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

	// Redis's replies concern objects shared between keys, and an encoding depends on the value's
	// history.
	"HTTL":         {notes: []string{"approx 10"}},
	"HPTTL":        {notes: []string{"approx 10000"}},
	"HEXPIRETIME":  {notes: []string{"approx 10"}},
	"HPEXPIRETIME": {notes: []string{"approx 10000"}},

	"OBJECT IDLETIME": {notes: []string{"any"}},
	"OBJECT REFCOUNT": {notes: []string{"any"}},
	"OBJECT ENCODING": {equal: encodingsOfOneType},

	"XPENDING":        {equal: equalExceptTimes},
	"XINFO CONSUMERS": {equal: equalExceptTimes},
	"XINFO STREAM":    {equal: equalExceptTimes},

	"SORT":    {special: sortAfterReset},
	"SORT_RO": {special: sortAfterReset},

	"SCAN":  {notes: []string{"unordered"}, special: scan(1)},
	"SSCAN": {notes: []string{"unordered"}, special: scan(2)},
	"HSCAN": {notes: []string{"pairs"}, special: scanFields},
	"ZSCAN": {notes: []string{"pairs"}, special: scan(2)},

	// Redis stores the count, and considers that a change.
	"PFCOUNT": {special: bothSides},

	"BLPOP": {special: inTransaction}, "BRPOP": {special: inTransaction}, "BLMOVE": {special: inTransaction}, "BRPOPLPUSH": {special: inTransaction},
	"BLMPOP": {special: inTransaction}, "BZPOPMIN": {special: inTransaction}, "BZPOPMAX": {special: inTransaction}, "BZMPOP": {special: inTransaction},

	"DUMP":          {special: exchange},
	"FUNCTION DUMP": {special: exchangeFunctions},
	"FUNCTION LIST": {notes: []string{"unordered"}},

	// Replies with data that only one side has.
	"HELLO": {equal: equalExceptModules}, "MODULE LIST": {equal: equalExceptModules},
	"CLIENT ID": {equal: sameKind}, "CLIENT INFO": {equal: sameKind}, "CLIENT LIST": {equal: sameKind},
	"COMMAND": {equal: sameKind}, "COMMAND COUNT": {equal: sameKind}, "COMMAND DOCS": {equal: sameKind},
	"COMMAND INFO": {equal: sameKind}, "COMMAND LIST": {equal: sameKind},
	"INFO": {equal: sameKind}, "LASTSAVE": {equal: sameKind},
	"SLOWLOG GET": {equal: sameKind}, "SLOWLOG LEN": {equal: sameKind}, "LATENCY DOCTOR": {equal: sameKind}, "LATENCY GRAPH": {equal: sameKind},
	"LATENCY HISTOGRAM": {equal: sameKind}, "LATENCY HISTORY": {equal: sameKind}, "LATENCY LATEST": {equal: sameKind}, "LATENCY RESET": {equal: sameKind},
	"MEMORY MALLOC-STATS": {equal: sameKind}, "MEMORY STATS": {equal: sameKind},
	"MEMORY DOCTOR": {equal: sameKind}, "MEMORY USAGE": {equal: sameKind}, "TIME": {equal: sameKind},
	"CONFIG GET":              {notes: []string{"pairs"}},
	"COMMAND GETKEYS":         {notes: []string{"unordered"}},
	"COMMAND GETKEYSANDFLAGS": {notes: []string{"unordered"}},

	"VINFO":       {equal: equalExceptGraph},
	"VSIM":        {special: similar},
	"VRANDMEMBER": {special: sample("VRANDMEMBER", "", "100000")},

	"SPOP":        {special: spop},
	"RANDOMKEY":   {special: sample("KEYS", "*")},
	"SRANDMEMBER": {special: sample("SMEMBERS", "")},
	"HRANDFIELD":  {special: sample("HGETALL", "")},
	"ZRANDMEMBER": {special: sample("ZRANGE", "", "0", "-1", "WITHSCORES")},
}

// changed reports whether replies of the command changed between Redis 7.0 and 8.0: parsing of
// numbers, errors, or reports on groups and encodings.
func changed(name string) bool {
	for _, start := range []string{"X", "BL", "BR", "BZ", "SORT", "ZRANGE", "ZREVRANGE", "ZREMRANGE", "GEO"} {
		if strings.HasPrefix(name, start) {
			return true
		}
	}
	return slices.Contains([]string{
		"BITCOUNT", "BITPOS", "SCAN", "SSCAN", "HSCAN", "ZSCAN", "ZCOUNT", "LPOS", "LREM", "OBJECT ENCODING", "DUMP", "RESTORE",
		"COMMAND GETKEYS", "COMMAND GETKEYSANDFLAGS", "CONFIG GET", "CONFIG SET", "MODULE LIST", "AUTH", "HELLO", "CLIENT SETINFO",
		"FUNCTION DUMP", "FUNCTION RESTORE",
	}, name)
}

// encodings holds OBJECT ENCODING's names, by type.
var encodings = [][]string{
	{"int", "embstr", "raw"}, {"listpack", "quicklist"}, {"intset", "listpack", "hashtable"}, {"listpack", "listpackex", "hashtable"}, {"listpack", "skiplist"},
}

func encodingsOfOneType(got, want resp.Value) bool {
	return slices.ContainsFunc(encodings, func(names []string) bool {
		return slices.Contains(names, string(got.Str)) && slices.Contains(names, string(want.Str))
	})
}

// equalExceptTimes allows the times of consumers and pending entries to differ by a few seconds.
// The size of Redis's tree may differ, too: an empty node can remain in it.
func equalExceptTimes(got, want resp.Value) bool {
	return equalExceptTimeAt(resp.Downgrade(got), resp.Downgrade(want), false)
}

// equalExceptTimeAt is equalExceptTimes for a part of a reply, which may be a time itself.
func equalExceptTimeAt(got, want resp.Value, time bool) bool {
	switch {
	case got.Kind != want.Kind || len(got.Elems) != len(want.Elems):
		return false
	case time && got.Kind == resp.Int:
		return max(got.Int-want.Int, want.Int-got.Int) < 10_000
	case got.Kind != resp.Array:
		return bytes.Equal(resp.Append2(nil, got), resp.Append2(nil, want))
	}
	for i := range got.Elems {
		if !equalExceptTimeAt(got.Elems[i], want.Elems[i], isTime(want.Elems, i)) {
			return false
		}
	}
	return true
}

// isTime reports whether the element i is a time: after its label, or before the
// number of deliveries that ends a pending entry.
func isTime(elems []resp.Value, i int) bool {
	if i > 0 && elems[i-1].Kind == resp.Bulk && slices.Contains([]string{"idle", "seen-time", "active-time", "radix-tree-keys", "radix-tree-nodes"}, string(elems[i-1].Str)) {
		return true
	}
	return i == len(elems)-2 && (i == 1 || i == 2) && elems[0].Kind == resp.Bulk && elems[i+1].Kind == resp.Int
}

// excluded holds the commands known to Redis 7.0 and meowdis that are not generated, with the
// reasons.
var excluded = map[string]string{
	"ACL CAT": ofUsers, "ACL DELUSER": ofUsers, "ACL DRYRUN": ofUsers, "ACL GENPASS": ofUsers, "ACL GETUSER": ofUsers, "ACL HELP": ownWords, "ACL LIST": ofUsers,
	"ACL LOAD": ofUsers, "ACL LOG": ofUsers, "ACL SAVE": ofUsers, "ACL SETUSER": ofUsers, "ACL USERS": ofUsers, "ACL WHOAMI": ofUsers,
	"ACL GENTOKEN": ofUpstash, "ACL RESTTOKEN": ofUpstash,
	"BGREWRITEAOF": writesFiles, "BGSAVE": writesFiles, "SAVE": writesFiles,
	"CLIENT HELP": ownWords, "COMMAND HELP": ownWords, "CONFIG HELP": ownWords, "MEMORY HELP": ownWords,
	"SLOWLOG HELP": ownWords, "LATENCY HELP": ownWords,
	"PUBSUB HELP": ownWords, "MODULE HELP": ownWords, "OBJECT HELP": ownWords, "SCRIPT HELP": ownWords, "FUNCTION HELP": ownWords, "XGROUP HELP": ownWords, "XINFO HELP": ownWords,
	"CLIENT KILL": "closes the connections of the test", "QUIT": "closes the connections of the test",
	"SHUTDOWN":    "ends the server of the test",
	"PSYNC":       ofReplicas,
	"SYNC":        ofReplicas,
	"REPLCONF":    ofReplicas,
	"FAILOVER":    "reads its options in its own words",
	"MODULE LOAD": byModule, "MODULE LOADEX": byModule, "MODULE UNLOAD": byModule,
	"REPLICAOF":       "makes the server of the test a replica",
	"SLAVEOF":         "makes the server of the test a replica",
	"CLIENT REPLY":    "a missing reply cannot be compared",
	"CLIENT TRACKING": "messages arrive between replies",
	"DEBUG":           "Redis has no table entries for its subcommands, and queues calls that fail",
	"LOLWUT":          "draws a different picture",
	"PFSELFTEST":      "keeps redis-server busy for seconds",
	"SUBSCRIBE":       byMessages, "PSUBSCRIBE": byMessages, "SSUBSCRIBE": byMessages, "MONITOR": byMessages,
	"UNSUBSCRIBE": byMessages, "PUNSUBSCRIBE": byMessages, "SUNSUBSCRIBE": byMessages,
	"WAIT":    "waits for replicas",
	"WAITAOF": "waits for replicas",
	"VLINKS":  "shows the links of a graph, which is drawn by lot there and not kept here",
}

const (
	byMessages  = "answers by messages, and often by several: the server's schedules compare them"
	ofReplicas  = "makes the connection one of a replica"
	writesFiles = "writes files, one at a time"
	byModule    = "Redis refuses protected commands before MULTI can queue them"
	ownWords    = "answers in words of its own"
	ofUpstash   = "Redis does not have it"
	ofUsers     = "is about users, whom only a server has: acl makes them up and compares them"
)

// excludedOptions holds options that are not generated, with the reasons.
var excludedOptions = map[string]string{
	"XADD *":           "the ID would be the clock's",
	"XREAD BLOCK":      "waits",
	"XREADGROUP BLOCK": "waits",
}

// unsignalled holds commands on consumer groups and counters. In Redis they do not change the
// key. In meowdis they do: an optimistic transaction must detect them.
var unsignalled = map[string]bool{
	"XGROUP CREATE": true, "XGROUP SETID": true, "XGROUP DESTROY": true, "XGROUP CREATECONSUMER": true, "XGROUP DELCONSUMER": true,
	"XREADGROUP": true, "XACK": true, "XCLAIM": true, "XAUTOCLAIM": true, "XSETID": true,
}

// inTransaction runs a blocking command in a transaction, so that it does not wait if no element
// exists.
func inTransaction(ours, theirs doer, args [][]byte) (got, want resp.Value) {
	exec := func(do doer) resp.Value {
		do([]byte("UNWATCH"))
		do([]byte("MULTI"))
		do(args...)
		return do([]byte("EXEC"))
	}
	return exec(ours), exec(theirs)
}

// exchange restores each side's dump on the other side: payloads may differ, values must not.
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

// sameKind lets the text and the numbers of a reply differ, but not its kind.
func sameKind(got, want resp.Value) bool { return got.Kind == want.Kind && !got.IsError() }

// equalExceptNumbers lets the numbers in a reply differ.
func equalExceptNumbers(got, want resp.Value) bool {
	switch {
	case got.Kind != want.Kind || len(got.Elems) != len(want.Elems):
		return false
	case got.Kind == resp.Int:
		return true
	case len(got.Elems) == 0:
		return bytes.Equal(resp.Append3(nil, got), resp.Append3(nil, want))
	}
	for i := range got.Elems {
		if !equalExceptNumbers(got.Elems[i], want.Elems[i]) {
			return false
		}
	}
	return true
}

// equalExceptModules also leaves out the modules that a redis-server without its distribution's modules lacks.
func equalExceptModules(got, want resp.Value) bool {
	return equalExceptNumbers(withoutModules(got), want)
}

func withoutModules(v resp.Value) resp.Value {
	elems := make([]resp.Value, 0, len(v.Elems))
	for _, e := range v.Elems {
		if len(e.Elems) > 1 && slices.Contains([]string{"ReJSON", "bf", "search", "timeseries"}, string(e.Elems[1].Str)) {
			continue
		}
		elems = append(elems, withoutModules(e))
	}
	v.Elems = elems
	return v
}

// sortAfterReset makes Redis forget that an earlier number was out of range, which makes its SORT
// refuse all numbers. Any command that reads a number as a long double does.
func sortAfterReset(ours, theirs doer, args [][]byte) (got, want resp.Value) {
	theirs(words("INCRBYFLOAT", "afresh", "none")...) // at a key that no case has
	return ours(args...), theirs(args...)
}

// equalExceptGraph allows differences in VINFO's graph data, the set's number, and the number of
// attributes: Redis 8.0 does not count the attributes of a VADD with CAS.
func equalExceptGraph(got, want resp.Value) bool {
	got, want = resp.Downgrade(got), resp.Downgrade(want)
	if got.Kind != resp.Array || len(got.Elems) != len(want.Elems) {
		return false
	}
	for i := range got.Elems {
		about := i > 0 && slices.Contains([]string{"max-level", "attributes-count", "vset-uid", "hnsw-max-node-uid"}, string(got.Elems[i-1].Str))
		if !about && !bytes.Equal(resp.Append2(nil, got.Elems[i]), resp.Append2(nil, want.Elems[i])) {
			return false
		}
	}
	return true
}

// similar compares with redis-server's search without its graph. The order of elements with
// equal scores is ignored.
func similar(ours, theirs doer, args [][]byte) (got, want resp.Value) {
	got, want = ours(args...), theirs(args...)
	if got.IsError() || want.IsError() {
		return got, want
	}
	if truth := theirs(append(args[:len(args):len(args)], []byte("TRUTH"))...); !truth.IsError() {
		want = truth
	}
	vector := 4
	if bytes.EqualFold(args[2], []byte("VALUES")) {
		n, _ := strconv.Atoi(string(args[3]))
		vector += n
	}
	vector = min(max(vector, 4), len(args)) // a missing key has any
	width := 1                              // of an element
	if slices.ContainsFunc(args[vector:], func(a []byte) bool { return bytes.EqualFold(a, []byte("WITHSCORES")) }) {
		width = 2
	}
	ask := append(slices.Clone(args[:vector]), words("WITHSCORES", "COUNT", "100000", "TRUTH")...)
	scores := map[string]string{}
	for pair := range slices.Chunk(flatten(theirs(ask...)), 2) {
		scores[string(pair[0])] = string(pair[1])
	}
	one, other := flatten(got), flatten(want)
	if len(one) != len(other) {
		return got, want
	}
	for i := 0; i < len(one); i += width {
		if scores[string(one[i])] != scores[string(other[i])] || width == 2 && string(one[i+1]) != string(other[i+1]) {
			return got, want
		}
	}
	return want, want
}

// bothSides runs the command normally on both sides. Its use keeps a command out of transactions.
func bothSides(ours, theirs doer, args [][]byte) (got, want resp.Value) {
	return ours(args...), theirs(args...)
}

// spop runs SPOP on meowdis and removes the same members from Redis. Their number must equal
// Redis's.
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

// sample compares random replies: meowdis's must have the kind and the length of Redis's, and
// its elements must be among the reply to the command line all; a "" in it stands for the key.
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

// unsigned replaces every -0 in v with 0: only Redis's large sorted sets keep -0
// (docs/compatibility.md).
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

// flatten returns every string and double in v, at any depth, as bytes.
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

// scan compares complete iterations, since cursors and step sizes may differ. at is the
// cursor's position.
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

// scanFields is scan for HSCAN, whose NOVALUES leaves names: each is then its own pair.
func scanFields(ours, theirs doer, args [][]byte) (got, want resp.Value) {
	got, want = scan(2)(ours, theirs, args)
	if !slices.ContainsFunc(args, func(a []byte) bool { return bytes.EqualFold(a, []byte("NOVALUES")) }) {
		return got, want
	}
	return twice(got), twice(want)
}

// twice repeats each element of an array.
func twice(v resp.Value) resp.Value {
	var elems []resp.Value
	for _, e := range v.Elems {
		elems = append(elems, e, e)
	}
	v.Elems = elems
	return v
}

// iterate continues a scan to its end and returns all elements.
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
