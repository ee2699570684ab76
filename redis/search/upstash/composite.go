package upstash

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/meowdis/meowdis/internal/smallsort"
)

// maxCombinations bounds the buckets of one document in a $composite.
const maxCombinations = 1024

// composite implements $composite: a bucket for each combination of the values of its sources.
type composite struct {
	sources []source
	size    int
	after   []part // nil from the start
}

type source struct {
	name         string
	field        Field
	interval     float64 // 0 for the values themselves
	calendar     string  // year, month, week or empty
	descending   bool
	missing      bool // documents without a value have a bucket
	missingFirst bool
}

// part holds the value of a source in a key, or the lack of one.
type part struct {
	value   Value
	missing bool
}

const maxSources = 8

func newComposite(a *Aggregation, d *Definition) (bucketing, error) {
	c := &composite{size: int(a.number("size", 10))}
	option, _ := a.options.get("sources")
	list, _ := option.([]any)
	if len(list) == 0 || len(list) > maxSources || c.size < 1 || c.size > maxBuckets {
		return nil, failure("Aggregation '%s' operator '$composite' requires sources, and a positive size", a.Alias)
	}
	for _, item := range list {
		o, _ := item.(object)
		if len(o) != 1 {
			return nil, failure("Aggregation '%s' has an invalid source", a.Alias)
		}
		s, err := newSource(a, o[0], d)
		if err != nil {
			return nil, err
		}
		c.sources = append(c.sources, s)
	}
	if after, ok := a.options.get("after"); ok {
		key, _ := after.(object)
		for _, s := range c.sources {
			value, _ := key.get(s.name)
			word, _ := value.(string)
			p, ok := s.parse(word)
			if !ok {
				return nil, failure("Aggregation '%s' has an invalid after", a.Alias)
			}
			c.after = append(c.after, p)
		}
	}
	return c, nil
}

func newSource(a *Aggregation, m member, d *Definition) (s source, err error) {
	kinds, _ := m.value.(object)
	if len(kinds) != 1 {
		return s, failure("Aggregation '%s' has an invalid source '%s'", a.Alias, m.name)
	}
	options, _ := kinds[0].value.(object)
	inner := &Aggregation{Alias: a.Alias, operator: kinds[0].name, options: options}
	p := &aggregationParser{d: d}
	if inner.operator != "$terms" && inner.operator != "$histogram" && inner.operator != "$dateHistogram" {
		return s, failure("Aggregation '%s' has an unknown source %s", a.Alias, inner.operator)
	}
	if err := p.findField(inner); err != nil {
		return s, err
	}
	s = source{name: m.name, field: inner.field, descending: inner.text("order") == "desc", missing: inner.flag("missingBucket", false),
		calendar: inner.text("calendarInterval")}
	s.missingFirst = inner.text("missingOrder") == "first" || inner.text("missingOrder") != "last" && !s.descending
	switch {
	case inner.operator == "$terms":
	case s.calendar == "year" || s.calendar == "month" || s.calendar == "week":
	case inner.operator == "$histogram":
		s.interval = inner.number("interval", 0)
	default:
		s.interval, _ = duration(inner.text("fixedInterval"))
	}
	if inner.operator != "$terms" && s.calendar == "" && !(s.interval > 0) {
		return s, failure("Aggregation '%s' has a source '%s' without an interval", a.Alias, m.name)
	}
	return s, nil
}

// parts returns the values of a document.
func (s source) parts(row Row) (out []part) {
	for _, v := range row(s.field.Name) {
		switch {
		case s.interval > 0:
			v = Value{Num: math.Floor(v.Num/s.interval) * s.interval}
		case s.calendar != "":
			v = Value{Num: calendarStart(s.calendar, v.Num)}
		case s.field.Type.IsNumeric():
			v = Value{Num: v.Num}
		default:
			v = Value{Text: v.Text}
		}
		if p := (part{value: v}); !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	if out == nil && s.missing {
		out = []part{{missing: true}}
	}
	return out
}

// calendarStart returns the begin of the year, month or week of a time in ms; a week begins on Monday.
func calendarStart(unit string, ms float64) float64 {
	t := time.UnixMilli(int64(ms)).UTC()
	y, m, d := t.Date()
	switch unit {
	case "year":
		m, d = 1, 1
	case "month":
		d = 1
	default:
		d -= (int(t.Weekday()) + 6) % 7
	}
	return float64(time.Date(y, m, d, 0, 0, 0, 0, time.UTC).UnixMilli())
}

// format returns the opaque form of a part in afterKey.
func (s source) format(p part) string {
	switch {
	case p.missing:
		return "null:"
	case s.field.Type.IsNumeric():
		return "f64:" + strconv.FormatFloat(p.value.Num, 'g', -1, 64)
	}
	return "str:" + p.value.Text
}

func (s source) parse(word string) (p part, ok bool) {
	kind, value, _ := strings.Cut(word, ":")
	switch kind {
	case "null":
		return part{missing: true}, true
	case "f64":
		n, err := strconv.ParseFloat(value, 64)
		return part{value: Value{Num: n}}, err == nil
	case "str":
		return part{value: Value{Text: value}}, true
	}
	return p, false
}

func (s source) compare(p, q part) int {
	if p.missing || q.missing {
		switch {
		case p.missing == q.missing:
			return 0
		case p.missing == s.missingFirst:
			return -1
		}
		return 1
	}
	order := cmp.Or(cmp.Compare(p.value.Num, q.value.Num), strings.Compare(p.value.Text, q.value.Text))
	if s.descending {
		return -order
	}
	return order
}

// value returns the part of a key as a reply shows it.
func (s source) value(p part) any {
	switch {
	case p.missing:
		return nil
	case s.field.Type.IsNumeric():
		return p.value.Num
	}
	return p.value.Text
}

// combination identifies a bucket by a part per source.
type combination [maxSources]part

// combinations returns the keys of a row, which has several if it has several values of a source.
func (c *composite) combinations(row Row) []combination {
	all := []combination{{}}
	for i, s := range c.sources {
		var next []combination
		for _, head := range all {
			for _, p := range s.parts(row) {
				head[i] = p
				if next = append(next, head); len(next) == maxCombinations {
					break
				}
			}
		}
		all = next
	}
	return all
}

func (c *composite) compare(p, q combination) int {
	for i, s := range c.sources {
		if order := s.compare(p[i], q[i]); order != 0 {
			return order
		}
	}
	return 0
}

func (c *composite) run(a *Aggregation, rows []Row) []any {
	g := group(rows, c.combinations)
	keys := g.keys
	if c.after != nil {
		var last combination
		copy(last[:], c.after)
		keys = slices.DeleteFunc(keys, func(k combination) bool { return c.compare(k, last) <= 0 })
	}
	smallsort.Sort(keys, c.compare)
	buckets, more := []any{}, len(keys) > c.size
	keys = keys[:min(c.size, len(keys))]
	for _, k := range keys {
		key := []any{}
		for i, s := range c.sources {
			key = append(key, s.name, s.value(k[i]))
		}
		buckets = append(buckets, a.bucket([]any{"key", key}, g.rows[k]))
	}
	out := []any{"buckets", buckets}
	if more {
		after := []any{}
		for i, s := range c.sources {
			after = append(after, s.name, s.format(keys[len(keys)-1][i]))
		}
		out = append(out, "afterKey", after)
	}
	return out
}
