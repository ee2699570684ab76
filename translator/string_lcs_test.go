package translator

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// TestCommonLength compares the length with the textbook's table, and checks that walkCommon finds a common subsequence
// of that length.
func TestCommonLength(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		a, b := randomText(random), randomText(random)
		want := textbookLCS(a, b)
		if n, _ := commonLength(a, b, false, nil); n != want {
			t.Fatalf("%q %q: length %d, not %d", a, b, n, want)
		}
		n, up := commonLength(a, b, true, nil)
		total, endA, endB := 0, len(a), len(b)
		walkCommon(a, b, up, func(i, j, length int) {
			if i+length > endA || j+length > endB || !bytes.Equal(a[i:i+length], b[j:j+length]) {
				t.Fatalf("%q %q: %d bytes at %d and %d are no match", a, b, length, i, j)
			}
			total, endA, endB = total+length, i, j
		})
		if n != want || total != want {
			t.Fatalf("%q %q: lengths %d and %d, not %d", a, b, n, total, want)
		}
	}
}

func randomText(random *rand.Rand) []byte {
	b := make([]byte, random.IntN(70))
	for i := range b {
		b[i] = byte('a' + random.IntN(3))
	}
	return b
}

func textbookLCS(a, b []byte) int {
	table := make([][]int, len(a)+1)
	table[0] = make([]int, len(b)+1)
	for i := range a {
		table[i+1] = make([]int, len(b)+1)
		for j := range b {
			if a[i] == b[j] {
				table[i+1][j+1] = table[i][j] + 1
			} else {
				table[i+1][j+1] = max(table[i][j+1], table[i+1][j])
			}
		}
	}
	return table[len(a)][len(b)]
}

func BenchmarkLCS(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 2))
	x, y := make([]byte, 4096), make([]byte, 4096)
	for i := range x {
		x[i], y[i] = byte(random.IntN(26)), byte(random.IntN(26))
	}
	for b.Loop() {
		lcsOptions{}.compare(x, y, nil)
	}
}
