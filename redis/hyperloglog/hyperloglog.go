// Package hyperloglog estimates the number of distinct elements, in Redis's HyperLogLog
// format.
package hyperloglog

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"math/bits"
)

// Sketch is a HyperLogLog in Redis's own string form: a header of 16 bytes (magic,
// encoding, three unused bytes, the cached cardinality) and 16384 registers of 6
// bits, dense or run-length encoded. The sparse operations are, as bits:
//
//	00xxxxxx           ZERO: x+1 registers are 0
//	01xxxxxx yyyyyyyy  XZERO: xy+1 registers are 0
//	1vvvvvxx           VAL: x+1 registers are v+1
//
// Registers, hash and estimate are Redis's, so that PFCOUNT agrees with it and
// the value can move between the two.
type Sketch []byte

const (
	// Registers is the number of registers of a sketch.
	Registers = 1 << indexBits

	indexBits   = 14
	rankBits    = 64 - indexBits
	headerSize  = 16
	denseSize   = headerSize + (Registers*6+7)/8
	maxZeroRun  = 64
	maxValue    = 32
	maxValueRun = 4
	denseKind   = 0
	sparseKind  = 1
)

// ErrCorrupt reports bytes with the header but not the contents of a sketch. Its text
// is Redis's reply.
var ErrCorrupt = errors.New("INVALIDOBJ Corrupted HLL object detected")

// New returns an empty sparse sketch.
func New() Sketch {
	h := make(Sketch, headerSize, headerSize+2)
	copy(h, "HYLL")
	h[4] = sparseKind
	return appendZeros(h, Registers)
}

// Valid reports whether b has the header of a HyperLogLog and, if dense, the right length.
func Valid(b []byte) bool {
	return len(b) >= headerSize && bytes.HasPrefix(b, []byte("HYLL")) &&
		(b[4] == denseKind && len(b) == denseSize || b[4] == sparseKind)
}

// Cardinality returns PFCOUNT's estimate. ok is false if value is not a HyperLogLog.
func Cardinality(value []byte) (n int64, ok bool) {
	if !Valid(value) {
		return 0, false
	}
	h := Sketch(value)
	if n, valid := h.Cached(); valid {
		return n, true
	}
	var all Union
	if all.Merge(h) != nil {
		return 0, false
	}
	return all.Count(), true
}

// IsDense reports whether the registers are stored dense, not run-length encoded.
func (h Sketch) IsDense() bool { return h[4] == denseKind }

// Invalidate marks the cached cardinality as out of date.
func (h Sketch) Invalidate() { h[15] |= 1 << 7 }

// Cached returns the cardinality in the header, and reports whether it is up to date.
func (h Sketch) Cached() (int64, bool) {
	return int64(binary.LittleEndian.Uint64(h[8:16])), h[15]&(1<<7) == 0
}

// Add counts element, and reports whether a register grew. A sparse sketch becomes dense when
// it would exceed most bytes.
func (h *Sketch) Add(element []byte, most int64) (bool, error) {
	x := murmur64(element)
	index := int(x & (Registers - 1))
	rank := byte(bits.TrailingZeros64(x>>indexBits|1<<rankBits) + 1)
	return h.Raise(index, rank, most)
}

// Raise sets a register to rank, unless its value is at least rank already.
func (h *Sketch) Raise(index int, rank byte, most int64) (bool, error) {
	if h.IsDense() {
		return h.raiseDense(index, rank), nil
	}
	return h.raiseSparse(index, rank, most)
}

// Register returns the value of a register of a dense sketch.
func (h Sketch) Register(index int) byte {
	at, shift := headerSize+index*6/8, uint(index*6%8)
	v := uint16(h[at])
	if at+1 < len(h) {
		v |= uint16(h[at+1]) << 8
	}
	return byte(v>>shift) & 63
}

func (h Sketch) raiseDense(index int, rank byte) bool {
	if h.Register(index) >= rank {
		return false
	}
	at, shift := headerSize+index*6/8, uint(index*6%8)
	mask, v := uint16(63)<<shift, uint16(rank)<<shift
	h[at] = h[at]&^byte(mask) | byte(v)
	if at+1 < len(h) {
		h[at+1] = h[at+1]&^byte(mask>>8) | byte(v>>8)
	}
	return true
}

// sparseOp decodes the operation at h[at:] and returns its value, run length and size.
func (h Sketch) sparseOp(at int) (value byte, run, size int) {
	switch op := h[at]; {
	case op&0x80 != 0:
		return op>>2&31 + 1, int(op&3) + 1, 1
	case op&0x40 == 0:
		return 0, int(op&63) + 1, 1
	case at+1 < len(h):
		return 0, int(op&63)<<8 | int(h[at+1]) + 1, 2
	}
	return 0, 0, 2 // truncated
}

func appendZeros(b []byte, run int) []byte {
	switch {
	case run == 0:
		return b
	case run > maxZeroRun:
		return append(b, 0x40|byte((run-1)>>8), byte(run-1))
	}
	return append(b, byte(run-1))
}

func appendVal(b []byte, value byte, run int) []byte {
	if run == 0 {
		return b
	}
	return append(b, 0x80|(value-1)<<2|byte(run-1))
}

