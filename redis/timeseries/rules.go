package timeseries

import (
	"math"
	"strconv"
	"strings"

	"github.com/meowdis/meowdis/redis/rdb"
	"github.com/meowdis/meowdis/redis/resp"
)

// Rule compacts a series into another one. DUMP leaves rules out, dump files have them.
type Rule struct {
	Target     []byte
	Aggregator Aggregator
	Bucket     int64 // ms
	Align      int64 // Unix ms
	Start      int64 // of the open bucket, Unix ms; NoBucket for none
}

// NoBucket is the start of a bucket that is not open.
const NoBucket = -1

// DumpVersion numbers the format of a series in a dump file.
const DumpVersion = 9

// ReadRule reads a rule of a series in a dump file. ok is false for an unknown aggregator.
func ReadRule(r *rdb.ModuleReader) (rule Rule, ok bool) {
	rule = Rule{Target: r.String(), Bucket: int64(r.Number()), Align: int64(r.Number())}
	n := r.Number()
	if n < uint64(Min) || n > uint64(CountAll) {
		return rule, false
	}
	rule.Aggregator = Aggregator(n)
	rule.Start = int64(r.Number())
	r.Number() // whether the bucket has a valid sample
	for _, kind := range rule.Aggregator.contextFields() {
		if kind == 'D' {
			r.Double()
		} else {
			r.Number()
		}
	}
	return rule, true
}

// contextFields lists the fields of an open bucket in a dump file: D for a double, U for an unsigned number.
func (a Aggregator) contextFields() string {
	switch a {
	case Min, Max, Range:
		return "DD"
	case First:
		return "DU"
	case Avg, StdP, StdS, VarP, VarS:
		return "DDU"
	case TWA:
		return "DUDUUUUUUU"
	}
	return "D"
}

// writeTo writes the rule to a series in a dump file. samples has the samples of the open bucket, and may have later ones.
func (rule *Rule) writeTo(m *rdb.Module, samples []Sample) {
	m.String(rule.Target)
	m.Numbers(uint64(rule.Bucket), uint64(rule.Align), uint64(rule.Aggregator), uint64(rule.Start))
	var b Bucket
	for _, s := range samples {
		if rule.Start != NoBucket && s.At >= rule.Start {
			b.Add(s)
		}
	}
	valid := uint64(0)
	if b.Valid(rule.Aggregator) {
		valid = 1
	}
	m.Numbers(valid)
	b.writeContext(m, rule.Aggregator)
}

// writeContext writes the fields of an open bucket. The ones of TWA are as at the beginning of the bucket.
func (b *Bucket) writeContext(m *rdb.Module, a Aggregator) {
	switch a {
	case Min, Max, Range:
		if b.n == 0 {
			b.min, b.max = math.MaxFloat64, -math.MaxFloat64
		}
		m.Double(b.max)
		m.Double(b.min)
	case First:
		m.Double(b.first.Value)
		unset := uint64(0)
		if b.n == 0 {
			unset = 1
		}
		m.Numbers(unset)
	case Avg:
		if b.mean != nil {
			m.Double(b.average())
		} else {
			m.Double(b.sum)
		}
		m.Double(float64(b.n))
		overflow := uint64(0)
		if b.mean != nil {
			overflow = 1
		}
		m.Numbers(overflow)
	case StdP, StdS, VarP, VarS:
		m.Double(b.sum)
		m.Double(b.square)
		m.Numbers(uint64(b.n))
	case TWA:
		m.Double(0)
		m.Numbers(0)
		m.Double(0)
		m.Numbers(0, 0, 0, 0, 1, 0, 0)
	default:
		value := 0.0
		if b.Valid(a) {
			value = b.Result(a)
		}
		m.Double(value)
	}
}

// SplitRules separates a series of a dump file from its rules. Without rules, or for an unknown format, it returns m.
func SplitRules(m *rdb.Module) (plain *rdb.Module, rules []Rule) {
	if m.Version != DumpVersion {
		return m, nil
	}
	r := m.Reader()
	plain = copyHead(m, r, nil)
	for n := r.Number(); n > 0; n-- {
		rule, ok := ReadRule(r)
		if !ok || !r.More() {
			return m, nil
		}
		rules = append(rules, rule)
	}
	plain.Numbers(0)
	plain.AppendRest(r)
	return plain, rules
}

// JoinRules adds rules to a series without rules, as a dump file has them. source names the series that is compacted into
// it; nil for none. samples has the samples of all open buckets.
func JoinRules(m *rdb.Module, source []byte, rules []Rule, samples []Sample) *rdb.Module {
	if m.Version != DumpVersion || source == nil && len(rules) == 0 {
		return m
	}
	r := m.Reader()
	joined := copyHead(m, r, source)
	r.Number() // no rules
	joined.Numbers(uint64(len(rules)))
	for i := range rules {
		rules[i].writeTo(joined, samples)
	}
	joined.AppendRest(r)
	return joined
}

// copyHead copies the fields before the rules, with another source.
func copyHead(m *rdb.Module, r *rdb.ModuleReader, source []byte) *rdb.Module {
	to := &rdb.Module{Name: m.Name, Version: m.Version}
	to.Grow(m.Weight())
	numbers := func(n int) {
		for range n {
			to.Numbers(r.Number())
		}
	}
	to.String(r.String()) // the key
	numbers(4)            // retention, size of a chunk, encoding, time of the last sample
	to.Double(r.Double()) // its value
	numbers(2)            // samples, duplicate policy
	if r.Number() != 0 {
		r.String()
	}
	if source == nil {
		to.Numbers(0)
	} else {
		to.Numbers(1)
		to.String(source)
	}
	numbers(1) // IGNORE
	to.Double(r.Double())
	labels := r.Number()
	to.Numbers(labels)
	for ; labels > 0 && r.More(); labels-- {
		to.String(r.String())
		to.String(r.String())
	}
	return to
}

