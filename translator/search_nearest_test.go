package translator_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/meowdis/meowdis/store/sweep"
)

// TestSearchNearest compares the nearest vectors of all documents, and of those that a filter selects, with a model, while
// keys change and are indexed.
func TestSearchNearest(t *testing.T) {
	c, random := newClient(t), rand.New(rand.NewPCG(3, 4))
	c.expect("FT.CREATE i SCHEMA n NUMERIC v VECTOR FLAT 6 TYPE FLOAT32 DIM 9 DISTANCE_METRIC IP", "+OK")
	draw := func() (v []float64, b string) {
		for range 9 {
			f := float64(random.IntN(100))
			v, b = append(v, f), string(binary.LittleEndian.AppendUint32([]byte(b), math.Float32bits(float32(f))))
		}
		return v, b
	}
	type document struct {
		v []float64
		n int
	}
	docs := map[string]document{}
	for range 300 {
		key := fmt.Sprint("d", random.IntN(40))
		if random.IntN(5) == 0 {
			c.do("DEL", key)
			delete(docs, key)
		} else {
			v, b := draw()
			docs[key] = document{v, random.IntN(2)}
			c.do("HSET", key, "v", b, "n", fmt.Sprint(docs[key].n))
		}
		if random.IntN(3) == 0 {
			if _, err := sweep.Index(context.Background(), c.store.Apply, c.now, 1+random.IntN(9)); err != nil {
				t.Fatal(err)
			}
		}
		q, b := draw()
		for filter, least := range map[string]int{"*": 0, "(@n:[1 1])": 1} {
			var want []float64
			for _, d := range docs {
				distance := 1.0
				for i := range q {
					distance -= q[i] * d.v[i]
				}
				if d.n >= least {
					want = append(want, distance)
				}
			}
			slices.Sort(want)
			want = want[:min(5, len(want))]
			v := c.do("FT.SEARCH", "i", filter+"=>[KNN 5 @v $q AS far]", "PARAMS", "2", "q", b, "SORTBY", "far", "RETURN", "1", "far", "DIALECT", "2")
			var got []float64
			for i := 2; i < len(v.Elems); i += 2 {
				var f float64
				fmt.Sscan(string(v.Elems[i].Elems[1].Str), &f)
				got = append(got, f)
			}
			if !slices.Equal(got, want) || v.Elems[0].Int != int64(len(want)) {
				t.Fatalf("%s finds %v, want %v", filter, v, want)
			}
		}
	}
}
