package score

import (
	"math"
	"testing"
)

// Redis documentation, Scoring, and FT.SEARCH's EXPLAINSCORE: formulas and explanations. The numbers are calculated by hand.
func TestScores(t *testing.T) {
	c := Collection{Docs: 3, AverageLength: 2.5}
	d := Document{Score: 0.5, Length: 2, MaxFreq: 2, Payload: "\x0f"}
	red := &Match{Kind: Term, Weight: 1, Term: "red", Freq: 1, Docs: 2, Positions: []int{1}}
	cat := &Match{Kind: Term, Weight: 2, Term: "cat", Freq: 2, Docs: 1, Positions: []int{4, 9}}
	both := &Match{Kind: And, Weight: 1, Children: []*Match{red, cat}}
	either := &Match{Kind: Or, Weight: 3, Children: []*Match{red, cat}}
	norm := 1.2 * (0.25 + 0.75*2/2.5)
	redScore := math.Log(1+1.5/2.5) * 2.2 / (1 + norm)
	catScore := 2 * math.Log(1+2.5/1.5) * 2 * 2.2 / (2 + norm)
	for _, c2 := range []struct {
		name string
		m    *Match
		want float64
		text string
	}{
		{"BM25STD", both, (redScore + catScore) / 2, "Final BM25 : words BM25 3.37 * document score 0.50\n" +
			"  (Weight 1.00 * children BM25 3.37)\n" +
			"    red: (0.51 = Weight 1.00 * IDF 0.47 * (F 1.00 * (k1 1.2 + 1)) / (F 1.00 + k1 1.2 * (1 - b 0.75 + b 0.75 * Doc Len 2 / Average Doc Len 2.50)))\n" +
			"    cat: (2.86 = Weight 2.00 * IDF 0.98 * (F 2.00 * (k1 1.2 + 1)) / (F 2.00 + k1 1.2 * (1 - b 0.75 + b 0.75 * Doc Len 2 / Average Doc Len 2.50)))\n"},
		{"BM25STD", either, (redScore + catScore) * 3 / 2, ""},
		{"BM25STD", &Match{Kind: All, Weight: 1}, 2.2 / (1 + norm) / 2, ""},
		{"BM25STD", &Match{Kind: Virtual, Weight: 1}, 0, ""},
		{"BM25STD.TANH", both, math.Tanh((redScore + catScore) / 8), ""},
		{"TFIDF", both, (1*1 + 2*2*2) * 0.5 / 2 / 3, "Final TFIDF : words TFIDF 9.00 * document score 0.50 / norm 2 / slop 3\n" +
			"  (Weight 1.00 * total children TFIDF 9.00)\n" +
			"    (TFIDF 1.00 = Weight 1.00 * TF 1 * IDF 1.00)\n" +
			"    (TFIDF 8.00 = Weight 2.00 * TF 2 * IDF 2.00)\n"},
		{"TFIDF.DOCNORM", red, 1 * 0.5 / 2, ""},
		{"BM25", red, 0.5 / (1 + 1.2*(0.5+0.5*2.5)), ""},
		{"DISMAX", both, 1 + 4, ""},
		{"DISMAX", either, 4 * 3, ""},
		{"DOCSCORE", both, 0.5, "Document's score is 0.50\n"},
	} {
		got, e := Scorer{Name: c2.name}.Score(c2.m, c, d)
		if math.Abs(got-c2.want) > 1e-12 {
			t.Errorf("%s: %v, want %v", c2.name, got, c2.want)
		}
		if c2.text != "" && e.String() != c2.text {
			t.Errorf("%s:\n%swant\n%s", c2.name, e, c2.text)
		}
	}
	if v, _ := (Scorer{Name: "HAMMING", Payload: "\x03"}).Score(both, c, d); v != 1.0/3 {
		t.Error(v)
	}
	if v, _ := (Scorer{Name: "TFIDF"}).Score(both, c, Document{}); v != 0 {
		t.Error(v)
	}
	scores := []float64{2, 4}
	Normalize(scores, nil)
	if scores[0] != 0.5 || scores[1] != 1 {
		t.Error(scores)
	}
}

// Redis documentation, FT.SEARCH: SLOP and INORDER.
func TestWithin(t *testing.T) {
	for _, c := range []struct {
		lists   [][]int
		slop    int
		inOrder bool
		want    bool
	}{
		{[][]int{{1}, {2}}, 0, true, true},
		{[][]int{{2}, {1}}, 0, true, false},
		{[][]int{{2}, {1}}, 0, false, true},
		{[][]int{{1, 7}, {3, 8}}, 0, true, true},
		{[][]int{{1}, {4}}, 1, false, false},
		{[][]int{{1}, {4}}, 2, false, true},
		{[][]int{{1}, {4}}, -1, true, true},
		{[][]int{{4}, {1}}, -1, true, false},
		{[][]int{{1, 20}, {10, 22}, {21}}, 0, false, true},
		{[][]int{{1}, {}}, -1, false, false},
	} {
		if got := Within(c.lists, c.slop, c.inOrder); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}
