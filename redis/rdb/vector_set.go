package rdb

import "math"

// VectorSet is a vector set of Redis 8, or a piece of one that is read. Redis lists its elements
// from the last one added to the first.
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

	// Links are the places in VectorSet.Elements of those that the element is linked to in
	// Redis's graph, by level from the lowest, which every element has. All links go both ways. They
	// are not read.
	Links [][]uint32
}

// Len is the number of elements.
func (s *VectorSet) Len() int { return len(s.Elements) }

// append writes the set in one piece.
func (s *VectorSet) append(out []byte) []byte {
	out = s.appendHead(append(out, typeModule))
	for i := range s.Elements {
		out = s.appendVector(out, i)
	}
	return append(out, modulePartEnd)
}

// appendHead appends what is in front of the elements.
func (s *VectorSet) appendHead(out []byte) []byte {
	out = appendModuleType(out, vectorSetModule)
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

// appendVector appends element i. The numbers of its node are its own, the highest level, for each
// level how many links there are, how many there may be and the nodes that they lead to, and the
// length and range.
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

	vectorBytes = 1 // the Kind of vectors that have a range

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
	v.Length = math.Float32frombits(uint32(last))
	if s.Kind == vectorBytes { // of the others Redis writes whatever is there
		v.Range = math.Float32frombits(uint32(last >> 32))
	}
	r.must(v.Length >= 0 && v.Range >= 0) // and numbers
	return v
}
