package storetest

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/meowdis/meowdis/engine"
)

const workers = 200

// concurrently runs work for many clients at once. They use several engines, like clients of
// several processes.
func concurrently(t *testing.T, s engine.Store, n int, work func(c *Client, i int)) {
	t.Helper()
	clock := NewClock()
	engines := []*engine.Engine{NewEngine(s, clock), NewEngine(s, clock), NewEngine(s, clock)}
	var running sync.WaitGroup
	for i := range n {
		running.Go(func() { work(NewClient(t, engines[i%len(engines)]), i) })
	}
	running.Wait()
}

// increments counts to 200 by every command that counts, one batch or several.
func increments(t *testing.T, s engine.Store) {
	for command, read := range map[string]string{
		"INCR a": "GET a", "INCRBY b 1": "GET b", "DECRBY c -1": "GET c", "INCRBYFLOAT d 1": "GET d",
		"HINCRBY h n 1": "HGET h n", "HINCRBYFLOAT h f 1": "HGET h f", "ZINCRBY z 1 n": "ZSCORE z n",
	} {
		concurrently(t, s, workers, func(c *Client, _ int) {
			if reply := c.Do(command); strings.HasPrefix(reply, "(error)") {
				t.Errorf("%s: %s", command, reply)
			}
		})
		NewClient(t, NewEngine(s, NewClock())).Want(read, strconv.Quote(strconv.Itoa(workers)))
	}
}

// oneWinner makes all clients try to take a lock with a command that reads and then decides.
func oneWinner(t *testing.T, s engine.Store) {
	var mu sync.Mutex
	replies := map[string]int{}
	concurrently(t, s, workers, func(c *Client, i int) {
		reply := c.Do(fmt.Sprintf("SET lock %d NX GET", i))
		mu.Lock()
		defer mu.Unlock()
		replies[reply]++
	})
	owner := NewClient(t, NewEngine(s, NewClock())).Do("GET lock")
	if replies["(nil)"] != 1 || replies[owner] != workers-1 {
		t.Errorf("the owner is %s, the replies %v", owner, replies)
	}
}

// watch increments a key under WATCH, and retries until it succeeds.
func watch(t *testing.T, s engine.Store) {
	const clients, each = 8, 10
	NewClient(t, NewEngine(s, NewClock())).Want("SET n 0", "OK")
	concurrently(t, s, clients, func(c *Client, _ int) {
		for done := 0; done < each && !t.Failed(); {
			c.Want("WATCH n", "OK")
			n, err := strconv.Atoi(strings.Trim(c.Do("GET n"), `"`))
			if err != nil {
				t.Error(err)
			}
			c.Want("MULTI", "OK")
			c.Want(fmt.Sprint("SET n ", n+1), "QUEUED")
			if c.Do("EXEC") != "(nil)" {
				done++
			}
		}
	})
	NewClient(t, NewEngine(s, NewClock())).Want("GET n", strconv.Quote(strconv.Itoa(clients*each)))
}

// transactions moves one coin between two keys; every client must always see exactly one.
func transactions(t *testing.T, s engine.Store) {
	setup := NewClient(t, NewEngine(s, NewClock()))
	setup.Want("SET a 1", "OK")
	setup.Want("SET b 0", "OK")
	concurrently(t, s, 8, func(c *Client, i int) {
		for range 10 {
			c.Want("MULTI", "OK")
			switch i % 4 {
			case 0:
				c.Want("DECR a", "QUEUED")
				c.Want("INCR b", "QUEUED")
			case 1:
				c.Want("INCR a", "QUEUED")
				c.Want("DECR b", "QUEUED")
			case 2: // an error in the middle changes nothing
				c.Want("SET a 7 NX", "QUEUED")
				c.Want("SET a 7 NX GET", "QUEUED")
			}
			c.Want("GET a", "QUEUED")
			c.Want("GET b", "QUEUED")
			lines := strings.Split(c.Do("EXEC"), "\n")
			a, b := number(lines[len(lines)-2]), number(lines[len(lines)-1])
			if a+b != 1 {
				t.Errorf("a is %d and b %d", a, b)
			}
		}
	})
}

// number reads the integer at the end of a line such as `3) "7"`.
func number(line string) int {
	n, _ := strconv.Atoi(strings.Trim(line[strings.LastIndexByte(line, ' ')+1:], `"`))
	return n
}
