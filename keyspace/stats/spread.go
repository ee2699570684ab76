package stats

import (
	"strings"
	"time"

	"github.com/meowdis/meowdis/internal/histogram"
	"github.com/meowdis/meowdis/keyspace"
	"github.com/meowdis/meowdis/keyspace/display"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store/keytype"
)

// Spread is the distribution of a size over keys: of bytes or of elements.
type Spread struct {
	sizes histogram.Distribution // a nanosecond for each byte or element
}

func (s *Spread) add(n int64) { s.sizes.Add(time.Duration(n)) }

// quantiles lists the shares of the keys whose greatest size a report prints.
var quantiles = []struct {
	title, name string
	share       float64
}{{"50%", "p50", 0.5}, {"90%", "p90", 0.9}, {"99%", "p99", 0.99}, {"99.9%", "p999", 0.999}}

// values returns the mean, the quantiles, which are at most a thirty-second too large, and the maximum.
func (s *Spread) values() []int64 {
	all := []int64{int64(s.sizes.Mean())}
	for _, q := range quantiles {
		all = append(all, int64(s.sizes.Quantile(q.share)))
	}
	return append(all, int64(s.sizes.Max))
}

// spreads holds the distributions of a type's keys.
type spreads struct{ bytes, elements Spread }

// addToSpreads counts the sizes of a key.
func (s *Summary) addToSpreads(k keyspace.Key) {
	if s.ByType {
		return // bigkeys shows no distributions
	}
	of := s.spreads[k.Type]
	if of == nil {
		of = &spreads{}
		s.spreads[k.Type] = of
	}
	if k.Bytes >= 0 {
		of.bytes.add(k.Bytes)
		s.bytes.add(k.Bytes)
	}
	if keytype.Of(k.Type).Parts != nil && k.Count >= 0 {
		of.elements.add(k.Count)
	}
}

// spread formats the distributions of bytes and of elements.
func (r Report) spread(s *Summary) string {
	var b strings.Builder
	var rows []row
	add := func(name string, of *Spread, shown func(int64) string) {
		if of.sizes.N == 0 {
			return
		}
		cells := []string{name}
		for _, n := range of.values() {
			cells = append(cells, shown(n))
		}
		rows = append(rows, row{cells: cells, bar: -1})
	}
	if len(s.spreads) > 1 {
		add("all", &s.bytes, display.Bytes)
	}
	for _, g := range s.TypeGroups() {
		add(display.Type(g.Name), &s.spreads[g.Name].bytes, display.Bytes)
	}
	b.WriteString(r.spreadTable("BYTES OF A KEY", rows))
	rows = nil
	for _, g := range s.TypeGroups() {
		add(display.Type(g.Name)+" "+keytype.Of(g.Name).Many, &s.spreads[g.Name].elements, display.Grouped)
	}
	b.WriteString(r.spreadTable("ELEMENTS OF A KEY", rows))
	return b.String()
}

// spreadTable formats rows of Spread.values. On a narrow screen it has fewer columns.
func (r Report) spreadTable(title string, rows []row) string {
	if len(rows) == 0 {
		return ""
	}
	columns := []column{{title: title, names: true}, {title: "MEAN", right: true}}
	for _, q := range quantiles {
		columns = append(columns, column{title: q.title, right: true})
	}
	columns = append(columns, column{title: "MOST", right: true})
	// The name, the median, 99% and the maximum; then the name and the maximum.
	for _, kept := range [][]int{{0, 2, 4, 6}, {0, 3}} {
		if narrowest(columns, rows) <= r.Width {
			break
		}
		columns = picked(columns, kept)
		for i := range rows {
			rows[i].cells = picked(rows[i].cells, kept)
		}
	}
	return "\n" + r.table(columns, rows)
}

// narrowest returns the width of a table whose first column is cut to 8 cells.
func narrowest(columns []column, rows []row) int {
	width := 8
	for i, c := range columns[1:] {
		widest := len(c.title)
		for _, row := range rows {
			widest = max(widest, len(row.cells[i+1]))
		}
		width += 2 + widest
	}
	return width
}

func picked[T any](all []T, indexes []int) (kept []T) {
	for _, i := range indexes {
		kept = append(kept, all[i])
	}
	return kept
}

// addSpread adds the distribution as an object, if it has any sizes.
func (o *object) addSpread(name string, s *Spread) {
	if s.sizes.N == 0 {
		return
	}
	one, values := object{}, s.values()
	one.integer("mean", values[0])
	for i, q := range quantiles {
		one.integer(q.name, values[i+1])
	}
	one.integer("max", values[len(values)-1])
	o.add(name, one.value())
}

// Hot is a key with the frequency that OBJECT FREQ reports.
type Hot struct {
	Name      []byte
	Frequency int64
}

// HotKeys returns the report of the most frequently used keys of keys keys.
func (r Report) HotKeys(hot []Hot, keys int64) string {
	var b strings.Builder
	b.WriteString(display.Counted(keys, "key", "keys") + "\n")
	if keys < r.Keys {
		b.WriteString(r.sampled())
	}
	if len(hot) == 0 {
		return b.String()
	}
	b.WriteString("Frequencies are from OBJECT FREQ: a logarithm of the uses, from 0 to 255.\n\n")
	var rows []row
	for _, k := range hot {
		rows = append(rows, row{cells: []string{display.Whole(string(k.Name)), display.Grouped(k.Frequency)}, bar: float64(k.Frequency) / 255})
	}
	b.WriteString(r.table([]column{{title: "HOTTEST KEYS", names: true}, {title: "FREQUENCY", right: true}}, rows))
	return b.String()
}

// HotJSON returns the same as one reply, for JSON output.
func (r Report) HotJSON(hot []Hot, keys int64) resp.Value {
	fields := object{}
	if r.Keys >= 0 {
		fields.integer("keys", r.Keys)
	}
	fields.integer("looked_at", keys)
	var all []resp.Value
	for _, k := range hot {
		one := object{}
		one.add("key", resp.MakeBulk(k.Name))
		one.integer("frequency", k.Frequency)
		all = append(all, one.value())
	}
	fields.add("hot", resp.MakeArray(all...))
	return fields.value()
}
