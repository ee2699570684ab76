package server_test

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/meowdis/meowdis/internal/test/oracle"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/server"
)

// scripts are commands of two clients, one per line. Commands of the second client begin with "2 ", or with "2 waits "
// if they block until "2 gets", which reads the reply. The replies must equal redis-server's.
var scripts = []string{
	// permissions revoked while a client is blocked
	revoked("BLPOP q 0", "bob resetkeys", "RPUSH q a b"),
	revoked("BLPOP q x 0", "bob resetkeys ~q", "RPUSH q a b"),
	revoked("BLPOP q 0", "bob resetkeys ~q", "RPUSH q a b"),
	revoked("BLPOP q 0", "bob off", "RPUSH q a b"),
	revoked("BLPOP q 0", "bob reset", "RPUSH q a b"),
	revoked("BLPOP q 0", "bob -blpop", "RPUSH q a b"),
	revoked("BLMPOP 0 1 q LEFT", "bob -@write", "RPUSH q a b"),
	revoked("BLMOVE q r LEFT LEFT 0", "bob resetkeys", "RPUSH q a b"),
	revoked("BLMOVE q r LEFT LEFT 0", "bob resetkeys ~q", "RPUSH q a b"),
	revoked("BRPOPLPUSH q r 0", "bob resetkeys %R~q %W~r", "RPUSH q a b"),
	revoked("BZPOPMIN q 0", "bob resetkeys", "ZADD q 1 a 2 b"),
	revoked("BZMPOP 0 1 q MIN", "bob resetkeys", "ZADD q 1 a 2 b"),
	revoked("XREAD BLOCK 0 STREAMS q $", "bob resetkeys", "XADD q 1-1 a b"),
	revoked("XREADGROUP GROUP g c BLOCK 0 STREAMS g >", "bob -xreadgroup", "XADD g 1-1 a b"),

	// errors of missing permissions
	`ACL SETUSER bob on >secret ~b:* %R~r:* resetchannels -@all +@read +set +multi +exec +client|id
	2 AUTH bob secret
	2 SET b:1 x
	2 GET b:1
	2 GET r:1
	2 SET r:1 x
	2 GET a
	2 MGET b:1 r:1 a
	2 DEL b:1
	2 CLIENT ID x
	2 CLIENT LIST
	2 ACL WHOAMI
	2 NOSUCH
	2 GET
	2 PING
	2 MULTI
	2 GET a
	2 GET b:1
	2 EXEC
	2 MULTI
	2 DEL b:1
	2 DISCARD
	2 EXEC
	ACL LOG
	ACL LOG 2
	ACL LOG 0
	ACL LOG -1
	ACL LOG RESET
	ACL LOG`,

	// EXEC checks again
	`ACL SETUSER bob on nopass ~* +@all
	2 AUTH bob x
	2 MULTI
	2 SET a 1
	2 GET b
	2 ACL WHOAMI
	2 INCR a
	ACL SETUSER bob resetkeys ~a -acl
	2 EXEC
	2 GET b
	ACL LOG 3
	GET a`,

	// EXEC itself may be forbidden
	`ACL SETUSER bob on nopass ~* +@all -exec
	2 AUTH bob x
	2 MULTI
	2 SET a 1
	2 EXEC
	2 EXEC
	2 GET a`,

	// users within a transaction
	`MULTI
	ACL SETUSER bob on nopass +@all ~*
	ACL SETUSER bob +nosuch
	ACL WHOAMI
	AUTH bob x
	ACL WHOAMI
	EXEC
	ACL WHOAMI
	ACL USERS
	RESET
	ACL WHOAMI`,

	// deleting a user closes its connections
	`ACL SETUSER bob on nopass +@all ~*
	2 AUTH bob x
	2 PING
	ACL DELUSER nosuch bob bob
	2 PING
	ACL DELUSER nosuch
	ACL DELUSER default
	ACL SETUSER ann
	ACL DELUSER ann default bob
	ACL USERS`,

	`ACL SETUSER bob on nopass +@all ~*
	AUTH bob x
	ACL DELUSER bob
	PING`,

	// passwords
	`ACL SETUSER bob on >secret >other +@all ~*
	2 AUTH bob wrong
	2 AUTH bob other
	2 ACL WHOAMI
	ACL SETUSER bob <other
	2 ACL WHOAMI
	2 AUTH bob other
	2 AUTH bob secret
	ACL SETUSER bob off
	2 PING
	2 AUTH bob secret
	2 HELLO 2 AUTH bob secret
	2 RESET
	2 ACL WHOAMI
	ACL LOG 3`,

	`2 AUTH secret
	ACL SETUSER default >secret
	2 PING
	2 RESET
	2 PING
	2 AUTH wrong
	2 AUTH secret
	2 PING
	CONFIG GET requirepass
	CONFIG SET requirepass other
	ACL GETUSER default
	2 RESET
	2 AUTH secret
	2 AUTH other
	CONFIG SET requirepass ""
	ACL LIST
	2 RESET
	2 PING
	2 AUTH x`,

	`ACL SETUSER bob on nopass ~* +@all
	2 AUTH bob x
	2 ACL SETUSER default off
	RESET
	PING
	HELLO
	AUTH x
	AUTH default x
	2 RESET
	2 PING`,

	// the default user's permissions can be limited, too
	`ACL SETUSER bob on nopass ~* &* +@all
	2 AUTH bob x
	2 ACL SETUSER default -@all +ping
	PING
	GET a
	HELLO 3
	2 ACL SETUSER default +@all
	GET a`,

	// SORT reads other keys
	`ACL SETUSER bob on nopass ~a +@all
	RPUSH a 1 2
	2 AUTH bob x
	2 SORT a
	2 SORT a BY nosort
	2 SORT a BY w*
	2 SORT a GET #
	2 SORT a GET w* BY w*
	2 SORT a NOSUCH BY w*
	2 SORT a STORE b
	2 SORT_RO a BY w*
	2 MULTI
	2 SORT a BY w*
	2 EXEC
	ACL SETUSER bob %R~*
	2 SORT a BY w* GET #
	ACL SETUSER bob allkeys
	2 SORT a BY w* GET #
	ACL LOG`,

	// the command that ACL LOG names for a script
	`ACL SETUSER bob on nopass ~* +@all -get
	2 AUTH bob x
	2 PING
	2 EVAL "return redis.pcall('get', 'a')" 0
	2 EVAL_RO "redis.call('ping') return redis.pcall('get', 'a')" 0
	2 MULTI
	2 EVAL "return redis.pcall('get', 'b')" 0
	2 EXEC
	2 GET a
	2 EVAL "return redis.pcall('get', 'c')" 0
	ACL LOG
	FUNCTION LOAD "#!lua name=aclcmd\nredis.register_function('aclget', function() return redis.pcall('get', 'd') end)"
	2 FCALL aclget 0
	ACL LOG 1
	FUNCTION DELETE aclcmd`,

	// permissions come before the rules of read-only scripts; a refused EXEC counts as EXECABORT
	`ACL SETUSER bob on nopass ~* +@all -set -exec
	2 AUTH bob x
	2 EVAL "#!lua flags=no-writes\nreturn redis.pcall('set', 'a', 'b')" 0
	2 EVAL_RO "return redis.pcall('set', 'a', 'b')" 0
	2 EVAL_RO "return redis.pcall('del', 'a')" 0
	ACL LOG
	CONFIG RESETSTAT
	2 MULTI
	2 EXEC
	INFO errorstats`,

	// the clients of a user
	`ACL SETUSER bob on nopass ~* +@all
	2 AUTH bob x
	CLIENT KILL USER nosuch
	CLIENT KILL USER bob
	2 PING
	CLIENT KILL USER bob`,

	// the parameters
	`CONFIG GET acl-*
	CONFIG GET acllog*
	CONFIG GET aclfile
	CONFIG SET acl-pubsub-default allchannels
	ACL SETUSER bob (+get)
	ACL SETUSER ann reset
	ACL LIST
	CONFIG SET acl-pubsub-default nosuch
	CONFIG SET acllog-max-len -1
	CONFIG SET acllog-max-len 1
	CONFIG SET aclfile /tmp/x
	AUTH bob 1
	AUTH ann 2
	ACL LOG
	CONFIG SET acllog-max-len 0
	ACL LOG
	AUTH bob 1
	ACL LOG
	CONFIG SET acl-pubsub-default resetchannels acllog-max-len 128`,

	`ACL SAVE
	ACL LOAD
	ACL
	ACL NOSUCH
	ACL CAT nosuch
	ACL CAT a b
	ACL GENPASS 0
	ACL GENPASS x
	ACL GENPASS 1 2
	ACL GETUSER nosuch
	ACL WHOAMI x
	ACL SETUSER
	ACL SETUSER "a b"
	ACL SETUSER ""
	ACL SETUSER bob +nosuch
	ACL SETUSER bob "+nosuch\r\nx"
	ACL SETUSER bob (~a +get
	ACL USERS
	ACL LIST
	ACL DRYRUN bob get a
	ACL DRYRUN default nosuch
	ACL DRYRUN default get
	ACL DRYRUN default config
	ACL DRYRUN default "config nosuch"
	ACL LOG x
	ACL LOG 1 2`,

	`HELLO 3
	ACL GETUSER default
	ACL GETUSER nosuch
	AUTH bob x
	ACL LOG`,
}

