package clients

import (
	"os/exec"
	"strings"
	"testing"
)

// cliScript is what redis-cli reads from its input; the replies are compared
// with those of redis-server.
const cliScript = `FLUSHALL
PING
SET greeting "hello, world"
GET greeting
GET nothing
APPEND greeting !
SET counter 41
INCR counter
INCRBYFLOAT counter 0.5
MSET a 1 b 2
MGET a nothing b
SET short v PX 100000
PERSIST short
TTL short
TTL nothing
HSET h field value
HSET h other 2
HINCRBY h other 3
HGET h field
HGETALL h
RPUSH l a b c
LPOP l
LRANGE l 0 -1
SADD s x
SISMEMBER s x
SMEMBERS s
ZADD z 1 one 2.5 two inf many
ZSCORE z two
ZRANGE z 0 -1 WITHSCORES
SET bytes "\x00\xff\r\n\"'"
GET bytes
SET käse 🧀
GET käse
INCR greeting
LPUSH greeting x
NOSUCH a b
GET
MULTI
SET t 1
INCR t
LPUSH t x
EXEC
MULTI
NOSUCH
EXEC
DISCARD
SELECT 3
DBSIZE
SET here 1
DBSIZE
SELECT 0
TYPE z
EXISTS greeting nothing greeting
DEL greeting nothing
`

func TestRedisCLI(t *testing.T) {
	if _, err := exec.LookPath("redis-cli"); err != nil {
		t.Fatal("these tests drive redis-cli: install it (Debian: apt-get install redis-tools; macOS: brew install redis)")
	}
	for _, version := range []string{"-2", "-3"} {
		for _, form := range []string{"--no-raw", "--raw", "--csv", "--json"} {
			t.Run(version+form, func(t *testing.T) {
				if version == "-2" && form == "--json" {
					return // redis-cli's JSON is RESP3's alone
				}
				replies := map[string]string{}
				tour(t, func(t *testing.T, x target) {
					flags := append(cliFlags(x), version, form, "-a", password, "--no-auth-warning")
					replies[x.network] = run(t, ".", strings.NewReader(cliScript), "redis-cli", flags...)
				})
				if replies["tcp"] != replies["unix"] {
					t.Errorf("meowdis:\n%s\nredis-server:\n%s", replies["tcp"], replies["unix"])
				}
			})
		}
	}
}

func cliFlags(x target) []string {
	if x.network == "unix" {
		return []string{"-s", x.addr}
	}
	return []string{"-h", x.host(), "-p", x.port()}
}

func TestRedisCLIWrongPassword(t *testing.T) {
	tour(t, func(t *testing.T, x target) {
		got := run(t, ".", nil, "redis-cli", append(cliFlags(x), "GET", "a")...)
		if strings.TrimSpace(got) != "NOAUTH Authentication required." {
			t.Errorf("without a password: %s", got)
		}
		got = run(t, ".", nil, "redis-cli", append(cliFlags(x), "-a", "wrong", "--no-auth-warning", "PING")...)
		if !strings.Contains(got, "WRONGPASS") || !strings.Contains(got, "NOAUTH Authentication required.") {
			t.Errorf("with a wrong password: %s", got)
		}
	})
}

// redis-cli pipes whole files of commands.
func TestRedisCLIPipe(t *testing.T) {
	tour(t, func(t *testing.T, x target) {
		lines := strings.Repeat("INCR counter\r\nSET key value\r\n", 5000)
		got := run(t, ".", strings.NewReader(lines), "redis-cli", append(cliFlags(x), "-a", password, "--no-auth-warning", "--pipe")...)
		if !strings.Contains(got, "errors: 0, replies: 10000") {
			t.Errorf("redis-cli --pipe says %s", got)
		}
		got = run(t, ".", nil, "redis-cli", append(cliFlags(x), "-a", password, "--no-auth-warning", "GET", "counter")...)
		if strings.TrimSpace(got) != "5000" {
			t.Errorf("the counter is at %s", got)
		}
	})
}
