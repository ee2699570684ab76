package move

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// nodes counts the keys of each master of a cluster.
type nodes struct {
	what  string
	of    func(name []byte) string
	keys  map[string]int64
	shown time.Time
}

// NodeKeys is the part of a JSON result about one master of a cluster.
type NodeKeys struct {
	Node string `json:"node"`
	Keys int64  `json:"keys"`
}

// ByNode makes the report count the keys of each node of a cluster, as of returns it. A nil of changes nothing. The bar
// describes the work as what.
func (r *Report) ByNode(what string, of func(name []byte) string) {
	if of != nil {
		r.nodes = &nodes{what: what, of: of, keys: map[string]int64{}}
	}
}

// showEvery separates changes of the bar's text.
const showEvery = time.Second

// addToNode counts a key, and shows the counts in the bar each second.
func (r *Report) addToNode(name []byte) {
	n := r.nodes
	if n == nil {
		return
	}
	n.keys[n.of(name)]++
	if now := time.Now(); now.Sub(n.shown) > showEvery {
		n.shown = now
		r.Bar.Say(n.text())
	}
}

// list returns the counts in the order of the nodes.
func (n *nodes) list() (all []NodeKeys) {
	if n == nil {
		return nil
	}
	for node, keys := range n.keys {
		all = append(all, NodeKeys{node, keys})
	}
	slices.SortFunc(all, func(a, b NodeKeys) int { return strings.Compare(a.Node, b.Node) })
	return all
}

// mostNodes limits the nodes in the text of a bar.
const mostNodes = 3

// text returns the text of the bar.
func (n *nodes) text() string {
	all := n.list()
	if len(all) > mostNodes {
		few := slices.MinFunc(all, func(a, b NodeKeys) int { return int(a.Keys - b.Keys) })
		many := slices.MaxFunc(all, func(a, b NodeKeys) int { return int(a.Keys - b.Keys) })
		return fmt.Sprintf("%s from %d nodes (%d of %s to %d of %s)", n.what, len(all), few.Keys, few.Node, many.Keys, many.Node)
	}
	parts := make([]string, len(all))
	for i, one := range all {
		parts[i] = fmt.Sprintf("%d of %s", one.Keys, one.Node)
	}
	return fmt.Sprintf("%s (%s)", n.what, strings.Join(parts, ", "))
}
