package inverted

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"
)

// TestProducts compares the products of vectors of any length with sums in float64.
func TestProducts(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for dim := range 40 {
		q, v := make([]float64, dim), make([]float64, dim)
		var product, square, norm float64
		for i := range dim {
			q[i], v[i] = float64(float32(random.NormFloat64())), float64(float32(random.NormFloat64()))
			product, square, norm = product+q[i]*v[i], square+v[i]*v[i], norm+q[i]*q[i]
		}
		for metric, want := range map[string]float64{"IP": 1 - product, "COSINE": 1 - product/math.Sqrt(square*norm)} {
			if dim == 0 { // the angle to an empty vector is 1
				want = 1
			}
			d := NewDistance(VectorOptions{DataType: "FLOAT32", Metric: metric, Dim: dim}, EncodeVector("FLOAT32", q))
			if got := d.To(EncodeVector("FLOAT32", v)); math.Abs(got-want) > 1e-5*(1+math.Abs(want)) {
				t.Errorf("%s of %d numbers: %v, want %v", metric, dim, got, want)
			}
		}
	}
}

// TestLanes compares the products of the processor's four lanes with Go's, bit by bit. A vector may begin at any byte.
func TestLanes(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	bits := func(lanes [4]float32) (all [4]uint32) {
		for i, f := range lanes {
			all[i] = math.Float32bits(f)
		}
		return all
	}
	for n := 0; n <= 400; n += 4 {
		a, b := make([]float32, n), make([]byte, n%7)
		for i := range a {
			a[i] = float32(random.NormFloat64())
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(random.NormFloat64()*math.Pow(2, random.Float64()*40-20))))
		}
		ab, bb := laneProducts(a, b[n%7:])
		if goAB, goBB := goLaneProducts(a, b[n%7:]); bits(ab) != bits(goAB) || bits(bb) != bits(goBB) {
			t.Errorf("%d numbers: %v %v, Go has %v %v", n, ab, bb, goAB, goBB)
		}
	}
}
