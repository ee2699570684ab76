package translator

import (
	"encoding/binary"
	"math"
	"slices"
	"strings"

	"github.com/meowdis/meowdis/redis/rdb"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/redis/timeseries"
	"github.com/meowdis/meowdis/store"
)

// sqlSpan reads the number of samples from ?4 on, and the time of the first one.
const sqlSpan = `SELECT count(*), CAST(min(at) AS TEXT) FROM samples WHERE key_id = ` + liveID + ` AND at >= CAST(?4 AS INTEGER)`

func tsInfo(c *Call) Plan {
	return c.openSeries(c.Args[1], seriesWrongType, func(s *series) Plan {
		if !s.stored {
			return answer(seriesMissing)
		}
		return readThen(func(r *store.Result) Plan {
			info := seriesInfo{total: r.Rows[0][0][0].Int(), first: r.Rows[0][0][1].Int(), labels: labelsOf(r.Rows[1]), source: resp.Nil}
			if len(r.Rows[2]) > 0 {
				info.source = resp.MakeBulk(r.Rows[2][0][0].Bytes())
			}
			if len(c.Args) == 2 || !c.is(2, "DEBUG") {
				return s.countChunks(info.total, func(n int64) Plan {
					info.chunks = n
					return answer(resp.MakeMap(s.info(info)...))
				})
			}
			return s.chunks(func(all []chunk) Plan {
				info.chunks = int64(len(all))
				parts := append(s.info(info), resp.MakeString("keySelfName"), resp.MakeBulk(s.key), resp.MakeString("Chunks"), chunkReplies(all))
				return answer(resp.MakeMap(parts...))
			})
		}, c.stmt(sqlSpan, s.key, store.Digits(s.oldest())), c.stmt(sqlLabels, s.key), c.stmt(sqlSource, s.key))
	})
}

// seriesInfo holds what TS.INFO reads besides the series.
type seriesInfo struct {
	total, first, chunks int64
	labels               []timeseries.Label
	source               resp.Value
}

func labelsOf(rows []store.Row) (all []timeseries.Label) {
	for _, row := range rows {
		all = append(all, timeseries.Label{Name: string(row[0].Bytes()), Value: string(row[1].Bytes())})
	}
	return all
}

// countChunks calls next with the number of chunks that hold total samples. It packs the first page of samples, and
// expects the others to take as many bits.
func (s *series) countChunks(total int64, next func(n int64) Plan) Plan {
	if s.plain {
		each := s.chunkSize / samplePlain
		return next(max(1, (total+each-1)/each))
	}
	q := &seriesRange{to: maxTime, count: samplesPerPage}
	return q.run(s, func(rows []timeseries.Row) Plan {
		all := s.packed(rows)
		if total <= int64(len(rows)) {
			return next(int64(len(all)))
		}
		size := float64(s.chunkSize * 8)
		used := float64(len(all)-1)*size + float64(all[len(all)-1].packed.Position)
		return next(max(int64(len(all)), int64(math.Ceil(used/size*float64(total)/float64(len(rows))))))
	})
}

const (
	samplePlain  = 16  // bytes of a sample in an uncompressed chunk
	seriesMemory = 150 // bytes of a series besides its chunks
)

func (s *series) info(i seriesInfo) []resp.Value {
	memory := seriesMemory + i.chunks*s.chunkSize
	for _, l := range i.labels {
		memory += int64(len(l.Name) + len(l.Value))
	}
	kind := "compressed"
	if s.plain {
		kind = "uncompressed"
	}
	labels := resp.Value{Kind: resp.PairMap}
	for _, l := range i.labels {
		labels.Elems = append(labels.Elems, resp.MakeString(l.Name), resp.MakeString(l.Value))
	}
	rules, rules3 := resp.Value{Kind: resp.Array}, resp.Value{Kind: resp.Map}
	for _, r := range s.rules {
		key, parts := resp.MakeBulk(r.target), []resp.Value{resp.MakeInt(r.bucket), resp.MakeStatus(strings.ToUpper(r.aggregator.String())), resp.MakeInt(r.align)}
		rules.Elems = append(rules.Elems, resp.MakeArray(append([]resp.Value{key}, parts...)...))
		rules3.Elems = append(rules3.Elems, key, resp.MakeArray(parts...))
	}
	rules.RESP3 = &rules3
	policy := resp.Nil
	if s.policy != policyUnset {
		policy = resp.MakeStatus(policyNames[s.policy])
	}
	named := []struct {
		name  string
		value resp.Value
	}{
		{"totalSamples", resp.MakeInt(i.total)}, {"memoryUsage", resp.MakeInt(memory)},
		{"firstTimestamp", resp.MakeInt(i.first)}, {"lastTimestamp", resp.MakeInt(s.last.At)}, {"retentionTime", resp.MakeInt(s.retention)},
		{"chunkCount", resp.MakeInt(i.chunks)}, {"chunkSize", resp.MakeInt(s.chunkSize)}, {"chunkType", resp.MakeStatus(kind)},
		{"duplicatePolicy", policy}, {"labels", labels}, {"sourceKey", i.source}, {"rules", rules},
		{"ignoreMaxTimeDiff", resp.MakeInt(s.ignoreTime)}, {"ignoreMaxValDiff", resp.MakeDouble(s.ignoreValue)},
	}
	var all []resp.Value
	for _, n := range named {
		all = append(all, resp.MakeStatus(n.name), n.value)
	}
	return all
}

