package translator

import (
	"bytes"
	"math"
	"strings"

	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/redis/sketch"
	"github.com/meowdis/meowdis/store"
)

var topKTranslations = translations{
	{"TOPK.RESERVE", topkReserve},
	{"TOPK.ADD", topkAdd},
	{"TOPK.INCRBY", topkIncrby},
	{"TOPK.QUERY", topkQuery},
	{"TOPK.COUNT", topkCount},
	{"TOPK.LIST", topkList},
	{"TOPK.INFO", topkInfo},
}

var (
	topKExists  = resp.MakeError("TopK: key already exists")
	topKMissing = resp.MakeError("TopK: key does not exist")
)

// topkShape returns the numbers of TOPK.RESERVE, k, width and depth, and the decay. wrong names the invalid one, or is "".
func topkShape(c *Call) (numbers [3]int64, decay float64, wrong string) {
	numbers, decay = [3]int64{0, 8, 7}, 0.9
	for i, name := range []string{"k", "width", "depth"} {
		if i+2 >= len(c.Args) {
			return numbers, decay, ""
		}
		var ok bool
		if numbers[i], ok = parseInt(c.Args[i+2]); !ok || numbers[i] < 1 || numbers[i] > math.MaxUint32 {
			return numbers, decay, name
		}
	}
	var ok bool
	if decay, ok = parseFloat(c.Args[5]); !ok || decay <= 0 || decay > 1 {
		return numbers, decay, "decay value. must be '<= 1' & '> 0'"
	}
	return numbers, decay, ""
}

func topkReserve(c *Call) Plan {
	if len(c.Args) != 3 && len(c.Args) != 6 {
		return answer(commands.WrongArity(c.Command))
	}
	return c.openSketch(c.Args[1], topKType, topKExists, func(k *sketchKey) Plan {
		if k.Sketch != nil {
			return answer(topKExists)
		}
		numbers, decay, wrong := topkShape(c)
		if wrong != "" {
			return fail("TopK: invalid " + wrong)
		}
		t, err := sketch.NewTopK(uint32(numbers[0]), uint32(numbers[1]), uint32(numbers[2]), decay)
		if err != nil {
			return fail("ERR Insufficient memory to create topk data structure")
		}
		return k.create(t, resp.OK)
	})
}

// openTopK opens the list at the call's key, which must exist, with its heap.
func (c *Call) openTopK(next func(k *sketchKey, t *sketch.TopK) Plan) Plan {
	return c.openSketch(c.Args[1], topKType, wrongType, func(k *sketchKey) Plan {
		if k.Sketch == nil {
			return answer(topKMissing)
		}
		return k.withHeap(func() Plan { return next(k, k.Sketch.(*sketch.TopK)) })
	})
}

// withHeap loads the heap of a list.
func (k *sketchKey) withHeap(next func() Plan) Plan {
	t, ok := k.Sketch.(*sketch.TopK)
	if !ok {
		return next()
	}
	ok = false
	return readPart(k.work, func(r *store.Result) {
		for _, row := range r.Rows[0] {
			t.Body.Load(row[0].Int(), row[1].Bytes())
		}
		ok = t.LoadHeap()
	}, func() Plan {
		if !ok {
			return answer(damagedKey)
		}
		return next()
	}, k.call.stmt(k.typ.span, k.key, store.Int(-1<<40), store.Int(sketch.HeapEnd)))
}

// withItems loads the counters of items.
func (k *sketchKey) withItems(t *sketch.TopK, items [][]byte, width int, next func() Plan) Plan {
	return k.whenLoaded(func() bool {
		ok := true
		for i := 0; i < len(items); i += width {
			ok = t.Ready(items[i]) && ok
		}
		return ok
	}, next)
}

// randomFloat returns the next number of Random in [0, 1).
func (c *Call) randomFloat() float64 { return float64(c.Random()>>11) / (1 << 53) }

