package server_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/internal/test/oracle"
	"github.com/meowdis/meowdis/server"
)

// roomSteps lists calls and replies of a full server. The first call sets the limit.
var roomSteps = strings.Split(strings.TrimSpace(`
SET k v
CONFIG SET maxmemory 1
SET a b
LPUSH l a
GET k
SETRANGE k 0 x
MULTI
SET a b
EXEC
MULTI
GET k
EXEC
EVAL return(redis.call('SET','a','b')) 0
EVAL return(redis.pcall('GET','k')) 0
EVAL redis.call('DEL','k')return(redis.call('SET','k','w')) 0
EXPIRE k 100
DEL k nokey
CONFIG SET maxmemory 0
SET a b
`), "\n")

func TestMaxMemory(t *testing.T) {
	redis := oracle.Start(t).Dial(t)
	old := redis.Version().Before("8.0")
	c := serve(t, server.Config{}).dial(t)
	for _, call := range roomSteps {
		args := strings.Fields(call)
		if old && (call == "GET k" || call == "EXEC") {
			c.do(args...) // queued after MULTI, and refused
			redis.Do(words(args...)...)
			continue
		}
		if got, want := show(c.do(args...)), show(redis.Do(words(args...)...)); got != want {
			t.Errorf("%s answers %s, redis-server %s", call, got, want)
		}
	}
	if old {
		return
	}
	if got, want := budgetReader(string(c.do("INFO", "errorstats").Str), "errorstat_OOM"), budgetReader(string(redis.Do(words("INFO", "errorstats")...).Str), "errorstat_OOM"); !slices.Equal(got, want) {
		t.Errorf("the errors are counted as %s, by redis-server as %s", got, want)
	}
}

// With an eviction policy, writes make room.
func TestEviction(t *testing.T) {
	for _, policy := range []string{"allkeys-random", "volatile-ttl"} {
		t.Run(policy, func(t *testing.T) {
			s := serve(t, server.Config{})
			c := s.dial(t)
			want(t, c.do("CONFIG", "SET", "maxmemory", "3mb", "maxmemory-policy", policy), "OK")
			want(t, c.do("SET", "kept", "v"), "OK")
			value := strings.Repeat("x", 8000)
			for i := range 1000 {
				want(t, c.do("SET", fmt.Sprint("k", i), value, "EX", fmt.Sprint(100_000-i)), "OK")
			}
			left := c.do("DBSIZE").Int
			evicted, _ := strconv.ParseInt(statOf(c, "evicted_keys"), 10, 64)
			if left+evicted != 1001 || left < 100 || left > 700 {
				t.Errorf("%d keys are left, and %d went", left, evicted)
			}
			if policy == "volatile-ttl" {
				want(t, c.do("EXISTS", "kept", "k0"), "(integer) 2")
				want(t, c.do("PERSIST", "k0"), "(integer) 1")
			}
		})
	}
	c := serve(t, server.Config{}).dial(t)
	if v := c.do("CONFIG", "SET", "maxmemory-policy", "allkeys-lru"); !strings.Contains(string(v.Str), "only noeviction, allkeys-random and volatile-ttl are supported") {
		t.Errorf("allkeys-lru: %s", show(v))
	}
}