// chunk holds samples that a dump file has in one chunk.
type chunk struct {
	samples []timeseries.Sample
	packed  *timeseries.Chunk // nil for an uncompressed one
	size    int64
}

// chunks reads all samples, in chunks as dump files have them, and calls next.
func (s *series) chunks(next func(all []chunk) Plan) Plan {
	q := &seriesRange{to: maxTime}
	return q.run(s, func(rows []timeseries.Row) Plan {
		return next(s.packed(rows))
	})
}

// packed splits samples into chunks, at least one.
func (s *series) packed(rows []timeseries.Row) []chunk {
	begin := func() chunk {
		s.work.Grow(s.chunkSize)
		if s.plain {
			return chunk{size: s.chunkSize}
		}
		return chunk{size: s.chunkSize, packed: timeseries.NewChunk(int(s.chunkSize))}
	}
	all := []chunk{begin()}
	for _, row := range rows {
		s.work.Step(32)
		at := timeseries.Sample{At: row.At, Value: row.Values[0]}
		last := &all[len(all)-1]
		if last.packed != nil && !last.packed.Append(at) || last.packed == nil && int64(len(last.samples)) == s.chunkSize/samplePlain {
			all = append(all, begin())
			if last = &all[len(all)-1]; last.packed != nil {
				last.packed.Append(at)
			}
		}
		last.samples = append(last.samples, at)
	}
	return all
}

func chunkReplies(all []chunk) resp.Value {
	v := resp.Value{Kind: resp.Array}
	for _, ch := range all {
		first, last, per := int64(-1), int64(-1), float32(0)
		if n := len(ch.samples); n > 0 {
			first, last, per = ch.samples[0].At, ch.samples[n-1].At, float32(ch.size)/float32(n)
		}
		v.Elems = append(v.Elems, resp.MakeMap(
			resp.MakeStatus("startTimestamp"), resp.MakeInt(first), resp.MakeStatus("endTimestamp"), resp.MakeInt(last),
			resp.MakeStatus("samples"), resp.MakeInt(int64(len(ch.samples))), resp.MakeStatus("size"), resp.MakeInt(ch.size),
			resp.MakeStatus("bytesPerSample"), resp.MakeDouble(float64(per))))
	}
	return v
}

// dumpSeries plans DUMP of a series. As in Redis, the payload has no rules.
func (c *Call) dumpSeries() Plan {
	key := c.Args[1]
	return c.openSeries(key, wrongType, func(s *series) Plan {
		return readThen(func(r *store.Result) Plan {
			labels := labelsOf(r.Rows[0])
			return s.chunks(func(all []chunk) Plan {
				s.work.Grow(3 * int64(len(all)) * s.chunkSize)
				return answer(resp.MakeBulk(rdb.Dump(s.module(labels, all), s.work.Step)))
			})
		}, c.stmt(sqlLabels, key))
	})
}

const (
	dumpPlain      = 1
	dumpCompressed = 2
)

func (s *series) module(labels []timeseries.Label, all []chunk) *rdb.Module {
	m := &rdb.Module{Name: seriesType, Version: timeseries.DumpVersion}
	m.String(s.key)
	encoding := uint64(dumpCompressed)
	if s.plain {
		encoding = dumpPlain
	}
	total := 0
	for _, ch := range all {
		total += len(ch.samples)
	}
	m.Numbers(uint64(s.retention), uint64(s.chunkSize), encoding, uint64(s.last.At))
	m.Double(s.last.Value)
	m.Numbers(uint64(total), uint64(s.policy), 0, uint64(s.ignoreTime))
	m.Double(s.ignoreValue)
	m.Numbers(uint64(len(labels)))
	for _, l := range labels {
		m.String([]byte(l.Name))
		m.String([]byte(l.Value))
	}
	m.Numbers(0, uint64(len(all)))
	for _, ch := range all {
		if p := ch.packed; p != nil {
			m.Numbers(uint64(len(p.Data)), p.Samples, p.Position, math.Float64bits(p.First.Value), uint64(p.First.At), uint64(p.Last.At), p.Delta,
				math.Float64bits(p.Last.Value), p.Leading, p.Trailing)
			m.String(p.Data)
			continue
		}
		data := make([]byte, 0, s.chunkSize)
		for _, at := range ch.samples {
			data = binary.LittleEndian.AppendUint64(data, uint64(at.At))
			data = binary.LittleEndian.AppendUint64(data, math.Float64bits(at.Value))
		}
		first := uint64(0)
		if len(ch.samples) > 0 {
			first = uint64(ch.samples[0].At)
		}
		m.Numbers(first, uint64(len(ch.samples)), uint64(s.chunkSize))
		m.String(data[:s.chunkSize])
	}
	return m
}

