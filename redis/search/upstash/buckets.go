package upstash

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/meowdis/meowdis/internal/smallsort"
	"github.com/meowdis/meowdis/redis/search/text"
)

// bucketing groups documents into buckets.
type bucketing interface {
	run(a *Aggregation, rows []Row) []any
}

// maxBuckets bounds the buckets of one aggregation: a small interval over a long range has many.
const maxBuckets = 65536

// bucket returns the reply of a bucket: its own pairs, the number of documents, and the results of $aggs.
func (a *Aggregation) bucket(head []any, rows []Row) []any {
	out := append(slices.Clone(head), "docCount", len(rows))
	return append(out, Run(a.children, rows)...)
}

// groups holds documents by key, each document once for each of its keys.
type groups[K comparable] struct {
	keys []K // in order of appearance
	rows map[K][]Row
}

func group[K comparable](rows []Row, keys func(Row) []K) groups[K] {
	g := groups[K]{rows: map[K][]Row{}}
	last := map[K]int{} // the row that was last added to a key, counted from 1
	for i, row := range rows {
		for _, k := range keys(row) {
			if last[k] == i+1 {
				continue
			}
			if last[k] == 0 {
				g.keys = append(g.keys, k)
			}
			last[k] = i + 1
			g.rows[k] = append(g.rows[k], row)
		}
	}
	return g
}

// terms implements $terms.
type terms struct {
	size, least      int
	orderBy          string // count, key or the alias of a sub-aggregation
	ascending        bool
	include, exclude func(string) bool
}

func newTerms(a *Aggregation) (bucketing, error) {
	t := &terms{size: int(a.number("size", 10)), least: int(a.number("minDocCount", 1)), orderBy: "count"}
	if t.size < 1 || t.size > maxBuckets {
		return nil, failure("Aggregation '%s' has an invalid size", a.Alias)
	}
	if o, ok := a.options.get("order"); ok {
		order, ok := o.(object)
		if !ok || len(order) != 1 || order[0].value != "asc" && order[0].value != "desc" {
			return nil, failure("Aggregation '%s' has an invalid order", a.Alias)
		}
		t.orderBy, t.ascending = strings.TrimPrefix(order[0].name, "_"), order[0].value == "asc"
	}
	var err error
	if t.include, err = matcher(a, "include"); err != nil {
		return nil, err
	}
	t.exclude, err = matcher(a, "exclude")
	return t, err
}

func (t *terms) run(a *Aggregation, rows []Row) []any {
	g := group(rows, func(row Row) (keys []Value) {
		for _, v := range a.values(row) {
			name := v.Text
			if a.field.Type.IsNumeric() {
				name = text.FormatNumber(v.Num)
			}
			if (t.include == nil || t.include(name)) && (t.exclude == nil || !t.exclude(name)) {
				keys = append(keys, a.identity(v))
			}
		}
		return keys
	})
	g.keys = slices.DeleteFunc(g.keys, func(k Value) bool { return len(g.rows[k]) < t.least })
	t.sort(a, g)
	buckets, others := []any{}, 0
	for i, k := range g.keys {
		if i >= t.size {
			others += len(g.rows[k])
			continue
		}
		buckets = append(buckets, a.bucket(a.keyPairs(k), g.rows[k]))
	}
	return []any{"buckets", buckets, "sumOtherDocCount", others, "docCountErrorUpperBound", 0}
}

// sort sorts the keys of g.
func (t *terms) sort(a *Aggregation, g groups[Value]) {
	byKey := func(p, q Value) int {
		return cmp.Or(cmp.Compare(p.Num, q.Num), strings.Compare(p.Text, q.Text))
	}
	results := map[Value]float64{}
	for _, child := range a.children {
		if child.Alias == t.orderBy {
			for _, k := range g.keys {
				results[k] = metricValue(child.run(g.rows[k]))
			}
		}
	}
	smallsort.Sort(g.keys, func(p, q Value) int {
		order := cmp.Compare(results[p], results[q])
		switch t.orderBy {
		case "count":
			order = len(g.rows[p]) - len(g.rows[q])
		case "key":
			order = byKey(p, q)
		}
		if !t.ascending {
			order = -order
		}
		return cmp.Or(order, byKey(p, q))
	})
}

// keyPairs returns the pairs that name a bucket of a value.
func (a *Aggregation) keyPairs(k Value) []any {
	switch {
	case a.field.Type == Date:
		return []any{"key", k.Num, "keyAsString", FormatDate(k.Num)}
	case a.field.Type.IsNumeric():
		return []any{"key", k.Num}
	}
	return []any{"key", k.Text}
}

// metricValue returns the number in the result of a metric; 0 if it is null.
func metricValue(result []any) float64 {
	if len(result) > 1 {
		switch v := result[1].(type) {
		case float64:
			return v
		case int:
			return float64(v)
		}
	}
	return 0
}

// ranges implements $range.
type ranges []struct {
	key      string
	from, to float64 // infinite if open
}

