// Package vector is the arithmetic of vector sets: how a vector is stored, and how similar two vectors are. It is pure,
// and every result has the bits that Redis 8.0 computes: 32-bit floats, added in the same order.
//
// A vector is stored as a record of fixed size. The record begins with two little-endian floats: the length (norm) of
// the vector as given, and the range of an int8 vector. The components of the normalised vector follow:
//
//	F32   four bytes each
//	Int8  one byte each: the component divided by the greatest one, times 127
//	Bin   one bit each, set if the component is above 0, in words of 64 bits
package vector
