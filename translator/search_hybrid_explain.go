//go:build !wasip1 || search

package translator

import (
	"fmt"
	"strconv"

	scoring "github.com/meowdis/meowdis/redis/search/score"
)

// noMatch marks a search of FT.HYBRID that lacks a document.
const noMatch = "<no match>"

// explain returns the explanation of EXPLAINSCORE, whose texts follow github.com/RediSearch/RediSearch/pull/10151. found has
// that of its text score.
func (q *hybridCall) explain(found *foundTwice) *scoring.Explanation {
	text, vector := found.parts[0], found.parts[1]
	constant := strconv.FormatFloat(q.constant, 'g', -1, 64)
	name := fmt.Sprintf("Hybrid score (RRF: window=%d, constant=%s)", q.window, constant)
	if q.linear {
		name = fmt.Sprintf("Hybrid score (LINEAR: alpha=%.4f, beta=%.4f, window=%d)", q.alpha, q.beta, q.window)
	}
	term := func(p hybridPart, weight float64, search string) string {
		switch {
		case p.rank == 0:
			return fmt.Sprintf("0 [%s: no match]", search)
		case q.linear:
			return fmt.Sprintf("%.4f * %.4f", weight, p.score)
		}
		return fmt.Sprintf("1 / (constant %s + rank %d)", constant, p.rank)
	}
	final := fmt.Sprintf("final score: %s + %s = %s", term(text, q.alpha, "text"), term(vector, q.beta, "vector"), longDigits(found.hit.score))
	return explanation(final, explanation(name, q.explainText(text, found.explanation), q.explainVector(vector)))
}

func explanation(text string, children ...*scoring.Explanation) *scoring.Explanation {
	return &scoring.Explanation{Text: text, Children: children}
}

// contribution returns the line about one search.
func (q *hybridCall) contribution(search string, p hybridPart, weight float64) string {
	name := search + " rank = "
	if q.linear {
		name = search + " contribution = "
	}
	switch {
	case p.rank == 0:
		return name + noMatch
	case q.linear:
		return fmt.Sprintf("%s%.4f * %.4f = %.4f", name, weight, p.score, weight*p.score)
	}
	return name + strconv.Itoa(p.rank)
}

func (q *hybridCall) explainText(p hybridPart, words *scoring.Explanation) *scoring.Explanation {
	line := explanation(q.contribution("text", p, q.alpha))
	if p.rank == 0 {
		return line
	}
	scorer := explanation("Text scorer: " + q.scorer)
	if q.linear {
		scorer.Children = append(scorer.Children, explanation(fmt.Sprintf("normalized text score = %.4f", p.score)))
	}
	if words != nil {
		scorer.Children = append(scorer.Children, words)
	}
	line.Children = append(line.Children, scorer)
	return line
}

func (q *hybridCall) explainVector(p hybridPart) *scoring.Explanation {
	branch := explanation("vector branch (KNN)")
	if q.isRange {
		branch.Text = fmt.Sprintf("vector branch (RANGE: radius=%.4f)", q.radius)
		if q.epsilon != "" {
			branch.Text = fmt.Sprintf("vector branch (RANGE: radius=%.4f, epsilon=%s)", q.radius, q.epsilon)
		}
		branch.Children = append(branch.Children, explanation(fmt.Sprintf("matched within radius = %t", p.rank > 0)))
	}
	branch.Children = append(branch.Children, explanation(q.contribution("vector", p, q.beta)))
	if q.linear && p.rank > 0 {
		branch.Children = append(branch.Children, explanation(fmt.Sprintf("normalized vector score = %.4f", p.score)))
	}
	return branch
}
