// Package vector is the arithmetic of vector sets: how a vector is kept, and how
// similar two of them are. It is pure, and every result has the bits that Redis
// 8.0 computes: floats of 32 bits, added up in the same order.
//
// A vector is kept in a record of fixed size: its length (the norm) as it was
// given, the range of an int8 one, both as little-endian floats, and its
// components after it was made one long:
//
//	F32   four bytes each
//	Int8  one byte each: the component by the greatest one, times 127
//	Bin   one bit each, set for those above 0, in words of 64 bits
package vector
