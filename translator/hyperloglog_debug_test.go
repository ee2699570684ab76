package translator

import "testing"

func TestPFSelfTest(t *testing.T) {
	for seed := range uint64(5) {
		c := &Call{Env: Env{Seed: seed}}
		if p := pfselftest(c); string(p.Reply.Str) != "OK" {
			t.Errorf("seed %d: %s", seed, p.Reply.Str)
		}
	}
}
