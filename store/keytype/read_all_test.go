package keytype

import "testing"

// TestReadAll: a move reads each key, so the call takes one allocation.
func TestReadAll(t *testing.T) {
	for name, want := range map[string]string{String: "GET key", Hash: "HGETALL key", List: "LRANGE key 0 -1"} {
		var args [][]byte
		key := []byte("k")
		if n := testing.AllocsPerRun(10, func() { args = Of(name).ReadAll(key) }); n > 1 {
			t.Errorf("%s: %g allocations", name, n)
		}
		got := ""
		for i, word := range args {
			if i > 0 {
				got += " "
			}
			if got += string(word); string(word) == "k" {
				got += "ey"
			}
		}
		if got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
