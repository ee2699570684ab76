package translator

import (
	"fmt"
	"strings"

	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/redis/sketch"
)

var bloomTranslations = translations{
	{"BF.RESERVE", bfReserve},
	{"BF.ADD", bfAdd},
	{"BF.MADD", bfMadd},
	{"BF.INSERT", bfInsert},
	{"BF.EXISTS", bfExists},
	{"BF.MEXISTS", bfMexists},
	{"BF.CARD", bfCard},
	{"BF.INFO", bfInfo},
	{"BF.DEBUG", bfDebug},
	{"BF.SCANDUMP", bfScandump},
	{"BF.LOADCHUNK", bfLoadchunk},
}

const (
	maxCapacity   = 1 << 30
	maxExpansion  = 32768
	bloomMaxError = 0.25
)

// bloomOptions holds the properties of a new Bloom filter.
type bloomOptions struct {
	rate      float64
	capacity  int64
	expansion int64
	fixed     bool // it does not scale
}

// make returns an empty filter.
func (o bloomOptions) make() (*sketch.Bloom, error) {
	return sketch.NewBloom(min(o.rate, bloomMaxError), uint32(o.capacity), uint32(o.expansion), !o.fixed && o.expansion > 0)
}

// parseReserve parses the arguments of BF.RESERVE.
func (o *bloomOptions) parseReserve(c *Call) (bad resp.Value) {
	var ok bool
	if o.rate, ok = parseFloat(c.Args[2]); !ok {
		return resp.MakeError("ERR bad error rate")
	}
	if o.rate <= 0 || o.rate >= 1 {
		return resp.MakeError("ERR error rate must be in the range (0.000000, 1.000000)")
	}
	if o.capacity, ok = parseInt(c.Args[3]); !ok {
		return resp.MakeError("ERR bad capacity")
	}
	if o.capacity < 1 || o.capacity > maxCapacity {
		return resp.MakeError("ERR capacity must be in the range [1, 1073741824]")
	}
	o.fixed = c.option("NONSCALING") > 0
	at := c.option("EXPANSION")
	if at == 0 {
		return bad
	}
	if at+1 == len(c.Args) {
		return resp.MakeError("ERR no expansion")
	}
	if o.expansion, ok = parseInt(c.Args[at+1]); !ok {
		return resp.MakeError("ERR bad expansion")
	}
	switch {
	case o.expansion == 0:
	case o.fixed:
		return resp.MakeError("Nonscaling filters cannot expand")
	case o.expansion < 0 || o.expansion > maxExpansion:
		return resp.MakeError("ERR expansion must be in the range [0, 32768]")
	}
	return bad
}

func bfReserve(c *Call) Plan {
	if len(c.Args) > 7 {
		return answer(commands.WrongArity(c.Command))
	}
	o := c.defaultBloom()
	if bad := o.parseReserve(c); bad.IsError() {
		return answer(bad)
	}
	return c.openSketch(c.Args[1], bloomType, wrongType, func(k *sketchKey) Plan {
		if k.Sketch != nil {
			return answer(itemExists)
		}
		b, err := o.make()
		if err != nil {
			return fail("ERR Insufficient memory to create filter")
		}
		return k.create(b, resp.OK)
	})
}

// parseInsert parses the options of BF.INSERT by their first letters, as Redis does. items is the index of the first
// item.
func (o *bloomOptions) parseInsert(c *Call) (items int, create bool, bad resp.Value) {
	arity := commands.WrongArity(c.Command)
	create = true
	for i := 2; i < len(c.Args); i++ {
		word := strings.ToLower(string(c.Args[i]))
		switch {
		case strings.HasPrefix(word, "i"):
			if i+1 == len(c.Args) {
				return 0, false, arity
			}
			return i + 1, create, bad
		case len(word) > 2 && word[0] == 'n' && word[2] == 'c':
			create = false
			continue
		case strings.HasPrefix(word, "n"):
			o.fixed = true
			continue
		case !strings.HasPrefix(word, "e") && !strings.HasPrefix(word, "c"):
			return 0, false, resp.MakeError("Unknown argument received")
		}
		if i++; i == len(c.Args) {
			return 0, false, arity
		}
		if bad := o.parseValue(word, c.Args[i]); bad.IsError() {
			return 0, false, bad
		}
	}
	return 0, false, arity
}

// parseValue parses the value of ERROR, EXPANSION or CAPACITY.
func (o *bloomOptions) parseValue(word string, value []byte) (bad resp.Value) {
	var ok bool
	switch {
	case strings.HasPrefix(word, "er"):
		if o.rate, ok = parseFloat(value); !ok || o.rate <= 0 || o.rate >= 1 {
			return resp.MakeError("Bad error rate")
		}
	case word[0] == 'e':
		if o.expansion, ok = parseInt(value); !ok || o.expansion < 0 || o.expansion > maxExpansion {
			return resp.MakeError("Bad expansion")
		}
	default:
		if o.capacity, ok = parseInt(value); !ok || o.capacity < 1 || o.capacity > maxCapacity {
			return resp.MakeError("Bad capacity")
		}
	}
	return bad
}