// revoked blocks a client, changes its permissions, and then fills its key.
func revoked(waits, rule, fill string) string {
	return `XGROUP CREATE g g $ MKSTREAM
	ACL SETUSER bob on >secret ~* +@all
	2 AUTH bob secret
	2 waits ` + waits + `
	ACL SETUSER ` + rule + `
	` + fill + `
	2 gets
	2 PING
	ACL LOG
	TYPE q
	LRANGE q 0 -1`
}

func TestUsers(t *testing.T) {
	redis := oracle.Start(t)
	admin := redis.Dial(t)
	if version := admin.Version(); version.Before("8.0") {
		t.Skipf("the errors are those of 8.0, and redis-server is %s", version)
	}
	for _, script := range scripts {
		lines := strings.Split(script, "\n")
		t.Run(lines[0], func(t *testing.T) {
			for _, tidy := range []string{"FLUSHALL", "ACL DELUSER bob ann", "ACL DELUSER \"\"", "ACL SETUSER default reset on nopass ~* &* +@all", "ACL LOG RESET"} {
				args, _ := resp.SplitLine(tidy)
				admin.Do(args...)
			}
			s := serve(t, server.Config{})
			ours := [...]*peer{s.dial(t), s.dial(t)}
			theirs := [...]*peer{dial(t, "unix", redis.Socket), dial(t, "unix", redis.Socket)}
			for i, line := range lines {
				line = strings.TrimSpace(line)
				who, second := 0, false
				if line, second = strings.CutPrefix(line, "2 "); second {
					who = 1
				}
				line, waits := strings.CutPrefix(line, "waits ")
				args, err := resp.SplitLine(line)
				if err != nil {
					t.Fatal(err)
				}
				if waits {
					ours[who].waits(t, ours[0], args)
					theirs[who].waits(t, theirs[0], args)
					continue
				}
				if line == "gets" {
					args = nil
				}
				got, want := ours[who].raw(args), theirs[who].raw(args)
				if got, want = known(got), known(want); got != want {
					t.Fatalf("line %d: %s\nserver:       %q\nredis-server: %q", i+1, line, got, want)
				}
			}
		})
	}
}

