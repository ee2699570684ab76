package otherformats

import "strings"

// Op is what a Constraint compares with.
type Op int

const (
	Equal Op = iota
	Greater
	GreaterEqual
	Less
	LessEqual
	Limit // of all rows, not of a column
	Offset
	Other // what no plan sees to
)

var operators = map[Op]string{Equal: "=", Greater: ">", GreaterEqual: ">=", Less: "<", LessEqual: "<="}

// Constraint is a condition on a column, or a limit, with a value that is known when
// the table is read.
type Constraint struct {
	Column int
	Op     Op
}

// Order is a column to sort by, a negative one the number of the row.
type Order struct {
	Column     int
	Descending bool
}

// Plan is how a table is read for some constraints.
type Plan struct {
	// SQL selects the table's columns, those that were not asked for as NULL, and
	// after them the number of the row.
	SQL string
	// Forms are the forms of the columns, which may be others here than those of
	// the table.
	Forms []Form
	// Taken are the constraints that the plan sees to, by their number, in the
	// order in which it wants their values; Args are the forms of those.
	Taken []int
	Args  []Form
	// Ordered says that the rows come in the order that was asked for.
	Ordered bool
	// Rows is about how many they are, and Cost how many are read for them.
	Rows, Cost float64
}

// tableRows is how many rows a table is thought to have.
const tableRows = 1e6

// Plan makes a plan. Bit i of used is set when column i is wanted.
func (t *Table) Plan(constraints []Constraint, order []Order, used uint64) Plan {
	b := planning{table: t, plan: Plan{Rows: tableRows}, limit: -1, offset: -1, byPlace: t.byPlace(constraints)}
	if t.where != "" {
		b.conditions = append(b.conditions, t.where)
	}
	named := b.take(constraints)
	b.ignoreHashes(constraints, named)
	tail := b.order(order)
	tail += b.cut(len(constraints))
	b.plan.SQL = b.columns(used) + " FROM " + t.from
	if len(b.conditions) > 0 {
		b.plan.SQL += " WHERE " + strings.Join(b.conditions, " AND ")
	}
	b.plan.SQL += tail
	if b.plan.Cost = b.plan.Rows; !b.leads {
		b.plan.Cost = tableRows
	}
	return b.plan
}

// planning is a Plan that is being made.
type planning struct {
	table         *Table
	plan          Plan
	conditions    []string
	leads         bool
	byPlace       bool // the hash is a place
	limit, offset int  // the constraints that are so, or -1
}

// byPlace reports whether rows are asked for by their place.
func (t *Table) byPlace(constraints []Constraint) bool {
	for _, c := range constraints {
		if c.Op < Limit && c.Op != Equal && t.Columns[c.Column].place != "" {
			return true
		}
	}
	return false
}

// take takes the constraints that the file can see to, and reports whether a name
// was among them.
func (b *planning) take(constraints []Constraint) (named bool) {
	for i, c := range constraints {
		switch c.Op {
		case Limit:
			b.limit = i
			continue
		case Offset:
			b.offset = i
			continue
		case Other:
			continue
		}
		column := &b.table.Columns[c.Column]
		condition, form := column.compare(c.Op)
		if condition == "" {
			continue
		}
		b.conditions = append(b.conditions, condition)
		b.taken(i, form)
		b.leads = b.leads || column.leads && c.Op == Equal
		switch {
		case c.Op != Equal:
			b.plan.Rows = max(1, b.plan.Rows/4)
		case column.rows > 0:
			b.plan.Rows = min(b.plan.Rows, column.rows)
		}
		named = named || column.Form == Bytes && c.Op == Equal
	}
	return named
}

func (b *planning) taken(constraint int, form Form) {
	b.plan.Taken = append(b.plan.Taken, constraint)
	b.plan.Args = append(b.plan.Args, form)
}

// compare is the condition that the column compares so with one value, and the
// form of that; nothing when the file cannot evaluate it.
func (c *Column) compare(op Op) (string, Form) {
	switch {
	case c.find == "":
	case c.place != "":
		return c.comparePlace(op), Plain
	case c.Form == Bytes:
		// Only equality is the same for bytes and for what was made of them.
		if op == Equal {
			return c.find + " IN (?, ?, ?)", Bytes
		}
	case c.Form == EntryID:
		return "(" + c.find + ") " + operators[op] + " (?, ?)", EntryID
	default:
		return c.find + " " + operators[op] + " ?", Plain
	}
	return "", 0
}

// comparePlace compares places. A scan goes on after the place where it stopped;
// a random pick begins at or ends before a place that may be any number of 52 bits,
// of which the remainder is one that the table has.
func (c *Column) comparePlace(op Op) string {
	switch op {
	case Equal:
		return ""
	case GreaterEqual, Less:
		return c.find + " " + operators[op] + " ? % (SELECT ifnull(max(rowid), 0) + 1 FROM " + c.place + ")"
	}
	return c.find + " " + operators[op] + " ?"
}

// ignoreHashes takes the equalities on the hash of a name that is given itself.
func (b *planning) ignoreHashes(constraints []Constraint, named bool) {
	for i, c := range constraints {
		if named && c.Op == Equal && b.table.Columns[c.Column].place != "" {
			b.taken(i, Ignored)
		}
	}
}

// order is ORDER BY, when the file can sort so.
func (b *planning) order(order []Order) string {
	var terms []string
	for _, o := range order {
		if o.Column < 0 {
			return ""
		}
		c := &b.table.Columns[o.Column]
		if c.find == "" || c.place != "" && !b.byPlace {
			return ""
		}
		direction := ""
		if o.Descending {
			direction = " DESC"
		}
		for _, term := range strings.Split(c.find, ", ") {
			terms = append(terms, term+direction)
		}
	}
	b.plan.Ordered = true
	if len(terms) == 0 {
		return ""
	}
	return " ORDER BY " + strings.Join(terms, ", ")
}

// cut is LIMIT and OFFSET, which count the right rows only when nothing is left to
// be checked or sorted after the plan.
func (b *planning) cut(constraints int) string {
	if b.limit < 0 {
		return ""
	}
	others := constraints - 1
	if b.offset >= 0 {
		others--
	}
	if len(b.plan.Taken) < others || !b.plan.Ordered {
		return ""
	}
	b.taken(b.limit, Plain)
	if b.offset < 0 {
		return " LIMIT ?"
	}
	b.taken(b.offset, Plain)
	return " LIMIT ? OFFSET ?"
}

// columns is the SELECT of the used columns.
func (b *planning) columns(used uint64) string {
	for i, c := range b.table.Columns {
		if c.Lazy && used&(1<<i) != 0 {
			used |= 1 // by which it is found later
		}
	}
	out := "SELECT "
	b.plan.Forms = make([]Form, len(b.table.Columns))
	for i, c := range b.table.Columns {
		read := c.read
		b.plan.Forms[i] = c.Form
		switch {
		case used&(1<<i) == 0 || c.Lazy:
			read = "NULL"
		case c.place != "" && b.byPlace:
			read, b.plan.Forms[i] = c.find, Plain
		}
		out += read + ", "
	}
	return out + b.table.row
}