// seriesValue holds the value of a payload.
type seriesValue struct {
	*rdb.Module
	seriesOptions
	labels  []timeseries.Label
	samples []timeseries.Sample
}

// maxChunks limits the chunks and the labels of a payload, whose numbers stand before them.
const maxChunks = 1 << 24

// dumpedSeries parses the value of a payload. It returns nil for an invalid one. Rules, and the source, are left out.
func dumpedSeries(m *rdb.Module, w *store.Work) rdb.Value {
	v, r := &seriesValue{Module: m}, m.Reader()
	if m.Version != timeseries.DumpVersion {
		return nil
	}
	r.String()
	v.retention, v.chunkSize = int64(r.Number()), int64(r.Number())
	v.plain = r.Number() == dumpPlain
	r.Number()
	r.Double()
	total := r.Number()
	v.policy = duplicatePolicy(min(r.Number(), uint64(policySum)+1))
	if r.Number() != 0 {
		r.String()
	}
	v.ignoreTime, v.ignoreValue = int64(r.Number()), r.Double()
	if v.retention < 0 || v.ignoreTime < 0 || v.chunkSize%8 != 0 || v.chunkSize < 48 || v.chunkSize > 1<<20 || v.policy > policySum {
		return nil
	}
	for n := r.Number(); n > 0 && r.More(); n-- {
		l := timeseries.Label{Name: string(r.String()), Value: string(r.String())}
		w.Allocate(64 + len(l.Name) + len(l.Value))
		v.labels = append(v.labels, l)
	}
	for n := r.Number(); n > 0 && r.More(); n-- {
		if _, ok := timeseries.ReadRule(r); !ok {
			return nil
		}
	}
	for n := min(r.Number(), maxChunks); n > 0 && r.More(); n-- {
		some, ok := readChunk(r, v.plain, w)
		if !ok || len(v.samples) > 0 && len(some) > 0 && some[0].At <= v.samples[len(v.samples)-1].At {
			return nil
		}
		v.samples = append(v.samples, some...)
	}
	if !r.Done() || uint64(len(v.samples)) != total {
		return nil
	}
	return v
}

func readChunk(r *rdb.ModuleReader, plain bool, w *store.Work) (all []timeseries.Sample, ok bool) {
	if !plain {
		r.Number()
		ch := timeseries.Chunk{Samples: r.Number(), Position: r.Number()}
		ch.First.Value = math.Float64frombits(r.Number())
		ch.First.At, ch.Last.At = int64(r.Number()), int64(r.Number())
		ch.Delta, ch.Last.Value = r.Number(), math.Float64frombits(r.Number())
		ch.Leading, ch.Trailing, ch.Data = r.Number(), r.Number(), r.String()
		w.Grow(int64(min(ch.Samples, ch.Position/2+1)) * 16)
		w.Step(len(ch.Data) * 8)
		all, ok = ch.Decode()
		return all, ok && (len(all) == 0 || all[0].At >= 0)
	}
	r.Number()
	n := r.Number()
	r.Number()
	data := r.String()
	if n > uint64(len(data))/16 {
		return nil, false
	}
	w.Grow(int64(n) * 16)
	for ; n > 0; n, data = n-1, data[16:] {
		at := timeseries.Sample{At: int64(binary.LittleEndian.Uint64(data)), Value: math.Float64frombits(binary.LittleEndian.Uint64(data[8:]))}
		if at.At < 0 || len(all) > 0 && at.At <= all[len(all)-1].At {
			return nil, false
		}
		all = append(all, at)
	}
	return all, true
}

// restoreSeries creates a key. The key must not exist.
func (c *Call) restoreSeries(key []byte, v *seriesValue) []store.Stmt {
	s := &series{call: c, key: key, work: c.Env.Work, seriesOptions: v.seriesOptions, labels: v.labels, sampleChanges: noChanges()}
	s.times = slices.Grow(s.times, len(v.samples))
	for _, at := range v.samples {
		s.put(at)
	}
	return s.stmts()
}
