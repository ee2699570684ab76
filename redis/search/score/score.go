package score

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strings"
)

// Kind distinguishes the nodes of a query.
type Kind int

// The kinds of a Match.
const (
	Term     Kind = iota // a term of the document
	All                  // the query *, which counts as a term in every document
	Virtual              // a tag, a number, a place, a vector: no term
	And                  // an intersection, or a phrase
	Or                   // a union
	Constant             // counts its weight; only indexes of SEARCH.CREATE have it
)

// Match is a node of a query that a document matches.
type Match struct {
	Kind      Kind
	Weight    float64 // $weight of the node; it is 1 by default
	Term      string
	Freq      int   // of the term in the document, weighted by fields
	Docs      int   // how many documents have the term
	Positions []int // of the term, ascending
	Children  []*Match

	// Of a Term, for the scorer Fields: the length of the term's field in the document, and its average.
	Length, AverageLength float64
}

// Collection is what scores need to know of an index.
type Collection struct {
	Docs          int
	AverageLength float64
}

// Document is what scores need to know of a document.
type Document struct {
	Score   float64 // of FT.CREATE's SCORE or SCORE_FIELD
	Length  int
	MaxFreq int
	Payload string
}

// Scorer computes the score of a document.
type Scorer struct {
	Name       string  // in upper case
	TanhFactor float64 // BM25STD_TANH_FACTOR; zero means 4
	Payload    string  // PAYLOAD of the query, for HAMMING
}

// Default is the scorer of Redis 8.
const Default = "BM25STD"

// Fields is the scorer of Upstash's search: BM25 of each term in its field. FT.SEARCH does not accept it.
const Fields = "BM25.FIELDS"

// Names are the names of the scorers.
var Names = []string{"BM25STD", "BM25STD.NORM", "BM25STD.TANH", "BM25", "TFIDF", "TFIDF.DOCNORM", "DISMAX", "DOCSCORE", "HAMMING"}

// Known reports whether a name, in upper case, is a scorer.
func Known(name string) bool { return slices.Contains(Names, name) }

// Explanation is a node of EXPLAINSCORE's tree.
type Explanation struct {
	Text     string
	Children []*Explanation
}

// Score returns the score of a document that matches, and its explanation. BM25STD.NORM is only complete after Normalize.
func (s Scorer) Score(m *Match, c Collection, d Document) (float64, *Explanation) {
	switch s.Name {
	case "TFIDF":
		return tfidf(m, c, d, d.MaxFreq)
	case "TFIDF.DOCNORM":
		return tfidf(m, c, d, d.Length)
	case "BM25":
		return bm25(m, c, d)
	case "DISMAX":
		return dismax(m)
	case "DOCSCORE":
		return d.Score, explain("Document's score is %.2f", d.Score)
	case "HAMMING":
		return hamming(s.Payload, d.Payload)
	case Fields:
		return fieldsScore(m, c), nil
	}
	words, e := bm25std(m, c, d)
	score := words * d.Score
	root := explain("Final BM25 : words BM25 %.2f * document score %.2f", words, d.Score)
	root.Children = []*Explanation{e}
	if s.Name == "BM25STD.TANH" {
		outer := explain("Final Normalized BM25 : tanh(stretch factor 1/%d * Final BM25 %.2f)", int(s.factor()), score)
		outer.Children = []*Explanation{root}
		return s.final(score), outer
	}
	return score, root
}

// Normalize divides the scores of BM25STD.NORM by the highest, and puts that above their explanations, which may be nil.
func Normalize(scores []float64, explanations []*Explanation) {
	most := 0.0
	for _, v := range scores {
		most = max(most, v)
	}
	if most == 0 {
		return
	}
	for i, v := range scores {
		scores[i] = v / most
		if i < len(explanations) && explanations[i] != nil {
			e := explain("Final BM25STD.NORM: %.2f = Original Score: %.2f / Max Score: %.2f", scores[i], v, most)
			e.Children = []*Explanation{explanations[i]}
			explanations[i] = e
		}
	}
}

func explain(format string, args ...any) *Explanation {
	return &Explanation{Text: fmt.Sprintf(format, args...)}
}

// sum adds the scores of children, times the node's weight.
func sum(m *Match, label string, child func(*Match) (float64, *Explanation)) (float64, *Explanation) {
	total, e := 0.0, &Explanation{}
	for _, c := range m.Children {
		v, ce := child(c)
		total += v
		e.Children = append(e.Children, ce)
	}
	total *= m.Weight
	e.Text = fmt.Sprintf("(Weight %.2f * "+label+" %.2f)", m.Weight, total)
	return total, e
}

