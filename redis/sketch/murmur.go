package sketch

import "encoding/binary"

// murmur32 returns MurmurHash2 of data: https://github.com/aappleby/smhasher
func murmur32(data []byte, seed uint32) uint32 {
	const m = 0x5bd1e995
	h := seed ^ uint32(len(data))
	for ; len(data) >= 4; data = data[4:] {
		k := binary.LittleEndian.Uint32(data) * m
		k ^= k >> 24
		h = h*m ^ k*m
	}
	if len(data) > 0 {
		for i, c := range data {
			h ^= uint32(c) << (8 * i)
		}
		h *= m
	}
	h ^= h >> 13
	h *= m
	return h ^ h>>15
}

// murmur64 returns MurmurHash64A of data.
func murmur64(data []byte, seed uint64) uint64 {
	const m = 0xc6a4a7935bd1e995
	h := seed ^ uint64(len(data))*m
	for ; len(data) >= 8; data = data[8:] {
		k := binary.LittleEndian.Uint64(data) * m
		k ^= k >> 47
		h = (h ^ k*m) * m
	}
	if len(data) > 0 {
		for i, c := range data {
			h ^= uint64(c) << (8 * i)
		}
		h *= m
	}
	h ^= h >> 47
	h *= m
	return h ^ h>>47
}
