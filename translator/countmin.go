package translator

import (
	"math"

	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/redis/sketch"
)

var countMinTranslations = translations{
	{"CMS.INITBYDIM", cmsInitbydim},
	{"CMS.INITBYPROB", cmsInitbyprob},
	{"CMS.INCRBY", cmsIncrby},
	{"CMS.QUERY", cmsQuery},
	{"CMS.MERGE", cmsMerge},
	{"CMS.INFO", cmsInfo},
}

var (
	cmsExists  = resp.MakeError("CMS: key already exists")
	cmsMissing = resp.MakeError("CMS: key does not exist")
	cmsBadInit = resp.MakeError("CMS: invalid init arguments")
)

// makeCountMin plans a new sketch, whose size parse returns.
func (c *Call) makeCountMin(parse func() (width, depth uint64, bad resp.Value)) Plan {
	return c.openSketch(c.Args[1], countMinType, cmsExists, func(k *sketchKey) Plan {
		if k.Sketch != nil {
			return answer(cmsExists)
		}
		width, depth, bad := parse()
		if bad.IsError() {
			return answer(bad)
		}
		if width > math.MaxUint64/depth {
			return answer(cmsBadInit)
		}
		s, err := sketch.NewCountMin(width, depth)
		if err != nil {
			return fail("CMS: Insufficient memory to create the key")
		}
		return k.create(s, resp.OK)
	})
}

func cmsInitbydim(c *Call) Plan {
	return c.makeCountMin(func() (width, depth uint64, bad resp.Value) {
		w, ok := parseInt(c.Args[2])
		if !ok || w < 1 {
			return 0, 0, resp.MakeError("CMS: invalid width")
		}
		d, ok := parseInt(c.Args[3])
		if !ok || d < 1 {
			return 0, 0, resp.MakeError("CMS: invalid depth")
		}
		return uint64(w), uint64(d), bad
	})
}

func cmsInitbyprob(c *Call) Plan {
	return c.makeCountMin(func() (uint64, uint64, resp.Value) {
		rate, ok := parseFloat(c.Args[2])
		if !ok || rate <= 0 || rate >= 1 {
			return 0, 0, resp.MakeError("CMS: invalid overestimation value")
		}
		probability, ok := parseFloat(c.Args[3])
		if !ok || probability <= 0 || probability >= 1 {
			return 0, 0, resp.MakeError("CMS: invalid prob value")
		}
		width, depth := sketch.CountMinSize(rate, probability)
		if !(width >= 1 && width < 1<<63 && depth >= 1 && depth < 1<<63) {
			return 0, 0, cmsBadInit
		}
		return uint64(width), uint64(depth), resp.Value{}
	})
}

// openCountMin opens the sketch at key, which must exist.
func (c *Call) openCountMin(key []byte, next func(k *sketchKey, s *sketch.CountMin) Plan) Plan {
	return c.openSketch(key, countMinType, wrongType, func(k *sketchKey) Plan {
		if k.Sketch == nil {
			return answer(cmsMissing)
		}
		return next(k, k.Sketch.(*sketch.CountMin))
	})
}

// withCounters loads the counters of items.
func (k *sketchKey) withCounters(s *sketch.CountMin, items [][]byte, width int, next func() Plan) Plan {
	return k.whenLoaded(func() bool {
		ok := true
		for i := 0; i < len(items); i += width {
			ok = s.Ready(items[i]) && ok
		}
		return ok
	}, next)
}

func cmsIncrby(c *Call) Plan {
	if len(c.Args)%2 != 0 {
		return answer(commands.WrongArity(c.Command))
	}
	pairs := c.Args[2:]
	return c.openCountMin(c.Args[1], func(k *sketchKey, s *sketch.CountMin) Plan {
		k.growReplies(len(pairs))
		counts := make([]int64, len(pairs)/2)
		for i := range counts {
			var ok bool
			if counts[i], ok = parseInt(pairs[2*i+1]); !ok {
				return fail("CMS: Cannot parse number")
			}
			if counts[i] < 0 {
				return fail("CMS: Number cannot be negative")
			}
		}
		return k.withCounters(s, pairs, 2, func() Plan {
			reply := resp.EmptyArray
			for i, n := range counts {
				if least := s.Add(pairs[2*i], n); least == sketch.MaxCount {
					reply.Elems = append(reply.Elems, resp.MakeError("CMS: INCRBY overflow"))
				} else {
					reply.Elems = append(reply.Elems, resp.MakeInt(int64(least)))
				}
			}
			return k.save(reply)
		})
	})
}

