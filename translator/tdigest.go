package translator

import (
	"math"

	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/redis/sketch"
)

var tdigestTranslations = translations{
	{"TDIGEST.CREATE", tdigestCreate},
	{"TDIGEST.RESET", tdigestReset},
	{"TDIGEST.ADD", tdigestAdd},
	{"TDIGEST.MERGE", tdigestMerge},
	{"TDIGEST.MIN", tdigestMin},
	{"TDIGEST.MAX", tdigestMax},
	{"TDIGEST.QUANTILE", tdigestQuantile},
	{"TDIGEST.CDF", tdigestCDF},
	{"TDIGEST.TRIMMED_MEAN", tdigestTrimmedMean},
	{"TDIGEST.RANK", tdigestRank},
	{"TDIGEST.REVRANK", tdigestRevrank},
	{"TDIGEST.BYRANK", tdigestByrank},
	{"TDIGEST.BYREVRANK", tdigestByrevrank},
	{"TDIGEST.INFO", tdigestInfo},
}

const defaultCompression = 100

// tdigestError returns an error reply of the t-digest commands.
func tdigestError(text string) resp.Value { return resp.MakeError("ERR T-Digest: " + text) }

var tdigestMissing = tdigestError("key does not exist")

// parseCompression parses a compression.
func parseCompression(arg []byte) (n int64, bad resp.Value) {
	n, ok := parseInt(arg)
	switch {
	case !ok:
		return 0, tdigestError("error parsing compression parameter")
	case n <= 0:
		return 0, tdigestError("compression parameter needs to be a positive integer")
	}
	return n, bad
}

func tdigestCreate(c *Call) Plan {
	if len(c.Args) != 2 && len(c.Args) != 4 {
		return answer(commands.WrongArity(c.Command))
	}
	return c.openSketch(c.Args[1], tdigestType, wrongType, func(k *sketchKey) Plan {
		if k.Sketch != nil {
			return answer(tdigestError("key already exists"))
		}
		compression := int64(defaultCompression)
		if len(c.Args) == 4 {
			if !c.is(2, "COMPRESSION") && !c.is(3, "COMPRESSION") {
				return answer(tdigestError("wrong keyword"))
			}
			var bad resp.Value
			if compression, bad = parseCompression(c.Args[3]); bad.IsError() {
				return answer(bad)
			}
		}
		d, err := sketch.NewTDigest(compression)
		if err != nil {
			return answer(tdigestError("allocation failed"))
		}
		return k.create(d, resp.OK)
	})
}

// openDigest opens the digest at key, which must exist.
func (c *Call) openDigest(key []byte, next func(k *sketchKey, d *sketch.TDigest) Plan) Plan {
	return c.openSketch(key, tdigestType, wrongType, func(k *sketchKey) Plan {
		if k.Sketch == nil {
			return answer(tdigestMissing)
		}
		return next(k, k.Sketch.(*sketch.TDigest))
	})
}

func tdigestReset(c *Call) Plan {
	return c.openDigest(c.Args[1], func(k *sketchKey, d *sketch.TDigest) Plan {
		return k.whole(func() Plan {
			d.Reset()
			return k.save(resp.OK)
		})
	})
}

func tdigestAdd(c *Call) Plan {
	return c.openDigest(c.Args[1], func(k *sketchKey, d *sketch.TDigest) Plan {
		values := make([]float64, len(c.Args)-2)
		for i, arg := range c.Args[2:] {
			var ok bool
			switch values[i], ok = parseFloat(arg); {
			case !ok:
				return answer(tdigestError("error parsing val parameter"))
			case math.IsInf(values[i], 0):
				return answer(tdigestError("val parameter needs to be a finite number"))
			}
		}
		overflow := false
		try := func() bool {
			for len(values) > 0 {
				k.work.Step(1)
				ok, done := d.Add(values[0], 1, k.work.Step)
				if !done {
					return false
				}
				if overflow = !ok; overflow {
					return true
				}
				values = values[1:]
			}
			return true
		}
		return k.whenLoaded(try, func() Plan {
			if overflow {
				return answer(tdigestError("overflow detected"))
			}
			return k.save(resp.OK)
		})
	})
}

// digestMerge holds the state of TDIGEST.MERGE between its steps.
type digestMerge struct {
	call        *Call
	keys        [][]byte
	compression int64 // 0 if not given
	override    bool
	target      *sketchKey
	sources     []*sketch.TDigest
	loaded      map[string]*sketch.TDigest
}

