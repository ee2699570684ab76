package soak

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/meowdis/meowdis/internal/storetest"
)

// history is what clients did to a few keys that they share, and when, in one life of the servers.
type history struct {
	began time.Time
	mu    sync.Mutex
	all   []porcupine.Operation
}

// act is a command on one key: GET, SET, SETGET (SET with GET), DEL or INCR.
type act struct{ name, key, value string }

// reply is what an act has answered; nobody knows that of one whose server was killed.
type reply struct {
	known bool
	text  string // "" for nil
}

// shared is the keys of the history, of which those that begin with c are counters.
var shared = []string{"h:r1", "h:r2", "h:c1"}

// someAct is one at random, whose value nobody else writes.
func someAct(value string) act {
	a := act{key: shared[rand.N(len(shared))], value: value}
	names := []string{"GET", "GET", "SET", "SETGET", "DEL"}
	if a.key == "h:c1" {
		names = []string{"GET", "INCR", "INCR", "INCR", "DEL"}
	}
	a.name = names[rand.N(len(names))]
	return a
}

func (a act) args() [][]byte {
	switch a.name {
	case "SET":
		return words("SET " + a.key + " " + a.value)
	case "SETGET":
		return words("SET " + a.key + " " + a.value + " GET")
	}
	return words(a.name + " " + a.key)
}

// keep acts on the shared keys until the server is gone.
func (h *history) keep(s session, id int) error {
	for i := 0; ; i++ {
		a := someAct(fmt.Sprintf("%d.%d", id, i))
		op := porcupine.Operation{ClientId: id, Input: a, Call: time.Since(h.began).Nanoseconds(), Return: math.MaxInt64}
		v, err := s.Do(context.Background(), a.args()...)
		if err == nil {
			text := string(v.Str)
			if a.name == "DEL" || a.name == "INCR" {
				text = strconv.FormatInt(v.Int, 10)
			}
			op.Return, op.Output = time.Since(h.began).Nanoseconds(), reply{true, text}
		} else {
			op.Output = reply{}
		}
		h.mu.Lock()
		h.all = append(h.all, op)
		h.mu.Unlock()
		switch {
		case err != nil:
			return nil
		case v.IsError():
			return errorReply{fmt.Sprintf("%+v: %s", a, v.Str)}
		}
	}
}

// check reads the shared keys as the servers have left them, and looks for an order of all that was
// done in which each reply is right: every key by itself is linearizable, and what was acknowledged
// is there.
func (h *history) check(t *testing.T, c *storetest.Client, before map[string]string) (after map[string]string) {
	t.Helper()
	after = map[string]string{}
	for i, key := range shared {
		if v := c.Do("GET " + key); v != "(nil)" {
			after[key] = strings.Trim(v, `"`)
		}
		now := time.Since(h.began).Nanoseconds()
		h.all = append(h.all, porcupine.Operation{
			ClientId: math.MaxInt32 - i, Input: act{name: "GET", key: key}, Call: now, Output: reply{true, after[key]}, Return: now + 1,
		})
	}
	for _, key := range shared {
		var of []porcupine.Operation
		for _, op := range h.all {
			if op.Input.(act).key == key {
				of = append(of, op)
			}
		}
		if result := porcupine.CheckOperationsTimeout(register(before[key]), of, time.Minute); result != porcupine.Ok {
			t.Errorf("%s: %d operations from %q to %q are %s", key, len(of), before[key], after[key], result)
		}
	}
	return after
}

// register is the model of a key that begins with a value.
func register(begin string) porcupine.Model {
	return porcupine.Model{
		Init: func() any { return begin },
		Step: func(state, input, output any) (bool, any) {
			was, in, out := state.(string), input.(act), output.(reply)
			is := func(text string) bool { return !out.known || out.text == text }
			switch in.name {
			case "SET":
				return is("OK"), in.value
			case "SETGET":
				return is(was), in.value
			case "DEL":
				n := "1"
				if was == "" {
					n = "0"
				}
				return is(n), ""
			case "INCR":
				n, _ := strconv.Atoi(was)
				next := strconv.Itoa(n + 1)
				return is(next), next
			}
			return is(was), was
		},
	}
}

// TestHistory finds what is not linearizable.
func TestHistory(t *testing.T) {
	op := func(a act, from, to int64, out reply) porcupine.Operation {
		return porcupine.Operation{Input: a, Call: from, Return: to, Output: out}
	}
	set, incr, get := act{"SET", "k", "1"}, act{name: "INCR", key: "k"}, act{name: "GET", key: "k"}
	for name, test := range map[string]struct {
		ops  []porcupine.Operation
		fits bool
	}{
		"a lost write":             {[]porcupine.Operation{op(set, 1, 2, reply{true, "OK"}), op(get, 3, 4, reply{true, ""})}, false},
		"one nobody knows of":      {[]porcupine.Operation{op(set, 1, math.MaxInt64, reply{}), op(get, 3, 4, reply{true, ""})}, true},
		"and that was done":        {[]porcupine.Operation{op(set, 1, math.MaxInt64, reply{}), op(get, 3, 4, reply{true, "1"})}, true},
		"done twice":               {[]porcupine.Operation{op(incr, 1, math.MaxInt64, reply{}), op(get, 3, 4, reply{true, "2"})}, false},
		"what is older than known": {[]porcupine.Operation{op(set, 1, 2, reply{true, "OK"}), op(incr, 3, 4, reply{true, "2"}), op(get, 5, 6, reply{true, "1"})}, false},
	} {
		if fits := porcupine.CheckOperations(register(""), test.ops); fits != test.fits {
			t.Errorf("%s: %t", name, fits)
		}
	}
}
