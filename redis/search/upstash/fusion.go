package upstash

import (
	"math"

	"github.com/meowdis/meowdis/redis/search/query"
)

// Fusion holds the searches of SEARCH.QUERY: one, or several whose ranks $rrf combines.
type Fusion struct {
	Searches     []WeightedSearch
	RankConstant float64 // 0 without $rrf
	Window       int     // how many documents of each search count
}

// WeightedSearch holds a search of $rrf.
type WeightedSearch struct {
	Tree   query.Node
	Weight float64
}

// The bounds of $rrf.
const (
	minSearches    = 2
	maxSearches    = 10
	maxWindow      = 11_000
	maxConstant    = math.MaxInt32
	defaultRRFRank = 60
)

// ParseQuery parses a filter, or $standard or $rrf in its place. The default of window is limit.
func ParseQuery(filter string, d *Definition, limit int) (*Fusion, error) {
	o, err := parseObject("filter", filter)
	if err != nil {
		return nil, err
	}
	p := &filterParser{d: d}
	fused, err := p.fusion(o, limit)
	if err == nil && p.words > maxWords {
		return nil, failure("The filter has too many words")
	}
	return fused, err
}

func (p *filterParser) fusion(o object, limit int) (*Fusion, error) {
	value, is := o.get("$rrf")
	if !is {
		s, err := p.search(o)
		return &Fusion{Searches: []WeightedSearch{s}}, err
	}
	options, ok := value.(object)
	if !ok || len(o) != 1 {
		return nil, failure("$rrf must be the only member, and hold an object")
	}
	fused := &Fusion{RankConstant: defaultRRFRank, Window: limit}
	for _, m := range options {
		var err error
		switch m.name {
		case "retrievers":
			fused.Searches, err = p.searches(m.value)
		case "rankConstant":
			fused.RankConstant, err = wholeNumber(m, maxConstant)
		case "window":
			var n float64
			n, err = wholeNumber(m, maxWindow)
			fused.Window = int(n)
		default:
			err = failure("Unknown option of $rrf: %s", m.name)
		}
		if err != nil {
			return nil, err
		}
	}
	if n := len(fused.Searches); n < minSearches || n > maxSearches {
		return nil, failure("$rrf needs %d to %d retrievers", minSearches, maxSearches)
	}
	return fused, nil
}

func (p *filterParser) searches(value any) (all []WeightedSearch, err error) {
	list, ok := value.([]any)
	if !ok {
		return nil, failure("retrievers must be an array")
	}
	for _, item := range list {
		o, ok := item.(object)
		if !ok {
			return nil, failure("retrievers must hold objects")
		}
		s, err := p.search(o)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

// search parses a filter, or $standard with a filter and a weight.
func (p *filterParser) search(o object) (s WeightedSearch, err error) {
	s.Weight = 1
	if _, is := o.get("$ann"); is {
		return s, failure("$ann needs an embedding model, which meowdis does not have: use a filter, or FT.SEARCH with vectors")
	}
	if value, is := o.get("$standard"); is {
		options, ok := value.(object)
		if !ok || len(o) != 1 {
			return s, failure("$standard must be the only member, and hold an object")
		}
		if weight, is := options.get("weight"); is {
			if s.Weight, err = number(weight, "weight"); err != nil || s.Weight < 0 {
				return s, failure("weight must be a number of at least 0")
			}
		}
		filter, _ := options.get("query")
		if o, ok = filter.(object); !ok {
			return s, failure("$standard needs an object as its query")
		}
	}
	s.Tree, err = p.object(o)
	return s, err
}

// wholeNumber returns the value of a member, a whole number from 1 on.
func wholeNumber(m member, most float64) (float64, error) {
	n, err := number(m.value, m.name)
	if err != nil || n < 1 || n > most || n != math.Trunc(n) {
		return 0, failure("%s must be a whole number from 1 to %.0f", m.name, most)
	}
	return n, nil
}
