package timeseries_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/meowdis/meowdis/redis/timeseries"
)

// TestFormatValue compares with the examples of redis.io/docs/latest/develop/data-types/timeseries/ and the rules of the
// number formatter that the module uses.
func TestFormatValue(t *testing.T) {
	for f, want := range map[float64]string{
		0.74: "7.4E-1", 0.1: "1E-1", 0.015: "1.5E-2", 100: "100", 2.5: "2.5", 1 << 52: "4503599627370496", 5e15: "5E15", 1e20: "1E20",
		1.2345678901234568e17: "1.2345678901234568E17", -5e300: "-5E300", 1e-300: "1E-300",
		math.Inf(1): "Infinity", math.Inf(-1): "-Infinity", 0: "0", math.Copysign(0, -1): "-0",
	} {
		if got := timeseries.FormatValue(f); got != want {
			t.Errorf("%g: %s, want %s", f, got, want)
		}
	}
	if got := timeseries.FormatValue(math.NaN()); got != "NaN" {
		t.Error(got)
	}
}

func TestParseValue(t *testing.T) {
	for text, want := range map[string]bool{
		"1": true, "-1": true, "0": true, "-0.5e+7": true, "1e5": true, "nan": true, "+NaN": true, "-nan": true,
		"": false, "+1": false, ".5": false, "5.": false, "01": false, "0x1": false, "inf": false, "1e999": false, " 1": false, "1 ": false, "--1": false, "nanx": false, "-+nan": false,
	} {
		if _, ok := timeseries.ParseValue(text); ok != want {
			t.Errorf("%q: %t", text, ok)
		}
	}
}

// TestChunk compresses random samples until a chunk is full, and reads them back.
func TestChunk(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		c := timeseries.NewChunk(48 + 8*r.IntN(60))
		var all []timeseries.Sample
		s := timeseries.Sample{At: r.Int64N(1 << 40), Value: 20}
		for {
			before := slices.Clone(c.Data)
			at := *c
			if !c.Append(s) {
				if !slices.Equal(before, c.Data) || at.Position != c.Position || at.Samples != c.Samples {
					t.Fatalf("seed %d: a sample that does not fit changes the chunk", seed)
				}
				break
			}
			all = append(all, s)
			s.At += 1 + r.Int64N(1<<(1+r.IntN(40)))
			switch r.IntN(4) {
			case 0:
				s.Value = math.Float64frombits(r.Uint64())
			case 1:
				s.Value = math.NaN()
			case 2:
				s.Value += float64(r.IntN(10))
			}
		}
		got, ok := c.Decode()
		same := func(a, b timeseries.Sample) bool {
			return a.At == b.At && (a.Value == b.Value || a.Value != a.Value && b.Value != b.Value)
		}
		if !ok || !slices.EqualFunc(got, all, same) {
			t.Fatalf("seed %d: %v %v, want %v", seed, ok, got, all)
		}
	}
}

// FuzzChunk decodes chunks with random bits. None may panic, and what it returns is in order.
func FuzzChunk(f *testing.F) {
	f.Add(uint64(3), uint64(40), int64(1), uint64(7), []byte("\x01\x02\x03\x04\x05\x06\x07\x08"))
	f.Fuzz(func(t *testing.T, samples, position uint64, first int64, value uint64, data []byte) {
		c := timeseries.Chunk{Samples: samples, Position: position, Data: data}
		c.First = timeseries.Sample{At: first, Value: math.Float64frombits(value)}
		if all, ok := c.Decode(); ok && !slices.IsSortedFunc(all, func(a, b timeseries.Sample) int { return int(a.At - b.At) }) {
			t.Error(all)
		}
	})
}
