package upstash

import (
	"math"
	"slices"
	"strings"

	"github.com/meowdis/meowdis/redis/search/text"
)

// Run computes aggregations over documents. The result is the nesting of the reply over RESP2: an alias, then its result,
// for each aggregation. An item is a string, an int, a float64, nil or a []any.
func Run(list []*Aggregation, rows []Row) []any {
	out := []any{}
	for _, a := range list {
		out = append(out, a.Alias, a.run(rows))
	}
	return out
}

func (a *Aggregation) run(rows []Row) []any {
	switch {
	case metrics[a.operator]:
		return a.metric(rows)
	case a.operator == "$facet":
		return a.facet(rows)
	}
	return a.buckets.run(a, rows)
}

// metric computes the operators that reduce to numbers.
func (a *Aggregation) metric(rows []Row) []any {
	var all []Value
	documents := 0
	for _, row := range rows {
		values := a.values(row)
		if len(values) > 0 {
			documents++
		}
		all = append(all, values...)
	}
	var numbers []float64
	for _, v := range all {
		numbers = append(numbers, v.Num)
	}
	s := summarize(numbers)
	orNull := func(v float64) any {
		if s.n == 0 {
			return nil
		}
		return v
	}
	switch a.operator {
	case "$avg":
		return []any{"value", orNull(s.mean())}
	case "$min":
		return []any{"value", orNull(s.min)}
	case "$max":
		return []any{"value", orNull(s.max)}
	case "$sum":
		if s.n == 0 && a.flag("nullIfNoMatch", false) {
			return []any{"value", nil}
		}
		return []any{"value", s.sum}
	case "$count":
		return []any{"value", documents}
	case "$cardinality":
		distinct := map[Value]struct{}{}
		for _, v := range all {
			distinct[a.identity(v)] = struct{}{}
		}
		return []any{"value", len(distinct)}
	case "$percentiles":
		return []any{"values", a.percentiles(numbers)}
	}
	out := []any{"count", s.n, "min", orNull(s.min), "max", orNull(s.max), "sum", s.sum, "avg", orNull(s.mean())}
	if a.operator == "$extendedStats" {
		out = append(out, a.extended(s, numbers)...)
	}
	return out
}

// identity returns what makes a value distinct: its number or its text.
func (a *Aggregation) identity(v Value) Value {
	if a.field.Type.IsNumeric() {
		return Value{Num: v.Num}
	}
	return Value{Text: v.Text}
}

type stats struct {
	n             int
	min, max, sum float64
}

func summarize(numbers []float64) stats {
	s := stats{min: math.Inf(1), max: math.Inf(-1)}
	for _, v := range numbers {
		s.n++
		s.sum += v
		s.min, s.max = min(s.min, v), max(s.max, v)
	}
	return s
}

func (s stats) mean() float64 { return s.sum / float64(s.n) }

// extended returns the part of $extendedStats that $stats lacks; a value that needs more numbers is null.
func (a *Aggregation) extended(s stats, numbers []float64) []any {
	mean, squares, deviations := s.mean(), 0.0, 0.0
	for _, v := range numbers {
		squares += v * v
		deviations += (v - mean) * (v - mean)
	}
	finite := func(v float64) any {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil
		}
		return v
	}
	population, sampling := math.NaN(), math.NaN()
	if s.n > 0 {
		population = deviations / float64(s.n)
	}
	if s.n > 1 {
		sampling = deviations / float64(s.n-1)
	}
	sigma := a.number("sigma", 2)
	upper := func(variance float64) any { return finite(mean + sigma*math.Sqrt(variance)) }
	lower := func(variance float64) any { return finite(mean - sigma*math.Sqrt(variance)) }
	return []any{"sumOfSquares", squares,
		"variance", finite(population), "variancePopulation", finite(population), "varianceSampling", finite(sampling),
		"stdDeviation", finite(math.Sqrt(population)), "stdDeviationPopulation", finite(math.Sqrt(population)),
		"stdDeviationSampling", finite(math.Sqrt(sampling)),
		"stdDeviationBounds", []any{"upper", upper(population), "lower", lower(population),
			"upperPopulation", upper(population), "lowerPopulation", lower(population),
			"upperSampling", upper(sampling), "lowerSampling", lower(sampling)}}
}

// percentiles interpolates between the sorted numbers.
func (a *Aggregation) percentiles(numbers []float64) []any {
	percents := []float64{1, 5, 25, 50, 75, 95, 99}
	if list, ok := a.options.get("percents"); ok {
		percents = nil
		for _, item := range list.([]any) {
			v, _ := number(item, "percents")
			percents = append(percents, v)
		}
	}
	slices.Sort(numbers)
	out := []any{}
	for _, p := range percents {
		var value any
		if n := len(numbers); n > 0 {
			at := p / 100 * float64(n-1)
			low := int(at)
			high := min(low+1, n-1)
			value = numbers[low] + (numbers[high]-numbers[low])*(at-float64(low))
		}
		if a.flag("keyed", true) {
			key := text.FormatNumber(p)
			if !strings.Contains(key, ".") {
				key += ".0"
			}
			out = append(out, key, value)
		} else {
			out = append(out, []any{"key", p, "value", value})
		}
	}
	return out
}

// facet counts documents by the paths below one, level by level.
func (a *Aggregation) facet(rows []Row) []any {
	counts := map[string]int{}
	for _, row := range rows {
		seen := map[string]bool{}
		for _, v := range row(a.field.Name) {
			for _, path := range FacetPaths(v.Text) {
				if !seen[path] {
					seen[path] = true
					counts[path]++
				}
			}
		}
	}
	below := map[string][]string{} // the children of each path
	for path := range counts {
		parent := path[:strings.LastIndexByte(path, '/')]
		below[parent] = append(below[parent], path)
	}
	root := strings.TrimSuffix(a.text("path"), "/")
	depth := int(max(1, a.number("depth", 1)))
	children, others := a.facetLevel(root, depth, counts, below)
	return []any{"path", a.text("path"), "sumOtherDocCount", others, "children", children}
}

func (a *Aggregation) facetLevel(path string, depth int, counts map[string]int, below map[string][]string) (children []any, others int) {
	least := int(max(1, a.number("minDocCount", 1)))
	names := slices.DeleteFunc(slices.Clone(below[path]), func(p string) bool { return counts[p] < least })
	byPath, descending := false, false
	if o, ok := a.options.get("order"); ok {
		if order, ok := o.(object); ok && len(order) == 1 {
			byPath = order[0].name == "path"
			descending = order[0].value == "desc"
		}
	} else {
		descending = true
	}
	slices.SortFunc(names, func(p, q string) int {
		order := counts[p] - counts[q]
		if byPath {
			order = strings.Compare(p, q)
		}
		if descending {
			order = -order
		}
		if order == 0 {
			order = strings.Compare(p, q)
		}
		return order
	})
	children = []any{}
	size := int(max(0, a.number("size", 10)))
	for i, name := range names {
		if i >= size {
			others += counts[name]
			continue
		}
		child := []any{"path", name, "docCount", counts[name]}
		var hidden int
		var nested []any
		if depth > 1 {
			nested, hidden = a.facetLevel(name, depth-1, counts, below)
		}
		child = append(child, "sumOtherDocCount", hidden)
		if len(nested) > 0 {
			child = append(child, "children", nested)
		}
		children = append(children, child)
	}
	return children, others
}
