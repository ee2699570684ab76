package inverted

import (
	"encoding/binary"
	"math"
)

// EncodeVector returns a vector as the bytes of a type of elements.
func EncodeVector(dataType string, v []float64) []byte {
	out := make([]byte, 0, len(v)*elementSizes[dataType])
	for _, f := range v {
		switch dataType {
		case "FLOAT32":
			out = binary.LittleEndian.AppendUint32(out, math.Float32bits(float32(f)))
		case "FLOAT64":
			out = binary.LittleEndian.AppendUint64(out, math.Float64bits(f))
		case "FLOAT16":
			out = binary.LittleEndian.AppendUint16(out, half(float32(f)))
		case "BFLOAT16":
			out = binary.LittleEndian.AppendUint16(out, brain(float32(f)))
		case "INT8":
			out = append(out, byte(int8(max(-128, min(127, f)))))
		default:
			out = append(out, byte(max(0, min(255, f))))
		}
	}
	return out
}

// DecodeVector appends the elements of a vector to out.
func DecodeVector(dataType string, b []byte, out []float32) []float32 {
	switch dataType {
	case "FLOAT32":
		for ; len(b) >= 4; b = b[4:] {
			out = append(out, math.Float32frombits(binary.LittleEndian.Uint32(b)))
		}
	case "FLOAT64":
		for ; len(b) >= 8; b = b[8:] {
			out = append(out, float32(math.Float64frombits(binary.LittleEndian.Uint64(b))))
		}
	case "FLOAT16":
		for ; len(b) >= 2; b = b[2:] {
			out = append(out, fromHalf(binary.LittleEndian.Uint16(b)))
		}
	case "BFLOAT16":
		for ; len(b) >= 2; b = b[2:] {
			out = append(out, math.Float32frombits(uint32(binary.LittleEndian.Uint16(b))<<16))
		}
	case "INT8":
		for _, e := range b {
			out = append(out, float32(int8(e)))
		}
	default:
		for _, e := range b {
			out = append(out, float32(e))
		}
	}
	return out
}

// brain rounds to the nearest BFLOAT16.
func brain(f float32) uint16 {
	bits := math.Float32bits(f)
	return uint16((bits + 0x7fff + bits>>16&1) >> 16)
}

// half rounds to the nearest IEEE half.
func half(f float32) uint16 {
	bits := math.Float32bits(f)
	sign := uint16(bits >> 16 & 0x8000)
	switch exp := int(bits>>23&0xff) - 112; {
	case bits&0x7fffffff > 0x7f800000:
		return sign | 0x7e00
	case exp >= 31:
		return sign | 0x7c00
	case exp <= 0:
		if exp < -10 {
			return sign
		}
		m := bits&0x7fffff | 0x800000
		shift := uint(14 - exp)
		return sign | uint16((m+1<<(shift-1)-1+m>>shift&1)>>shift)
	default:
		v := uint32(exp)<<10 | bits&0x7fffff>>13
		rest := bits & 0x1fff
		if rest > 0x1000 || rest == 0x1000 && v&1 == 1 {
			v++
		}
		return sign | uint16(v)
	}
}

func fromHalf(h uint16) float32 {
	sign, exp, m := uint32(h&0x8000)<<16, uint32(h>>10&31), uint32(h&0x3ff)
	switch {
	case exp == 31:
		return math.Float32frombits(sign | 0x7f800000 | m<<13)
	case exp == 0:
		f := float32(m) / (1 << 24)
		if sign != 0 {
			f = -f
		}
		return f
	}
	return math.Float32frombits(sign | (exp+112)<<23 | m<<13)
}

// Distance computes distances from a query.
type Distance struct {
	dataType, metric string
	query, other     []float32
	norm             float64
}

// NewDistance prepares distances from query, which has the size of the field's vectors.
func NewDistance(v VectorOptions, query []byte) *Distance {
	d := &Distance{dataType: v.DataType, metric: v.Metric, query: DecodeVector(v.DataType, query, nil)}
	d.norm = math.Sqrt(float64(dot(d.query, d.query)))
	return d
}

func float32At(b []byte) float32 { return math.Float32frombits(binary.LittleEndian.Uint32(b)) }

// products returns the inner products of a and the FLOAT32 vector b, and of b and itself, in four lanes as dot.
func products(a []float32, b []byte) (ab, bb float32) {
	n := len(a) &^ 3
	s, t := laneProducts(a[:n], b[:4*n])
	for i := n; i < len(a); i++ {
		f := float32At(b[4*i:])
		s[0], t[0] = s[0]+a[i]*f, t[0]+f*f
	}
	return s[0] + s[1] + s[2] + s[3], t[0] + t[1] + t[2] + t[3]
}

// goLaneProducts adds a[i]*b[i] to lane i%4 of ab, and b[i]*b[i] to the same lane of bb. The vectors have the same length, a
// multiple of 4.
func goLaneProducts(a []float32, b []byte) (ab, bb [4]float32) {
	var s0, s1, s2, s3, t0, t1, t2, t3 float32
	for len(a) >= 4 && len(b) >= 16 {
		x, y := (*[4]float32)(a), (*[16]byte)(b) // whose lengths the compiler knows
		b0, b1, b2, b3 := float32At(y[0:]), float32At(y[4:]), float32At(y[8:]), float32At(y[12:])
		s0, t0 = s0+x[0]*b0, t0+b0*b0
		s1, t1 = s1+x[1]*b1, t1+b1*b1
		s2, t2 = s2+x[2]*b2, t2+b2*b2
		s3, t3 = s3+x[3]*b3, t3+b3*b3
		a, b = a[4:], b[16:]
	}
	return [4]float32{s0, s1, s2, s3}, [4]float32{t0, t1, t2, t3}
}

// To returns the distance to a vector.
func (d *Distance) To(b []byte) float64 {
	if d.dataType == "FLOAT32" && d.metric != "L2" && len(b) == 4*len(d.query) {
		ab, bb := products(d.query, b)
		if d.metric == "IP" {
			return float64(1 - ab)
		}
		return d.cosine(ab, bb)
	}
	d.other = DecodeVector(d.dataType, b, d.other[:0])
	o := d.other
	if len(o) != len(d.query) {
		return math.Inf(1)
	}
	switch d.metric {
	case "L2":
		var sum float32
		for i, q := range d.query {
			diff := q - o[i]
			sum += diff * diff
		}
		return float64(sum)
	case "IP":
		return float64(1 - dot(d.query, o))
	}
	return d.cosine(dot(d.query, o), dot(o, o))
}

// cosine returns the distance to a vector by its products with the query and with itself.
func (d *Distance) cosine(product, square float32) float64 {
	length := d.norm * math.Sqrt(float64(square))
	if length == 0 {
		return 1
	}
	return float64(float32(1 - float64(product)/length))
}

// dot adds in four lanes, which the processor computes side by side.
func dot(a, b []float32) float32 {
	b = b[:len(a)]
	var s0, s1, s2, s3 float32
	i := 0
	for ; i+4 <= len(a); i += 4 {
		s0 += a[i] * b[i]
		s1 += a[i+1] * b[i+1]
		s2 += a[i+2] * b[i+2]
		s3 += a[i+3] * b[i+3]
	}
	for ; i < len(a); i++ {
		s0 += a[i] * b[i]
	}
	return s0 + s1 + s2 + s3
}