func tdigestMerge(c *Call) Plan {
	m := digestMerge{call: c, loaded: map[string]*sketch.TDigest{}}
	return c.openSketch(c.Args[1], tdigestType, wrongType, func(k *sketchKey) Plan {
		m.target = k
		if bad := m.parse(); bad.IsError() {
			return answer(bad)
		}
		return m.next()
	})
}

func (m *digestMerge) parse() (bad resp.Value) {
	c := m.call
	n, ok := parseInt(c.Args[2])
	switch {
	case !ok:
		return tdigestError("error parsing numkeys")
	case n <= 0:
		return tdigestError("numkeys needs to be a positive integer")
	case n > int64(len(c.Args)-3):
		return commands.WrongArity(c.Command)
	}
	m.keys = c.Args[3 : 3+n]
	first := 3 + int(n)
	found := false
	for i := first; i < len(c.Args); i++ {
		switch {
		case c.is(i, "COMPRESSION") && m.compression == 0:
			if i+1 == len(c.Args) {
				return commands.WrongArity(c.Command)
			}
			if m.compression, bad = parseCompression(c.Args[i+1]); bad.IsError() {
				return bad
			}
			found = true
		case c.is(i, "OVERRIDE"):
			m.override, found = true, true
		}
	}
	if first < len(c.Args) && !found {
		return tdigestError("wrong keyword")
	}
	return bad
}

// next plans the read of the next source, or the write.
func (m *digestMerge) next() Plan {
	i := len(m.sources)
	if i == len(m.keys) {
		if m.target.Sketch != nil {
			return m.target.whole(m.write)
		}
		return m.write()
	}
	if source := m.loaded[string(m.keys[i])]; source != nil {
		m.sources = append(m.sources, source)
		return m.next()
	}
	return m.call.openDigest(m.keys[i], func(k *sketchKey, source *sketch.TDigest) Plan {
		return k.whole(func() Plan {
			m.target.work = k.work
			m.loaded[string(m.keys[i])] = source
			m.sources = append(m.sources, source)
			return m.next()
		})
	})
}

// write plans the new digest.
func (m *digestMerge) write() Plan {
	k, all := m.target, m.sources
	compression := 0.0
	for _, s := range m.sources {
		compression = max(compression, s.Compression)
	}
	old, exists := k.Sketch.(*sketch.TDigest)
	if exists && !m.override {
		all = append([]*sketch.TDigest{old}, all...)
		compression = old.Compression
	}
	if m.compression > 0 {
		compression = float64(m.compression)
	}
	d, err := sketch.NewTDigest(int64(compression))
	if err != nil {
		return answer(tdigestError("allocation of destination digest failed"))
	}
	d.Body.Meter = k.work
	for _, s := range all {
		if !d.Merge(s, k.work.Step) {
			return answer(tdigestError("overflow detected"))
		}
	}
	if exists {
		old.Replace(d)
	} else {
		k.adopt(d)
	}
	return k.save(resp.OK)
}

func tdigestMin(c *Call) Plan {
	return c.openDigest(c.Args[1], func(_ *sketchKey, d *sketch.TDigest) Plan { return answer(observed(d, d.Min)) })
}

func tdigestMax(c *Call) Plan {
	return c.openDigest(c.Args[1], func(_ *sketchKey, d *sketch.TDigest) Plan { return answer(observed(d, d.Max)) })
}

// observed returns a double, NaN for an empty digest.
func observed(d *sketch.TDigest, f float64) resp.Value {
	if d.Size() == 0 {
		f = math.NaN()
	}
	return resp.MakeDouble(f)
}

// readDigest opens the call's digest, parses its other arguments, and replies about the compressed digest, which is not
// stored.
func (c *Call) readDigest(parse func() (bad resp.Value), reply func(d *sketch.TDigest, step func(int)) resp.Value) Plan {
	return c.openDigest(c.Args[1], func(k *sketchKey, d *sketch.TDigest) Plan {
		if bad := parse(); bad.IsError() {
			return answer(bad)
		}
		k.growReplies(len(c.Args))
		return k.whole(func() Plan {
			d.Compress(k.work.Step)
			return answer(reply(d, k.work.Step))
		})
	})
}

// doubles parses the arguments from index 2 on.
func (c *Call) doubles(values *[]float64, failure string, valid func(float64) (bad resp.Value)) func() resp.Value {
	return func() (bad resp.Value) {
		for _, arg := range c.Args[2:] {
			f, ok := parseFloat(arg)
			if !ok {
				return tdigestError(failure)
			}
			if valid != nil {
				if bad = valid(f); bad.IsError() {
					return bad
				}
			}
			*values = append(*values, f)
		}
		return bad
	}
}