// The constants of BM25.
const (
	k1    = 1.2
	b     = 0.75
	oldB  = 0.5 // of BM25, which is deprecated
	oneIn = "k1 1.2"
)

// BM25IDF returns the inverse document frequency of BM25STD for a term in n of docs documents.
func BM25IDF(docs, n int) float64 {
	return math.Log(1 + (float64(docs-n)+0.5)/(float64(n)+0.5))
}

func saturation(freq, length, average float64) float64 {
	ratio := 0.0
	if average > 0 {
		ratio = length / average
	}
	return freq * (k1 + 1) / (freq + k1*(1-b+b*ratio))
}

// bm25stdScore returns the score of bm25std without its explanation.
func bm25stdScore(m *Match, c Collection, d Document) float64 {
	switch m.Kind {
	case Term:
		return m.Weight * BM25IDF(c.Docs, m.Docs) * saturation(float64(m.Freq), float64(d.Length), c.AverageLength)
	case All:
		return m.Weight * saturation(1, float64(d.Length), c.AverageLength)
	case Virtual:
		return 0
	}
	total := 0.0
	for _, child := range m.Children {
		total += bm25stdScore(child, c, d)
	}
	return total * m.Weight
}

func bm25std(m *Match, c Collection, d Document) (float64, *Explanation) {
	switch m.Kind {
	case Term, All:
		idf, freq, name := BM25IDF(c.Docs, m.Docs), float64(m.Freq), m.Term
		if m.Kind == All {
			idf, freq, name = 1, 1, "*"
		}
		v := bm25stdScore(m, c, d)
		return v, explain("%s: (%.2f = Weight %.2f * IDF %.2f * (F %.2f * ("+oneIn+" + 1)) / (F %.2f + "+oneIn+
			" * (1 - b 0.75 + b 0.75 * Doc Len %d / Average Doc Len %.2f)))",
			name, v, m.Weight, idf, freq, freq, d.Length, c.AverageLength)
	case Virtual:
		return 0, explain("Frequency 0 -> value 0")
	}
	return sum(m, "children BM25", func(m *Match) (float64, *Explanation) { return bm25std(m, c, d) })
}

// fieldsScore adds the scores of terms and constants, each times its weight.
func fieldsScore(m *Match, c Collection) float64 {
	switch m.Kind {
	case Virtual:
		return 0
	case All, Constant:
		return m.Weight
	case Term:
		return m.Weight * BM25IDF(c.Docs, m.Docs) * saturation(float64(m.Freq), m.Length, m.AverageLength)
	}
	total := 0.0
	for _, child := range m.Children {
		total += fieldsScore(child, c)
	}
	return m.Weight * total
}

// IDF returns the inverse document frequency of TFIDF and BM25 for a term in n of docs documents.
func IDF(docs, n int) float64 {
	return math.Floor(math.Log2(1 + float64(docs+1)/float64(max(n, 1))))
}

func tfidf(m *Match, c Collection, d Document, norm int) (float64, *Explanation) {
	if d.Score == 0 {
		return 0, explain("Document score is 0")
	}
	words, e := tfidfWords(m, c)
	slop := Slop(m)
	root := explain("Final TFIDF : words TFIDF %.2f * document score %.2f / norm %d / slop %d", words, d.Score, norm, slop)
	root.Children = []*Explanation{e}
	return words * d.Score / float64(max(norm, 1)) / float64(slop), root
}

func tfidfWords(m *Match, c Collection) (float64, *Explanation) {
	switch m.Kind {
	case Term:
		idf := IDF(c.Docs, m.Docs)
		v := m.Weight * float64(m.Freq) * idf
		return v, explain("(TFIDF %.2f = Weight %.2f * TF %d * IDF %.2f)", v, m.Weight, m.Freq, idf)
	case All, Virtual:
		freq := 0
		if m.Kind == All {
			freq = 1
		}
		v := m.Weight * float64(freq)
		return v, explain("(TFIDF %.2f = Weight %.2f * Frequency %d)", v, m.Weight, freq)
	}
	return sum(m, "total children TFIDF", func(m *Match) (float64, *Explanation) { return tfidfWords(m, c) })
}

