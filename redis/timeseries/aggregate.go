package timeseries

import (
	"math"
	"math/big"
	"strings"
)

// Aggregator names an aggregation. Its number is the one in dump files.
type Aggregator byte

// The aggregators.
const (
	Min Aggregator = 1 + iota
	Max
	Sum
	Avg
	Count
	First
	Last
	Range
	StdP
	StdS
	VarP
	VarS
	TWA // average weighted by time
	CountNaN
	CountAll
)

var aggregatorNames = []string{
	"", "min", "max", "sum", "avg", "count", "first", "last", "range", "std.p", "std.s", "var.p", "var.s", "twa", "countnan", "countall",
}

// String returns the name, in lower case.
func (a Aggregator) String() string { return aggregatorNames[a] }

// ParseAggregator returns the aggregator with a name, in any case.
func ParseAggregator(name string) (a Aggregator, ok bool) {
	for i, own := range aggregatorNames {
		if i > 0 && strings.EqualFold(own, name) {
			return Aggregator(i), true
		}
	}
	return 0, false
}

// Bucket accumulates the samples of a bucket, in order of time.
type Bucket struct {
	all, nan    int64 // samples, and the ones that are NaN
	n           int64 // the others
	sum, square float64
	min, max    float64
	first, last Sample
	area        float64    // of TWA, between first and last
	mean        *big.Float // of Avg, once the sum would overflow; with the precision of an 80-bit float
}

// Add adds the next sample.
func (b *Bucket) Add(s Sample) {
	b.all++
	if math.IsNaN(s.Value) {
		b.nan++
		return
	}
	if b.n == 0 {
		b.first, b.min, b.max = s, math.MaxFloat64, -math.MaxFloat64
	} else {
		b.area += (b.last.Value + s.Value) * float64(s.At-b.last.At) / 2
	}
	b.n++
	b.addMean(s.Value)
	b.sum += s.Value
	b.square += s.Value * s.Value
	if s.Value < b.min {
		b.min = s.Value
	}
	if s.Value > b.max {
		b.max = s.Value
	}
	b.last = s
}

// addMean switches to a running mean when the sum overflows.
func (b *Bucket) addMean(v float64) {
	if b.mean == nil {
		if math.Signbit(b.sum) != math.Signbit(v) || math.Abs(b.sum) <= math.MaxFloat64-math.Abs(v) || math.IsInf(v, 0) || math.IsInf(b.sum, 0) {
			return
		}
		b.mean = extended(b.sum)
		b.mean.Quo(b.mean, extended(float64(b.n-1)))
	}
	if math.IsInf(v, 0) {
		return
	}
	n := extended(float64(b.n))
	kept := new(big.Float).SetPrec(64).Quo(new(big.Float).SetPrec(64).Mul(b.mean, extended(float64(b.n-1))), n)
	b.mean = kept.Add(kept, new(big.Float).SetPrec(64).Quo(extended(v), n))
}

func extended(f float64) *big.Float { return new(big.Float).SetPrec(64).SetFloat64(f) }

// Valid reports whether the aggregator has a result: it has seen a sample that it does not skip.
func (b *Bucket) Valid(a Aggregator) bool {
	switch a {
	case CountNaN, CountAll:
		return b.all > 0
	}
	return b.n > 0
}

// Result returns the result of an aggregator other than TWA, which must be valid.
func (b *Bucket) Result(a Aggregator) float64 {
	switch a {
	case Min:
		return b.min
	case Max:
		return b.max
	case Sum:
		return b.sum
	case Avg:
		return b.average()
	case Count:
		return float64(b.n)
	case First:
		return b.first.Value
	case Last:
		return b.last.Value
	case Range:
		return b.max - b.min
	case StdP:
		return math.Sqrt(b.variance())
	case StdS:
		return math.Sqrt(b.sampleVariance())
	case VarP:
		return b.variance()
	case VarS:
		return b.sampleVariance()
	case CountNaN:
		return float64(b.nan)
	case CountAll:
		return float64(b.all)
	}
	return math.NaN()
}

func (b *Bucket) average() float64 {
	if b.mean != nil {
		f, _ := b.mean.Float64()
		return f
	}
	return b.sum / float64(b.n)
}

func (b *Bucket) variance() float64 {
	n := float64(b.n)
	mean := b.sum / n
	return (b.square - float64(2*b.sum*b.sum/n) + float64(mean*mean*n)) / n
}

func (b *Bucket) sampleVariance() float64 {
	if b.n == 1 {
		return 0
	}
	return float64(b.variance()*float64(b.n)) / float64(b.n-1)
}

// Weighted returns the result of TWA over [from, to], which must be valid. prev and next are the neighbours of the
// samples, nil for none.
func (b *Bucket) Weighted(from, to int64, prev, next *Sample) float64 {
	area, left, right := b.area, b.first.At, b.last.At
	if prev != nil {
		v := interpolate(*prev, b.first, from)
		area += (v + b.first.Value) * float64(b.first.At-from) / 2
		left = from
	}
	if next != nil {
		v := interpolate(b.last, *next, to)
		area += (v + b.last.Value) * float64(to-b.last.At) / 2
		right = to
	}
	if left == right {
		return b.last.Value
	}
	return area / float64(right-left)
}

// interpolate returns the value at t on the line through two samples.
func interpolate(a, b Sample, t int64) float64 {
	return a.Value + float64(float64(t-a.At)*(b.Value-a.Value))/float64(b.At-a.At)
}

// EmptyResult returns the result of an aggregator for [from, to], which has no samples. prev and next are the
// neighbours, nil for none.
func EmptyResult(a Aggregator, from, to int64, prev, next *Sample) float64 {
	switch {
	case a == Sum || a == Count || a == CountNaN || a == CountAll:
		return 0
	case a == Last && prev != nil:
		return prev.Value
	case a == TWA && prev != nil && next != nil:
		return (interpolate(*prev, *next, from) + interpolate(*prev, *next, to)) / 2
	}
	return math.NaN()
}
