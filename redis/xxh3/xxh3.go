// Package xxh3 computes 64-bit XXH3 hashes without a seed, as specified in
// https://github.com/Cyan4973/xxHash/blob/dev/doc/xxhash_spec.md. It is pure.
package xxh3

import (
	"encoding/binary"
	"math/bits"
)

const (
	prime32n1 = 0x9e3779b1
	prime32n2 = 0x85ebca77
	prime32n3 = 0xc2b2ae3d
	prime64n1 = 0x9e3779b185ebca87
	prime64n2 = 0xc2b2ae3d27d4eb4f
	prime64n3 = 0x165667b19e3779f9
	prime64n4 = 0x85ebca77c2b2ae63
	prime64n5 = 0x27d4eb2f165667c5
	primeMix1 = 0x165667919e3779f9
	primeMix2 = 0x9fb21c651e98df25
)

const (
	maxShort  = 240 // bytes hashed without accumulators
	maxMiddle = 128

	stripe  = 64   // bytes that all accumulators consume at once
	block   = 1024 // 16 stripes; then the accumulators are scrambled
	consume = 8    // bytes of the secret between consecutive stripes

	secretLast     = len(secret) - stripe - 7 // secret offset of the last stripe
	secretScramble = len(secret) - stripe
	secretMerge    = 11
	secretMiddle   = 3        // secret offset of a middle input's ninth and later pieces of 16 bytes
	secretEnd      = 136 - 17 // secret offset of its last piece
)

var secret = [192]byte{
	0xb8, 0xfe, 0x6c, 0x39, 0x23, 0xa4, 0x4b, 0xbe, 0x7c, 0x01, 0x81, 0x2c, 0xf7, 0x21, 0xad, 0x1c,
	0xde, 0xd4, 0x6d, 0xe9, 0x83, 0x90, 0x97, 0xdb, 0x72, 0x40, 0xa4, 0xa4, 0xb7, 0xb3, 0x67, 0x1f,
	0xcb, 0x79, 0xe6, 0x4e, 0xcc, 0xc0, 0xe5, 0x78, 0x82, 0x5a, 0xd0, 0x7d, 0xcc, 0xff, 0x72, 0x21,
	0xb8, 0x08, 0x46, 0x74, 0xf7, 0x43, 0x24, 0x8e, 0xe0, 0x35, 0x90, 0xe6, 0x81, 0x3a, 0x26, 0x4c,
	0x3c, 0x28, 0x52, 0xbb, 0x91, 0xc3, 0x00, 0xcb, 0x88, 0xd0, 0x65, 0x8b, 0x1b, 0x53, 0x2e, 0xa3,
	0x71, 0x64, 0x48, 0x97, 0xa2, 0x0d, 0xf9, 0x4e, 0x38, 0x19, 0xef, 0x46, 0xa9, 0xde, 0xac, 0xd8,
	0xa8, 0xfa, 0x76, 0x3f, 0xe3, 0x9c, 0x34, 0x3f, 0xf9, 0xdc, 0xbb, 0xc7, 0xc7, 0x0b, 0x4f, 0x1d,
	0x8a, 0x51, 0xe0, 0x4b, 0xcd, 0xb4, 0x59, 0x31, 0xc8, 0x9f, 0x7e, 0xc9, 0xd9, 0x78, 0x73, 0x64,
	0xea, 0xc5, 0xac, 0x83, 0x34, 0xd3, 0xeb, 0xc3, 0xc5, 0x81, 0xa0, 0xff, 0xfa, 0x13, 0x63, 0xeb,
	0x17, 0x0d, 0xdd, 0x51, 0xb7, 0xf0, 0xda, 0x49, 0xd3, 0x16, 0x55, 0x26, 0x29, 0xd4, 0x68, 0x9e,
	0x2b, 0x16, 0xbe, 0x58, 0x7d, 0x47, 0xa1, 0xfc, 0x8f, 0xf8, 0xb8, 0xd1, 0x7a, 0xd0, 0x31, 0xce,
	0x45, 0xcb, 0x3a, 0x8f, 0x95, 0x16, 0x04, 0x28, 0xaf, 0xd7, 0xfb, 0xca, 0xbb, 0x4b, 0x40, 0x7e,
}

func u32(b []byte) uint32     { return binary.LittleEndian.Uint32(b) }
func u64(b []byte) uint64     { return binary.LittleEndian.Uint64(b) }
func secretAt(at int) uint64  { return u64(secret[at:]) }
func fold(a, b uint64) uint64 { high, low := bits.Mul64(a, b); return high ^ low }

func avalanche(h uint64) uint64 {
	h = (h ^ h>>37) * primeMix1
	return h ^ h>>32
}

// avalanche64 is XXH64's avalanche step.
func avalanche64(h uint64) uint64 {
	h = (h ^ h>>33) * prime64n2
	h = (h ^ h>>29) * prime64n3
	return h ^ h>>32
}

// Hash returns the hash of b.
func Hash(b []byte) uint64 {
	switch n := len(b); {
	case n == 0:
		return avalanche64(secretAt(56) ^ secretAt(64))
	case n <= 3:
		all := uint32(b[0])<<16 | uint32(b[n>>1])<<24 | uint32(b[n-1]) | uint32(n)<<8
		return avalanche64(uint64(u32(secret[:])^u32(secret[4:])) ^ uint64(all))
	case n <= 8:
		return hash8(b)
	case n <= 16:
		low := secretAt(24) ^ secretAt(32) ^ u64(b)
		high := secretAt(40) ^ secretAt(48) ^ u64(b[n-8:])
		return avalanche(uint64(n) + bits.ReverseBytes64(low) + high + fold(low, high))
	case n <= maxShort:
		return hashMiddle(b)
	}
	acc := start
	last := (len(b) - 1) / block * block
	for at := 0; at < last; at += block {
		acc.block(b[at : at+block])
	}
	return acc.end(b[last:], b[len(b)-stripe:], len(b))
}

// HashString returns the hash of the bytes of s.
func HashString(s string) uint64 { return Hash([]byte(s)) }

// hash8 hashes 4 to 8 bytes.
func hash8(b []byte) uint64 {
	n := len(b)
	h := secretAt(8) ^ secretAt(16) ^ (uint64(u32(b[n-4:])) + uint64(u32(b))<<32)
	h ^= bits.RotateLeft64(h, 49) ^ bits.RotateLeft64(h, 24)
	h *= primeMix2
	h = (h ^ (h>>35 + uint64(n))) * primeMix2
	return h ^ h>>28
}

// mix mixes 16 bytes with the secret at offset at.
func mix(b []byte, at int) uint64 {
	return fold(u64(b)^secretAt(at), u64(b[8:])^secretAt(at+8))
}

// hashMiddle hashes 17 to shortMost bytes.
func hashMiddle(b []byte) uint64 {
	n := len(b)
	h := uint64(n) * prime64n1
	if n <= maxMiddle {
		for i := (n - 1) / 32; i >= 0; i-- {
			h += mix(b[16*i:], 32*i) + mix(b[n-16*(i+1):], 32*i+16)
		}
		return avalanche(h)
	}
	for i := range 8 {
		h += mix(b[16*i:], 16*i)
	}
	h = avalanche(h)
	for i := 8; i < n/16; i++ {
		h += mix(b[16*i:], 16*(i-8)+secretMiddle)
	}
	return avalanche(h + mix(b[n-16:], secretEnd))
}
