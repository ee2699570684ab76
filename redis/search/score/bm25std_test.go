package score

import "testing"

// TestFormula checks that a formula has the score of the tree of matches.
func TestFormula(t *testing.T) {
	c, d := Collection{Docs: 10, AverageLength: 7}, Document{Score: 0.5, Length: 4}
	m := &Match{Kind: And, Weight: 2, Children: []*Match{
		{Kind: Term, Term: "a", Freq: 2, Docs: 3, Weight: 1}, {Kind: Or, Weight: 0.5, Children: []*Match{{Kind: All, Weight: 1}, {Kind: Virtual, Weight: 1}, {Kind: Term, Term: "b", Freq: 1, Docs: 9, Weight: 3}}},
	}}
	f := Formula{Weight: 2, Children: []Formula{
		{Weight: BM25IDF(10, 3), Term: 1}, {Weight: 0.5, Children: []Formula{{Weight: 1, Term: 2}, {}, {Weight: 3 * BM25IDF(10, 9), Term: 3}, {Weight: 4, Term: 4}}},
	}}
	for _, name := range []string{"BM25STD", "BM25STD.NORM", "BM25STD.TANH"} {
		s := Scorer{Name: name}
		if want, _ := s.Score(m, c, d); want == 0 || s.Compute(&f, []uint32{2, 1, 1, 0}, c, d) != want {
			t.Errorf("%s: %v, not %v", name, s.Compute(&f, []uint32{2, 1, 1, 0}, c, d), want)
		}
	}
}
