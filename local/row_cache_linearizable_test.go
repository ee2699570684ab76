package local_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/local"
)

// raise sets n to the maximum of n and to.
func raise(n *atomic.Int64, to int64) {
	for last := n.Load(); to > last && !n.CompareAndSwap(last, to); last = n.Load() {
	}
}

// call is one client's access to a register.
type call struct {
	key   string
	write bool
	value string // of a write; "" deletes
}

// registers models keys that are set, read and deleted independently.
var registers = porcupine.Model{
	Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
		by := map[string][]porcupine.Operation{}
		for _, op := range history {
			key := op.Input.(call).key
			by[key] = append(by[key], op)
		}
		var parts [][]porcupine.Operation
		for _, ops := range by {
			parts = append(parts, ops)
		}
		return parts
	},
	Init: func() any { return "" },
	Step: func(state, input, output any) (bool, any) {
		if in := input.(call); in.write {
			return true, in.value
		}
		return output == state, state
	},
	DescribeOperation: func(input, output any) string { return fmt.Sprintf("%+v: %v", input, output) },
}

// TestRowCacheLinearizable runs clients on two stores of one file, which see each other as two processes do, while
// keys expire and are swept.
func TestRowCacheLinearizable(t *testing.T) {
	path := t.TempDir() + "/db.sqlite"
	const clients, keys, pipeline = 6, 3, 4
	rounds := 300
	if testing.Short() {
		rounds = 60
	}
	var engines []*engine.Engine
	for range 2 {
		engines = append(engines, engine.New(open(t, path, local.Options{IsolateSlowReads: true, SweepEvery: time.Millisecond})))
	}
	began := time.Now()
	var mu sync.Mutex
	var history []porcupine.Operation
	var wg sync.WaitGroup
	for id := range clients {
		wg.Go(func() {
			random := rand.New(rand.NewPCG(uint64(id), 1))
			session := engines[max(0, id-clients+2)%2].Session() // the last client is alone on the second store
			for i := range rounds {
				var lines [][][]byte
				var calls []call
				for range 1 + random.IntN(pipeline) {
					c := call{key: "k" + strconv.Itoa(random.IntN(keys))}
					line := "GET " + c.key
					switch random.IntN(10) {
					case 0, 1:
						c.write, c.value = true, fmt.Sprintf("%d:%d:%d", id, i, len(calls))
						line = "SET " + c.key + " " + c.value
					case 2:
						c.write = true
						line = "DEL " + c.key
					case 3:
						line = fmt.Sprintf("SET gone%d x PX 1", random.IntN(20))
						c.key = ""
					}
					var args [][]byte
					for _, arg := range strings.Fields(line) {
						args = append(args, []byte(arg))
					}
					lines, calls = append(lines, args), append(calls, c)
				}
				from := time.Since(began).Nanoseconds()
				replies, err := session.Pipeline(context.Background(), lines)
				to := time.Since(began).Nanoseconds()
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				for i, c := range calls {
					if c.key != "" {
						history = append(history, porcupine.Operation{ClientId: id*pipeline + i, Input: c, Call: from, Output: string(replies[i].Str), Return: to})
					}
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if result := porcupine.CheckOperationsTimeout(registers, history, time.Minute); result != porcupine.Ok {
		t.Errorf("%d operations are %s", len(history), result)
	}
}