func bm25(m *Match, c Collection, d Document) (float64, *Explanation) {
	words, e := bm25Words(m, c)
	slop := Slop(m)
	root := explain("Final BM25 : words BM25 %.2f * document score %.2f / slop %d", words, d.Score, slop)
	root.Children = []*Explanation{e}
	return words * d.Score / float64(slop), root
}

func bm25Words(m *Match, c Collection) (float64, *Explanation) {
	switch m.Kind {
	case Term:
		idf, freq := IDF(c.Docs, m.Docs), float64(m.Freq)
		v := m.Weight * idf * freq / (freq + k1*(1-oldB+oldB*c.AverageLength))
		return v, explain("(%.2f = Weight %.2f * IDF %.2f * F %d / (F %d + "+oneIn+" * (1 - b 0.5 + b 0.5 * Average Len %.2f)))",
			v, m.Weight, idf, m.Freq, m.Freq, c.AverageLength)
	case All, Virtual:
		return 0, explain("Frequency 0 -> value 0")
	}
	return sum(m, "children BM25", func(m *Match) (float64, *Explanation) { return bm25Words(m, c) })
}

func dismax(m *Match) (float64, *Explanation) {
	switch m.Kind {
	case Term, All:
		freq := m.Freq
		if m.Kind == All {
			freq = 1
		}
		v := m.Weight * float64(freq)
		return v, explain("DISMAX %.2f = Weight %.2f * Frequency %d", v, m.Weight, freq)
	case Virtual:
		return 0, explain("DISMAX %.2f = Weight %.2f * Frequency %d", 0.0, m.Weight, 0)
	}
	total, e := 0.0, &Explanation{}
	for _, child := range m.Children {
		v, ce := dismax(child)
		e.Children = append(e.Children, ce)
		if m.Kind == Or {
			total = max(total, v)
		} else {
			total += v
		}
	}
	total *= m.Weight
	how := "children DISMAX"
	if m.Kind == Or {
		how = "maximum of children DISMAX"
	}
	e.Text = fmt.Sprintf("%.2f = Weight %.2f * %s %.2f", total, m.Weight, how, total/nonZero(m.Weight))
	return total, e
}

func nonZero(v float64) float64 {
	if v == 0 {
		return 1
	}
	return v
}

// hamming returns a score that is 1 for equal payloads and falls with the number of bits that differ.
func hamming(query, document string) (float64, *Explanation) {
	if len(query) != len(document) || query == "" {
		return 0, explain("Payloads provided to scorer vary in length")
	}
	distance := 0
	for i := range len(query) {
		distance += bits.OnesCount8(query[i] ^ document[i])
	}
	return 1 / float64(1+distance), explain("String length is %d. Bit count is %d. Result is (1 / count + 1) = %.2f",
		len(query), distance, 1/float64(1+distance))
}

// Slop returns the divisor of TFIDF and BM25 for the distance of the terms: the root of the sum of squares of the least
// distances between pairs of children that follow each other. A match without children has 1.
func Slop(m *Match) int {
	if len(m.Children) < 2 {
		return 1
	}
	total := 0
	for i := 0; i+1 < len(m.Children); i += 2 {
		d := leastDistance(positions(m.Children[i]), positions(m.Children[i+1]))
		total += d * d
	}
	if total == 0 { // no positions
		return len(m.Children) - 1
	}
	return int(math.Sqrt(float64(total)))
}

// positions returns the positions of a match's terms, ascending.
func positions(m *Match) []int {
	if m.Kind == Term {
		return m.Positions
	}
	var all []int
	for _, child := range m.Children {
		all = append(all, positions(child)...)
	}
	slices.Sort(all)
	return all
}

// leastDistance returns the least distance between ascending positions of two lists; 0 if one is empty.
func leastDistance(p, q []int) int {
	least := -1
	for i, j := 0, 0; i < len(p) && j < len(q); {
		d := p[i] - q[j]
		if d < 0 {
			d = -d
			i++
		} else {
			j++
		}
		if least < 0 || d < least {
			least = d
		}
	}
	return max(least, 0)
}

// String returns the explanation indented, for messages.
func (e *Explanation) String() string {
	var out strings.Builder
	e.write(&out, 0)
	return out.String()
}

func (e *Explanation) write(out *strings.Builder, depth int) {
	out.WriteString(strings.Repeat("  ", depth) + e.Text + "\n")
	for _, child := range e.Children {
		child.write(out, depth+1)
	}
}
