package rdb

import "math"

// VectorSet is a vector set of Redis 8, or a piece of one that was read. Redis lists its
// elements from the last one added to the first.
type VectorSet struct {
	Dim      int    // components per vector
	Kind     int    // storage of components: 0 floats, 1 bytes, 2 bits
	M        int64  // links per node
	Input    int    // components of a vector before it was reduced to Dim, 0 if not reduced
	Matrix   []byte // the projection: Dim rows of Input floats
	Elements []Vector
}

// Vector is an element of a vector set.
type Vector struct {
	Name          []byte
	Attributes    []byte // or nil
	Components    []byte
	Length, Range float32

	// Links holds the element's neighbours in Redis's graph, as indexes of VectorSet.Elements, by
	// level. Every element has the lowest level, the first. All links go both ways. Reading
	// ignores them.
	Links [][]uint32
}

// Len returns the number of elements.
func (s *VectorSet) Len() int { return len(s.Elements) }

// append writes the set in one piece.
func (s *VectorSet) append(out []byte) []byte {
	out = s.appendHead(append(out, typeModule))
	for i := range s.Elements {
		out = s.appendVector(out, i)
	}
	return append(out, modulePartEnd)
}

// appendHead appends the part before the elements.
func (s *VectorSet) appendHead(out []byte) []byte {
	out = appendModuleType(out, vectorSetModule, 0)
	flags := uint64(vectorsAttributes)
	if s.Input > 0 {
		flags |= vectorsReduced
	}
	for _, n := range []uint64{uint64(s.Dim), uint64(len(s.Elements)), uint64(s.M)<<8 | uint64(s.Kind), flags} {
		out = appendModuleNumber(out, n)
	}
	if s.Input > 0 {
		out = appendModuleString(appendModuleNumber(out, uint64(s.Input)), s.Matrix)
	}
	return out
}

// appendVector appends element i. The numbers of its node are its ID, its highest level, per
// level the number of links, the limit and the linked nodes, and at last length and range.
func (s *VectorSet) appendVector(out []byte, i int) []byte {
	v := &s.Elements[i]
	levels := v.Links
	if len(levels) == 0 {
		levels = [][]uint32{nil}
	}
	number := func(place int) uint64 { return uint64(len(s.Elements) - place) }
	numbers := []uint64{number(i), uint64(len(levels) - 1)}
	most := 2 * uint64(s.M)
	for _, links := range levels {
		numbers = append(numbers, uint64(len(links)), max(most, uint64(len(links))))
		for _, place := range links {
			numbers = append(numbers, number(int(place)))
		}
		most = uint64(s.M)
	}
	numbers = append(numbers, uint64(math.Float32bits(v.Length))|uint64(math.Float32bits(v.Range))<<32)

	out = appendModuleString(appendModuleString(appendModuleString(out, v.Name), v.Attributes), v.Components)
	out = appendModuleNumber(out, uint64(len(numbers)))
	for _, n := range numbers {
		out = appendModuleNumber(out, n)
	}
	return out
}

const (
	vectorSetModule = "vectorset"
	maxComponents   = 1 << 16

	vectorBytes = 1 // the Kind of vectors with a range

	vectorsReduced    = 1
	vectorsAttributes = 2
)

// vectorSet opens a vector set. ok is false if its format is newer.
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
		for ; left > 0 && !r.pieceFull(len(piece.Elements)); left-- {
			piece.Elements = append(piece.Elements, r.vector(&shape, flags&vectorsAttributes != 0))
		}
		if left == 0 {
			r.modulePart(modulePartEnd)
		}
		return &piece, left == 0
	}, count, true
}

// vector reads an element. All numbers of its node, except for the last, describe the graph.
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
	v.Length = math.Float32frombits(uint32(last))
	if s.Kind == vectorBytes { // for other kinds, Redis writes uninitialized values
		v.Range = math.Float32frombits(uint32(last >> 32))
	}
	r.must(v.Length >= 0 && v.Range >= 0) // and not NaN
	return v
}
