package stats

import (
	"bytes"
	"cmp"
	"math"
	"slices"
	"sort"

	"github.com/meowdis/meowdis/internal/smallsort"
	"github.com/meowdis/meowdis/keyspace"
	"github.com/meowdis/meowdis/store/keytype"
)

// Totals holds totals of some keys.
type Totals struct {
	Keys     int64
	Elements int64 // of types with elements
	Bytes    int64
}

func (t *Totals) add(k keyspace.Key) {
	t.Keys++
	if keytype.Of(k.Type).Parts != nil {
		t.Elements += max(k.Count, 0)
	}
	t.Bytes += max(k.Bytes, 0)
}

// Summary totals keys. The zero Summary does not group by prefix and keeps no largest keys.
type Summary struct {
	Separator []byte // ends a prefix; empty for no grouping
	Depth     int    // number of separators in a prefix; 0 means 1
	Top       int    // number of largest keys to keep,
	ByType    bool   // for each type if set, otherwise overall

	Total     Totals
	Expiring  int64 // keys with an expiry
	Unsized   int64 // keys with unknown size
	Types     map[string]*Totals
	Lifetimes [len(lifetimes)]int64 // keys by their time to live
	prefixes  map[string]*Totals
	bytes     Spread              // of all keys
	spreads   map[string]*spreads // by type
	Largest   Ranking             // by bytes, overall
	ByBytes   map[string]Ranking  // for each type
	ByCount   map[string]Ranking
}

// Ranking is a list of the largest keys, in descending order.
type Ranking []keyspace.Key

// lifetimes lists the upper bounds of the TTL ranges, in ms. The last entry counts keys without
// a TTL.
var lifetimes = [...]struct {
	name  string
	below int64
}{
	{"under a minute", 60_000},
	{"under an hour", 3600_000},
	{"under a day", 86400_000},
	{"under a week", 7 * 86400_000},
	{"under 30 days", 30 * 86400_000},
	{"longer", math.MaxInt64},
	{"for ever", 0},
}

// maxPrefixes bounds the memory used for unstructured names. Keys with later prefixes are
// counted under OtherPrefixes.
const maxPrefixes = 50_000

// Group names for keys without a prefix, and for keys beyond maxPrefixes. Real prefixes end in
// the separator, so they cannot equal these names.
const (
	NoPrefix      = ""
	OtherPrefixes = "\xff"
)

// Add adds a page of keys.
func (s *Summary) Add(keys []keyspace.Key) {
	if s.Types == nil {
		s.Types, s.prefixes = map[string]*Totals{}, map[string]*Totals{}
		s.spreads = map[string]*spreads{}
		s.ByBytes, s.ByCount = map[string]Ranking{}, map[string]Ranking{}
	}
	for _, k := range keys {
		s.Total.add(k)
		totalsOf(s.Types, k.Type).add(k)
		if len(s.Separator) > 0 {
			s.prefix(k.Name).add(k)
		}
		s.Lifetimes[lifetime(k.TTL)]++
		if k.TTL >= 0 {
			s.Expiring++
		}
		if k.Bytes < 0 {
			s.Unsized++
		}
		s.addToRankings(k)
		s.addToSpreads(k)
	}
}

func (s *Summary) addToRankings(k keyspace.Key) {
	switch {
	case s.Top == 0:
		return
	case !s.ByType:
		s.Largest = s.Largest.with(k, s.Top, bytesOf)
		return
	}
	s.ByBytes[k.Type] = s.ByBytes[k.Type].with(k, s.Top, bytesOf)
	s.ByCount[k.Type] = s.ByCount[k.Type].with(k, s.Top, countOf)
}

func bytesOf(k keyspace.Key) int64 { return k.Bytes }
func countOf(k keyspace.Key) int64 { return k.Count }

// with returns the ranking with k inserted if it is large enough. A key seen twice appears
// once.
func (r Ranking) with(k keyspace.Key, most int, by func(keyspace.Key) int64) Ranking {
	if by(k) < 0 || len(r) == most && by(k) <= by(r[most-1]) {
		return r
	}
	for _, other := range r {
		if bytes.Equal(other.Name, k.Name) {
			return r
		}
	}
	i := sort.Search(len(r), func(i int) bool { return by(r[i]) < by(k) })
	k.Name = bytes.Clone(k.Name)
	if r = slices.Insert(r, i, k); len(r) > most {
		r = r[:most]
	}
	return r
}

func totalsOf(m map[string]*Totals, name string) *Totals {
	t := m[name]
	if t == nil {
		t = &Totals{}
		m[name] = t
	}
	return t
}

// prefix returns the tally of a name's group.
func (s *Summary) prefix(name []byte) *Totals {
	end := 0
	for range max(s.Depth, 1) {
		i := bytes.Index(name[end:], s.Separator)
		if i < 0 {
			break
		}
		end += i + len(s.Separator)
	}
	if t := s.prefixes[string(name[:end])]; t != nil {
		return t
	}
	if len(s.prefixes) >= maxPrefixes {
		return totalsOf(s.prefixes, OtherPrefixes)
	}
	return totalsOf(s.prefixes, string(name[:end]))
}

func lifetime(ttl int64) int {
	if ttl < 0 {
		return len(lifetimes) - 1
	}
	return slices.IndexFunc(lifetimes[:], func(l struct {
		name  string
		below int64
	}) bool {
		return ttl < l.below
	})
}

// Group is a named tally.
type Group struct {
	Name string
	Totals
}

// TypeGroups returns the tallies of the types, largest first.
func (s *Summary) TypeGroups() []Group { return groups(s.Types, len(s.Types)) }

// PrefixGroups returns the tallies of the largest prefixes, and the total number of prefixes.
func (s *Summary) PrefixGroups(most int) (largest []Group, all int) {
	return groups(s.prefixes, most), len(s.prefixes)
}

func groups(m map[string]*Totals, most int) []Group {
	all := make([]Group, 0, len(m))
	for name, t := range m {
		all = append(all, Group{name, *t})
	}
	smallsort.Sort(all, func(a, b Group) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(b.Keys, a.Keys), cmp.Compare(a.Name, b.Name))
	})
	return all[:min(most, len(all))]
}