// waits sends a command, and returns once the server has a blocked client.
func (p *peer) waits(t *testing.T, control *peer, args [][]byte) {
	t.Helper()
	p.Write(resp.AppendCommand(nil, args...))
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		if strings.Contains(string(control.do("INFO", "clients").Str), "blocked_clients:1\r\n") {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%q does not wait", args)
		}
	}
}

// raw sends args, if any, and returns the reply's bytes, or "(closed)".
func (p *peer) raw(args [][]byte) string {
	p.SetDeadline(time.Now().Add(time.Minute))
	if args != nil {
		p.Write(resp.AppendCommand(nil, args...)) // the connection may be closed
	}
	v, err := p.r.ReadReply()
	if err != nil {
		return "(closed)"
	}
	return string(resp.Append3(nil, v))
}

var unknowable = []*regexp.Regexp{
	regexp.MustCompile(`\$\d+\r\nid=\d+ addr=[^\r]*cmd=([^ ]+) user=([^ ]+) [^\r]*\r\n`), // CLIENT LIST's line in ACL LOG
	regexp.MustCompile(`(\$11\r\nage-seconds\r\n)(?:\$\d+\r\n|,)[0-9.e-]+\r\n`),
	regexp.MustCompile(`(\$\d+\r\ntimestamp-[a-z-]+\r\n):\d+\r\n`),
	regexp.MustCompile(`(\$8\r\nentry-id\r\n):\d+\r\n`),
	regexp.MustCompile(`(?s)\$6\r\nserver\r\n.*`), // HELLO's reply is compared elsewhere
}

