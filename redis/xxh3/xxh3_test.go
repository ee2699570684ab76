package xxh3_test

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"
	"testing"

	"github.com/meowdis/meowdis/redis/xxh3"
)

// TestHash hashes each length up to some blocks, whole and in pieces. The expected hashes are from
// github.com/zeebo/xxh3 v1.1.0: of some lengths, and the SHA-256 of all of them as little-endian numbers.
func TestHash(t *testing.T) {
	const all = "f33de300c7051d7d9f6fc862210cafd60aef07e9c5424aa7e436f70a101610bb"
	want := map[int]uint64{
		0: 0x2d06800538d394c2, 1: 0xa1cdbedb3b3f4b23, 3: 0xf32d83bf9f5267d9, 4: 0xd148c0b98482240e, 8: 0x6566cde2a91c5c80,
		9: 0x0c47d88a4aa41e10, 16: 0x3feb3b874e0eb8f3, 17: 0xd15b87eb62123854, 128: 0x25a1a50687d839a4, 129: 0x6734c3055906a00e,
		240: 0xad8a73cb3be2fab8, 241: 0x7db2a6e0746b061c, 1024: 0x6f46897b09262672, 1025: 0x2d72ea25951d3f2f, 4999: 0x6d321690cf9811db,
	}
	r := rand.New(rand.NewPCG(1, 2))
	input := make([]byte, 5000)
	for i := range input {
		input[i] = byte(r.Uint32())
	}
	sum := sha256.New()
	for n := range len(input) {
		b := input[:n]
		got := xxh3.Hash(b)
		sum.Write(binary.LittleEndian.AppendUint64(nil, got))
		if w, known := want[n]; known && got != w {
			t.Errorf("%d bytes: %x, want %x", n, got, w)
		}
		if s := xxh3.HashString(string(b)); s != got {
			t.Fatalf("a string of %d bytes: %x, want %x", n, s, got)
		}
		h := xxh3.New()
		for rest := b; len(rest) > 0; {
			piece := rest[:min(len(rest), 1+r.IntN(1+r.IntN(2500)))]
			if k, err := h.Write(piece); k != len(piece) || err != nil {
				t.Fatalf("wrote %d of %d: %v", k, len(piece), err)
			}
			rest = rest[len(piece):]
			if done := n - len(rest); done%7 == 0 && h.Sum64() != xxh3.Hash(b[:done]) {
				t.Fatalf("after %d bytes: %x", done, h.Sum64())
			}
		}
		if s := h.Sum64(); s != got {
			t.Fatalf("%d bytes in pieces: %x, want %x", n, s, got)
		}
	}
	if got := hex.EncodeToString(sum.Sum(nil)); got != all {
		t.Errorf("the hashes of all lengths have the sum %s, want %s", got, all)
	}
}

func BenchmarkHash(b *testing.B) {
	input := make([]byte, 64<<10)
	b.SetBytes(int64(len(input)))
	for b.Loop() {
		xxh3.Hash(input)
	}
}
