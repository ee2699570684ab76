package server_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/redis/script"
	"github.com/meowdis/meowdis/server"
)

// These tests act as the storage layer of a rate limiter, which keeps its state as JSON in a key and changes it by a
// script called by its SHA1, or by WATCH and EXEC.

// gcra admits ARGV[2] events in ARGV[3] ms. ARGV[1] is now, and 0 stands for the server's clock.
const gcra = `local now = tonumber(ARGV[1])
if now == 0 then
  local t = redis.call('TIME')
  now = tonumber(t[1]) * 1000 + math.floor(tonumber(t[2]) / 1000)
end
local limit, window = tonumber(ARGV[2]), tonumber(ARGV[3])
local interval = window / limit
local state = redis.call('GET', KEYS[1])
local tat = state and cjson.decode(state).tat or now
local after = math.max(tat, now) + interval
if after - now > window then
  return {0, 0, math.ceil(tat)}
end
redis.call('SET', KEYS[1], cjson.encode({tat = after}), 'PX', math.ceil(after - now))
return {1, math.floor((window - (after - now)) / interval + 0.5), math.ceil(after)}`

var gcraSHA = script.SHA1([]byte(gcra))

// asker calls a command over either protocol and returns the reply as JSON. An error is its text.
type asker func(args ...string) string

func (s *served) overRESP(t *testing.T, db string) asker {
	p := s.dial(t)
	want(t, p.do("SELECT", db), "OK")
	return func(args ...string) string { return replyJSON(p.do(args...)) }
}

func replyJSON(v resp.Value) string {
	if v.IsError() {
		return string(v.Str)
	}
	return string(resp.AppendJSON(nil, v))
}

func (s *served) overREST(t *testing.T, db string) asker {
	return func(args ...string) string {
		body, err := json.Marshal(args)
		if err != nil {
			t.Error(err)
		}
		_, text := s.request(t, "POST", "/", string(body), "Meowdis-Database: "+db)
		var answer struct {
			Result json.RawMessage
			Error  string
		}
		if err := json.Unmarshal([]byte(text), &answer); err != nil {
			t.Errorf("%v answers %s: %v", args, text, err)
		}
		return answer.Error + string(answer.Result)
	}
}

// checkRate runs one check of the limiter: by SHA1, or with the source if the server does not know it.
func checkRate(call asker, key, now, limit, window string) string {
	args := []string{"1", key, now, limit, window}
	reply := call(append([]string{"EVALSHA", gcraSHA}, args...)...)
	if strings.HasPrefix(reply, "NOSCRIPT") {
		reply = call(append([]string{"EVAL", gcra}, args...)...)
	}
	return reply
}

// eachProtocol runs a test on a server over both protocols, in database 3.
func eachProtocol(t *testing.T, test func(t *testing.T, s *served, dial func() asker)) {
	for name, dial := range map[string]func(*served, *testing.T, string) asker{"RESP": (*served).overRESP, "REST": (*served).overREST} {
		t.Run(name, func(t *testing.T) {
			s := serveFile(t, filepath.Join(t.TempDir(), "file"), server.Config{})
			test(t, s, func() asker { return dial(s, t, "3") })
		})
	}
}

func TestRateLimitScript(t *testing.T) {
	eachProtocol(t, func(t *testing.T, s *served, dial func() asker) {
		call := dial()
		wants := func(got, want string) {
			t.Helper()
			if got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		}
		wants(call("EVALSHA", gcraSHA, "1", "user", "0", "3", "60000"), "NOSCRIPT No matching script. Please use EVAL.")
		wants(checkRate(call, "user", "0", "3", "60000"), "[1,2,1700000020000]")
		wants(call("EVALSHA", gcraSHA, "1", "user", "0", "3", "60000"), "[1,1,1700000040000]")
		wants(call("SCRIPT", "FLUSH"), `"OK"`)
		wants(checkRate(call, "user", "0", "3", "60000"), "[1,0,1700000060000]")
		wants(checkRate(call, "user", "0", "3", "60000"), "[0,0,1700000060000]")
		wants(call("PTTL", "user"), "60000")
		s.clock.Add(20_000)
		wants(checkRate(call, "user", "0", "3", "60000"), "[1,0,1700000080000]")
		wants(checkRate(call, "user", "1700000041000", "3", "60000"), "[1,0,1700000100000]") // the client's clock
		s.clock.Add(50_000)
		wants(call("EXISTS", "user"), "1")
		s.clock.Add(10_000)
		wants(call("EXISTS", "user"), "0")
		wants(checkRate(call, "user", "0", "3", "60000"), "[1,2,1700000100000]")
		other := s.overRESP(t, "0")
		wants(other("EXISTS", "user"), "0")
		wants(other("DBSIZE"), "0")
	})
}

// Of 200 concurrent checks, exactly the limit is admitted.
func TestRateLimitExactly(t *testing.T) {
	eachProtocol(t, func(t *testing.T, s *served, dial func() asker) {
		var admitted atomic.Int64
		allAtOnce(200, dial, func(call asker) {
			switch got := checkRate(call, "user", "0", "50", "60000"); {
			case strings.HasPrefix(got, "[1,"):
				admitted.Add(1)
			case got != "[0,0,1700000060000]":
				t.Errorf("a check answers %s", got)
			}
		})
		if n := admitted.Load(); n != 50 {
			t.Errorf("%d of 200 are admitted at a limit of 50", n)
		}
	})
}

// allAtOnce runs fn for n clients concurrently.
func allAtOnce(clients int, dial func() asker, fn func(asker)) {
	var ready, ended sync.WaitGroup
	start := make(chan bool)
	for range clients {
		call := dial()
		ready.Add(1)
		ended.Add(1)
		go func() {
			defer ended.Done()
			ready.Done()
			<-start
			fn(call)
		}()
	}
	ready.Wait()
	close(start)
	ended.Wait()
}

// A limiter without a script reads, computes and writes under WATCH, and retries while EXEC replies nil. With 50
// concurrent clients no update is lost or partly applied.
func TestRateLimitOptimistic(t *testing.T) {
	s := serveFile(t, filepath.Join(t.TempDir(), "file"), server.Config{})
	one, other := s.overRESP(t, "3"), s.overRESP(t, "3")
	one("WATCH", "user")
	one("GET", "user")
	other("SET", "user", "1")
	one("MULTI")
	one("SET", "user", "2")
	if got := one("EXEC"); got != "null" {
		t.Errorf("EXEC after a conflict answers %s", got)
	}
	if got := one("GET", "user"); got != `"1"` {
		t.Errorf("user is %s", got)
	}
	allAtOnce(50, func() asker { return s.overRESP(t, "3") }, func(call asker) {
		for tries := 0; tries < 10_000; tries++ {
			call("WATCH", "count")
			n := 0
			fmt.Sscanf(strings.Trim(call("GET", "count"), `"`), "%d", &n)
			call("MULTI")
			call("SET", "count", fmt.Sprint(n+1), "PX", "60000")
			if call("EXEC") != "null" {
				return
			}
		}
		t.Error("a client never wins")
	})
	if got := one("GET", "count"); got != `"50"` {
		t.Errorf("50 increments make %s", got)
	}
	if got := s.overREST(t, "3")("WATCH", "user"); !strings.HasPrefix(got, "ERR") {
		t.Errorf("WATCH over REST answers %s", got)
	}
}