// raiseSparse splits the run that covers index. It converts to dense if the value or the size
// no longer fits.
func (h *Sketch) raiseSparse(index int, rank byte, most int64) (bool, error) {
	if rank > maxValue {
		return h.promote(index, rank)
	}
	prev, at, first := -1, headerSize, 0
	var value byte
	var run, size int
	for ; ; prev, at, first = at, at+size, first+run {
		if at >= len(*h) {
			return false, ErrCorrupt
		}
		value, run, size = h.sparseOp(at)
		if run == 0 {
			return false, ErrCorrupt
		}
		if index < first+run {
			break
		}
	}
	if value >= rank {
		return false, nil
	}
	before, after := index-first, first+run-1-index
	var ops []byte
	if value == 0 {
		ops = appendZeros(appendVal(appendZeros(ops, before), rank, 1), after)
	} else {
		ops = appendVal(appendVal(appendVal(ops, value, before), rank, 1), value, after)
	}
	if len(ops) > size && int64(len(*h)+len(ops)-size) > most {
		return h.promote(index, rank)
	}
	*h = append(append(append(Sketch{}, (*h)[:at]...), ops...), (*h)[at+size:]...)
	h.mergeRuns(max(prev, headerSize))
	h.Invalidate()
	return true, nil
}

// mergeRuns joins equal neighbours among the few operations after at that a split may have
// created.
func (h *Sketch) mergeRuns(at int) {
	for scan := 5; at < len(*h) && scan > 0; scan-- {
		value, run, size := h.sparseOp(at)
		if value != 0 && at+1 < len(*h) {
			if next, nextRun, _ := h.sparseOp(at + 1); next == value && run+nextRun <= maxValueRun {
				*h = append((*h)[:at], (*h)[at+1:]...)
				(*h)[at] = appendVal(nil, value, run+nextRun)[0]
				continue
			}
		}
		at += size
	}
}

// promote converts to dense and raises the register.
func (h *Sketch) promote(index int, rank byte) (bool, error) {
	if err := h.ToDense(); err != nil {
		return false, err
	}
	grew := h.raiseDense(index, rank)
	h.Invalidate()
	return grew, nil
}

// ToDense converts the sketch to dense form.
func (h *Sketch) ToDense() error {
	if h.IsDense() {
		return nil
	}
	d := make(Sketch, denseSize)
	copy(d, (*h)[:headerSize])
	d[4] = denseKind
	err := h.each(func(index int, rank byte) { d.raiseDense(index, rank) })
	if err == nil {
		*h = d
	}
	return err
}

// each calls fn for every register that is not 0.
func (h Sketch) each(fn func(index int, rank byte)) error {
	if h.IsDense() {
		for i := range Registers {
			if rank := h.Register(i); rank > 0 {
				fn(i, rank)
			}
		}
		return nil
	}
	index := 0
	for at := headerSize; at < len(h); {
		value, run, size := h.sparseOp(at)
		if run == 0 || index+run > Registers {
			return ErrCorrupt
		}
		for i := range run {
			if value > 0 {
				fn(index+i, value)
			}
		}
		index += run
		at += size
	}
	if index != Registers {
		return ErrCorrupt
	}
	return nil
}

// Union holds the registers of the union of several sketches. The zero value is the empty
// union.
type Union [Registers]byte

// Merge adds h. After ErrCorrupt the union is invalid.
func (u *Union) Merge(h Sketch) error {
	return h.each(func(index int, rank byte) { u[index] = max(u[index], rank) })
}

// Count estimates the number of distinct elements, with Otmar Ertl's improved raw estimator
// (arXiv:1702.01284), as Redis does.
func (u *Union) Count() int64 {
	var histogram [rankBits + 2]float64
	for _, rank := range u {
		histogram[min(int(rank), rankBits+1)]++
	}
	const m = float64(Registers)
	z := m * tau((m-histogram[rankBits+1])/m)
	for k := rankBits; k >= 1; k-- {
		z = (z + histogram[k]) * 0.5
	}
	z += m * sigma(histogram[0]/m)
	const alphaInf = 0.721347520444481703680
	return int64(math.Round(alphaInf * m * m / z))
}

func tau(x float64) float64 {
	if x == 0 || x == 1 {
		return 0
	}
	y, z := 1.0, 1-x
	for {
		x = math.Sqrt(x)
		before := z
		y *= 0.5
		z -= (1 - x) * (1 - x) * y
		if z == before {
			return z / 3
		}
	}
}

func sigma(x float64) float64 {
	if x == 1 {
		return math.Inf(1)
	}
	y, z := 1.0, x
	for {
		x *= x
		before := z
		z += x * y
		y += y
		if z == before {
			return z
		}
	}
}

// murmur64 is MurmurHash64A with the seed that Redis uses for HyperLogLogs.
func murmur64(b []byte) uint64 {
	const m, r, seed = 0xc6a4a7935bd1e995, 47, 0xadc83b19
	h := uint64(seed) ^ uint64(len(b))*m
	for ; len(b) >= 8; b = b[8:] {
		k := binary.LittleEndian.Uint64(b) * m
		k = (k ^ k>>r) * m
		h = (h ^ k) * m
	}
	if len(b) > 0 {
		var tail [8]byte
		copy(tail[:], b)
		h = (h ^ binary.LittleEndian.Uint64(tail[:])) * m
	}
	h = (h ^ h>>r) * m
	return h ^ h>>r
}

// RaiseTo raises every register to its value in the union.
func (h *Sketch) RaiseTo(union *Union, dense bool, most int64) error {
	if dense {
		if err := h.ToDense(); err != nil {
			return err
		}
	}
	for i, rank := range union {
		if rank == 0 {
			continue
		}
		if _, err := h.Raise(i, rank, most); err != nil {
			return err
		}
	}
	h.Invalidate()
	return nil
}
