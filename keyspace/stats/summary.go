package stats

import (
	"bytes"
	"cmp"
	"math"
	"slices"
	"sort"

	"github.com/meowdis/meowdis/keyspace"
	"github.com/meowdis/meowdis/store/keytype"
)

// Tally is a sum over some keys.
type Tally struct {
	Keys     int64
	Elements int64 // of the types that have some
	Bytes    int64
}

func (t *Tally) add(k keyspace.Key) {
	t.Keys++
	if keytype.Of(k.Type).Parts != nil {
		t.Elements += max(k.Count, 0)
	}
	t.Bytes += max(k.Bytes, 0)
}

// Summary adds keys up. The zero Summary does not group by prefix and keeps no
// largest keys.
type Summary struct {
	Separator []byte // ends a prefix; empty for no grouping
	Depth     int    // how many separators a prefix goes over; 0 is 1
	Top       int    // how many of the largest keys are kept,
	ByType    bool   // of each type, or else of all

	Total    Tally
	Expiring int64 // keys with a time to live
	Unsized  int64 // keys whose bytes are not known
	Types    map[string]*Tally
	Lives    [len(lifetimes)]int64 // keys by their time to live
	prefixes map[string]*Tally
	Largest  Ranking            // by bytes, of all
	ByBytes  map[string]Ranking // of each type
	ByCount  map[string]Ranking
}

// Ranking is the first keys of an order, the largest first.
type Ranking []keyspace.Key

// lifetimes are the upper bounds of the TTLs that are counted apart, in
// ms; the last one is for keys without a TTL.
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

// maxPrefixes bounds the memory that names without system would take. Keys whose
// prefix comes late are counted under Rest.
const maxPrefixes = 50_000

// Names of the groups of keys that have no prefix, or came too late for one of
// their own. No prefix is like these, since each ends in the separator.
const (
	NoPrefix = ""
	Rest     = "\xff"
)

// Add takes a page of keys in.
func (s *Summary) Add(keys []keyspace.Key) {
	if s.Types == nil {
		s.Types, s.prefixes = map[string]*Tally{}, map[string]*Tally{}
		s.ByBytes, s.ByCount = map[string]Ranking{}, map[string]Ranking{}
	}
	for _, k := range keys {
		s.Total.add(k)
		tally(s.Types, k.Type).add(k)
		if len(s.Separator) > 0 {
			s.prefix(k.Name).add(k)
		}
		s.Lives[lifetime(k.TTL)]++
		if k.TTL >= 0 {
			s.Expiring++
		}
		if k.Bytes < 0 {
			s.Unsized++
		}
		s.rank(k)
	}
}

func (s *Summary) rank(k keyspace.Key) {
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

// with is the ranking with k in it, if it belongs there. A key that is met twice
// stands once.
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

func tally(m map[string]*Tally, name string) *Tally {
	t := m[name]
	if t == nil {
		t = &Tally{}
		m[name] = t
	}
	return t
}

// prefix is the tally of the group that a name belongs to.
func (s *Summary) prefix(name []byte) *Tally {
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
		return tally(s.prefixes, Rest)
	}
	return tally(s.prefixes, string(name[:end]))
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

// Group is a tally and what it is of.
type Group struct {
	Name string
	Tally
}

// TypeGroups are the tallies of the types, the largest first.
func (s *Summary) TypeGroups() []Group { return groups(s.Types, len(s.Types)) }

// PrefixGroups are the tallies of the largest prefixes, and how many there are.
func (s *Summary) PrefixGroups(most int) (largest []Group, all int) {
	return groups(s.prefixes, most), len(s.prefixes)
}

func groups(m map[string]*Tally, most int) []Group {
	all := make([]Group, 0, len(m))
	for name, t := range m {
		all = append(all, Group{name, *t})
	}
	slices.SortFunc(all, func(a, b Group) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(b.Keys, a.Keys), cmp.Compare(a.Name, b.Name))
	})
	return all[:min(most, len(all))]
}