// addItem adds an item and returns the reply: the item that left the list, up to its first NUL, or nil.
func (k *sketchKey) addItem(t *sketch.TopK, item []byte, n int64) resp.Value {
	gone := t.Add(item, uint32(n), func() float64 {
		k.work.Step(1)
		return k.call.randomFloat()
	})
	if gone == nil {
		return resp.Nil
	}
	return resp.MakeBulk(cString(gone))
}

func topkAdd(c *Call) Plan {
	items := c.Args[2:]
	return c.openTopK(func(k *sketchKey, t *sketch.TopK) Plan {
		k.growReplies(len(items))
		return k.withItems(t, items, 1, func() Plan {
			reply := resp.EmptyArray
			for _, item := range items {
				reply.Elems = append(reply.Elems, k.addItem(t, item, 1))
			}
			return k.save(reply)
		})
	})
}

const maxIncrement = 100_000

// badIncrement ends the reply of TOPK.INCRBY: Redis announces all elements, and sends none after it.
var badIncrement = resp.MakeError("TopK: increment must be an integer greater or equal to 0" + strings.Repeat(" ", 28) + "and smaller or equal to 100,000")

func topkIncrby(c *Call) Plan {
	if len(c.Args)%2 != 0 {
		return answer(commands.WrongArity(c.Command))
	}
	pairs := c.Args[2:]
	return c.openTopK(func(k *sketchKey, t *sketch.TopK) Plan {
		k.growReplies(len(pairs))
		return k.withItems(t, pairs, 2, func() Plan {
			reply := resp.EmptyArray
			for i := 0; i < len(pairs); i += 2 {
				n, ok := parseInt(pairs[i+1])
				if !ok || n < 0 || n > maxIncrement {
					reply.Elems = append(reply.Elems, badIncrement)
					break
				}
				reply.Elems = append(reply.Elems, k.addItem(t, pairs[i], n))
			}
			return k.save(reply)
		})
	})
}

func topkQuery(c *Call) Plan {
	return c.openTopK(func(k *sketchKey, t *sketch.TopK) Plan {
		k.growReplies(len(c.Args))
		found := make([]bool, len(c.Args)-2)
		for i, item := range c.Args[2:] {
			found[i] = t.Has(item)
		}
		return answer(booleans(found))
	})
}

func topkCount(c *Call) Plan {
	items := c.Args[2:]
	return c.openTopK(func(k *sketchKey, t *sketch.TopK) Plan {
		k.growReplies(len(items))
		return k.withItems(t, items, 1, func() Plan {
			reply := resp.EmptyArray
			for _, item := range items {
				reply.Elems = append(reply.Elems, resp.MakeInt(int64(t.Get(item))))
			}
			return answer(reply)
		})
	})
}

func topkList(c *Call) Plan {
	if len(c.Args) > 3 {
		return answer(commands.WrongArity(c.Command))
	}
	counts := len(c.Args) == 3
	if counts && !bytes.HasPrefix([]byte("withcount"), bytes.ToLower(c.Args[2])) {
		return fail("WITHCOUNT keyword expected")
	}
	return c.openTopK(func(k *sketchKey, t *sketch.TopK) Plan {
		list := t.List()
		k.growReplies(2 * len(list))
		reply := resp.EmptyArray
		for _, item := range list {
			reply.Elems = append(reply.Elems, resp.MakeBulk(cString(item.Name)))
			if counts {
				reply.Elems = append(reply.Elems, resp.MakeInt(int64(item.Count)))
			}
		}
		return answer(reply)
	})
}

func topkInfo(c *Call) Plan {
	return c.openSketch(c.Args[1], topKType, wrongType, func(k *sketchKey) Plan {
		t, ok := k.Sketch.(*sketch.TopK)
		if !ok {
			return answer(topKMissing)
		}
		return answer(resp.MakeMap(
			resp.MakeStatus("k"), resp.MakeInt(int64(t.K)),
			resp.MakeStatus("width"), resp.MakeInt(int64(t.Width)),
			resp.MakeStatus("depth"), resp.MakeInt(int64(t.Depth)),
			resp.MakeStatus("decay"), resp.MakeDouble(t.Decay)))
	})
}
