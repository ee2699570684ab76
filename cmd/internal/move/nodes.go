package move

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/meowdis/meowdis/internal/smallsort"
	"github.com/meowdis/meowdis/redis/resp"
)

// nodes counts the keys of each master of a cluster.
type nodes struct {
	what  string
	of    func(name []byte) string
	keys  map[string]int64
	shown time.Time // the last change of the bar's text
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
		r.nodes = &nodes{what: what, of: of, keys: map[string]int64{}, shown: time.Now()}
	}
}

// showEvery separates changes of the bar's text.
const showEvery = time.Second

// Read counts a key that was read, and shows the counts of the nodes in the bar each second.
func (r *Report) Read(name []byte) {
	r.Bar.Add(1)
	n := r.nodes
	if n == nil {
		return
	}
	n.keys[n.of(name)]++
	if now := time.Now(); now.Sub(n.shown) > showEvery {
		n.shown = now
		r.Bar.Say(n.texts()...)
	}
}

// SayNodes writes a line for each node, with the number of its keys.
func (r *Report) SayNodes() {
	for _, one := range r.nodes.list() {
		r.Say("%s: read %s", one.Node, Count(one.Keys, "key"))
	}
}

// WithNodes adds the counts of the nodes to a JSON result, as Outcome has them.
func (r *Report) WithNodes(result resp.Value) resp.Value {
	var all []resp.Value
	for _, one := range r.nodes.list() {
		all = append(all, resp.MakeMap(resp.MakeString("node"), resp.MakeString(one.Node), resp.MakeString("keys"), resp.MakeInt(one.Keys)))
	}
	if all != nil {
		result.Elems = append(result.Elems, resp.MakeString("nodes"), resp.MakeArray(all...))
	}
	return result
}

// list returns the counts in the order of the nodes.
func (n *nodes) list() (all []NodeKeys) {
	if n == nil {
		return nil
	}
	for node, keys := range n.keys {
		all = append(all, NodeKeys{node, keys})
	}
	smallsort.Sort(all, func(a, b NodeKeys) int { return strings.Compare(a.Node, b.Node) })
	return all
}

// texts returns texts for the bar, the longest first.
func (n *nodes) texts() []string {
	all := n.list()
	few := slices.MinFunc(all, func(a, b NodeKeys) int { return cmp.Compare(a.Keys, b.Keys) })
	many := slices.MaxFunc(all, func(a, b NodeKeys) int { return cmp.Compare(a.Keys, b.Keys) })
	parts := make([]string, len(all))
	for i, one := range all {
		parts[i] = fmt.Sprintf("%d of %s", one.Keys, one.Node)
	}
	return []string{
		fmt.Sprintf("%s (%s)", n.what, strings.Join(parts, ", ")),
		fmt.Sprintf("%s from %d nodes (%d of %s to %d of %s)", n.what, len(all), few.Keys, few.Node, many.Keys, many.Node),
		fmt.Sprintf("%s from %d nodes (%d to %d)", n.what, len(all), few.Keys, many.Keys),
	}
}
