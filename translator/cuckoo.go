package translator

import (
	"fmt"
	"math"
	"strings"

	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/redis/sketch"
)

var cuckooTranslations = translations{
	{"CF.RESERVE", cfReserve},
	{"CF.ADD", cfAdd},
	{"CF.ADDNX", cfAddnx},
	{"CF.INSERT", cfInsert},
	{"CF.INSERTNX", cfInsertnx},
	{"CF.EXISTS", cfExists},
	{"CF.MEXISTS", cfMexists},
	{"CF.COUNT", cfCount},
	{"CF.DEL", cfDel},
	{"CF.COMPACT", cfCompact},
	{"CF.INFO", cfInfo},
	{"CF.DEBUG", cfDebug},
	{"CF.SCANDUMP", cfScandump},
	{"CF.LOADCHUNK", cfLoadchunk},
}

// cuckooOptions holds the properties of a new cuckoo filter.
type cuckooOptions struct{ capacity, bucketSize, iterations, expansion int64 }

func (o cuckooOptions) make() (*sketch.Cuckoo, error) {
	return sketch.NewCuckoo(uint64(o.capacity), uint16(o.bucketSize), uint16(o.iterations), uint16(o.expansion))
}

// cuckooNumber parses the value of an option of CF.RESERVE, if it is given.
func (c *Call) cuckooNumber(name string, value *int64, least, most int64) (bad resp.Value) {
	at := c.option(name)
	if at == 0 {
		return bad
	}
	var ok bool
	if at+1 < len(c.Args) {
		*value, ok = parseInt(c.Args[at+1])
	}
	switch {
	case !ok:
		return resp.MakeError("Couldn't parse " + name)
	case *value < least || *value > most:
		return resp.MakeError(fmt.Sprintf("%s: value must be in the range [%d, %d]", name, least, most))
	}
	return bad
}

func cfReserve(c *Call) Plan {
	if len(c.Args)%2 == 0 {
		return answer(commands.WrongArity(c.Command))
	}
	o := c.defaultCuckoo()
	var ok bool
	if o.capacity, ok = parseInt(c.Args[2]); !ok {
		return fail("Bad capacity")
	}
	for _, option := range []struct {
		name        string
		value       *int64
		least, most int64
	}{{"MAXITERATIONS", &o.iterations, 1, math.MaxUint16}, {"BUCKETSIZE", &o.bucketSize, 1, math.MaxUint8}, {"EXPANSION", &o.expansion, 0, maxExpansion}} {
		if bad := c.cuckooNumber(option.name, option.value, option.least, option.most); bad.IsError() {
			return answer(bad)
		}
	}
	if o.capacity < 2*o.bucketSize || o.capacity > maxCapacity {
		return fail("Capacity must be in the range [2 * BUCKETSIZE, 1073741824]")
	}
	return c.openSketch(c.Args[1], cuckooType, wrongType, func(k *sketchKey) Plan {
		if k.Sketch != nil {
			return answer(itemExists)
		}
		f, err := o.make()
		if err != nil {
			return fail("ERR Insufficient memory to create filter")
		}
		return k.create(f, resp.OK)
	})
}

// cuckooAdd adds items one after another.
type cuckooAdd struct {
	items   [][]byte
	absent  bool // adds only items that are not in the filter
	single  bool // CF.ADD or CF.ADDNX: an error is the reply
	replies []resp.Value
}

func cfAdd(c *Call) Plan {
	return c.addToCuckoo(c.defaultCuckoo(), true, &cuckooAdd{items: c.Args[2:], single: true})
}

func cfAddnx(c *Call) Plan {
	return c.addToCuckoo(c.defaultCuckoo(), true, &cuckooAdd{items: c.Args[2:], single: true, absent: true})
}

func cfInsert(c *Call) Plan { return c.insertIntoCuckoo(false) }

func cfInsertnx(c *Call) Plan { return c.insertIntoCuckoo(true) }

// insertIntoCuckoo parses the options of CF.INSERT by their first letters, as Redis does.
func (c *Call) insertIntoCuckoo(absent bool) Plan {
	o, create := c.defaultCuckoo(), true
	for i := 2; i < len(c.Args); i++ {
		switch word := strings.ToLower(string(c.Args[i])); {
		case strings.HasPrefix(word, "i"):
			if i+1 == len(c.Args) {
				return answer(commands.WrongArity(c.Command))
			}
			return c.addToCuckoo(o, create, &cuckooAdd{items: c.Args[i+1:], absent: absent})
		case strings.HasPrefix(word, "n"):
			create = false
		case strings.HasPrefix(word, "c"):
			if i++; i == len(c.Args) {
				return answer(commands.WrongArity(c.Command))
			}
			var ok bool
			if o.capacity, ok = parseInt(c.Args[i]); !ok {
				return fail("Bad capacity")
			}
			if o.capacity < 2*o.bucketSize || o.capacity > maxCapacity {
				return fail("Capacity must be in the range [cf-bucket-size * 2, 1073741824]")
			}
		default:
			return fail("Unknown argument received")
		}
	}
	return answer(commands.WrongArity(c.Command))
}

