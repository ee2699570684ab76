package score

import "testing"

// TestQuiet checks that scores without explanations are the same.
func TestQuiet(t *testing.T) {
	m := &Match{Kind: And, Weight: 2, Children: []*Match{
		{Kind: Term, Term: "a", Freq: 2, Docs: 3, Weight: 1}, {Kind: Or, Weight: 0.5, Children: []*Match{{Kind: All, Weight: 1}, {Kind: Virtual, Weight: 1}, {Kind: Term, Term: "b", Freq: 1, Docs: 9, Weight: 3}}},
	}}
	for _, name := range []string{"BM25STD", "BM25STD.NORM", "BM25STD.TANH"} {
		c, d := Collection{Docs: 10, AverageLength: 7}, Document{Score: 0.5, Length: 4}
		want, e := Scorer{Name: name}.Score(m, c, d)
		c.Quiet = true
		if got, none := (Scorer{Name: name}).Score(m, c, d); got != want || none != nil || e == nil || want == 0 {
			t.Errorf("%s: %v, not %v", name, got, want)
		}
	}
}
