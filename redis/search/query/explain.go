package query

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Explain returns the text of a tree, as FT.EXPLAIN does.
func Explain(n Node) string {
	var b strings.Builder
	explain(&b, n, 0)
	return b.String()
}

func explain(b *strings.Builder, n Node, depth int) {
	b.WriteString(strings.Repeat("  ", depth))
	explainBody(b, n, depth)
	explainAttributes(b, n.Common())
	b.WriteByte('\n')
}

// explainBody writes a node without its indent and attributes.
func explainBody(b *strings.Builder, n Node, depth int) {
	switch n.(type) {
	case *Term, *Phrase, *And, *Or, *Not, *Optional, *Affix, *Wildcard, *Fuzzy, *Regexp:
		if fields := n.Common().Fields; fields != nil {
			b.WriteByte('@')
			if len(fields) == 0 {
				b.WriteString("NULL")
			}
			b.WriteString(strings.Join(fields, "|") + ":")
		}
	}
	block := func(open string) {
		b.WriteString(open + "\n")
		for _, child := range Children(n) {
			explain(b, child, depth+1)
		}
		b.WriteString(strings.Repeat("  ", depth) + "}")
	}
	switch n := n.(type) {
	case *All:
		b.WriteString("<WILDCARD>")
	case *Nothing:
		b.WriteString("<empty>")
	case *Term:
		b.WriteString(n.Text)
		if n.Expanded {
			b.WriteString("(expanded)")
		}
	case *Phrase:
		b.WriteString("EXACT {\n")
		for _, text := range n.Terms {
			explain(b, &Term{Base: Base{Fields: n.Fields, Weight: 1}, Text: text}, depth+1)
		}
		b.WriteString(strings.Repeat("  ", depth) + "}")
	case *And:
		block("INTERSECT {")
	case *Or:
		block("UNION {")
	case *Not:
		block("NOT{")
	case *Optional:
		block("OPTIONAL{")
	case *Tag:
		block("TAG:@" + n.Field + " {")
	case *KNN:
		b.WriteString("VECTOR {")
		if _, all := n.Filter.(*All); !all {
			b.WriteByte('\n')
			explain(b, n.Filter, depth+1)
			b.WriteString(strings.Repeat("  ", depth) + "} => {")
		}
		fmt.Fprintf(b, "K=%d nearest vectors to `$%s` in vector index associated with field @%s, yields distance as `%s`}",
			n.K, n.Param, n.Field, n.ScoreAs)
	default:
		explainLeaf(b, n)
	}
}

// explainLeaf writes a node without children.
func explainLeaf(b *strings.Builder, n Node) {
	switch n := n.(type) {
	case *Affix:
		fmt.Fprintf(b, [...]string{"PREFIX{%s*}", "SUFFIX{*%s}", "INFIX{*%s*}"}[n.Kind], n.Text)
	case *Wildcard:
		fmt.Fprintf(b, "WILDCARD{%s}", n.Pattern)
	case *Fuzzy:
		fmt.Fprintf(b, "FUZZY{%s}", n.Text)
	case *Regexp:
		fmt.Fprintf(b, "REGEXP{%s}", n.Pattern)
	case *TagRange:
		fmt.Fprintf(b, "TAG:@%s %s", n.Field, tagRange(n))
	case *Numeric:
		sign := func(exclusive bool) string {
			if exclusive {
				return "<"
			}
			return "<="
		}
		fmt.Fprintf(b, "NUMERIC {%s %s @%s %s %s}", sixDigits(n.Min), sign(n.MinExclusive), n.Field,
			sign(n.MaxExclusive), sixDigits(n.Max))
	case *Geo:
		fmt.Fprintf(b, "GEO %s:{%s,%s --> %s %s}", n.Field, sixDigits(n.Lon), sixDigits(n.Lat), sixDigits(n.Radius), n.Unit)
	case *GeoShape:
		fmt.Fprintf(b, "GEOSHAPE{%d %s}", n.Relation, n.WKT)
	case *Missing:
		fmt.Fprintf(b, "ISMISSING{%s}", n.Field)
	case *VectorRange:
		fmt.Fprintf(b, "VECTOR {Vectors that are within %s distance radius from `$%s` in vector index associated with field @%s",
			sixDigits(n.Radius), n.Param, n.Field)
		if n.ScoreAs != "" {
			fmt.Fprintf(b, ", yields distance as `%s`", n.ScoreAs)
		}
		b.WriteByte('}')
	}
}

// explainAttributes writes the attributes that the query sets.
func explainAttributes(b *strings.Builder, base *Base) {
	var tail string
	if base.Weight != 1 {
		tail += " $weight: " + strconv.FormatFloat(base.Weight, 'g', 6, 64) + ";"
	}
	if base.Slop != nil {
		tail += " $slop: " + strconv.Itoa(*base.Slop) + ";"
	}
	if base.InOrder != nil {
		tail += " $inorder: " + strconv.FormatBool(*base.InOrder) + ";"
	}
	if base.Phonetic != nil {
		tail += " $phonetic: " + strconv.FormatBool(*base.Phonetic) + ";"
	}
	if tail != "" {
		b.WriteString(" => {" + tail + " }")
	}
}

// sixDigits returns a number as C's %f does.
func sixDigits(v float64) string {
	if math.IsInf(v, 0) {
		return strings.TrimPrefix(strings.ToLower(strconv.FormatFloat(v, 'f', -1, 64)), "+")
	}
	return strconv.FormatFloat(v, 'f', 6, 64)
}

// tagRange returns the ends of a range in brackets; a parenthesis is an exclusive end.
func tagRange(n *TagRange) string {
	end := func(s *string, exclusive bool) string {
		switch {
		case s == nil:
			return "*"
		case exclusive:
			return "(" + *s
		}
		return *s
	}
	return "[" + end(n.Min, n.MinExclusive) + " " + end(n.Max, n.MaxExclusive) + "]"
}