func bfInsert(c *Call) Plan {
	o := c.defaultBloom()
	items, create, bad := o.parseInsert(c)
	if bad.IsError() {
		return answer(bad)
	}
	return c.addToBloom(o, c.Args[items:], create)
}

func bfMadd(c *Call) Plan { return c.addToBloom(c.defaultBloom(), c.Args[2:], true) }

// addToBloom plans the addition of items, with an array of replies.
func (c *Call) addToBloom(o bloomOptions, items [][]byte, create bool) Plan {
	return c.openBloom(o, create, func(k *sketchKey, b *sketch.Bloom) Plan {
		k.growReplies(len(items))
		add := bloomAdd{key: k, bloom: b, items: items}
		return k.whenLoaded(add.run, func() Plan { return k.save(resp.Value{Kind: resp.Array, Elems: add.replies}) })
	})
}

func bfAdd(c *Call) Plan {
	return c.openBloom(c.defaultBloom(), true, func(k *sketchKey, b *sketch.Bloom) Plan {
		add := bloomAdd{key: k, bloom: b, items: c.Args[2:]}
		return k.whenLoaded(add.run, func() Plan {
			if add.replies[0].IsError() {
				return answer(add.replies[0])
			}
			return k.save(add.replies[0])
		})
	})
}

// openBloom opens the filter at the call's key, or makes one.
func (c *Call) openBloom(o bloomOptions, create bool, next func(k *sketchKey, b *sketch.Bloom) Plan) Plan {
	return c.openSketch(c.Args[1], bloomType, wrongType, func(k *sketchKey) Plan {
		switch {
		case k.Sketch != nil:
		case !create:
			return answer(keyNotFound)
		default:
			b, err := o.make()
			if err != nil {
				return fail("ERR could not create filter")
			}
			k.adopt(b)
		}
		return next(k, k.Sketch.(*sketch.Bloom))
	})
}

// bloomAdd adds items one after another.
type bloomAdd struct {
	key     *sketchKey
	bloom   *sketch.Bloom
	items   [][]byte
	replies []resp.Value
	full    bool
}

// run adds the items whose replies are missing. It returns false if blocks must be loaded first.
func (a *bloomAdd) run() bool {
	if !a.bloom.Ready(a.bloom.Hash(a.items[len(a.replies)])) {
		for _, item := range a.items[len(a.replies):] {
			a.step(item)
			a.bloom.Ready(a.bloom.Hash(item))
		}
		return false
	}
	for len(a.replies) < len(a.items) && !a.full {
		item := a.items[len(a.replies)]
		a.step(item)
		added, done, err := a.bloom.Add(a.bloom.Hash(item))
		switch {
		case !done:
			return false
		case err == sketch.ErrFull:
			a.full = true
			a.replies = append(a.replies, resp.MakeError("ERR non scaling filter is full"))
		case err != nil:
			a.replies = append(a.replies, resp.MakeError("ERR problem inserting into filter"))
		default:
			a.replies = append(a.replies, boolean(added))
		}
	}
	return true
}

func (a *bloomAdd) step(item []byte) { a.key.work.Step(len(item)) }

func bfExists(c *Call) Plan {
	return c.lookInBloom(boolean(false), func(found []bool) resp.Value { return boolean(found[0]) })
}

func bfMexists(c *Call) Plan {
	return c.lookInBloom(c.noneFound(), booleans)
}

// lookInBloom plans a search for items; missing is also the reply for a key of another type.
func (c *Call) lookInBloom(missing resp.Value, reply func(found []bool) resp.Value) Plan {
	items := c.Args[2:]
	return c.openSketch(c.Args[1], bloomType, missing, func(k *sketchKey) Plan {
		b, ok := k.Sketch.(*sketch.Bloom)
		if !ok {
			return answer(missing)
		}
		k.growReplies(len(items))
		ready := func() bool {
			all := true
			for _, item := range items {
				k.work.Step(len(item))
				all = b.Ready(b.Hash(item)) && all
			}
			return all
		}
		return k.whenLoaded(ready, func() Plan {
			found := make([]bool, len(items))
			for i, item := range items {
				found[i] = b.Has(b.Hash(item))
			}
			return answer(reply(found))
		})
	})
}

// describeBloom plans a reply that the head suffices for.
func (c *Call) describeBloom(missing resp.Value, describe func(b *sketch.Bloom) resp.Value) Plan {
	return c.openSketch(c.Args[1], bloomType, wrongType, func(k *sketchKey) Plan {
		if k.Sketch == nil {
			return answer(missing)
		}
		return answer(describe(k.Sketch.(*sketch.Bloom)))
	})
}

func bfCard(c *Call) Plan {
	return c.describeBloom(resp.Zero, func(b *sketch.Bloom) resp.Value { return resp.MakeInt(int64(b.Items)) })
}

