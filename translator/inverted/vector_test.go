package inverted

import (
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