// addToCuckoo plans the addition of items, and creates a missing filter if create is set.
func (c *Call) addToCuckoo(o cuckooOptions, create bool, add *cuckooAdd) Plan {
	return c.openSketch(c.Args[1], cuckooType, wrongType, func(k *sketchKey) Plan {
		if k.Sketch == nil {
			if !create {
				return answer(keyNotFound)
			}
			f, err := o.make()
			if err != nil {
				return fail("ERR Could not create filter")
			}
			k.adopt(f)
		}
		k.growReplies(len(add.items))
		f := k.Sketch.(*sketch.Cuckoo)
		if int64(f.Filters) >= c.modules().CuckooFilters {
			return fail("Maximum expansions reached")
		}
		return k.whenLoaded(func() bool { return add.run(k, f) }, func() Plan {
			reply := resp.Value{Kind: resp.Array, Elems: add.replies}
			if add.single {
				if reply = add.replies[0]; reply.IsError() {
					return answer(reply)
				}
			}
			return k.save(reply)
		})
	})
}

// run adds the items whose replies are missing. It returns false if blocks must be loaded first.
func (a *cuckooAdd) run(k *sketchKey, f *sketch.Cuckoo) bool {
	if !f.Ready(f.Hash(a.items[len(a.replies)])) {
		for _, item := range a.items[len(a.replies):] {
			k.work.Step(len(item))
			f.Ready(f.Hash(item))
		}
		return false
	}
	for len(a.replies) < len(a.items) {
		item := a.items[len(a.replies)]
		k.work.Step(len(item))
		h := f.Hash(item)
		if !f.Ready(h) {
			return false
		}
		if a.absent && f.Has(h) {
			a.replies = append(a.replies, a.reply(0))
			continue
		}
		done, err := f.Add(h)
		switch {
		case !done:
			return false
		case err == sketch.ErrFull && a.single:
			a.replies = append(a.replies, resp.MakeError("Filter is full"))
		case err != nil && a.single:
			a.replies = append(a.replies, resp.MakeError("ERR Insufficient memory"))
		case err != nil:
			a.replies = append(a.replies, a.reply(-1))
		default:
			a.replies = append(a.replies, a.reply(1))
		}
	}
	return true
}

// reply returns the reply for an item. Only the replies of CF.INSERTNX are integers in RESP3, too; a full filter is
// false in the reply of CF.INSERT.
func (a *cuckooAdd) reply(n int64) resp.Value {
	integer := resp.MakeInt(n)
	if a.absent && !a.single {
		return integer
	}
	yes := boolean(n > 0)
	if n >= 0 {
		return yes
	}
	integer.RESP3 = &yes
	return integer
}

// lookInCuckoo plans a look at items; missing is also the reply for a key of another type.
func (c *Call) lookInCuckoo(missing resp.Value, look func(f *sketch.Cuckoo, hashes []sketch.CuckooHash) resp.Value) Plan {
	items := c.Args[2:]
	return c.openSketch(c.Args[1], cuckooType, missing, func(k *sketchKey) Plan {
		f, ok := k.Sketch.(*sketch.Cuckoo)
		if !ok {
			return answer(missing)
		}
		k.growReplies(len(items))
		hashes := make([]sketch.CuckooHash, len(items))
		ready := func() bool {
			all := true
			for i, item := range items {
				k.work.Step(len(item))
				hashes[i] = f.Hash(item)
				all = f.Ready(hashes[i]) && all
			}
			return all
		}
		return k.whenLoaded(ready, func() Plan { return answer(look(f, hashes)) })
	})
}

func cfExists(c *Call) Plan {
	return c.lookInCuckoo(boolean(false), func(f *sketch.Cuckoo, h []sketch.CuckooHash) resp.Value { return boolean(f.Has(h[0])) })
}

func cfMexists(c *Call) Plan {
	return c.lookInCuckoo(c.noneFound(), func(f *sketch.Cuckoo, hashes []sketch.CuckooHash) resp.Value {
		found := make([]bool, len(hashes))
		for i, h := range hashes {
			found[i] = f.Has(h)
		}
		return booleans(found)
	})
}

func cfCount(c *Call) Plan {
	return c.lookInCuckoo(resp.Zero, func(f *sketch.Cuckoo, h []sketch.CuckooHash) resp.Value { return resp.MakeInt(f.Get(h[0])) })
}

