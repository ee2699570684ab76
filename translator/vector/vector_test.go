package vector

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestRecords compares with the replies of redis-server 8.0.2 to VEMB and VEMB RAW.
func TestRecords(t *testing.T) {
	for _, tt := range []struct {
		kind   Kind
		v      []float32
		parts  string
		length float32
		scale  float32
		back   []float32
	}{
		{Int8, []float32{1, 2, 0.5}, "3f7f20", 2.291287899017334, 0.8728715181350708, []float32{0.992125928401947, 2, 0.5039370059967041}},
		{Int8, []float32{-1, 2, 0.1}, "c07f06", 2.2383029460906982, 0.8935341238975525, []float32{-1.0078740119934082, 2, 0.09448819607496262}},
		{Int8, []float32{0, 0, 0}, "000000", 1, 0, []float32{0, 0, 0}},
		{F32, []float32{-1, 2, 0.1}, "a7bee4bea7be643fecfe363d", 2.2383029460906982, 0, []float32{-1, 2, 0.10000000149011612}},
		{F32, []float32{0, 0, 0}, "000000000000000000000000", 1, 0, []float32{0, 0, 0}},
		{Bin, []float32{-1, 2, 0.1}, "0600000000000000", 2.2383029460906982, 0, []float32{-1, 1, 1}},
	} {
		r := tt.kind.Encode(tt.v)
		if len(r) != tt.kind.Size(len(tt.v)) {
			t.Errorf("%s of %v: %d bytes", tt.kind, tt.v, len(r))
		}
		if got := fmt.Sprintf("%x", Components(r)); got != tt.parts || Length(r) != tt.length || Range(r) != tt.scale {
			t.Errorf("%s of %v: %s, length %v, range %v", tt.kind, tt.v, got, Length(r), Range(r))
		}
		if back := tt.kind.Decode(r, len(tt.v)); !slices.Equal(back, tt.back) {
			t.Errorf("%s of %v is read as %v", tt.kind, tt.v, back)
		}
	}
}

// TestPackedProduct compares products of eight at a time with products one by one, up to the largest possible values.
func TestPackedProduct(t *testing.T) {
	for _, dim := range []int{0, 1, 7, 8, 9, 384, 1001, 1 << 16} {
		for _, fill := range []func() int8{
			func() int8 { return int8(rand.IntN(256) - 128) }, func() int8 { return 127 }, func() int8 { return -128 }, func() int8 { return 0 },
		} {
			a, b := make([]byte, dim), make([]byte, dim)
			var want int32
			for i := range dim {
				x, y := fill(), int8(-127)
				if i%3 > 0 {
					y = fill()
				}
				a[i], b[i] = byte(x), byte(y)
				want += int32(x) * int32(y)
			}
			if p := pack(a); p.dot(b) != want {
				t.Fatalf("%d components: %d, want %d", dim, p.dot(b), want)
			}
		}
	}
}

func TestDistances(t *testing.T) {
	inf := float32(math.Inf(1))
	for _, tt := range []struct {
		kind Kind
		a, b []float32
		want float32
	}{
		{F32, []float32{1, 0}, []float32{0, 5}, 1}, {F32, []float32{1, 0}, []float32{-3, 0}, 2}, {F32, []float32{1, 0}, []float32{7, 0}, 0},
		{Int8, []float32{1, 0}, []float32{-3, 0}, 2}, {Int8, []float32{1, 0}, []float32{0, 0}, 1}, {Int8, []float32{inf, 0}, []float32{1, 0}, 1},
		{Bin, []float32{1, 1, -1}, []float32{1, -1, -1}, 2.0 / 3}, {Bin, make([]float32, 64), make([]float32, 64), 0},
	} {
		q := tt.kind.Query(tt.a)
		if got := q.Distance(tt.kind.Encode(tt.b)); got != tt.want {
			t.Errorf("%s %v %v: %v", tt.kind, tt.a, tt.b, got)
		}
	}
}

func TestParse(t *testing.T) {
	v := []float32{1, -2.5, float32(math.Inf(-1))}
	if got, ok := Parse(Format(v)); !ok || !slices.Equal(got, v) {
		t.Errorf("%v %v", got, ok)
	}
	for _, b := range []string{"", "abc", "abcde"} {
		if _, ok := Parse([]byte(b)); ok {
			t.Errorf("%q is read", b)
		}
	}
}

// BenchmarkDistance compares vectors of 384 components.
func BenchmarkDistance(b *testing.B) {
	for _, k := range []Kind{F32, Int8, Bin} {
		b.Run(k.String(), func(b *testing.B) {
			v := make([]float32, 384)
			for i := range v {
				v[i] = rand.Float32() - 0.5
			}
			q, r := k.Query(v), k.Encode(v)
			for b.Loop() {
				q.Distance(r)
			}
		})
	}
}

// TestSource encodes the results of Source and Unproject to the original records.
func TestSource(t *testing.T) {
	draw := rand.New(rand.NewPCG(3, 4))
	for _, dim := range []int{1, 2, 3, 16, 100} {
		for range 500 {
			v := make([]float32, dim)
			for i := range v {
				v[i] = float32(draw.NormFloat64()) * 5
			}
			for _, k := range []Kind{F32, Int8, Bin} {
				r := k.Encode(v)
				again := k.Encode(k.Source(r, dim))
				if k != F32 && !slices.Equal(Components(r), Components(again)) || !near(Length(r), Length(again)) || !near(Range(r), Range(again)) {
					t.Fatalf("%s of %v:\n%x %v %v\n%x %v %v", k, v, Components(r), Length(r), Range(r), Components(again), Length(again), Range(again))
				}
			}
			for _, reduced := range []int{1, dim, (dim + 1) / 2, dim + 3} {
				want := Project(v, reduced)
				for i, f := range Project(Unproject(want, dim), reduced) {
					if math.Abs(float64(f-want[i])) > 1e-4 {
						t.Fatalf("%v reduced to %d: component %d is %v, want %v", v, reduced, i, f, want[i])
					}
				}
			}
		}
	}
}

func near(a, b float32) bool { return math.Abs(float64(a-b)) <= 1e-5*math.Abs(float64(a)) }
