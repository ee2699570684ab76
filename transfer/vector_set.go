package transfer

import (
	"bytes"
	"errors"
	"fmt"
	"math"

	"github.com/meowdis/meowdis/redis/rdb"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/translator/vector"
)

// VectorSet is a vector set. Every part repeats the shape.
type VectorSet struct {
	VectorShape
	Elements []VectorElement
}

// VectorShape holds the properties shared by all vectors of a set.
type VectorShape struct {
	Kind  vector.Kind
	M     int64 // links of a node in a server's graph
	Dim   int   // components of a vector
	Input int   // components before reduction to Dim; 0 without reduction
}

// VectorElement is an element of a vector set.
type VectorElement struct {
	Name       []byte
	Record     []byte // its vector, encoded by the kind
	Attributes []byte // nil for none
}

// Len returns the number of elements.
func (s *VectorSet) Len() int { return len(s.Elements) }

// valid reports whether the numbers are in the range of a vector set.
func (s VectorShape) valid() bool {
	const most = 1 << 16
	return s.Kind >= vector.F32 && s.Kind <= vector.Bin && s.M >= 4 && s.M <= 4096 &&
		s.Dim >= 1 && s.Dim <= most && s.Input >= 0 && s.Input <= most
}

// source returns a vector from which VADD recreates the record.
func (s VectorShape) source(record []byte) []float32 {
	v := s.Kind.Source(record, s.Dim)
	if s.Input > 0 {
		v = vector.Unproject(v, s.Input)
	}
	return v
}

var quantizations = map[vector.Kind]string{vector.F32: "NOQUANT", vector.Int8: "Q8", vector.Bin: "BIN"}

// vectors emits the commands that add the elements.
func (w *callBuilder) vectors(s *VectorSet) {
	for _, e := range s.Elements {
		args := call("VADD", w.name)
		if s.Input > 0 {
			args = append(args, []byte("REDUCE"), decimal(int64(s.Dim)))
		}
		args = append(args, []byte("FP32"), vector.Format(s.source(e.Record)), e.Name,
			[]byte(quantizations[s.Kind]), []byte("M"), decimal(s.M))
		if e.Attributes != nil {
			args = append(args, []byte("SETATTR"), e.Attributes)
		}
		w.put(args)
	}
}

// shapeOf reads the reply to VINFO. ok is false if it is invalid.
func shapeOf(v resp.Value) (s VectorShape, ok bool) {
	elems := flat(v.Elems)
	for i := 0; i+1 < len(elems); i += 2 {
		n, _ := integer(elems[i+1])
		switch string(text(elems[i])) {
		case "quant-type":
			for kind := range quantizations {
				if string(text(elems[i+1])) == kind.String() {
					s.Kind, ok = kind, true
				}
			}
		case "hnsw-m":
			s.M = n
		case "vector-dim":
			s.Dim = int(n)
		case "projection-input-dim":
			s.Input = int(n)
		}
	}
	return s, ok && s.valid()
}

// recordOf reads the reply to VEMB RAW. It returns nil if the element is missing.
func (s VectorShape) recordOf(v resp.Value) ([]byte, error) {
	switch {
	case v.IsError() && !wrongType(v):
		return nil, refused(v)
	case v.IsError() || v.IsNull():
		return nil, nil
	case len(v.Elems) < 3:
		return nil, errReply
	}
	length, ok := scoreOf(v.Elems[2])
	scale := 0.0
	if s.Kind == vector.Int8 && ok {
		ok = len(v.Elems) > 3
		if ok {
			scale, ok = scoreOf(v.Elems[3])
		}
	}
	record := vector.Record(float32(length), float32(scale), text(v.Elems[1]))
	if !ok || len(record) != s.Kind.Size(s.Dim) {
		return nil, errReply
	}
	return record, nil
}

// sameRecord reports whether two records hold the same vector. Floats may differ by the
// rounding of a transfer.
func (s VectorShape) sameRecord(a, b []byte) bool {
	if len(a) != len(b) {
		return false
	}
	if !near(float64(vector.Length(a)), float64(vector.Length(b))) || !near(float64(vector.Range(a)), float64(vector.Range(b))) {
		return false
	}
	x, y := vector.Components(a), vector.Components(b)
	if s.Kind != vector.F32 || bytes.Equal(x, y) {
		return bytes.Equal(x, y)
	}
	v, _ := vector.Parse(x)
	u, _ := vector.Parse(y)
	for i := range v {
		if math.Abs(float64(v[i]-u[i])) > tolerance {
			return false
		}
	}
	return true
}