func cfDel(c *Call) Plan {
	missing := resp.MakeError("Not found")
	return c.openSketch(c.Args[1], cuckooType, missing, func(k *sketchKey) Plan {
		f, ok := k.Sketch.(*sketch.Cuckoo)
		if !ok {
			return answer(missing)
		}
		var found bool
		try := func() (done bool) {
			k.work.Step(len(c.Args[2]))
			found, done = f.Delete(f.Hash(c.Args[2]), k.work.Step)
			return done
		}
		return k.whenLoaded(try, func() Plan { return k.save(boolean(found)) })
	})
}

func cfCompact(c *Call) Plan {
	if len(c.Args) != 2 {
		return answer(commands.WrongArity(c.Command))
	}
	missing := resp.MakeError("Cuckoo filter was not found")
	return c.openSketch(c.Args[1], cuckooType, missing, func(k *sketchKey) Plan {
		f, ok := k.Sketch.(*sketch.Cuckoo)
		if !ok {
			return answer(missing)
		}
		return k.whole(func() Plan {
			f.Compact(true, k.work.Step)
			return k.save(resp.OK)
		})
	})
}

// describeCuckoo plans a reply that the head suffices for.
func (c *Call) describeCuckoo(describe func(f *sketch.Cuckoo) resp.Value) Plan {
	return c.openSketch(c.Args[1], cuckooType, wrongType, func(k *sketchKey) Plan {
		if k.Sketch == nil {
			return answer(keyNotFound)
		}
		return answer(describe(k.Sketch.(*sketch.Cuckoo)))
	})
}

func cfInfo(c *Call) Plan {
	return c.describeCuckoo(func(f *sketch.Cuckoo) resp.Value {
		reply := resp.EmptyMap
		for _, p := range []struct {
			name  string
			value int64
		}{
			{"Size", f.Memory()}, {"Number of buckets", int64(f.Buckets)}, {"Number of filters", int64(f.Filters)},
			{"Number of items inserted", int64(f.Items)}, {"Number of items deleted", int64(f.Deletes)}, {"Bucket size", int64(f.BucketSize)},
			{"Expansion rate", int64(f.Expansion)}, {"Max iterations", int64(f.MaxIterations)},
		} {
			reply.Elems = append(reply.Elems, resp.MakeStatus(p.name), resp.MakeInt(p.value))
		}
		return reply
	})
}

func cfDebug(c *Call) Plan {
	return c.describeCuckoo(func(f *sketch.Cuckoo) resp.Value {
		return resp.MakeString(fmt.Sprintf("bktsize:%d buckets:%d items:%d deletes:%d filters:%d max_iterations:%d expansion:%d",
			f.BucketSize, f.Buckets, f.Items, f.Deletes, f.Filters, f.MaxIterations, f.Expansion))
	})
}

func cfScandump(c *Call) Plan {
	at, ok := parseInt(c.Args[2])
	if !ok || at < 0 {
		return fail("Invalid position")
	}
	return c.openSketch(c.Args[1], cuckooType, wrongType, func(k *sketchKey) Plan {
		f, ok := k.Sketch.(*sketch.Cuckoo)
		end := resp.MakeArray(resp.Zero, resp.Nil)
		switch {
		case !ok:
			return answer(keyNotFound)
		case f.Items == 0:
			return answer(end)
		case at == 0:
			return answer(resp.MakeArray(resp.One, resp.MakeBulk(f.Head())))
		}
		off, n := f.Chunk(at - 1)
		if n == 0 {
			return answer(end)
		}
		return k.whenLoaded(func() bool { return f.Body.Ready(off, n) }, func() Plan {
			return answer(resp.MakeArray(resp.MakeInt(at+n), resp.MakeBulk(f.Body.Bytes(off, n))))
		})
	})
}

func cfLoadchunk(c *Call) Plan {
	at, ok := parseInt(c.Args[2])
	if !ok || at == 0 {
		return fail("Invalid position")
	}
	data := c.Args[3]
	c.Env.Work.Step(len(data))
	return c.openSketch(c.Args[1], cuckooType, wrongType, func(k *sketchKey) Plan {
		f, there := k.Sketch.(*sketch.Cuckoo)
		switch {
		case at == 1 && there:
			return answer(itemExists)
		case at == 1:
			f, ok := sketch.ParseCuckoo(data, sketch.EmptyBody())
			if !ok {
				return fail("Invalid header")
			}
			if !f.Valid() {
				return fail("Couldn't create filter!")
			}
			return k.create(f, resp.OK)
		case !there:
			return answer(keyNotFound)
		}
		n := int64(len(data))
		if off := at - n - 1; off >= 0 && off <= f.Len() && n <= f.Len()-off {
			return k.writeChunk(off, data)
		}
		return fail("Couldn't load chunk!")
	})
}