// RulesOf returns the rules in a reply of TS.INFO, and the series that is compacted into this one; nil for none. The reply
// does not show open buckets.
func RulesOf(info resp.Value) (source []byte, rules []Rule) {
	for i := 0; i+1 < len(info.Elems); i += 2 {
		v := info.Elems[i+1]
		switch string(info.Elems[i].Str) {
		case "sourceKey":
			if !v.IsNull() {
				source = v.Str
			}
		case "rules":
			rules = shownRules(v)
		}
	}
	return source, rules
}

// shownRules reads a list of rules: a map over RESP3.
func shownRules(v resp.Value) (rules []Rule) {
	add := func(target []byte, about []resp.Value) {
		if len(about) < 3 {
			return
		}
		if a, ok := ParseAggregator(string(about[1].Str)); ok {
			rules = append(rules, Rule{Target: target, Bucket: about[0].Int, Aggregator: a, Align: about[2].Int, Start: NoBucket})
		}
	}
	if v.Kind == resp.Map || v.Kind == resp.PairMap {
		for i := 0; i+1 < len(v.Elems); i += 2 {
			add(v.Elems[i].Str, v.Elems[i+1].Elems)
		}
		return rules
	}
	for _, e := range v.Elems {
		if len(e.Elems) > 0 {
			add(e.Elems[0].Str, e.Elems[1:])
		}
	}
	return rules
}

// OpenBuckets sets the starts of the open buckets of a series' rules, and returns its samples from the first start on. run
// runs reading commands. An error reply counts as an empty one.
func OpenBuckets(key []byte, rules []Rule, run func(calls [][][]byte) ([]resp.Value, error)) ([]Sample, error) {
	if len(rules) == 0 {
		return nil, nil
	}
	var calls [][][]byte
	for _, rule := range rules {
		calls = append(calls, [][]byte{[]byte("TS.GET"), rule.Target}, [][]byte{[]byte("TS.GET"), rule.Target, []byte("LATEST")})
	}
	replies, err := run(calls)
	if err != nil {
		return nil, err
	}
	for i := range rules {
		before, ended := readSample(replies[2*i])
		if now, has := readSample(replies[2*i+1]); has && (!ended || now.At > before.At) {
			rules[i].Start = now.At
		}
	}
	return OpenSamples(key, rules, run)
}

// OpenSamples returns the samples of a series from the first start of an open bucket on.
func OpenSamples(key []byte, rules []Rule, run func(calls [][][]byte) ([]resp.Value, error)) (samples []Sample, err error) {
	from := firstOpen(rules)
	if from == NoBucket {
		return nil, nil
	}
	replies, err := run([][][]byte{{[]byte("TS.RANGE"), key, strconv.AppendInt(nil, from, 10), []byte("+")}})
	if err != nil {
		return nil, err
	}
	for _, e := range replies[0].Unpacked().Elems {
		if s, ok := readSample(e); ok {
			samples = append(samples, s)
		}
	}
	return samples, nil
}

// firstOpen returns the first start of an open bucket, Unix ms, or NoBucket.
func firstOpen(rules []Rule) int64 {
	first := int64(NoBucket)
	for _, r := range rules {
		if r.Start != NoBucket && (first == NoBucket || r.Start < first) {
			first = r.Start
		}
	}
	return first
}

// CreateCalls returns the commands that create rules of a series, and that open their buckets by adding the samples of open
// buckets again. samples begins with the first sample of an open bucket and ends with the last one of the series.
func CreateCalls(key []byte, rules []Rule, samples []Sample) (calls [][][]byte) {
	number := func(n int64) []byte { return strconv.AppendInt(nil, n, 10) }
	reopens := len(samples) > 0
	create := func(open bool) {
		for _, r := range rules {
			if open == (reopens && r.Start != NoBucket) {
				calls = append(calls, [][]byte{[]byte("TS.CREATERULE"), key, r.Target, []byte("AGGREGATION"),
					[]byte(strings.ToUpper(r.Aggregator.String())), number(r.Bucket), number(r.Align)})
			}
		}
	}
	if len(samples) > 0 {
		calls = append(calls, [][]byte{[]byte("TS.DEL"), key, number(samples[0].At), []byte("+")})
		create(true)
		for ; len(samples) > 0; samples = samples[min(len(samples), samplesPerCall):] {
			add := [][]byte{[]byte("TS.MADD")}
			for _, s := range samples[:min(len(samples), samplesPerCall)] {
				add = append(add, key, number(s.At), []byte(FormatValue(s.Value)))
			}
			calls = append(calls, add)
		}
	}
	create(false)
	return calls
}

const samplesPerCall = 1000

// readSample reads a reply of TS.GET. ok is false for an empty one.
func readSample(v resp.Value) (s Sample, ok bool) {
	if len(v.Elems) != 2 {
		return s, false
	}
	value := v.Elems[1].Float
	if v.Elems[1].Kind != resp.Double {
		if value, ok = ParseValue(string(v.Elems[1].Str)); !ok {
			return s, false
		}
	}
	return Sample{At: v.Elems[0].Int, Value: value}, true
}
