// Package history keeps what clients did to a few keys that they share, and says whether it was
// linearizable: whether there is an order of all of it in which each reply is right.
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
	"github.com/meowdis/meowdis/redis/resp"
)

// History is what clients did, and when.
type History struct {
	// TookEffect, unless it is nil, reports whether a command took effect whose reply is an error of
	// the infrastructure. With others nobody knows.
	TookEffect func(error) bool

	began time.Time
	mu    sync.Mutex
	all   []porcupine.Operation
	acts  int
}

// New begins a history.
func New() *History { return &History{began: time.Now()} }

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

func (a act) args() (args [][]byte) {
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

// Client runs commands.
type Client interface {
	Do(ctx context.Context, args ...[]byte) (resp.Value, error)
}

// ErrorReply is a reply that should not come.
type ErrorReply string

func (e ErrorReply) Error() string { return string(e) }

// Act has client id do something at random to a shared key, and keeps it. It returns the error of the
// client, or an ErrorReply.
func (h *History) Act(c Client, id int) error {
	h.mu.Lock()
	h.acts++
	a := someAct(fmt.Sprintf("%d.%d", id, h.acts))
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

// Check reads the shared keys as they are now, which were before when the history began, and fails the
// test unless every key by itself is linearizable, and what was acknowledged is there.
func (h *History) Check(t *testing.T, c *storetest.Client, before map[string]string) (after map[string]string) {
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
