package query

// Expand returns the tree with every term that is not verbatim replaced by the union of itself and the terms that extras
// returns for it. Terms with Fields of their own match in those fields only. Terms of a negation stay as they are.
func Expand(n Node, extras func(*Term) []*Term) Node {
	switch n := n.(type) {
	case *Term:
		return expandTerm(n, extras)
	case *And:
		expandAll(n.Children, extras)
	case *Or:
		expandAll(n.Children, extras)
	case *Optional:
		n.Child = Expand(n.Child, extras)
	case *KNN:
		n.Filter = Expand(n.Filter, extras)
	}
	return n
}

func expandAll(nodes []Node, extras func(*Term) []*Term) {
	for i := range nodes {
		nodes[i] = Expand(nodes[i], extras)
	}
}

func expandTerm(t *Term, extras func(*Term) []*Term) Node {
	if t.Verbatim || t.Text == "" {
		return t
	}
	added := extras(t)
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
