package translator

import "github.com/meowdis/meowdis/store"

// HashOf returns the value of the hash columns: FNV-1a of b, mixed and cut to 52 bits, so that engines with doubles as
// numbers keep it exact. It is never 0, where a scan begins. It is stored: changing it needs a migration.
func HashOf(b []byte) int64 {
	h := uint64(14695981039346656037)
	for _, ch := range b {
		h = (h ^ uint64(ch)) * 1099511628211
	}
	return int64(mix(h)>>12) | 1
}

func hashValue(b []byte) store.Value { return store.Int(HashOf(b)) }

// mix spreads every input bit over all output bits (the finaliser of MurmurHash3).
func mix(h uint64) uint64 {
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	h ^= h >> 33
	h *= 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}
