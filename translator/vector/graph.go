package vector

import (
	"cmp"
	"math/bits"
	"slices"
)

// Graph links each vector to near vectors, as Redis does: a hierarchy of small worlds. All vectors are at level 0, a
// quarter of them at level 1, a quarter of these at level 2, and so on. A search walks towards the nearest vectors of a
// level, and continues from there one level below. The same records in the same order give the same graph.
//
// Links go both ways. Each vector except the first of a level has a permanent link there to a vector added before, so
// every vector can be reached.
type Graph struct {
	kind      Kind
	dim       int
	linkLimit int // links per vector; twice this at level 0
	records   [][]byte
	nodes     []node
	top       uint32 // a vector at the highest level

	seen     []uint32 // the last search that visited each vector
	searches uint32
	found    []candidate
}

// node holds the links of a vector, by level.
type node [][]link

type link struct {
	to        uint32
	distance  float32
	permanent bool
}

// candidate is a vector that a search has reached.
type candidate struct {
	at       uint32
	distance float32
	done     bool // its links were followed
}

const (
	searchCandidates = 64 // candidates per search
	maxNewLinks      = 32 // limit of links of a new vector per level: more cost time and hardly improve results
	maxLevel         = 15
)

// NewGraph returns an empty graph for records of the kind, of dim components. m is Redis's parameter M, 4 or more.
func NewGraph(kind Kind, dim int, m int64) *Graph {
	return &Graph{kind: kind, dim: dim, linkLimit: int(min(m, maxNewLinks))}
}

// Add adds a record. The graph keeps a reference to it.
func (g *Graph) Add(record []byte) {
	at := uint32(len(g.nodes))
	level := levelOf(at)
	g.records = append(g.records, record)
	g.nodes = append(g.nodes, make(node, level+1))
	g.seen = append(g.seen, 0)
	if at == 0 {
		return
	}
	query := g.kind.QueryRecord(record, g.dim)
	highest := len(g.nodes[g.top]) - 1
	start := []candidate{{at: g.top, distance: g.distance(&query, g.top)}}
	for l := highest; l >= 0; l-- {
		most := searchCandidates
		if l > level {
			most = 1
		}
		start = g.search(&query, start, l, most)
		if l <= level {
			g.connect(at, l, start)
		}
	}
	if level > highest {
		g.top = at
	}
}

// Links returns the vectors that a vector is linked to, by level. Vectors are numbered from 0 in the order of Add.
func (g *Graph) Links(at int) [][]uint32 {
	all := make([][]uint32, len(g.nodes[at]))
	for l, links := range g.nodes[at] {
		for _, one := range links {
			all[l] = append(all[l], one.to)
		}
	}
	return all
}

// levelOf derives the highest level of a vector from a hash of its number.
func levelOf(at uint32) int {
	x := (uint64(at) + 1) * 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return min(bits.TrailingZeros64(x^x>>31)/2, maxLevel)
}

func (g *Graph) distance(query *Query, to uint32) float32 {
	d := query.Distance(g.records[to])
	if d != d {
		return 2
	}
	return d
}

// search returns up to most vectors of a level near query, the nearest first. It begins from start.
func (g *Graph) search(query *Query, start []candidate, level, most int) []candidate {
	g.searches++
	found := g.found[:0]
	for _, c := range start[:min(len(start), most)] {
		g.seen[c.at] = g.searches
		c.done = false
		found = append(found, c)
	}
	for next := 0; next < len(found); {
		if found[next].done {
			next++
			continue
		}
		found[next].done = true
		for _, to := range g.nodes[found[next].at][level] {
			if g.seen[to.to] == g.searches {
				continue
			}
			g.seen[to.to] = g.searches
			d := g.distance(query, to.to)
			if len(found) == most && d >= found[most-1].distance {
				continue
			}
			i, _ := slices.BinarySearchFunc(found, d, func(c candidate, d float32) int { return cmp.Compare(c.distance, d) })
			if len(found) == most {
				found = found[:most-1]
			}
			found = slices.Insert(found, i, candidate{at: to.to, distance: d})
			next = min(next, i)
		}
	}
	g.found = found
	return slices.Clone(found)
}

// connect links a new vector to some of the nearest vectors.
func (g *Graph) connect(at uint32, level int, near []candidate) {
	parent := slices.IndexFunc(near, func(c candidate) bool { return g.makeRoom(c.at, level, 0) })
	if parent >= 0 {
		g.link(at, near[parent], level, true)
	} else if level == 0 { // the previous vector has space: its only permanent link is its own
		query := g.kind.QueryRecord(g.records[at], g.dim)
		g.link(at, candidate{at: at - 1, distance: g.distance(&query, at-1)}, level, true)
	}
	for _, c := range g.diversify(near) {
		if len(g.nodes[at][level]) >= g.linkLimit {
			return
		}
		linked := slices.ContainsFunc(g.nodes[at][level], func(l link) bool { return l.to == c.at })
		if !linked && g.makeRoom(c.at, level, c.distance) {
			g.link(at, c, level, false)
		}
	}
}

// diversify returns near with the vectors first that are nearer to the new vector than to each other, so that links
// lead in all directions.
func (g *Graph) diversify(near []candidate) []candidate {
	var chosen, rest []candidate
	var queries []Query
next:
	for _, c := range near {
		if len(chosen) < g.linkLimit {
			for i := range queries {
				if g.distance(&queries[i], c.at) < c.distance {
					rest = append(rest, c)
					continue next
				}
			}
			queries = append(queries, g.kind.QueryRecord(g.records[c.at], g.dim))
			chosen = append(chosen, c)
		}
	}
	return append(chosen, rest...)
}

// makeRoom reports whether a vector can have one more link. A full vector drops its furthest link that is not
// permanent, if that link is at least as far as distance.
func (g *Graph) makeRoom(at uint32, level int, distance float32) bool {
	links, most := g.nodes[at][level], g.linkLimit
	if level == 0 {
		most = 2 * g.linkLimit
	}
	if len(links) < most {
		return true
	}
	worst := -1
	for i, l := range links {
		if !l.permanent && (worst < 0 || l.distance > links[worst].distance) {
			worst = i
		}
	}
	if worst < 0 || links[worst].distance < distance {
		return false
	}
	other := links[worst].to
	g.unlink(at, other, level)
	g.unlink(other, at, level)
	return true
}

func (g *Graph) link(at uint32, to candidate, level int, stays bool) {
	g.nodes[at][level] = append(g.nodes[at][level], link{to.at, to.distance, stays})
	g.nodes[to.at][level] = append(g.nodes[to.at][level], link{at, to.distance, stays})
}

func (g *Graph) unlink(at, to uint32, level int) {
	g.nodes[at][level] = slices.DeleteFunc(g.nodes[at][level], func(l link) bool { return l.to == to })
}