// known removes the parts of a reply that differ between any two servers.
func known(reply string) string {
	for _, what := range unknowable {
		reply = what.ReplaceAllString(reply, "$1 $2")
	}
	return reply
}

// TestUnnamedKeys checks the permissions for keys that filters and indexes find: redis.io/docs/latest/commands/ft.search/
// and ts.mget/.
func TestUnnamedKeys(t *testing.T) {
	s := serve(t, server.Config{})
	admin := s.dial(t)
	for _, line := range []string{
		"TS.ADD shop:t 1 1 LABELS a b", "TS.ADD bank:t 1 1 LABELS a c", "HSET shop:1 n x", "HSET bank:1 n x",
		"FT.CREATE shop PREFIX 1 shop: SCHEMA n TEXT", "FT.CREATE bank PREFIX 1 bank: SCHEMA n TEXT", "FT.CREATE all SCHEMA n TEXT",
		"SEARCH.CREATE ours ON HASH PREFIX 1 shop: SCHEMA n TEXT", "SEARCH.CREATE theirs ON HASH PREFIX 2 shop: bank: SCHEMA n TEXT",
		"ACL SETUSER bob on >pw resetkeys ~shop:* +ft.search +ft.cursor +ft.spellcheck +ft.profile +ts.mget +search.query +search.count +search.aggregate",
	} {
		if v := admin.do(strings.Fields(line)...); v.IsError() {
			t.Fatalf("%s: %s", line, v.Str)
		}
	}
	bob := s.dial(t)
	want(t, bob.do("AUTH", "bob", "pw"), "OK")
	for _, test := range []struct {
		line    string
		allowed bool
	}{
		{"FT.SEARCH shop x", true}, {"FT.SEARCH bank x", false}, {"FT.SEARCH all x", false},
		{"TS.MGET FILTER a=b", true}, {"TS.MGET FILTER a=c", false}, {"FT.AGGREGATE shop x", false},
		{"FT.CURSOR READ bank 1", false}, {"FT.SPELLCHECK bank x", false}, {"FT.SPELLCHECK shop x", true}, {"FT.PROFILE bank SEARCH QUERY x", false}, {"FT.PROFILE shop SEARCH QUERY x", true},
		{"SEARCH.QUERY ours {}", true}, {"SEARCH.QUERY theirs {}", false}, {"SEARCH.COUNT ours {}", true}, {"SEARCH.COUNT theirs {}", false}, {"SEARCH.AGGREGATE ours {} {}", true}, {"SEARCH.AGGREGATE theirs {} {}", false},
		{"SEARCH.DROP ours", false},
	} {
		v := bob.do(strings.Fields(test.line)...)
		if refused := v.IsError() && strings.HasPrefix(string(v.Str), "NOPERM"); refused == test.allowed || v.IsError() && !refused {
			t.Errorf("%s: %s", test.line, resp.Printer{}.Append(nil, v))
		}
	}
}
