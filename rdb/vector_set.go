package rdb

import "math"

// VectorSet is a vector set of Redis 8, or a piece of one, without the links of its graph. It is
// read from files only.
type VectorSet struct {
	Dim      int    // components of a vector
	Kind     int    // how they are kept: 0 floats, 1 bytes, 2 bits
	M        int64  // links of a node
	Input    int    // components of those that were reduced to Dim, 0 when none were
	Matrix   []byte // by which they were: Dim rows of Input floats
	Elements []Vector
}

// Vector is an element of a vector set.
type Vector struct {
	Name          []byte
	Attributes    []byte // nil for none
	Components    []byte
	Length, Range float32
}

// Len is the number of elements.
func (s *VectorSet) Len() int { return len(s.Elements) }

// append is never called: DUMP has no form of vector sets, and a FileWriter is given none.
func (s *VectorSet) append([]byte) []byte { panic("rdb: a vector set cannot be written") }

const (
	vectorSetModule = "vectorset"
	maxComponents   = 1 << 16

	vectorsReduced    = 1
	vectorsAttributes = 2
)

// vectorSet begins to read a vector set. ok is false of one in a form that is newer.
func (r *reader) vectorSet() (next pieces, count int64, ok bool) {
	dim, left, graph, flags := r.moduleNumber(), r.moduleNumber(), r.moduleNumber(), r.moduleNumber()
	if flags&^(vectorsReduced|vectorsAttributes) != 0 {
		return nil, 0, false
	}
	shape := VectorSet{Dim: int(dim), Kind: int(graph & 255), M: int64(graph >> 8)}
	must(dim > 0 && dim <= maxComponents && shape.Kind <= 2 && shape.M <= math.MaxUint16)
	if flags&vectorsReduced != 0 {
		input := r.moduleNumber()
		must(input > 0 && input <= maxComponents)
		shape.Input, shape.Matrix = int(input), r.moduleString()
		r.must(uint64(len(shape.Matrix)) == 4*dim*input)
	}
	count = int64(min(left, math.MaxInt64))
	return func() (Value, bool) {
		piece := shape
		for ; left > 0 && !r.enough(len(piece.Elements)); left-- {
			piece.Elements = append(piece.Elements, r.vector(&shape, flags&vectorsAttributes != 0))
		}
		if left == 0 {
			r.modulePart(modulePartEnd)
		}
		return &piece, left == 0
	}, count, true
}

// vector reads an element. Of the numbers of its node all but the last are about the graph.
func (r *reader) vector(s *VectorSet, attributes bool) Vector {
	v := Vector{Name: r.moduleString()}
	if attributes {
		if v.Attributes = r.moduleString(); len(v.Attributes) == 0 {
			v.Attributes = nil
		}
	}
	v.Components = r.moduleString()
	size := [...]int{4 * s.Dim, s.Dim, (s.Dim + 63) / 64 * 8}[s.Kind]
	r.must(len(v.Components) == size)
	last := uint64(0)
	for n := r.moduleNumber(); n > 0; n-- {
		last = r.moduleNumber()
	}
	v.Length, v.Range = math.Float32frombits(uint32(last)), math.Float32frombits(uint32(last>>32))
	r.must(v.Length >= 0 && v.Range >= 0) // and numbers
	return v
}
