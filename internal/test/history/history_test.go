package history

import (
	"math"
	"testing"

	"github.com/anishathalye/porcupine"
)

// TestHistory finds what is not linearizable.
func TestHistory(t *testing.T) {
	op := func(a operation, from, to int64, out reply) porcupine.Operation {
		return porcupine.Operation{Input: a, Call: from, Return: to, Output: out}
	}
	set, incr, get := operation{"SET", "k", "1"}, operation{name: "INCR", key: "k"}, operation{name: "GET", key: "k"}
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