// bloomFacts lists the fields of BF.INFO, with the argument that selects each.
var bloomFacts = []struct {
	arg, name string
	of        func(b *sketch.Bloom) resp.Value
}{
	{"CAPACITY", "Capacity", func(b *sketch.Bloom) resp.Value { return resp.MakeInt(int64(b.Capacity())) }},
	{"SIZE", "Size", func(b *sketch.Bloom) resp.Value { return resp.MakeInt(b.Memory()) }},
	{"FILTERS", "Number of filters", func(b *sketch.Bloom) resp.Value { return resp.MakeInt(int64(len(b.Filters))) }},
	{"ITEMS", "Number of items inserted", func(b *sketch.Bloom) resp.Value { return resp.MakeInt(int64(b.Items)) }},
	{"EXPANSION", "Expansion rate", func(b *sketch.Bloom) resp.Value {
		if !b.Scales() {
			return resp.Nil
		}
		return resp.MakeInt(int64(b.Growth))
	}},
}

func bfInfo(c *Call) Plan {
	if len(c.Args) > 3 {
		return answer(commands.WrongArity(c.Command))
	}
	return c.describeBloom(keyNotFound, func(b *sketch.Bloom) resp.Value {
		reply := resp.EmptyMap
		for _, f := range bloomFacts {
			if len(c.Args) == 3 && c.is(2, f.arg) {
				one := resp.MakeMap(resp.MakeStatus(f.name), f.of(b))
				return resp.Value{Kind: resp.Array, Elems: one.Elems[1:], RESP3: &one}
			}
			reply.Elems = append(reply.Elems, resp.MakeStatus(f.name), f.of(b))
		}
		if len(c.Args) == 3 {
			return resp.MakeError("Invalid information value")
		}
		return reply
	})
}

func bfDebug(c *Call) Plan {
	return c.describeBloom(keyNotFound, func(b *sketch.Bloom) resp.Value {
		const described = 400 // bytes
		b.Body.Meter.Grow(described * int64(len(b.Filters)))
		reply := resp.MakeArray(resp.MakeString(fmt.Sprintf("size:%d", b.Items)))
		for _, f := range b.Filters {
			reply.Elems = append(reply.Elems, resp.MakeString(fmt.Sprintf("bytes:%d bits:%d hashes:%d hashwidth:64 capacity:%d size:%d ratio:%s",
				f.Bytes, f.Bits, f.Hashes, f.Entries, f.Items, formatG(f.Error))))
		}
		return reply
	})
}

// formatG formats f as C's %g.
func formatG(f float64) string {
	return fmt.Sprintf("%.6g", f)
}

func bfScandump(c *Call) Plan {
	return c.openSketch(c.Args[1], bloomType, wrongType, func(k *sketchKey) Plan {
		if k.Sketch == nil {
			return answer(keyNotFound)
		}
		at, ok := parseInt(c.Args[2])
		if !ok {
			return fail("Second argument must be numeric")
		}
		b := k.Sketch.(*sketch.Bloom)
		if at == 0 {
			return answer(resp.MakeArray(resp.One, resp.MakeBulk(b.Head())))
		}
		n := b.Chunk(at - 1)
		if at < 0 || n == 0 {
			return answer(resp.MakeArray(resp.Zero, resp.EmptyBulk))
		}
		return k.chunk(at-1, n)
	})
}

// chunk plans the reply of SCANDUMP for n bytes at off.
func (k *sketchKey) chunk(off, n int64) Plan {
	return k.whenLoaded(func() bool { return k.Stored().Ready(off, n) }, func() Plan {
		return answer(resp.MakeArray(resp.MakeInt(off+n+1), resp.MakeBulk(k.Stored().Bytes(off, n))))
	})
}

// badChunk replies to a chunk that does not match its filter.
var badChunk = resp.MakeError("ERR received bad data")

func bfLoadchunk(c *Call) Plan {
	at, ok := parseInt(c.Args[2])
	if !ok {
		return fail("ERR Second argument must be numeric")
	}
	data := c.Args[3]
	c.Env.Work.Step(len(data))
	return c.openSketch(c.Args[1], bloomType, wrongType, func(k *sketchKey) Plan {
		if k.Sketch == nil {
			if at != 1 {
				return answer(keyNotFound)
			}
			b, ok := sketch.ParseBloom(data, sketch.EmptyBody())
			if !ok || !b.Exact() {
				return answer(badChunk)
			}
			return k.create(b, resp.OK)
		}
		n := int64(len(data))
		if at <= 0 || at < n {
			return answer(badChunk)
		}
		rest := k.Sketch.(*sketch.Bloom).Rest(at - n - 1)
		switch {
		case rest == 0:
			return fail("ERR invalid offset - no link found")
		case n > rest:
			return fail("ERR invalid chunk - Too big for current filter")
		}
		return k.writeChunk(at-n-1, data)
	})
}

// writeChunk plans the change of the bytes at off, in the reply OK.
func (k *sketchKey) writeChunk(off int64, data []byte) Plan {
	return k.whenLoaded(func() bool { return k.Stored().Ready(off, int64(len(data))) }, func() Plan {
		k.Stored().Write(off, data)
		return k.save(resp.OK)
	})
}
