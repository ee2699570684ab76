package sketch

import (
	"testing"

	"github.com/meowdis/meowdis/redis/rdb"
)

// FuzzParse reads heads and dumps that hold anything, and uses what is accepted.
func FuzzParse(f *testing.F) {
	b, _ := NewBloom(0.01, 10, 2, true)
	c, _ := NewCuckoo(8, 2, 20, 1)
	m, _ := NewCountMin(3, 2)
	k, _ := NewTopK(3, 2, 2, 0.9)
	k.Add([]byte("item"), 2, nil)
	d, _ := NewTDigest(10)
	d.Add(1, 1, ignore)
	d.Add(2, 1, ignore)
	for _, s := range []Sketch{b, c, m, k, d} {
		f.Add(s.Head(), []byte("x"))
		f.Add(rdb.Dump(s.Dump(), nil), []byte("x"))
	}
	f.Fuzz(func(t *testing.T, data, item []byte) {
		for _, name := range Names {
			if s, ok := Parse(name, data, EmptyBody()); ok && s.Len() < 1<<20 {
				exercise(s, item)
			}
		}
		if v, err := rdb.Restore(data, nil); err == nil {
			if m, ok := v.(*rdb.Module); ok {
				if s, ok := Restore(m); ok {
					exercise(s, item)
				}
			}
		}
	})
}

func ignore(int) {}

// exercise uses a sketch in every way.
func exercise(s Sketch, item []byte) {
	s.Head()
	if s.Memory() > 1<<20 {
		return
	}
	switch s := s.(type) {
	case *Bloom:
		s.Add(s.Hash(item))
		s.Has(s.Hash(item))
	case *Cuckoo:
		s.Body.LoadedAll()
		s.Add(s.Hash(item))
		s.Get(s.Hash(item))
		s.Delete(s.Hash(item), ignore)
		s.Compact(true, ignore)
		s.Chunk(0)
	case *CountMin:
		s.Add(item, 3)
		s.Get(item)
	case *TopK:
		s.Add(item, 3, func() float64 { return 0.5 })
		s.Get(item)
		s.List()
	case *TDigest:
		s.Add(1, 1, ignore)
		s.Compress(ignore)
		if s.Merged > 0 {
			s.Quantiles([]float64{0, 0.5, 1}, ignore)
		}
		s.CDF(1)
		s.Rank(1)
		s.RevRank(1)
		s.ByRank(1, true)
		s.TrimmedMean(0.1, 0.9, ignore)
	}
	if s.Len() < 1<<20 {
		s.Dump()
	}
}
