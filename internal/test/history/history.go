// Package history records the operations of clients on a few shared keys, and checks
// linearizability: some order of all operations must explain every reply.
package history

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

	"github.com/meowdis/meowdis/internal/test/storetest"
	"github.com/meowdis/meowdis/keyspace"
)

// History is a record of timed operations.
type History struct {
	// TookEffect, if not nil, reports whether a command took effect although its reply is an
	// infrastructure error. Without it, that is unknown.
	TookEffect func(error) bool

	began time.Time
	mu    sync.Mutex
	all   []porcupine.Operation
	acts  int
}

// New begins a history.
func New() *History { return &History{began: time.Now()} }

// operation is a command on one key: GET, SET, SETGET (SET with GET), DEL or INCR.
type operation struct{ name, key, value string }

// reply is the reply to an act. It is unknown if the server was killed first.
type reply struct {
	known bool
	text  string // "" for nil
}

// shared lists the keys of the history. Keys whose name begins with c are counters.
var shared = []string{"h:r1", "h:r2", "h:c1"}

// randomOperation returns a random act. Its value is unique.
func randomOperation(value string) operation {
	a := operation{key: shared[rand.N(len(shared))], value: value}
	names := []string{"GET", "GET", "SET", "SETGET", "DEL"}
	if a.key == "h:c1" {
		names = []string{"GET", "INCR", "INCR", "INCR", "DEL"}
	}
	a.name = names[rand.N(len(names))]
	return a
}

func (a operation) args() (args [][]byte) {
	line := a.name + " " + a.key
	switch a.name {
	case "SET":
		line += " " + a.value
	case "SETGET":
		line = "SET " + a.key + " " + a.value + " GET"
	}
	for word := range strings.FieldsSeq(line) {
		args = append(args, []byte(word))
	}
	return args
}

// ErrorReply is an unexpected error reply.
type ErrorReply string

func (e ErrorReply) Error() string { return string(e) }

// Act runs a random act on a shared key for client id, and records it. It returns the client's
// error or an ErrorReply.
func (h *History) Act(c keyspace.Client, id int) error {
	h.mu.Lock()
	h.acts++
	a := randomOperation(fmt.Sprintf("%d.%d", id, h.acts))
	h.mu.Unlock()
	op := porcupine.Operation{ClientId: id, Input: a, Output: reply{}, Call: time.Since(h.began).Nanoseconds(), Return: math.MaxInt64}
	v, err := c.Do(context.Background(), a.args()...)
	switch {
	case err == nil:
		text := string(v.Str)
		if a.name == "DEL" || a.name == "INCR" {
			text = strconv.FormatInt(v.Int, 10)
		}
		op.Return, op.Output = time.Since(h.began).Nanoseconds(), reply{true, text}
	case h.TookEffect != nil && h.TookEffect(err):
		op.Return = time.Since(h.began).Nanoseconds()
	}
	h.mu.Lock()
	h.all = append(h.all, op)
	h.mu.Unlock()
	if err == nil && v.IsError() {
		err = ErrorReply(fmt.Sprintf("%+v: %s", a, v.Str))
	}
	return err
}

// Check reads the shared keys, whose values before the history are in before. It fails the
// test unless each key is linearizable and no acknowledged write is lost.
func (h *History) Check(t *testing.T, c *storetest.Client, before map[string]string) (after map[string]string) {
	t.Helper()
	after = map[string]string{}
	for i, key := range shared {
		if v := c.Do("GET " + key); v != "(nil)" {
			after[key] = strings.Trim(v, `"`)
		}
		now := time.Since(h.began).Nanoseconds()
		h.all = append(h.all, porcupine.Operation{
			ClientId: math.MaxInt32 - i, Input: operation{name: "GET", key: key}, Call: now, Output: reply{true, after[key]}, Return: now + 1,
		})
	}
	for _, key := range shared {
		var of []porcupine.Operation
		for _, op := range h.all {
			if op.Input.(operation).key == key {
				of = append(of, op)
			}
		}
		if result := porcupine.CheckOperationsTimeout(register(before[key]), of, time.Minute); result != porcupine.Ok {
			t.Errorf("%s: %d operations from %q to %q are %s", key, len(of), before[key], after[key], result)
		}
	}
	return after
}

// register is the model of a key with an initial value.
func register(begin string) porcupine.Model {
	return porcupine.Model{
		Init: func() any { return begin },
		Step: func(state, input, output any) (bool, any) {
			was, in, out := state.(string), input.(operation), output.(reply)
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