func newRanges(a *Aggregation) (bucketing, error) {
	option, _ := a.options.get("ranges")
	list, _ := option.([]any)
	if len(list) == 0 || len(list) > maxAggregations {
		return nil, failure("Aggregation '%s' operator '$range' requires ranges", a.Alias)
	}
	out := make(ranges, len(list))
	for i, item := range list {
		o, ok := item.(object)
		r := &out[i]
		r.from, r.to = math.Inf(-1), math.Inf(1)
		for _, m := range o {
			switch m.name {
			case "key":
				r.key, ok = m.value.(string)
			case "from":
				r.from, ok = operand(a.field, m.value)
			case "to":
				r.to, ok = operand(a.field, m.value)
			}
			if !ok {
				break
			}
		}
		if !ok || r.from >= r.to {
			return nil, failure("Aggregation '%s' has an invalid range", a.Alias)
		}
		if r.key == "" {
			r.key = end(r.from) + "-" + end(r.to)
		}
	}
	return out, nil
}

func end(v float64) string {
	if math.IsInf(v, 0) {
		return "*"
	}
	return text.FormatNumber(v)
}

func (r ranges) run(a *Aggregation, rows []Row) []any {
	g := group(rows, func(row Row) (keys []int) {
		for _, v := range a.values(row) {
			for i, one := range r {
				if v.Num >= one.from && v.Num < one.to {
					keys = append(keys, i)
				}
			}
		}
		return keys
	})
	buckets := []any{}
	for i, one := range r {
		head := []any{"key", one.key}
		if !math.IsInf(one.from, 0) {
			head = append(head, "from", one.from)
		}
		if !math.IsInf(one.to, 0) {
			head = append(head, "to", one.to)
		}
		buckets = append(buckets, a.bucket(head, g.rows[i]))
	}
	return []any{"buckets", buckets}
}

// histogram implements $histogram and $dateHistogram.
type histogram struct {
	interval, offset float64
	least            int
	hard, extended   bool
	low, high        float64 // of the bounds
}

func newHistogram(a *Aggregation) (bucketing, error) {
	h := &histogram{interval: a.number("interval", 0), offset: a.number("offset", 0), least: int(a.number("minDocCount", 0))}
	ok := true
	if a.operator == "$dateHistogram" {
		h.interval, ok = duration(a.text("fixedInterval"))
		if offset := a.text("offset"); ok && offset != "" {
			sign := 1.0
			if strings.HasPrefix(offset, "-") {
				sign = -1
			}
			h.offset, ok = duration(strings.TrimLeft(offset, "+-"))
			h.offset *= sign
		}
	}
	if !ok || !(h.interval > 0) || math.IsInf(h.interval, 0) {
		return nil, failure("Aggregation '%s' operator '%s' requires a positive interval", a.Alias, a.operator)
	}
	for _, name := range []string{"hardBounds", "extendedBounds"} {
		option, given := a.options.get(name)
		if !given {
			continue
		}
		bounds, _ := option.(object)
		low, _ := bounds.get("min")
		high, _ := bounds.get("max")
		var okLow, okHigh bool
		h.low, okLow = operand(a.field, low)
		h.high, okHigh = operand(a.field, high)
		if !okLow || !okHigh || h.low > h.high {
			return nil, failure("Aggregation '%s' has invalid %s: min and max are required", a.Alias, name)
		}
		if name == "hardBounds" {
			h.hard = true
		} else {
			h.extended = true
		}
	}
	return h, nil
}

func (h *histogram) key(v float64) float64 {
	return math.Floor((v-h.offset)/h.interval)*h.interval + h.offset
}

func (h *histogram) run(a *Aggregation, rows []Row) []any {
	g := group(rows, func(row Row) (keys []float64) {
		for _, v := range a.values(row) {
			if !h.hard || v.Num >= h.low && v.Num <= h.high {
				keys = append(keys, h.key(v.Num))
			}
		}
		return keys
	})
	slices.Sort(g.keys)
	keys := g.keys
	if h.least == 0 {
		keys = h.filled(keys)
	}
	buckets := []any{}
	for _, k := range keys {
		if len(g.rows[k]) >= h.least {
			buckets = append(buckets, a.bucket(a.keyPairs(Value{Num: k}), g.rows[k]))
		}
	}
	return []any{"buckets", buckets}
}

// filled returns sorted keys with the empty buckets between them and up to the extended bounds, unless they are too many.
func (h *histogram) filled(keys []float64) []float64 {
	if h.extended {
		keys = append(keys, h.key(h.low), h.key(h.high))
		slices.Sort(keys)
		keys = slices.Compact(keys)
	}
	if len(keys) == 0 || (keys[len(keys)-1]-keys[0])/h.interval >= maxBuckets {
		return keys
	}
	var out []float64
	for i, k := range keys {
		if i > 0 {
			for steps := math.Round((k - keys[i-1]) / h.interval); steps > 1; steps-- {
				out = append(out, k-(steps-1)*h.interval)
			}
		}
		out = append(out, k)
	}
	return out
}
