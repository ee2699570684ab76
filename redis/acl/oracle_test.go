package acl_test

import (
	"flag"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/internal/test/oracle"
	"github.com/meowdis/meowdis/redis/acl"
	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
)

// rulesBesideCommands are rules of which random users are made.
var rulesBesideCommands = strings.Fields(`on off nopass resetpass reset ON Nopass clearselectors sanitize-payload skip-sanitize-payload
	>secret >other <secret <nosuch #zz !zz > # ! <
	#2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b !2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b
	~* allkeys resetkeys ALLKEYS ~a* ~b ~k[1-3] %R~a* %W~a* %RW~b %wr~k? %R~* %W~* %RR~a %~a %X~a %R %RW % ~ %R~
	&* allchannels resetchannels &news.* &a &news.1 &
	+@all -@all allcommands nocommands allCommands +@nosuch -@nosuch +@ -@ +@array
	+ - +nosuch -nosuch +config| -config| +config|get|x +get|x +get|x|y -get|x +select|0 +SELECT|1 +debug|sleep +DEBUG|object -debug +nosuch|x +|x
	nosuch x @all (`)

// calls are what users may run or not.
var calls = []string{
	"GET a1", "GET b", "GET c", "SET a1 x", "SET a1 x GET", "SET c x", "MSET a1 x b y", "MGET a1 b c", "DEL a1 c", "EXISTS c", "TYPE a", "STRLEN c", "OBJECT ENCODING c", "OBJECT HELP",
	"COPY a1 b", "RENAME a1 b", "SORT a1", "SORT a1 STORE b", "SORT c BY x* GET y*", "ZUNIONSTORE a1 2 b k1", "ZUNIONSTORE a1 x b k1", "ZUNIONSTORE a1 9 b k1", "LMPOP 2 a1 b LEFT", "SMOVE a1 b m", "GETEX a1", "GETEX a1 PERSIST", "GETDEL a1",
	"BITFIELD a1 GET u8 0", "BITFIELD a1 SET u8 0 1", "BITFIELD_RO a1 GET u8 0", "XREAD STREAMS a1 b 0 0", "XREADGROUP GROUP g c STREAMS a1 >", "XGROUP CREATE a1 g $", "XINFO STREAM c", "GEORADIUS a1 1 1 1 m STORE b", "GEOSEARCHSTORE a1 b FROMMEMBER x BYRADIUS 1 m", "ZRANGESTORE a1 b 0 1",
	"SINTERCARD 2 a1 b", "SINTERSTORE a1 b k1", "PFCOUNT a1 b", "PFMERGE a1 b", "BITOP AND a1 b k2", "LMOVE a1 b LEFT RIGHT", "BLPOP a1 b 0", "HGETALL k2", "HSET k2 f v", "EXPIRE k3 1", "TTL k4", "DUMP a", "RESTORE a 0 x", "INCR a1",
	"PING", "ECHO x", "AUTH x", "HELLO 3", "QUIT", "RESET", "SELECT 0", "SELECT 1", "CONFIG GET x", "CONFIG SET x y", "CLIENT LIST", "CLIENT ID", "CLIENT KILL x", "DEBUG SLEEP 0", "ACL WHOAMI", "ACL LIST", "ACL SETUSER x", "COMMAND", "COMMAND COUNT", "INFO", "FLUSHALL", "FLUSHDB", "DBSIZE", "KEYS *", "SCAN 0", "RANDOMKEY", "SWAPDB 0 1", "MULTI", "EXEC", "WATCH a1 c", "WAIT 0 0",
	"SCRIPT KILL", "FUNCTION LIST", "FUNCTION FLUSH", "MEMORY USAGE a1", "MEMORY DOCTOR", "PUBLISH news.1 x", "PUBLISH a x", "SUBSCRIBE news.1 a", "PSUBSCRIBE news.* a", "UNSUBSCRIBE x", "SPUBLISH a x", "SSUBSCRIBE a b", "EVAL x 1 a1", "EVAL_RO x 2 a1 c", "EVALSHA x 0", "FCALL f 1 a1", "VADD a1 VALUES 1 1 e", "VSIM c ELE e", "VCARD k2",
	"GET", "NOSUCH x", "CONFIG NOSUCH x", "CONFIG",
}

var seeds = flag.Uint64("seeds", 2000, "random users of TestAgainstRedis")