const tolerance = 1e-5

func near(a, b float64) bool {
	return a == b || math.Abs(a-b) <= tolerance*max(math.Abs(a), math.Abs(b))
}

// compare returns the first difference, or "" and "" if the sets are equal.
func (s *VectorSet) compare(o *VectorSet) (a, b string) {
	if s.VectorShape != o.VectorShape {
		return s.String(), o.String()
	}
	for i, e := range s.Elements {
		f, name := o.Elements[i], "element "+show(e.Name)
		switch {
		case f.Record == nil:
			return name, "none"
		case !s.sameRecord(e.Record, f.Record):
			return "vector of " + name, "another one"
		case !bytes.Equal(e.Attributes, f.Attributes):
			return "attributes of " + name + ": " + show(e.Attributes), show(f.Attributes)
		}
	}
	return "", ""
}

// String describes the shape in a message.
func (s VectorShape) String() string {
	out := fmt.Sprintf("%d components, %s, M %d", s.Dim, s.Kind, s.M)
	if s.Input > 0 {
		out += fmt.Sprintf(", reduced from %d", s.Input)
	}
	return out
}

var errOwnMatrix = errors.New("its vectors are reduced by a matrix that VADD does not make")

// fromDumpVectorSet converts a vector set of a dump file. meowdis stores no projection matrix, so
// the set must use the matrix that VADD generates.
func fromDumpVectorSet(v *rdb.VectorSet) (Value, error) {
	s := &VectorSet{VectorShape: VectorShape{Kind: vector.Kind(v.Kind), M: v.M, Dim: v.Dim, Input: v.Input}}
	if !s.valid() {
		return nil, errors.New("there is no such vector set")
	}
	if s.Input > 0 && !vector.IsMatrix(v.Matrix, s.Input) {
		return nil, errOwnMatrix
	}
	for _, e := range v.Elements {
		s.Elements = append(s.Elements, VectorElement{Name: e.Name, Record: vector.Record(e.Length, e.Range, e.Components), Attributes: e.Attributes})
	}
	return s, nil
}

// toDump converts the set for a dump file, with links between near elements.
func (s *VectorSet) toDump() *rdb.VectorSet {
	out := &rdb.VectorSet{Dim: s.Dim, Kind: int(s.Kind), M: s.M, Input: s.Input, Elements: make([]rdb.Vector, len(s.Elements))}
	if s.Input > 0 {
		out.Matrix = vector.Matrix(s.Input, s.Dim)
	}
	graph := vector.NewGraph(s.Kind, s.Dim, s.M)
	for i, e := range s.Elements {
		r := e.Record
		out.Elements[i] = rdb.Vector{Name: e.Name, Attributes: e.Attributes, Components: vector.Components(r), Length: vector.Length(r), Range: vector.Range(r)}
		graph.Add(r)
	}
	for i := range out.Elements {
		out.Elements[i].Links = graph.Links(i)
	}
	return out
}

// hasDuplicates reports whether an element occurs twice.
func (s *VectorSet) hasDuplicates() bool {
	names := make(map[string]bool, len(s.Elements))
	for _, e := range s.Elements {
		if names[string(e.Name)] {
			return true
		}
		names[string(e.Name)] = true
	}
	return false
}

// vectorSetFromJSON encodes the vectors of the elements.
func vectorSetFromJSON(in jsonVectorShape, elements []VectorElement, vectors [][]float32) (*VectorSet, error) {
	s := &VectorSet{VectorShape: VectorShape{Kind: -1, M: in.M, Dim: in.Dim, Input: in.Reduced}, Elements: elements}
	for kind := range quantizations {
		if in.Quantization == kind.String() {
			s.Kind = kind
		}
	}
	if !s.valid() {
		return nil, errors.New("there is no such vector set")
	}
	for i, v := range vectors {
		if len(v) != s.Dim {
			return nil, fmt.Errorf("a vector has %d components and not %d", len(v), s.Dim)
		}
		elements[i].Record = s.Kind.Encode(v)
	}
	return s, nil
}
