package query

// Expand returns the tree with every term that is not verbatim replaced by the union of itself and the terms that extras
// returns for it. Terms with Fields of their own match in those fields only. Terms of a negation stay as they are. extras
// sees the attribute $phonetic of the clauses around a term as the term's own.
func Expand(n Node, extras func(*Term) []*Term) Node { return expand(n, nil, extras) }

func expand(n Node, phonetic *bool, extras func(*Term) []*Term) Node {
	if own := n.Common().Phonetic; own != nil {
		phonetic = own
	}
	switch n := n.(type) {
	case *Term:
		return expandTerm(n, phonetic, extras)
	case *And:
		expandAll(n.Children, phonetic, extras)
	case *Or:
		expandAll(n.Children, phonetic, extras)
	case *Optional:
		n.Child = expand(n.Child, phonetic, extras)
	case *KNN:
		n.Filter = expand(n.Filter, phonetic, extras)
	}
	return n
}

func expandAll(nodes []Node, phonetic *bool, extras func(*Term) []*Term) {
	for i := range nodes {
		nodes[i] = expand(nodes[i], phonetic, extras)
	}
}

func expandTerm(t *Term, phonetic *bool, extras func(*Term) []*Term) Node {
	if t.Verbatim || t.Text == "" {
		return t
	}
	asked := *t
	asked.Phonetic = phonetic
	added := extras(&asked)
	if len(added) == 0 {
		return t
	}
	union := &Or{t.Base, make([]Node, 0, 1+len(added))}
	plain := *t
	plain.Base = Base{Fields: t.Fields, Weight: 1}
	union.Children = append(union.Children, &plain)
	for _, extra := range added {
		extra.Expanded = true
		if extra.Fields == nil {
			extra.Fields = t.Fields
		}
		if extra.Weight == 0 {
			extra.Weight = 1
		}
		union.Children = append(union.Children, extra)
	}
	return union
}
