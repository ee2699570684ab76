package expr

import (
	"slices"
	"strconv"
	"strings"

	"github.com/meowdis/meowdis/internal/smallsort"
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
		var err error
		if args, err = c.clause(strings.ToUpper(args[0]), args[1:]); err != nil {
			return err
		}
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

// clause parses the clause that begins with word, and returns the arguments after it.
func (c *collect) clause(word string, args []string) (rest []string, err error) {
	switch word {
	case "DISTINCT":
		c.distinct = true
		return args, nil
	case "FIELDS":
		return c.fieldNames(args)
	case "SORTBY":
		names, rest, err := counted(args)
		for _, name := range names {
			down := strings.EqualFold(name, "DESC")
			if len(c.sort) > 0 && (down || strings.EqualFold(name, "ASC")) {
				c.sort[len(c.sort)-1].Descending = down
			} else {
				c.sort = append(c.sort, SortKey{Name: strings.TrimPrefix(name, "@")})
			}
		}
		return rest, err
	case "LIMIT":
		if len(args) < 2 {
			return nil, badArgs("COLLECT", noArgument)
		}
		offset, err1 := strconv.ParseUint(args[0], 10, 31)
		count, err2 := strconv.ParseUint(args[1], 10, 31)
		if err1 != nil || err2 != nil {
			return nil, badArgs("COLLECT", noNumber)
		}
		c.offset, c.count = int(offset), int(count)
		return args[2:], nil
	}
	return nil, badArgs("COLLECT", unknownArg)
}

// fieldNames parses the fields to collect: *, or a counted list. The documentation's example has * as a list of one.
func (c *collect) fieldNames(args []string) (rest []string, err error) {
	if len(args) > 0 && args[0] == "*" {
		c.all = true
		return args[1:], nil
	}
	names, rest, err := counted(args)
	if slices.Equal(names, []string{"*"}) {
		c.all = true
		return rest, err
	}
	for _, name := range names {
		c.fields = append(c.fields, strings.TrimPrefix(name, "@"))
	}
	return rest, err
}

// counted splits args after the names that the first of args counts.
func counted(args []string) (names, rest []string, err error) {
	if len(args) == 0 {
		return nil, nil, badArgs("COLLECT", noArgument)
	}
	n, err := strconv.Atoi(args[0])
	if err != nil || n < 1 {
		return nil, nil, badArgs("COLLECT", noNumber)
	}
	if n >= len(args) {
		return nil, nil, badArgs("COLLECT", noArgument)
	}
	return args[1 : n+1], args[n+1:], nil
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
	smallsort.Sort(c.rows, func(a, b collected) int {
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
