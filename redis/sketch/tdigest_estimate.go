package sketch

import "math"

// walk finds values at growing ranks.
type walk struct {
	d     *TDigest
	sofar float64
	k     int64
}

func (d *TDigest) walk() walk { return walk{d: d, sofar: float64(d.weight(0)) / 2} }

// at returns the value at an index among the observations. There are at least two nodes.
func (w *walk) at(index float64) float64 {
	d, last := w.d, w.d.Merged-1
	total := float64(d.MergedWeight)
	first, end := float64(d.weight(0)), float64(d.weight(last))
	switch {
	case first > 1 && index < first/2:
		return d.Min + float64((index-1)/(first/2-1)*(d.mean(0)-d.Min))
	case index > total-1:
		return d.Max
	case end > 1 && total-index <= end/2:
		return d.Max - float64((total-index-1)/(end/2-1)*(d.Max-d.mean(last)))
	}
	for ; w.k < last; w.k++ {
		left, right := float64(d.weight(w.k)), float64(d.weight(w.k+1))
		between := (left + right) / 2
		if w.sofar+between <= index {
			w.sofar += between
			continue
		}
		cutLeft, cutRight := 0.0, 0.0
		if left == 1 {
			if index-w.sofar < 0.5 {
				return d.mean(w.k)
			}
			cutLeft = 0.5
		}
		if right == 1 {
			if w.sofar+between-index <= 0.5 {
				return d.mean(w.k + 1)
			}
			cutRight = 0.5
		}
		return average(d.mean(w.k), w.sofar+between-index-cutRight, d.mean(w.k+1), index-w.sofar-cutLeft)
	}
	z1 := index - total - end/2
	return average(d.mean(last), z1, d.Max, end/2-z1)
}

// Quantiles returns the values at quantiles, which are between 0 and 1. The digest must be compressed.
func (d *TDigest) Quantiles(quantiles []float64, step func(int)) []float64 {
	out := make([]float64, len(quantiles))
	w := d.walk()
	for i, q := range quantiles {
		if i > 0 && q < quantiles[i-1] {
			w = d.walk()
		}
		before := w.k
		switch d.Merged {
		case 0:
			out[i] = math.NaN()
		case 1:
			out[i] = d.mean(0)
		default:
			out[i] = w.at(q * float64(d.MergedWeight))
		}
		step(int(w.k-before) + 1)
	}
	return out
}

// quantile returns the value at one quantile.
func (d *TDigest) quantile(q float64) float64 {
	index := q * float64(d.MergedWeight)
	switch {
	case d.Merged == 0 || q < 0 || q > 1:
		return math.NaN()
	case d.Merged == 1:
		return d.mean(0)
	case index < 1:
		return d.Min
	}
	w := d.walk()
	return w.at(index)
}

// ByRank returns the value with r smaller ones. The digest must be compressed.
func (d *TDigest) ByRank(r int64, reverse bool) float64 {
	size := float64(d.Size())
	switch {
	case d.Size() == 0:
		return math.NaN()
	case r == 0 && reverse:
		return d.Max
	case r == 0:
		return d.Min
	case r >= d.Size() && reverse:
		return math.Inf(-1)
	case r >= d.Size():
		return math.Inf(1)
	case reverse:
		return d.quantile((size - float64(r) - 1) / size)
	}
	return d.quantile(float64(r) / size)
}

// CDF returns the fraction of observations up to v. The digest must be compressed.
func (d *TDigest) CDF(v float64) float64 {
	total, last := float64(d.MergedWeight), d.Merged-1
	switch {
	case d.Merged == 0:
		return math.NaN()
	case v < d.Min:
		return 0
	case v > d.Max:
		return 1
	case d.Merged == 1:
		if width := d.Max - d.Min; v-d.Min > width {
			return (v - d.Min) / width
		}
		return 0.5
	case v < d.mean(0):
		return d.lowTail(v)
	case v > d.mean(last):
		return 1 - d.highTail(v)
	}
	sofar := 0.0
	for i := range last {
		mean, weight := d.mean(i), float64(d.weight(i))
		if mean == v {
			equal := 0.0
			for ; i < d.Merged && d.mean(i) == v; i++ {
				equal += float64(d.weight(i))
			}
			return (sofar + equal/2) / total
		}
		if mean <= v && v < d.mean(i+1) {
			return d.observedUpTo(v, i, sofar) / total
		}
		sofar += weight
	}
	return 1 - 0.5/total
}

