package translator

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"math/bits"
)

// hll is a HyperLogLog in Redis's own string form: a header of 16 bytes (magic,
// encoding, three unused bytes, the cached cardinality) and 16384 registers of 6
// bits, dense or run-length encoded. The sparse operations are, as bits:
//
//	00xxxxxx           ZERO: x+1 registers are 0
//	01xxxxxx yyyyyyyy  XZERO: xy+1 registers are 0
//	1vvvvvxx           VAL: x+1 registers are v+1
//
// Registers, hash and estimate are Redis's, so that PFCOUNT agrees with it and
// the value can move between the two.
type hll []byte

const (
	hllBits       = 14
	hllRegisters  = 1 << hllBits
	hllQ          = 64 - hllBits
	hllHeader     = 16
	hllDense      = hllHeader + (hllRegisters*6+7)/8
	hllMaxZero    = 64
	hllMaxVal     = 32
	hllMaxValRun  = 4
	hllDenseKind  = 0
	hllSparseKind = 1
)

var errHLLCorrupt = errors.New("INVALIDOBJ Corrupted HLL object detected")

// newHLL is the empty, sparse one.
func newHLL() hll {
	h := make(hll, hllHeader, hllHeader+2)
	copy(h, "HYLL")
	h[4] = hllSparseKind
	return appendZeros(h, hllRegisters)
}

// isHLL reports whether a string has the header, and for the dense form the
// length, of a HyperLogLog.
func isHLL(b []byte) bool {
	return len(b) >= hllHeader && bytes.HasPrefix(b, []byte("HYLL")) &&
		(b[4] == hllDenseKind && len(b) == hllDense || b[4] == hllSparseKind)
}

// Cardinality estimates how many different elements a HyperLogLog holds, as
// PFCOUNT does; ok is false where value is none.
func Cardinality(value []byte) (n int64, ok bool) {
	if !isHLL(value) {
		return 0, false
	}
	h := hll(value)
	if n, valid := h.cached(); valid {
		return n, true
	}
	var all registers
	if all.merge(h) != nil {
		return 0, false
	}
	return all.count(), true
}

func (h hll) dense() bool { return h[4] == hllDenseKind }

// invalidate marks the cached cardinality as out of date.
func (h hll) invalidate() { h[15] |= 1 << 7 }

// cached returns the cardinality in the header, if it is up to date.
func (h hll) cached() (int64, bool) {
	return int64(binary.LittleEndian.Uint64(h[8:16])), h[15]&(1<<7) == 0
}

// add counts element in, and reports whether a register grew. A sparse one that would
// have more than most bytes becomes dense.
func (h *hll) add(element []byte, most int64) (bool, error) {
	x := murmur64(element)
	index := int(x & (hllRegisters - 1))
	rank := byte(bits.TrailingZeros64(x>>hllBits|1<<hllQ) + 1)
	return h.raise(index, rank, most)
}

// raise sets a register to rank unless it is as high already.
func (h *hll) raise(index int, rank byte, most int64) (bool, error) {
	if h.dense() {
		return h.raiseDense(index, rank), nil
	}
	return h.raiseSparse(index, rank, most)
}

func (h hll) denseAt(index int) byte {
	at, shift := hllHeader+index*6/8, uint(index*6%8)
	v := uint16(h[at])
	if at+1 < len(h) {
		v |= uint16(h[at+1]) << 8
	}
	return byte(v>>shift) & 63
}

func (h hll) raiseDense(index int, rank byte) bool {
	if h.denseAt(index) >= rank {
		return false
	}
	at, shift := hllHeader+index*6/8, uint(index*6%8)
	mask, v := uint16(63)<<shift, uint16(rank)<<shift
	h[at] = h[at]&^byte(mask) | byte(v)
	if at+1 < len(h) {
		h[at+1] = h[at+1]&^byte(mask>>8) | byte(v>>8)
	}
	return true
}