func cmsQuery(c *Call) Plan {
	items := c.Args[2:]
	return c.openCountMin(c.Args[1], func(k *sketchKey, s *sketch.CountMin) Plan {
		k.growReplies(len(items))
		return k.withCounters(s, items, 1, func() Plan {
			reply := resp.EmptyArray
			for _, item := range items {
				reply.Elems = append(reply.Elems, resp.MakeInt(int64(s.Get(item))))
			}
			return answer(reply)
		})
	})
}

func cmsInfo(c *Call) Plan {
	return c.openCountMin(c.Args[1], func(k *sketchKey, s *sketch.CountMin) Plan {
		return answer(resp.MakeMap(
			resp.MakeStatus("width"), resp.MakeInt(int64(s.Width)),
			resp.MakeStatus("depth"), resp.MakeInt(int64(s.Depth)),
			resp.MakeStatus("count"), resp.MakeInt(s.Count)))
	})
}

// parseMerge parses the number of keys, the keys and the weights of CMS.MERGE. A weight is parsed when its key is read.
func parseMerge(c *Call) (keys, weights [][]byte, bad resp.Value) {
	n, ok := parseInt(c.Args[2])
	switch {
	case !ok:
		return nil, nil, resp.MakeError("CMS: invalid numkeys")
	case n < 1:
		return nil, nil, resp.MakeError("CMS: Number of keys must be positive")
	}
	rest := c.Args[3:]
	at := -1
	for i, arg := range rest {
		if wordIs(arg, "WEIGHTS") {
			at = i
			break
		}
	}
	switch {
	case at < 0 && n != int64(len(rest)):
		return nil, nil, resp.MakeError("CMS: wrong number of keys")
	case at < 0:
		return rest, nil, bad
	case int64(at) != n || int64(len(rest)-at-1) != n:
		return nil, nil, resp.MakeError("CMS: wrong number of keys/weights")
	}
	return rest[:at], rest[at+1:], bad
}

func cmsMerge(c *Call) Plan {
	return c.openCountMin(c.Args[1], func(k *sketchKey, s *sketch.CountMin) Plan {
		keys, weights, bad := parseMerge(c)
		if bad.IsError() {
			return answer(bad)
		}
		m := countMinMerge{target: k, keys: keys, texts: weights, loaded: map[string]*sketch.CountMin{}}
		return m.next()
	})
}

// countMinMerge holds the state of CMS.MERGE between its steps.
type countMinMerge struct {
	target  *sketchKey
	keys    [][]byte
	texts   [][]byte // of the weights, nil for 1 each
	sources []*sketch.CountMin
	weights []int64
	loaded  map[string]*sketch.CountMin
}

// next plans the read of the next source, or the write.
func (m *countMinMerge) next() Plan {
	c, s := m.target.call, m.target.Sketch.(*sketch.CountMin)
	i := len(m.sources)
	if i == len(m.keys) {
		m.target.work.Grow(s.Len())
		return m.target.whole(func() Plan {
			if !s.Merge(m.sources, m.weights, m.target.work.Step) {
				return fail("CMS: MERGE overflow")
			}
			return m.target.save(resp.OK)
		})
	}
	weight := int64(1)
	if m.texts != nil {
		var ok bool
		if weight, ok = parseInt(m.texts[i]); !ok {
			return fail("CMS: invalid weight value")
		}
	}
	add := func(source *sketch.CountMin) Plan {
		m.sources, m.weights = append(m.sources, source), append(m.weights, weight)
		return m.next()
	}
	if source := m.loaded[string(m.keys[i])]; source != nil {
		return add(source)
	}
	p := c.openCountMin(m.keys[i], func(k *sketchKey, source *sketch.CountMin) Plan {
		if source.Width != s.Width || source.Depth != s.Depth {
			return fail("CMS: width/depth is not equal")
		}
		return k.whole(func() Plan {
			m.target.work = k.work
			m.loaded[string(m.keys[i])] = source
			return add(source)
		})
	})
	p.Reads = m.keys[i : i+1]
	return p
}