// TestAgainstRedis makes random users here and at redis-server, which must say the same of
// each rule, describe them the same way, and let them do the same.
func TestAgainstRedis(t *testing.T) {
	server := oracle.Start(t).Dial(t)
	if version := server.Version(); version.Before("8.0") {
		t.Skipf("the errors and rules are those of 8.0, and redis-server is %s", version)
	}
	rules := slices.Clone(rulesBesideCommands)
	var listed []string
	for _, v := range server.Do(words("COMMAND LIST")...).Elems {
		listed = append(listed, string(v.Str))
	}
	slices.Sort(listed) // the server's order is random
	for _, v := range server.Do(words("ACL CAT")...).Elems {
		rules = append(rules, "+@"+string(v.Str), "-@"+string(v.Str), "+@"+strings.ToUpper(string(v.Str)))
	}
	for _, name := range listed {
		if spaced := strings.ReplaceAll(name, "|", " "); commands.Lookup(spaced) != nil || commands.Unsupported.Lookup(spaced) != nil {
			rules = append(rules, "+"+name, "-"+name)
		}
	}
	rules = slices.DeleteFunc(rules, func(rule string) bool { return strings.HasSuffix(rule, "@array") || rule == "(" })
	for seed := range *seeds {
		r := rand.New(rand.NewPCG(seed, 8))
		users := acl.New()
		users.SetNewChannels(seed%3 == 0)
		channels := "resetchannels"
		if seed%3 == 0 {
			channels = "allchannels"
		}
		server.Do(words("CONFIG SET acl-pubsub-default " + channels)...)
		server.Do(words("ACL DELUSER u")...)
		history := []string{}
		ask := func(args ...string) {
			t.Helper()
			call := make([][]byte, len(args))
			for i, arg := range args {
				call[i] = []byte(arg)
			}
			cmd, got := commands.Find(call)
			if cmd != nil {
				got, _ = users.Reply(cmd, call, users.Default(), 0)
			}
			want := server.Do(call...)
			if g, w := show(got), show(want); g != w {
				t.Fatalf("seed %d: %q after\n%q\nhere:         %s\nredis-server: %s", seed, args, history, g, w)
			}
		}
		for range 1 + r.IntN(5) {
			call := []string{"ACL", "SETUSER", "u"}
			for range r.IntN(4) {
				call = append(call, pick(r, rules))
				if r.IntN(8) == 0 {
					call = append(call, selectorOf(r, rules)...)
				}
			}
			history = append(history, strings.Join(call, " "))
			ask(call...)
			ask("ACL", "GETUSER", "u")
			ask("ACL", "LIST")
		}
		for range 20 {
			call := strings.Fields(pick(r, calls))
			if cmd := commands.Known(words(strings.Join(call, " "))); cmd != nil && commands.Lookup(cmd.Name) == nil {
				continue // nothing of ours, yet
			}
			ask(append([]string{"ACL", "DRYRUN", "u"}, call...)...)
		}
	}
}

// TestCategories compares the commands of each category, as far as both know them.
func TestCategories(t *testing.T) {
	server := oracle.Start(t).Dial(t)
	if version := server.Version(); version.Before("8.0") {
		t.Skipf("the categories are those of 8.0, and redis-server is %s", version)
	}
	theirs := map[string]bool{}
	for _, v := range server.Do(words("COMMAND LIST")...).Elems {
		theirs[string(v.Str)] = true
	}
	users := acl.New()
	for _, v := range server.Do(words("ACL CAT")...).Elems {
		call := append(words("ACL CAT"), v.Str)
		cmd, _ := commands.Find(call)
		reply, _ := users.Reply(cmd, call, users.Default(), 0)
		got := names(reply, func(name string) bool { return theirs[name] })
		want := names(server.Do(call...), func(name string) bool {
			return commands.Lookup(strings.ReplaceAll(name, "|", " ")) != nil
		})
		if !slices.Equal(got, want) {
			t.Errorf("@%s:\n%q\nredis-server:\n%q", v.Str, got, want)
		}
	}
}

// names are those in a reply that are kept, sorted.
func names(v resp.Value, keep func(string) bool) (all []string) {
	for _, e := range v.Elems {
		if name := string(e.Str); keep(name) {
			all = append(all, name)
		}
	}
	slices.Sort(all)
	return all
}

// selectorOf is a rule in parentheses, as one argument or as several.
func selectorOf(r *rand.Rand, rules []string) []string {
	var inside []string
	for range r.IntN(4) {
		inside = append(inside, pick(r, rules))
	}
	text := "(" + strings.Join(inside, " ") + ")"
	switch r.IntN(8) {
	case 0:
		return []string{strings.TrimSuffix(text, ")")}
	case 1, 2:
		return strings.Split(text, " ")
	}
	return []string{text}
}

func pick(r *rand.Rand, from []string) string { return from[r.IntN(len(from))] }

func words(line string) [][]byte {
	var args [][]byte
	for word := range strings.FieldsSeq(line) {
		args = append(args, []byte(word))
	}
	return args
}

func show(v resp.Value) string {
	return string(resp.AppendTyped(nil, resp.Downgrade(v), false))
}
