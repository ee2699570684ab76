package expr

import (
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

// Reducer reduces the rows of a group to a value.
type Reducer interface {
	Add(r *Row)
	Result() Value
}

// Reduction is a parsed REDUCE clause: it makes a Reducer for each group.
type Reduction struct {
	Name       string   // of the property that it creates, unless AS names it
	Properties []string // that rows need
	New        func() Reducer
}

// ParseReduction parses the name of a reducer and its arguments. seed makes RANDOM_SAMPLE repeatable. The error is an
// *Error.
func ParseReduction(name string, args []string, seed uint64) (*Reduction, error) {
	make, known := reductions[strings.ToUpper(name)]
	if !known {
		return nil, failure("SEARCH_REDUCER_NOT_FOUND", "No such reducer: %s", name)
	}
	r := &Reduction{Name: "__generated_alias" + strings.ToLower(name+strings.ReplaceAll(strings.Join(args, ","), "@", ""))}
	if err := make(r, args, seed); err != nil {
		return nil, err
	}
	return r, nil
}

var reductions map[string]func(r *Reduction, args []string, seed uint64) error

func init() {
	reductions = map[string]func(*Reduction, []string, uint64) error{
		"COUNT":             parseCount,
		"COUNT_DISTINCT":    overOne("COUNT_DISTINCT", func() perValue { return &distinct{seen: map[uint64]struct{}{}} }),
		"COUNT_DISTINCTISH": overOne("COUNT_DISTINCTISH", func() perValue { return &sketch{} }),
		"HLL":               overOne("HLL", func() perValue { return &sketch{raw: true} }),
		"HLL_SUM":           overOne("HLL_SUM", func() perValue { return &sketch{merge: true} }),
		"SUM":               overOne("SUM", func() perValue { return &total{} }),
		"AVG":               overOne("AVG", func() perValue { return &total{mean: true} }),
		"MIN":               overOne("MIN", func() perValue { return &extreme{best: math.Inf(1), sign: 1} }),
		"MAX":               overOne("MAX", func() perValue { return &extreme{best: math.Inf(-1), sign: -1} }),
		"STDDEV":            overOne("STDDEV", func() perValue { return &deviation{} }),
		"TOLIST":            overOne("TOLIST", func() perValue { return &list{seen: map[string]struct{}{}} }),
		"QUANTILE":          parseQuantile,
		"FIRST_VALUE":       parseFirst,
		"RANDOM_SAMPLE":     parseSample,
		"COLLECT":           parseCollect,
	}
}

func badArgs(name, reason string) error {
	return failure("SEARCH_PARSE_ARGS", "Bad arguments for %s: %s", name, reason)
}

const (
	noArgument = "Expected an argument, but none provided"
	unknownArg = "Unknown argument"
	noNumber   = "Could not convert argument to expected type"
)

// perValue reduces the values of one property that are not missing; null is among them.
type perValue interface {
	add(v Value)
	Result() Value
}

type one struct {
	perValue
	name string
}

func (o one) Add(r *Row) {
	if v, ok := r.Property(o.name); ok {
		o.add(v)
	}
}

// overOne parses the only argument of a reducer: a property.
func overOne(name string, make func() perValue) func(*Reduction, []string, uint64) error {
	return func(r *Reduction, args []string, _ uint64) error {
		switch len(args) {
		case 0:
			return badArgs(name, noArgument)
		case 1:
			property := strings.TrimPrefix(args[0], "@")
			r.Properties = []string{property}
			r.New = func() Reducer { return one{make(), property} }
			return nil
		}
		return badArgs(name, unknownArg)
	}
}

type counter int

func (c *counter) Add(*Row)      { *c++ }
func (c *counter) Result() Value { return Num(float64(*c)) }

func parseCount(r *Reduction, args []string, _ uint64) error {
	if len(args) > 0 {
		return failure("SEARCH_PARSE_ARGS", "Count accepts 0 values only")
	}
	r.New = func() Reducer { return new(counter) }
	return nil
}

func hash(v Value) uint64 {
	h := fnv.New64a()
	h.Write([]byte(v.key()))
	return mix(h.Sum64())
}

// mix spreads the bits of a hash: FNV's high bits depend little on short values.
func mix(x uint64) uint64 {
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	x *= 0xc4ceb9fe1a85ec53
	return x ^ x>>33
}

// distinct counts values by their hashes of 64 bits.
type distinct struct{ seen map[uint64]struct{} }

func (d *distinct) add(v Value) {
	if v.Kind != Null {
		d.seen[hash(v)] = struct{}{}
	}
}
func (d *distinct) Result() Value { return Num(float64(len(d.seen))) }

// sketch estimates distinct values by a HyperLogLog with 2^8 registers. Its raw form is the byte 8, then the registers.
type sketch struct {
	registers  [256]byte
	raw, merge bool
}

func (s *sketch) add(v Value) {
	if v.Kind == Null {
		return
	}
	if s.merge {
		if len(v.Str) == 257 && v.Str[0] == 8 {
			for i := range s.registers {
				s.registers[i] = max(s.registers[i], v.Str[i+1])
			}
		}
		return
	}
	h := hash(v)
	rank := byte(1)
	for rest := h << 8; rest>>63 == 0 && rank < 57; rest <<= 1 {
		rank++
	}
	s.registers[h>>56] = max(s.registers[h>>56], rank)
}

func (s *sketch) Result() Value {
	if s.raw {
		return Str("\x08" + string(s.registers[:]))
	}
	const m = 256.0
	sum, zeros := 0.0, 0.0
	for _, rank := range s.registers {
		sum += math.Pow(2, -float64(rank))
		if rank == 0 {
			zeros++
		}
	}
	estimate := 0.7213 / (1 + 1.079/m) * m * m / sum
	if estimate <= 2.5*m && zeros > 0 {
		estimate = m * math.Log(m/zeros)
	}
	return Num(math.Round(estimate))
}

type total struct {
	sum  float64
	n    int
	mean bool
}

func (t *total) add(v Value) {
	if n, ok := v.Number(); ok {
		t.sum += n
		t.n++
	}
}

func (t *total) Result() Value {
	switch {
	case t.n == 0:
		return Num(math.NaN())
	case t.mean:
		return Num(t.sum / float64(t.n))
	}
	return Num(t.sum)
}

type extreme struct{ best, sign float64 }

func (e *extreme) add(v Value) {
	if n, ok := v.Number(); ok && n*e.sign < e.best*e.sign {
		e.best = n
	}
}
func (e *extreme) Result() Value { return Num(e.best) }

// deviation computes the sample's standard deviation by Welford's method.
type deviation struct{ n, mean, squares float64 }

func (d *deviation) add(v Value) {
	if v.Kind == Array {
		for _, item := range v.Items {
			d.add(item)
		}
		return
	}
	if x, ok := v.Number(); ok {
		d.n++
		delta := x - d.mean
		d.mean += delta / d.n
		d.squares += delta * (x - d.mean)
	}
}

func (d *deviation) Result() Value {
	if d.n < 2 {
		return Num(0)
	}
	return Num(math.Sqrt(d.squares / (d.n - 1)))
}

// list collects distinct values in order of appearance.
type list struct {
	seen  map[string]struct{}
	items []Value
}

func (l *list) add(v Value) {
	switch v.Kind {
	case Null:
	case Array:
		for _, item := range v.Items {
			l.add(item)
		}
	default:
		k := v.key()
		if _, old := l.seen[k]; !old {
			l.seen[k] = struct{}{}
			l.items = append(l.items, v)
		}
	}
}
func (l *list) Result() Value { return List(l.items...) }

// first keeps the value of the row with the least, or the greatest, sort key; of the first row without a key.
type first struct {
	value, by  string
	descending bool
	best, key  Value
	found      bool
}

func parseFirst(r *Reduction, args []string, _ uint64) error {
	if len(args) == 0 {
		return badArgs("FIRST_VALUE", noArgument)
	}
	f := first{value: strings.TrimPrefix(args[0], "@")}
	r.Properties = []string{f.value}
	if len(args) > 1 {
		if !strings.EqualFold(args[1], "BY") || len(args) > 4 {
			return badArgs("FIRST_VALUE", unknownArg)
		}
		if len(args) == 2 {
			return badArgs("FIRST_VALUE", noArgument)
		}
		f.by = strings.TrimPrefix(args[2], "@")
		r.Properties = append(r.Properties, f.by)
		if len(args) == 4 {
			f.descending = strings.EqualFold(args[3], "DESC")
			if !f.descending && !strings.EqualFold(args[3], "ASC") {
				return badArgs("FIRST_VALUE", unknownArg)
			}
		}
	}
	r.New = func() Reducer { own := f; return &own }
	return nil
}

func (f *first) Add(r *Row) {
	v, _ := r.Property(f.value)
	if f.by == "" {
		if !f.found {
			f.best, f.found = v, true
		}
		return
	}
	key, _ := r.Property(f.by)
	better := !f.found
	switch {
	case better:
	case key.Kind == Null:
	case f.key.Kind == Null:
		better = true
	case f.descending:
		better = Compare(key, f.key) > 0
	default:
		better = Compare(key, f.key) < 0
	}
	if better {
		f.best, f.key, f.found = v, key, true
	}
}

func (f *first) Result() Value { return f.best }

// sample keeps some values, each row's with the same probability.
type sample struct {
	size   int
	seen   int64
	items  []Value
	random *rand.Rand
}

func parseSample(r *Reduction, args []string, seed uint64) error {
	if len(args) < 2 {
		return badArgs("RANDOM_SAMPLE", noArgument)
	}
	if len(args) > 2 {
		return badArgs("RANDOM_SAMPLE", unknownArg)
	}
	size, err := strconv.ParseUint(args[1], 10, 32)
	if err != nil {
		return badArgs("RANDOM_SAMPLE", noNumber)
	}
	if size > 1000 {
		return failure("SEARCH_PARSE_ARGS", "Sample size too large")
	}
	property := strings.TrimPrefix(args[0], "@")
	r.Properties = []string{property}
	r.New = func() Reducer {
		return one{&sample{size: int(size), random: rand.New(rand.NewPCG(seed, 0))}, property}
	}
	return nil
}

func (s *sample) add(v Value) {
	s.seen++
	if len(s.items) < s.size {
		s.items = append(s.items, v)
	} else if i := s.random.Int64N(s.seen); i < int64(s.size) {
		s.items[i] = v
	}
}
func (s *sample) Result() Value { return List(s.items...) }

// quantile keeps a sketch of numbers in buffers. An item of a buffer stands for twice as many numbers as an item of the
// buffer before. Up to bufferSize numbers the result is exact.
type quantile struct {
	q       float64
	buffers [][]float64
	odd     bool
}

const bufferSize = 2048

func parseQuantile(r *Reduction, args []string, _ uint64) error {
	if len(args) < 2 {
		return badArgs("QUANTILE", noArgument)
	}
	if len(args) > 3 {
		return badArgs("QUANTILE", unknownArg)
	}
	q, err := strconv.ParseFloat(args[1], 64)
	if err != nil {
		return badArgs("QUANTILE", noNumber)
	}
	if !(q >= 0 && q <= 1) {
		return failure("SEARCH_PARSE_ARGS", "Percentage must be between 0.0 and 1.0")
	}
	if len(args) == 3 {
		resolution, err := strconv.ParseUint(args[2], 10, 32)
		if err != nil {
			return badArgs("QUANTILE", noNumber)
		}
		if resolution < 1 || resolution > 1000 {
			return badArgs("QUANTILE", "Invalid resolution")
		}
	}
	property := strings.TrimPrefix(args[0], "@")
	r.Properties = []string{property}
	r.New = func() Reducer { return one{&quantile{q: q}, property} }
	return nil
}

func (q *quantile) add(v Value) {
	if v.Kind == Array {
		for _, item := range v.Items {
			q.add(item)
		}
		return
	}
	x, ok := v.Number()
	if !ok || math.IsNaN(x) {
		return
	}
	if q.buffers == nil {
		q.buffers = [][]float64{nil}
	}
	q.buffers[0] = append(q.buffers[0], x)
	for level := 0; level < len(q.buffers) && len(q.buffers[level]) > bufferSize; level++ {
		q.compact(level)
	}
}

// compact moves every second item of a full buffer to the next.
func (q *quantile) compact(level int) {
	if level+1 == len(q.buffers) {
		q.buffers = append(q.buffers, nil)
	}
	full := q.buffers[level]
	slices.Sort(full)
	last := full[len(full)-1]
	q.odd = !q.odd
	for i := boolToInt(q.odd); i < len(full)-len(full)%2; i += 2 {
		q.buffers[level+1] = append(q.buffers[level+1], full[i])
	}
	keep := full[:0]
	if len(full)%2 == 1 {
		keep = append(keep, last)
	}
	q.buffers[level] = keep
}

func (q *quantile) Result() Value {
	type item struct{ v, weight float64 }
	var items []item
	sum := 0.0
	for level, buffer := range q.buffers {
		for _, v := range buffer {
			items = append(items, item{v, math.Pow(2, float64(level))})
			sum += items[len(items)-1].weight
		}
	}
	if len(items) == 0 {
		return Num(math.NaN())
	}
	slices.SortFunc(items, func(a, b item) int { return Compare(Num(a.v), Num(b.v)) })
	rank, seen := math.Ceil(q.q*sum), 0.0
	for _, it := range items {
		if seen += it.weight; seen >= rank {
			return Num(it.v)
		}
	}
	return Num(items[len(items)-1].v)
}