// doubleReplies returns an array of doubles.
func doubleReplies(values []float64) resp.Value {
	reply := resp.EmptyArray
	for _, f := range values {
		reply.Elems = append(reply.Elems, resp.MakeDouble(f))
	}
	return reply
}

func tdigestQuantile(c *Call) Plan {
	var quantiles []float64
	valid := func(q float64) (bad resp.Value) {
		if q < 0 || q > 1 {
			return tdigestError("quantile should be in [0,1]")
		}
		return bad
	}
	return c.readDigest(c.doubles(&quantiles, "error parsing quantile", valid), func(d *sketch.TDigest, step func(int)) resp.Value {
		return doubleReplies(d.Quantiles(quantiles, step))
	})
}

func tdigestCDF(c *Call) Plan {
	var values []float64
	return c.readDigest(c.doubles(&values, "error parsing cdf", nil), func(d *sketch.TDigest, step func(int)) resp.Value {
		for i, v := range values {
			step(int(d.Merged) + 1)
			values[i] = d.CDF(v)
		}
		return doubleReplies(values)
	})
}

func tdigestRank(c *Call) Plan { return c.digestRanks((*sketch.TDigest).Rank) }

func tdigestRevrank(c *Call) Plan { return c.digestRanks((*sketch.TDigest).RevRank) }

func (c *Call) digestRanks(rank func(*sketch.TDigest, float64) int64) Plan {
	var values []float64
	return c.readDigest(c.doubles(&values, "error parsing value", nil), func(d *sketch.TDigest, step func(int)) resp.Value {
		reply := resp.EmptyArray
		for _, v := range values {
			step(int(d.Merged) + 1)
			reply.Elems = append(reply.Elems, resp.MakeInt(rank(d, v)))
		}
		return reply
	})
}

func tdigestByrank(c *Call) Plan { return c.digestByRank(false) }

func tdigestByrevrank(c *Call) Plan { return c.digestByRank(true) }

func (c *Call) digestByRank(reverse bool) Plan {
	var ranks []int64
	parse := func() (bad resp.Value) {
		for _, arg := range c.Args[2:] {
			n, ok := parseInt(arg)
			switch {
			case !ok:
				return tdigestError("error parsing rank")
			case n < 0:
				return tdigestError("rank needs to be non negative")
			}
			ranks = append(ranks, n)
		}
		return bad
	}
	return c.readDigest(parse, func(d *sketch.TDigest, step func(int)) resp.Value {
		reply := resp.EmptyArray
		for _, r := range ranks {
			step(int(d.Merged) + 1)
			reply.Elems = append(reply.Elems, resp.MakeDouble(d.ByRank(r, reverse)))
		}
		return reply
	})
}

func tdigestTrimmedMean(c *Call) Plan {
	var cuts [2]float64
	parse := func() (bad resp.Value) {
		for i, name := range []string{"low_cut_percentile", "high_cut_percentile"} {
			var ok bool
			if cuts[i], ok = parseFloat(c.Args[2+i]); !ok {
				return tdigestError("error parsing " + name)
			}
		}
		switch {
		case cuts[0] < 0 || cuts[0] > 1 || cuts[1] < 0 || cuts[1] > 1:
			return tdigestError("low_cut_percentile and high_cut_percentile should be in [0,1]")
		case cuts[0] >= cuts[1]:
			return tdigestError("low_cut_percentile should be lower than high_cut_percentile")
		}
		return bad
	}
	return c.readDigest(parse, func(d *sketch.TDigest, step func(int)) resp.Value {
		return resp.MakeDouble(d.TrimmedMean(cuts[0], cuts[1], step))
	})
}

func tdigestInfo(c *Call) Plan {
	return c.openDigest(c.Args[1], func(_ *sketchKey, d *sketch.TDigest) Plan {
		reply := resp.EmptyMap
		for _, p := range []struct {
			name  string
			value int64
		}{
			{"Compression", int64(d.Compression)}, {"Capacity", d.Cap}, {"Merged nodes", d.Merged}, {"Unmerged nodes", d.Unmerged},
			{"Merged weight", d.MergedWeight}, {"Unmerged weight", d.UnmergedWeight}, {"Observations", d.Size()},
			{"Total compressions", d.Compressions}, {"Memory usage", d.Memory()},
		} {
			reply.Elems = append(reply.Elems, resp.MakeStatus(p.name), resp.MakeInt(p.value))
		}
		return answer(reply)
	})
}
