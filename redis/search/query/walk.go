package query

import "slices"

// Children returns the children of a node, the values of a Tag included.
func Children(n Node) []Node {
	switch n := n.(type) {
	case *And:
		return n.Children
	case *Or:
		return n.Children
	case *Not:
		return []Node{n.Child}
	case *Optional:
		return []Node{n.Child}
	case *Tag:
		return n.Values
	case *KNN:
		return []Node{n.Filter}
	}
	return nil
}

// Walk calls visit for a node and everything below it, parents first.
func Walk(n Node, visit func(Node)) {
	visit(n)
	for _, child := range Children(n) {
		Walk(child, visit)
	}
}

// Restrict narrows the TEXT fields of a node, and of every node below it, to the given names. It returns how many nodes
// it visited.
func Restrict(n Node, fields []string) (visited int) {
	Walk(n, func(n Node) {
		visited++
		b := n.Common()
		if b.Fields == nil {
			b.Fields = fields
			return
		}
		b.Fields = slices.DeleteFunc(slices.Clone(b.Fields), func(f string) bool { return !slices.Contains(fields, f) })
	})
	return visited
}
