package histogram

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// TestDistribution compares with the sorted times.
func TestDistribution(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var l Distribution
	var all []time.Duration
	var sum time.Duration
	for range 10_000 {
		d := time.Duration(r.ExpFloat64() * 3e5)
		l.Add(d)
		all = append(all, d)
		sum += d
	}
	slices.Sort(all)
	if l.Min != all[0] || l.Max != all[len(all)-1] || l.Mean() != (sum+5_000)/10_000 || l.N != 10_000 {
		t.Errorf("min %v, max %v, mean %v of %d", l.Min, l.Max, l.Mean(), l.N)
	}
	for _, q := range []float64{0.001, 0.1, 0.5, 0.9, 0.99, 0.999, 1} {
		got, want := l.Quantile(q), all[int(q*10_000)-1]
		if got < want || float64(got) > float64(want)*1.04+1 {
			t.Errorf("quantile %v is %v, want %v", q, got, want)
		}
	}
	var one Distribution
	if one.Mean() != 0 || one.Quantile(0.5) != 0 {
		t.Error("nothing has a latency")
	}
	one.Add(1<<62 + 1)
	if one.Quantile(0.5) != 1<<62+1 {
		t.Errorf("the quantile of one time is %v", one.Quantile(0.5))
	}
}
