package timeseries

import (
	"math"
	"slices"
)

// Row is a row of a range query: a sample, or the results of a bucket, one for each aggregator.
type Row struct {
	At     int64
	Values []float64
}

// BucketTime is the time that stands for a bucket.
type BucketTime byte

// The times of a bucket.
const (
	AtStart BucketTime = iota
	AtMiddle
	AtEnd
)

// Buckets aggregates samples, given in order of time.
type Buckets struct {
	Aggregators []Aggregator
	Duration    int64 // ms, above 0
	Align       int64
	Time        BucketTime
	Empty       bool  // rows for buckets without samples, too
	From, To    int64 // the range of the query

	// Before and After are the nearest samples outside the range that are not NaN, nil for none.
	Before, After *Sample

	// Emit receives the rows in order, and returns false when it needs no more.
	Emit func(Row) bool

	openBucket
	done    bool
	pending []Sample // NaN
}

// openBucket is the bucket that receives samples.
type openBucket struct {
	open   bool
	start  int64 // of the open bucket
	bucket Bucket
	prev   *Sample // the last sample before the bucket that is not NaN
}

// Add adds the next sample. It returns false when no more are needed.
func (b *Buckets) Add(s Sample) bool {
	if math.IsNaN(s.Value) && (b.Empty || slices.Contains(b.Aggregators, TWA)) {
		b.pending = append(b.pending, s) // results before it depend on the next sample that is not NaN
		return !b.done
	}
	b.addPending(&s)
	b.add(s, &s)
	return !b.done
}

// addPending adds the samples that wait for next.
func (b *Buckets) addPending(next *Sample) {
	for _, s := range b.pending {
		b.add(s, next)
	}
	b.pending = b.pending[:0]
}

// add adds a sample. next is the first sample from it on that is not NaN, nil for none.
func (b *Buckets) add(s Sample, next *Sample) {
	if b.done {
		return
	}
	start := BucketStart(s.At, b.Align, b.Duration)
	switch {
	case !b.open:
		b.prev = b.Before
		if b.Before != nil && next != nil {
			b.fill(BucketStart(b.From, b.Align, b.Duration), start, next)
		}
		b.begin(start)
	case start != b.start:
		b.close(next)
		b.fill(b.start+b.Duration, start, next)
		b.begin(start)
	}
	b.bucket.Add(s)
}

func (b *Buckets) begin(start int64) { b.open, b.start, b.bucket = true, start, Bucket{} }

// Close ends the last bucket.
func (b *Buckets) Close() {
	if b.addPending(b.After); b.done {
		return
	}
	first, last := BucketStart(b.From, b.Align, b.Duration), BucketStart(b.To, b.Align, b.Duration)
	if !b.open {
		if b.prev = b.Before; b.Before != nil && b.After != nil {
			b.fill(first, last+b.Duration, b.After)
		}
		return
	}
	b.close(b.After)
	if b.After != nil {
		b.fill(b.start+b.Duration, last+b.Duration, b.After)
	}
}

// close emits the open bucket, whose next sample is next.
func (b *Buckets) close(next *Sample) {
	at := Row{At: b.timeOf(b.start), Values: make([]float64, len(b.Aggregators))}
	from, to := b.clip(b.start)
	any := false
	for i, a := range b.Aggregators {
		switch {
		case !b.bucket.Valid(a):
			at.Values[i] = EmptyResult(a, from, to, b.prev, next)
			continue
		case a == TWA:
			at.Values[i] = b.bucket.Weighted(from, to, b.prev, next)
		default:
			at.Values[i] = b.bucket.Result(a)
		}
		any = true
	}
	if any || b.Empty {
		b.emit(at)
	}
	if b.bucket.n > 0 {
		last := b.bucket.last
		b.prev = &last
	}
}

// fill emits the buckets from start up to end, which have no samples. next is the sample after them.
func (b *Buckets) fill(start, end int64, next *Sample) {
	if !b.Empty {
		return
	}
	for ; start < end && !b.done; start += b.Duration {
		from, to := b.clip(start)
		r := Row{At: b.timeOf(start), Values: make([]float64, len(b.Aggregators))}
		for i, a := range b.Aggregators {
			r.Values[i] = EmptyResult(a, from, to, b.prev, next)
		}
		b.emit(r)
	}
}

// clip returns the part of a bucket that lies in the range.
func (b *Buckets) clip(start int64) (from, to int64) {
	return max(start, b.From), min(start+b.Duration, b.To)
}

func (b *Buckets) emit(r Row) {
	b.done = !b.Emit(r)
}

// timeOf returns the time that stands for a bucket. A bucket that begins below 0 is shown from 0.
func (b *Buckets) timeOf(start int64) int64 {
	start = max(start, 0)
	switch b.Time {
	case AtMiddle:
		return start + b.Duration/2
	case AtEnd:
		return start + b.Duration
	}
	return start
}
