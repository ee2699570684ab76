package score

import "math"

// Formula is BM25STD of a query without documents: a function of the frequencies of its terms, which are 0 for a term
// that does not count.
type Formula struct {
	Weight   float64 // of the node; of a term, times its inverse document frequency
	Term     int     // the place of the term's frequency, from 1; 0 for a node with children
	Children []Formula
}

func (f *Formula) score(freqs []uint32, c Collection, d Document) float64 {
	if f.Term > 0 {
		if freqs[f.Term-1] == 0 {
			return 0
		}
		return f.Weight * saturation(float64(freqs[f.Term-1]), float64(d.Length), c.AverageLength)
	}
	total := 0.0
	for i := range f.Children {
		total += f.Children[i].score(freqs, c, d)
	}
	return total * f.Weight
}

// ByFormula reports whether Score of the scorer is a formula.
func (s Scorer) ByFormula() bool {
	return s.Name == "BM25STD" || s.Name == "BM25STD.NORM" || s.Name == "BM25STD.TANH"
}

// Compute returns the same score as Score, by the formula of the query.
func (s Scorer) Compute(f *Formula, freqs []uint32, c Collection, d Document) float64 {
	return s.final(f.score(freqs, c, d) * d.Score)
}

// final applies the function of BM25STD.TANH.
func (s Scorer) final(score float64) float64 {
	if s.Name != "BM25STD.TANH" {
		return score
	}
	return math.Tanh(score / s.factor())
}

func (s Scorer) factor() float64 {
	if s.TanhFactor == 0 {
		return 4
	}
	return s.TanhFactor
}
