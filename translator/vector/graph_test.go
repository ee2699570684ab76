package vector

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestGraph checks the links of graphs of several kinds, including many equal vectors: they go both ways, reach all
// vectors and are within the limits, and a search along them finds near vectors.
func TestGraph(t *testing.T) {
	const dim = 8
	for _, kind := range []Kind{F32, Int8, Bin} {
		for _, m := range []int64{4, 16, 4096} {
			for _, n := range []int{1, 2, 20, 2000} {
				draw := rand.New(rand.NewPCG(uint64(m), uint64(n)))
				var records [][]byte
				graph := NewGraph(kind, dim, m)
				for i := range n {
					v := make([]float32, dim)
					for j := range v {
						if i%5 > 0 { // one of five is all 0
							v[j] = float32(draw.NormFloat64()) + float32(8*((i%4)>>(j%2)&1))
						}
					}
					if i%3 == 0 && i > 0 {
						v = kind.Decode(records[i/2], dim) // a duplicate
					}
					records = append(records, kind.Encode(v))
					graph.Add(records[i])
				}
				checkGraph(t, graph, n, int(m))
			}
		}
	}
}

func checkGraph(t *testing.T, g *Graph, n, m int) {
	t.Helper()
	all := make([][][]uint32, n)
	for i := range all {
		all[i] = g.Links(i)
	}
	for i, levels := range all {
		for l, links := range levels {
			most := m
			if l == 0 {
				most = 2 * m
			}
			if len(links) > most {
				t.Errorf("%d has %d links at level %d", i, len(links), l)
			}
			for _, to := range links {
				if int(to) == i || len(all[to]) <= l || !slices.Contains(all[to][l], uint32(i)) {
					t.Errorf("the link from %d to %d at level %d does not go back", i, to, l)
				}
			}
			if sorted := slices.Sorted(slices.Values(links)); len(slices.Compact(sorted)) != len(links) {
				t.Errorf("%d is linked twice to one: %v", i, links)
			}
		}
	}
	reached, queue := map[uint32]bool{0: true}, []uint32{0}
	for ; len(queue) > 0; queue = queue[1:] {
		for _, to := range all[queue[0]][0] {
			if !reached[to] {
				reached[to], queue = true, append(queue, to)
			}
		}
	}
	if len(reached) != n {
		t.Errorf("%s, M %d: %d of %d can be reached", g.kind, m, len(reached), n)
	}
}

// TestGraphSearch searches as a server does, for the nearest vectors in clusters.
func TestGraphSearch(t *testing.T) {
	const dim, n = 16, 3000
	draw := rand.New(rand.NewPCG(3, 4))
	centres := make([][]float32, 12)
	some := func(around []float32, far float64) []float32 {
		v := slices.Clone(around)
		for i := range v {
			v[i] += float32(draw.NormFloat64() * far)
		}
		return v
	}
	for i := range centres {
		centres[i] = some(make([]float32, dim), 1)
	}
	graph := NewGraph(F32, dim, 16)
	var records [][]byte
	for i := range n {
		records = append(records, F32.Encode(some(centres[i%len(centres)], 0.1)))
		graph.Add(records[i])
	}
	hits, wanted := 0, 0
	for i := range 100 {
		query := F32.Query(some(centres[i%len(centres)], 0.1))
		distances := make([]float32, n)
		for j := range distances {
			distances[j] = query.Distance(records[j])
		}
		tenth := slices.Sorted(slices.Values(distances))[9]
		start := []candidate{{at: graph.top, distance: query.Distance(records[graph.top])}}
		for l := len(graph.nodes[graph.top]) - 1; l > 0; l-- {
			start = graph.search(&query, start, l, 1)
		}
		for _, c := range graph.search(&query, start, 0, 100)[:10] {
			if wanted++; c.distance <= tenth {
				hits++
			}
		}
	}
	if hits < wanted*98/100 {
		t.Errorf("%d of %d were found", hits, wanted)
	}
}

// BenchmarkGraph adds a vector to a graph of some thousands.
func BenchmarkGraph(b *testing.B) {
	draw := rand.New(rand.NewPCG(1, 2))
	for _, kind := range []Kind{F32, Int8} {
		b.Run(kind.String(), func(b *testing.B) {
			const dim = 384
			graph := NewGraph(kind, dim, 16)
			for range b.N {
				v := make([]float32, dim)
				for i := range v {
					v[i] = float32(draw.NormFloat64())
				}
				graph.Add(kind.Encode(v))
			}
		})
	}
}
