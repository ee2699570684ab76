package vector

import (
	"encoding/binary"
	"math"
)

// Kind selects how the components of a vector are stored. The numbers are Redis's dump format.
type Kind int

const (
	F32  Kind = iota // floats
	Int8             // quantised to a byte each
	Bin              // signs only
)

// String returns the name of the kind in VINFO and VEMB.
func (k Kind) String() string { return [...]string{"f32", "int8", "bin"}[k] }

// Head is the number of bytes before the components of a record.
const Head = 8

// Size returns the number of bytes of a record with dim components.
func (k Kind) Size(dim int) int { return Head + k.bytes(dim) }

// bytes returns the size of the components alone.
func (k Kind) bytes(dim int) int {
	switch k {
	case F32:
		return 4 * dim
	case Int8:
		return dim
	}
	return (dim + 63) / 64 * 8
}

// Encode returns the record of v. As in Redis, the zero vector has length 1.
func (k Kind) Encode(v []float32) []byte {
	unit, length := normalise(v)
	out := make([]byte, k.Size(len(v)))
	binary.LittleEndian.PutUint32(out, math.Float32bits(length))
	switch k {
	case F32:
		for i, f := range unit {
			binary.LittleEndian.PutUint32(out[Head+4*i:], math.Float32bits(f))
		}
	case Int8:
		scale := greatest(unit)
		binary.LittleEndian.PutUint32(out[4:], math.Float32bits(scale))
		if scale != 0 {
			quantise(out[Head:], unit, 127/scale)
		}
	case Bin:
		for i, f := range unit {
			if f > 0 {
				out[Head+i/8] |= 1 << (i % 8)
			}
		}
	}
	return out
}

// normalise returns v scaled to length one, and its length.
func normalise(v []float32) (unit []float32, length float32) {
	var sum float32
	i := 0
	for ; i+4 <= len(v); i += 4 {
		part := float32(v[i]*v[i]) + float32(v[i+1]*v[i+1])
		part += float32(v[i+2] * v[i+2])
		part += float32(v[i+3] * v[i+3])
		sum += part
	}
	for ; i < len(v); i++ {
		sum += float32(v[i] * v[i])
	}
	if sum == 0 {
		return v, 1
	}
	length = float32(math.Sqrt(float64(sum)))
	unit = make([]float32, len(v))
	for i, f := range v {
		unit[i] = f / length
	}
	return unit, length
}

// greatest returns the greatest absolute value of a component. NaN is ignored.
func greatest(v []float32) float32 {
	var most float32
	for _, f := range v {
		if f > most {
			most = f
		}
		if -f > most {
			most = -f
		}
	}
	return most
}

func quantise(out []byte, v []float32, factor float32) {
	for i, f := range v {
		out[i] = byte(int8(int32(math.Round(float64(f * factor)))))
	}
}

// Length returns the original length of a record's vector.
func Length(record []byte) float32 {
	return math.Float32frombits(binary.LittleEndian.Uint32(record))
}

// Range returns the greatest component of an Int8 record's normalised vector, which 127 stands for.
func Range(record []byte) float32 {
	return math.Float32frombits(binary.LittleEndian.Uint32(record[4:]))
}

// Components returns the bytes of a record after its head.
func Components(record []byte) []byte { return record[Head:] }

// Decode returns the vector of a record of dim components, as near to the original as the record allows. A Bin record
// decodes to components of 1 and -1.
func (k Kind) Decode(record []byte, dim int) []float32 {
	v := make([]float32, dim)
	length, scale, b := Length(record), Range(record), Components(record)
	for i := range v {
		switch k {
		case F32:
			v[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:])) * length
		case Int8:
			v[i] = float32(float32(int8(b[i]))*scale) / 127 * length
		case Bin:
			v[i] = -1
			if b[i/8]&(1<<(i%8)) != 0 {
				v[i] = 1
			}
		}
	}
	return v
}

// Parse decodes little-endian floats; ok is false if b is empty or its length is not a multiple of 4.
func Parse(b []byte) (v []float32, ok bool) {
	if len(b) == 0 || len(b)%4 != 0 {
		return nil, false
	}
	v = make([]float32, len(b)/4)
	for i := range v {
		v[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return v, true
}

// Format encodes v for Parse.
func Format(v []float32) []byte {
	b := make([]byte, 0, 4*len(v))
	for _, f := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(f))
	}
	return b
}
