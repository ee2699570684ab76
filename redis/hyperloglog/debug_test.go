package hyperloglog

import (
	"math/rand/v2"
	"testing"
)

func TestSelfTest(t *testing.T) {
	for seed := range uint64(5) {
		if bad := SelfTest(rand.New(rand.NewPCG(seed, seed)).Uint64); bad != "" {
			t.Errorf("seed %d: %s", seed, bad)
		}
	}
}
