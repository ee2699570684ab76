package xxh3_test

import (
	"math/rand/v2"
	"testing"

	reference "github.com/zeebo/xxh3"

	"github.com/meowdis/meowdis/redis/xxh3"
)

// TestHash compares with another implementation: each length up to some blocks, whole and in pieces.
func TestHash(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	input := make([]byte, 5000)
	for i := range input {
		input[i] = byte(r.Uint32())
	}
	for n := range len(input) {
		b := input[:n]
		want := reference.Hash(b)
		if got := xxh3.Hash(b); got != want {
			t.Fatalf("%d bytes: %x, want %x", n, got, want)
		}
		if got := xxh3.HashString(string(b)); got != want {
			t.Fatalf("a string of %d bytes: %x, want %x", n, got, want)
		}
		h := xxh3.New()
		for rest := b; len(rest) > 0; {
			piece := rest[:min(len(rest), 1+r.IntN(1+r.IntN(2500)))]
			if k, err := h.Write(piece); k != len(piece) || err != nil {
				t.Fatalf("wrote %d of %d: %v", k, len(piece), err)
			}
			rest = rest[len(piece):]
			if done := n - len(rest); done%7 == 0 && h.Sum64() != reference.Hash(b[:done]) {
				t.Fatalf("after %d bytes: %x", done, h.Sum64())
			}
		}
		if got := h.Sum64(); got != want {
			t.Fatalf("%d bytes in pieces: %x, want %x", n, got, want)
		}
	}
}

func BenchmarkHash(b *testing.B) {
	input := make([]byte, 64<<10)
	b.SetBytes(int64(len(input)))
	for b.Loop() {
		xxh3.Hash(input)
	}
}