// sparseOp decodes the operation at h[at:]: its value, its run and its size.
func (h hll) sparseOp(at int) (value byte, run, size int) {
	switch op := h[at]; {
	case op&0x80 != 0:
		return op>>2&31 + 1, int(op&3) + 1, 1
	case op&0x40 == 0:
		return 0, int(op&63) + 1, 1
	case at+1 < len(h):
		return 0, int(op&63)<<8 | int(h[at+1]) + 1, 2
	}
	return 0, 0, 2 // cut off
}

func appendZeros(b []byte, run int) []byte {
	switch {
	case run == 0:
		return b
	case run > hllMaxZero:
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

// raiseSparse splits the run that covers index, and goes dense when the value or
// the size no longer fits.
func (h *hll) raiseSparse(index int, rank byte, most int64) (bool, error) {
	if rank > hllMaxVal {
		return h.promote(index, rank)
	}
	prev, at, first := -1, hllHeader, 0
	var value byte
	var run, size int
	for ; ; prev, at, first = at, at+size, first+run {
		if at >= len(*h) {
			return false, errHLLCorrupt
		}
		value, run, size = h.sparseOp(at)
		if run == 0 {
			return false, errHLLCorrupt
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
	*h = append(append(append(hll{}, (*h)[:at]...), ops...), (*h)[at+size:]...)
	h.mergeRuns(max(prev, hllHeader))
	h.invalidate()
	return true, nil
}

// mergeRuns joins equal neighbours among the few operations from at on that a
// split may have made.
func (h *hll) mergeRuns(at int) {
	for scan := 5; at < len(*h) && scan > 0; scan-- {
		value, run, size := h.sparseOp(at)
		if value != 0 && at+1 < len(*h) {
			if next, nextRun, _ := h.sparseOp(at + 1); next == value && run+nextRun <= hllMaxValRun {
				*h = append((*h)[:at], (*h)[at+1:]...)
				(*h)[at] = appendVal(nil, value, run+nextRun)[0]
				continue
			}
		}
		at += size
	}
}

// promote goes dense and raises the register there.
func (h *hll) promote(index int, rank byte) (bool, error) {
	if err := h.toDense(); err != nil {
		return false, err
	}
	grew := h.raiseDense(index, rank)
	h.invalidate()
	return grew, nil
}

func (h *hll) toDense() error {
	if h.dense() {
		return nil
	}
	d := make(hll, hllDense)
	copy(d, (*h)[:hllHeader])
	d[4] = hllDenseKind
	err := h.each(func(index int, rank byte) { d.raiseDense(index, rank) })
	if err == nil {
		*h = d
	}
	return err
}

// each calls fn for every register that is not 0.
func (h hll) each(fn func(index int, rank byte)) error {
	if h.dense() {
		for i := range hllRegisters {
			if rank := h.denseAt(i); rank > 0 {
				fn(i, rank)
			}
		}
		return nil
	}
	index := 0
	for at := hllHeader; at < len(h); {
		value, run, size := h.sparseOp(at)
		if run == 0 || index+run > hllRegisters {
			return errHLLCorrupt
		}
		for i := range run {
			if value > 0 {
				fn(index+i, value)
			}
		}
		index += run
		at += size
	}
	if index != hllRegisters {
		return errHLLCorrupt
	}
	return nil
}

// registers is the union of several HyperLogLogs.
type registers [hllRegisters]byte

func (r *registers) merge(h hll) error {
	return h.each(func(index int, rank byte) { r[index] = max(r[index], rank) })
}

// count estimates the cardinality, by Otmar Ertl's improved raw estimator
// (arXiv:1702.01284), as Redis does.
func (r *registers) count() int64 {
	var histogram [hllQ + 2]float64
	for _, rank := range r {
		histogram[min(int(rank), hllQ+1)]++
	}
	const m = float64(hllRegisters)
	z := m * hllTau((m-histogram[hllQ+1])/m)
	for k := hllQ; k >= 1; k-- {
		z = (z + histogram[k]) * 0.5
	}
	z += m * hllSigma(histogram[0]/m)
	const alphaInf = 0.721347520444481703680
	return int64(math.Round(alphaInf * m * m / z))
}

func hllTau(x float64) float64 {
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

func hllSigma(x float64) float64 {
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