// observedUpTo estimates the observations up to v, which is between centroid i and the next one. Those before i count
// sofar.
func (d *TDigest) observedUpTo(v float64, i int64, sofar float64) float64 {
	mean, weight := d.mean(i), float64(d.weight(i))
	next, right := d.mean(i+1), float64(d.weight(i+1))
	if weight == 1 && right == 1 {
		return sofar + 1
	}
	cutLeft, cutRight := 0.0, 0.0
	if weight == 1 {
		cutLeft = 0.5
	} else if right == 1 {
		cutRight = 0.5
	}
	between := (weight + right) / 2
	return sofar + weight/2 + cutLeft + float64((between-cutLeft-cutRight)*(v-mean))/(next-mean)
}

// lowTail returns the fraction of observations up to v, which is below the first mean.
func (d *TDigest) lowTail(v float64) float64 {
	total, width := float64(d.MergedWeight), d.mean(0)-d.Min
	switch {
	case width <= 0:
		return 0
	case v == d.Min:
		return 0.5 / total
	}
	return (1 + float64((v-d.Min)/width*(float64(d.weight(0))/2-1))) / total
}

// highTail returns the fraction of observations beyond v, which is above the last mean.
func (d *TDigest) highTail(v float64) float64 {
	last := d.Merged - 1
	total, width := float64(d.MergedWeight), d.Max-d.mean(last)
	switch {
	case width <= 0:
		return 0
	case v == d.Max:
		return 0.5 / total
	}
	return (1 + float64((d.Max-v)/width*(float64(d.weight(last))/2-1))) / total
}

// The ranks of values outside the observations.
const (
	rankEmpty  = -2
	rankBefore = -1
)

// Rank returns the number of observations below v, and half of the equal ones.
func (d *TDigest) Rank(v float64) int64 {
	switch {
	case d.Size() == 0:
		return rankEmpty
	case v < d.Min:
		return rankBefore
	case v > d.Max:
		return d.Size()
	}
	return halfDown(d.CDF(v) * float64(d.Size()))
}

// RevRank returns the number of observations above v, and half of the equal ones.
func (d *TDigest) RevRank(v float64) int64 {
	switch {
	case d.Size() == 0:
		return rankEmpty
	case v < d.Min:
		return d.Size()
	case v > d.Max:
		return rankBefore
	}
	rank := d.CDF(v) * float64(d.Size())
	if math.IsNaN(rank) {
		return math.MinInt64
	}
	return int64(math.Round(float64(d.Size()) - math.Round(rank)))
}

// halfDown rounds to the nearest integer, a half towards zero. Like C on x86, it returns the least integer for NaN.
func halfDown(f float64) int64 {
	if math.IsNaN(f) {
		return math.MinInt64
	}
	return int64(math.Copysign(math.Ceil(math.Abs(f)-0.5), f))
}

// NeedsNodes reports whether the rank of v depends on the nodes.
func (d *TDigest) NeedsNodes(v float64) bool { return d.Size() > 0 && v >= d.Min && v <= d.Max }

// TrimmedMean returns the mean of the observations between two quantiles. The digest must be compressed.
func (d *TDigest) TrimmedMean(low, high float64, step func(int)) float64 {
	switch d.Merged {
	case 0:
		return math.NaN()
	case 1:
		return d.mean(0)
	}
	total := float64(d.MergedWeight)
	from, to := math.Floor(total*low), math.Ceil(total*high)
	done, sum, count := 0.0, 0.0, 0.0
	for i := int64(0); i < d.Merged && done < to; i++ {
		step(1)
		weight := float64(d.weight(i))
		part := weight - min(max(0, from-done), weight)
		part = min(max(0, to-done), part)
		done += weight
		sum += float64(d.mean(i) * part)
		count += part
	}
	return sum / count
}
