package vector

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// Query is a vector prepared for comparisons with records.
type Query struct {
	kind  Kind
	dim   int
	scale float32   // of Int8
	f32   []float32 // of F32
	int8  packed
	bin   []uint64
}

// Query prepares v for comparisons with records of the kind. It quantises v as the records are.
func (k Kind) Query(v []float32) Query { return k.QueryRecord(k.Encode(v), len(v)) }

// QueryRecord prepares a record of dim components for comparisons with other records.
func (k Kind) QueryRecord(record []byte, dim int) Query {
	q := Query{kind: k, dim: dim, scale: Range(record)}
	b := Components(record)
	switch k {
	case F32:
		q.f32, _ = Parse(b)
	case Int8:
		q.int8 = pack(b)
	case Bin:
		for ; len(b) > 0; b = b[8:] {
			q.bin = append(q.bin, binary.LittleEndian.Uint64(b))
		}
	}
	return q
}

// Distance returns the cosine distance to the vector of a record: 0 for the same direction, 1 for a right angle, 2 for
// the opposite direction.
func (q *Query) Distance(record []byte) float32 {
	switch q.kind {
	case F32:
		return 1 - dotFloats(q.f32, Components(record))
	case Int8:
		return q.distanceInt8(record)
	}
	differ, b := 0, Components(record)
	for i, word := range q.bin {
		differ += bits.OnesCount64(word ^ binary.LittleEndian.Uint64(b[8*i:]))
	}
	return float32(differ) * 2 / float32(q.dim)
}

// dotFloats adds the products in Redis's order: groups of four first, then even groups and odd groups separately. Each
// product is converted explicitly, since some machines would otherwise add it without rounding.
func dotFloats(a []float32, b []byte) float32 {
	var even, odd float32
	for len(a) >= 8 && len(b) >= 32 {
		x, y := (*[8]float32)(a), (*[32]byte)(b)
		first := float32(x[0]*float(y[0:4])) + float32(x[1]*float(y[4:8]))
		second := float32(x[4]*float(y[16:20])) + float32(x[5]*float(y[20:24]))
		first += float32(x[2] * float(y[8:12]))
		second += float32(x[6] * float(y[24:28]))
		first += float32(x[3] * float(y[12:16]))
		second += float32(x[7] * float(y[28:32]))
		even += first
		odd += second
		a, b = a[8:], b[32:]
	}
	for i, f := range a {
		even += float32(f * float(b[4*i:]))
	}
	return even + odd
}

func float(b []byte) float32 { return math.Float32frombits(binary.LittleEndian.Uint32(b)) }

func (q *Query) distanceInt8(record []byte) float32 {
	scale := Range(record)
	if q.scale == 0 || scale == 0 {
		return 1
	}
	scale = float32(q.scale/127) * float32(scale/127)
	d := 1 - float32(scale*float32(q.int8.dot(Components(record))))
	return min(max(d, 0), 2)
}

// packed holds an int8 vector for multiplying eight components at a time with four 64-bit multiplications. The upper
// half of each product is the sum of two products of components.
type packed struct {
	words []int64 // component i and, 32 bits lower, i+4; for i from 0 to 3 of every eight
	rest  []int8  // the last components, fewer than eight
	sum   int32   // of the components in words
}

func pack(v []byte) packed {
	var p packed
	for ; len(v) >= 8; v = v[8:] {
		for i := range 4 {
			high, low := int64(int8(v[i])), int64(int8(v[i+4]))
			p.words = append(p.words, high<<32+low)
			p.sum += int32(high + low)
		}
	}
	for _, b := range v {
		p.rest = append(p.rest, int8(b))
	}
	return p
}

// dot returns the dot product of p and b. It reads the bytes of b as unsigned, each 128 too large. Neither half of the
// sum overflows with 65536 components: each half stays below 2^31.
func (p *packed) dot(b []byte) int32 {
	const flip, lanes = 0x8080808080808080, 0x000000ff000000ff
	var all int64
	words := p.words
	for len(words) >= 4 && len(b) >= 8 {
		four, eight := (*[4]int64)(words), binary.LittleEndian.Uint64(b)^flip
		all += int64(eight&lanes)*four[0] + int64(eight>>8&lanes)*four[1] +
			int64(eight>>16&lanes)*four[2] + int64(eight>>24&lanes)*four[3]
		words, b = words[4:], b[8:]
	}
	sum := int32((all-int64(int32(all)))>>32) - 128*p.sum
	for i, n := range p.rest {
		sum += int32(n) * int32(int8(b[i]))
	}
	return sum
}

// Similarity converts a distance: 1 for the same direction, 0 for the opposite one.
func Similarity(distance float32) float64 { return 1 - float64(distance)/2 }

// Project reduces v to dim components. Each one is the sum of the components of v, with signs that depend only on their
// index (the rows of a Hadamard matrix), divided by the square root of their number.
func Project(v []float32, dim int) []float32 {
	out := make([]float32, dim)
	scale := Weight(len(v))
	for i := range out {
		var sum float32
		for j, f := range v {
			if odd(i, j) {
				f = -f
			}
			sum += float32(scale * f)
		}
		out[i] = sum
	}
	return out
}

// Matrix returns the matrix that Project multiplies by to reduce vectors of from components to dim, as little-endian
// floats, in rows of from.
func Matrix(from, dim int) []byte {
	m, weight := make([]float32, 0, from*dim), Weight(from)
	for i := range dim {
		for j := range from {
			if odd(i, j) {
				m = append(m, -weight)
			} else {
				m = append(m, weight)
			}
		}
	}
	return Format(m)
}

// IsMatrix reports whether little-endian floats, in rows of dim, are the matrix that Project multiplies by to reduce
// vectors of dim components.
func IsMatrix(b []byte, dim int) bool {
	m, ok := Parse(b)
	weight := Weight(dim)
	for n, f := range m {
		want := weight
		if odd(n/dim, n%dim) {
			want = -weight
		}
		ok = ok && math.Abs(float64(f-want)) <= 1e-6
	}
	return ok && len(m)%dim == 0
}

// odd reports whether the sign at row i and column j is a minus.
func odd(i, j int) bool { return bits.OnesCount32(uint32(i)&uint32(j))%2 != 0 }

// Weight returns the absolute value of every number in the matrix that reduces vectors of dim components.
func Weight(dim int) float32 { return float32(1 / math.Sqrt(float64(dim))) }
