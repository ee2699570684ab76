package expr

import (
	"slices"
	"strconv"
	"strings"
)

// SortKey is a property that rows are sorted by.
type SortKey struct {
	Name       string
	Descending bool
}

// CompareRows orders rows by the values of keys; values that are null or missing come last in both directions.
func CompareRows(keys []SortKey, a, b func(name string) (Value, bool)) int {
	for _, k := range keys {
		x, _ := a(k.Name)
		y, _ := b(k.Name)
		order := Compare(x, y)
		if k.Descending && x.Kind != Null && y.Kind != Null {
			order = -order
		}
		if order != 0 {
			return order
		}
	}
	return 0
}

// collect collects rows as maps.
type collect struct {
	fields        []string
	all, distinct bool
	sort          []SortKey
	offset, count int
	rows          []collected
	seen          map[string]struct{}
}

type collected struct{ row, keys Value }

// maxCollected bounds the rows of a COLLECT without LIMIT.
const maxCollected = 1 << 20

func parseCollect(r *Reduction, args []string, _ uint64) error {
	c := collect{count: maxCollected}
	for len(args) > 0 {
		word := strings.ToUpper(args[0])
		args = args[1:]
		if word == "DISTINCT" {
			c.distinct = true
			continue
		}
		if word != "FIELDS" && word != "SORTBY" && word != "LIMIT" {
			return badArgs("COLLECT", unknownArg)
		}
		if len(args) == 0 {
			return badArgs("COLLECT", noArgument)
		}
		if word == "FIELDS" && args[0] == "*" {
			c.all = true
			args = args[1:]
			continue
		}
		n := 2
		if word != "LIMIT" {
			count, err := strconv.Atoi(args[0])
			if err != nil || count < 1 {
				return badArgs("COLLECT", noNumber)
			}
			n, args = count, args[1:]
		}
		if n > len(args) {
			return badArgs("COLLECT", noArgument)
		}
		if err := c.clause(word, args[:n]); err != nil {
			return err
		}
		args = args[n:]
	}
	if !c.all && c.fields == nil {
		return badArgs("COLLECT", noArgument)
	}
	r.Properties = slices.Clone(c.fields)
	for _, k := range c.sort {
		r.Properties = append(r.Properties, k.Name)
	}
	r.New = func() Reducer { own := c; own.seen = map[string]struct{}{}; return &own }
	return nil
}

// clause parses the arguments of FIELDS, SORTBY or LIMIT.
func (c *collect) clause(word string, args []string) error {
	switch word {
	case "FIELDS":
		for _, name := range args {
			c.fields = append(c.fields, strings.TrimPrefix(name, "@"))
		}
	case "SORTBY":
		for _, name := range args {
			down := strings.EqualFold(name, "DESC")
			if len(c.sort) > 0 && (down || strings.EqualFold(name, "ASC")) {
				c.sort[len(c.sort)-1].Descending = down
			} else {
				c.sort = append(c.sort, SortKey{Name: strings.TrimPrefix(name, "@")})
			}
		}
	case "LIMIT":
		offset, err1 := strconv.ParseUint(args[0], 10, 31)
		count, err2 := strconv.ParseUint(args[1], 10, 31)
		if err1 != nil || err2 != nil {
			return badArgs("COLLECT", noNumber)
		}
		c.offset, c.count = int(offset), int(count)
	}
	return nil
}

func (c *collect) Add(r *Row) {
	names := c.fields
	if c.all && r.Names != nil {
		names = r.Names()
	}
	row := Value{Kind: Map}
	for _, name := range names {
		if v, ok := r.Property(name); ok {
			row.Names, row.Items = append(row.Names, name), append(row.Items, v)
		}
	}
	if c.distinct {
		k := row.key() + strings.Join(row.Names, "\x00")
		if _, old := c.seen[k]; old {
			return
		}
		c.seen[k] = struct{}{}
	}
	keys := Value{Kind: Array}
	for _, k := range c.sort {
		v, _ := r.Property(k.Name)
		keys.Items = append(keys.Items, v)
	}
	if len(c.sort) > 0 || len(c.rows) < c.offset+c.count {
		c.rows = append(c.rows, collected{row, keys})
	}
	if most := c.offset + c.count; len(c.rows) >= 2*most+1024 {
		c.cut(most)
	}
}

// cut sorts the rows and keeps the first.
func (c *collect) cut(most int) {
	slices.SortStableFunc(c.rows, func(a, b collected) int {
		return CompareRows(c.sort, c.keyOf(a), c.keyOf(b))
	})
	c.rows = c.rows[:min(most, len(c.rows))]
}

func (c *collect) keyOf(row collected) func(string) (Value, bool) {
	return func(name string) (Value, bool) {
		i := slices.IndexFunc(c.sort, func(k SortKey) bool { return k.Name == name })
		return row.keys.Items[i], true
	}
}

func (c *collect) Result() Value {
	c.cut(c.offset + c.count)
	out := Value{Kind: Array}
	for _, row := range c.rows[min(c.offset, len(c.rows)):] {
		out.Items = append(out.Items, row.row)
	}
	return out
}
