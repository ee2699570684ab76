package otherformats

import "strings"

// Op is the operator of a Constraint.
type Op int

const (
	Equal Op = iota
	Greater
	GreaterEqual
	Less
	LessEqual
	Limit // of all rows, not of a column
	Offset
	Other // an operator that no plan supports
)

var operators = map[Op]string{Equal: "=", Greater: ">", GreaterEqual: ">=", Less: "<", LessEqual: "<="}

// Constraint is a condition on a column, or a limit, whose value is known when the table is read.
type Constraint struct {
	Column int
	Op     Op
}

// Order is a sort term: a column, or the row ID if Column is negative.
type Order struct {
	Column     int
	Descending bool
}

// Plan describes how a table is read under some constraints.
type Plan struct {
	// SQL selects the table's columns, with NULL for unused ones, and then the row ID.
	SQL string
	// Forms are the forms of the columns, which may differ from the table's.
	Forms []Form
	// Taken lists the constraints that the SQL enforces, in the order of their values; Args are the forms of
	// these values.
	Taken []int
	Args  []Form
	// Ordered means that the rows have the requested order.
	Ordered bool
	// Rows estimates the number of rows returned, and Cost the number of rows read.
	Rows, Cost float64
}

// tableRows estimates the size of a table, in rows.
const tableRows = 1e6

// Plan returns the plan for the constraints and the order. Bit i of used is set if column i is used.
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

// planning holds a Plan under construction.
type planning struct {
	table         *Table
	plan          Plan
	conditions    []string
	leads         bool
	byPlace       bool // the hash column stands for the row number
	limit, offset int  // index of the constraint, or -1
}

// byPlace reports whether a constraint asks for rows by their row number.
func (t *Table) byPlace(constraints []Constraint) bool {
	for _, c := range constraints {
		if c.Op < Limit && c.Op != Equal && t.Columns[c.Column].place != "" {
			return true
		}
	}
	return false
}

// take adds the constraints that the file can enforce, and reports whether one was an equality on a name.
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

// compare returns the condition that compares the column with one value, and the form of that value. The
// condition is "" if the file cannot evaluate it.
func (c *Column) compare(op Op) (string, Form) {
	switch {
	case c.find == "":
	case c.place != "":
		return c.comparePlace(op), Plain
	case c.Form == Bytes:
		// Only equality means the same for bytes and for the stored form.
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

// comparePlace compares row numbers. A scan continues after the row where it stopped. A random pick gives any
// number of 52 bits, which is reduced modulo the table's row numbers.
func (c *Column) comparePlace(op Op) string {
	switch op {
	case Equal:
		return ""
	case GreaterEqual, Less:
		return c.find + " " + operators[op] + " ? % (SELECT ifnull(max(rowid), 0) + 1 FROM " + c.place + ")"
	}
	return c.find + " " + operators[op] + " ?"
}

// ignoreHashes takes equalities on the hash of a name if the name itself is given.
func (b *planning) ignoreHashes(constraints []Constraint, named bool) {
	for i, c := range constraints {
		if named && c.Op == Equal && b.table.Columns[c.Column].place != "" {
			b.taken(i, Ignored)
		}
	}
}

// order returns the ORDER BY clause, or "" if the file cannot sort so.
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

// cut returns LIMIT and OFFSET. They count the right rows only if nothing is left to check or sort after the
// plan.
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

// columns returns the SELECT clause of the used columns.
func (b *planning) columns(used uint64) string {
	for i, c := range b.table.Columns {
		if c.Lazy && used&(1<<i) != 0 {
			used |= 1 // a lazy column is looked up by it later
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
