package rqlite

import (
	"fmt"
	"math"
	"strings"
	"sync"

	"github.com/meowdis/meowdis/store"
)

// form is how a statement is sent, which depends on its text alone.
type form struct {
	kind kind
	text string // in a transaction that writes
	read string // in a request that only reads
	star bool   // only the database knows how many columns read has, and the rest is missing
}

type kind byte

const (
	writes  kind = iota // no rows
	reads               // rows, and no changes
	returns             // a write with rows
)

// In a transaction rqlite prepares the first statement of a text to learn whether it reads, and goes on
// with the transaction when that fails; the same where a statement with RETURNING fails that its own
// parser knows. What follows a first statement is prepared when it runs, and an error undoes the
// transaction. So each text begins with a statement that does nothing, and leaves changes() as it is:
// one that is never stepped makes a text that returns rows, one that only looks like a change makes one
// that is executed.
const (
	returning = "SELECT 1;"
	executing = "DROP INDEX IF EXISTS _;"
)

// cell is the SQL of a cell as text, of type and value: rqlite takes blobs that are computed for text,
// which it may not be, fails on infinities after it has committed, and prints 1.0 as 1. A number that
// is not text is a finite double. The parameter is an expression.
const cell = `CASE typeof(%[1]s) WHEN 'text' THEN 't' || %[1]s WHEN 'blob' THEN 'b' || hex(%[1]s) WHEN 'integer' THEN 'i' || %[1]s ` +
	`WHEN 'real' THEN iif(%[1]s - %[1]s IS NULL, iif(%[1]s > 0, 'f+', 'f-'), %[1]s) END`

// forms are those of texts by text. Most are constants; a program that makes its texts must not
// fill the memory.
var forms struct {
	sync.RWMutex
	of map[string]*form
}

const maxForms = 4096

func formOf(sql string) *form {
	forms.RLock()
	f := forms.of[sql]
	forms.RUnlock()
	if f != nil {
		return f
	}
	f = newForm(sql)
	forms.Lock()
	defer forms.Unlock()
	if forms.of == nil || len(forms.of) >= maxForms {
		forms.of = map[string]*form{}
	}
	forms.of[sql] = f
	return f
}

func newForm(sql string) *form {
	sql = strings.TrimRight(sql, "; \t\r\n")
	all := words(sql)
	verb, at := mainVerb(all)
	switch verb {
	case "SELECT", "VALUES":
		n := columns(all[at:])
		if n == 0 {
			return &form{kind: reads, read: sql, star: true}
		}
		return reading(sql, n)
	case "INSERT", "UPDATE", "DELETE", "REPLACE":
		if text, ok := taggedReturning(sql, all); ok {
			return &form{kind: returns, text: returning + text}
		}
	}
	return &form{kind: writes, text: executing + sql}
}

// reading is the form of a statement that reads n columns.
func reading(sql string, n int) *form {
	read := tagged(sql, n)
	return &form{kind: reads, read: read, text: returning + read}
}

// mainVerb is what a statement does, after what WITH names, and where.
func mainVerb(all []word) (string, int) {
	if len(all) == 0 {
		return "", 0
	}
	if all[0].text != "WITH" {
		return all[0].text, 0
	}
	for i, w := range all {
		switch w.text {
		case "SELECT", "VALUES", "INSERT", "UPDATE", "DELETE", "REPLACE":
			if w.depth == 0 {
				return w.text, i
			}
		}
	}
	return "", 0
}

// columns counts those of a SELECT or of VALUES, which all begins with; 0 when only the database
// knows.
func columns(all []word) int {
	n, depth := 1, 0
	if all[0].text == "VALUES" {
		depth = 1
	}
	for i, w := range all[1:] {
		if w.depth < depth && (depth == 0 || w.text == ")") {
			break
		}
		if w.depth != depth {
			continue
		}
		switch w.text {
		case ",":
			n++
		case "*":
			// A factor has something on both sides.
			if before := all[i].text; before == "SELECT" || before == "DISTINCT" || before == "ALL" || before == "," || before == "." {
				return 0
			}
		case "FROM", "WHERE", "GROUP", "HAVING", "WINDOW", "ORDER", "LIMIT", "UNION", "EXCEPT", "INTERSECT":
			return n
		}
	}
	return n
}

// tagged is the statement sql of n columns with a type in each cell. It is materialized so that no
// expression is computed twice, and the rows keep their order.
func tagged(sql string, n int) string {
	var names, cells strings.Builder
	for i := range n {
		if i > 0 {
			names.WriteString(", ")
			cells.WriteString(", ")
		}
		name := fmt.Sprintf("c%d", i)
		names.WriteString(name)
		fmt.Fprintf(&cells, cell, name)
	}
	return fmt.Sprintf("WITH _rows(%s) AS MATERIALIZED (%s\n) SELECT %s FROM _rows", names.String(), sql, cells.String())
}

// taggedReturning is a write with a type in each cell that it returns, and false for one that returns
// none.
func taggedReturning(sql string, all []word) (string, bool) {
	at := -1
	for i, w := range all {
		if w.depth == 0 && w.text == "RETURNING" {
			at = i
		}
	}
	if at < 0 {
		return sql, false
	}
	var cells []string
	from, to := all[at].end, -1 // the expression ends at to unless that is negative
	add := func(end int) {
		if to >= 0 {
			end = to
		}
		cells = append(cells, fmt.Sprintf(cell, "("+strings.TrimSpace(sql[from:end])+"\n)"))
	}
	for _, w := range all[at+1:] {
		switch {
		case w.depth != 0:
		case w.text == ",":
			add(w.start)
			from, to = w.end, -1
		case w.text == "AS":
			to = w.start
		}
	}
	add(len(sql))
	return sql[:all[at].end] + " " + strings.Join(cells, ", "), true
}

// rebound is sql with another expression in place of each parameter that has one in others, by
// number.
func rebound(sql string, others map[string]string) string {
	var out strings.Builder
	last := 0
	for _, w := range words(sql) {
		if other, ok := others[w.text]; ok {
			out.WriteString(sql[last:w.start])
			out.WriteString(other)
			last = w.end
		}
	}
	out.WriteString(sql[last:])
	return out.String()
}

// strangers are the parameters of a statement that cannot travel as they are, and what stands for them
// in its text. nil for none: an infinity is no JSON, and rqlite takes text for a blob that looks like a
// literal of one.
func strangers(args []store.Value) map[string]string {
	var others map[string]string
	for i, v := range args {
		other := ""
		switch {
		case v.Kind() == store.Real && math.IsInf(v.Float(), 1):
			other = "9e999"
		case v.Kind() == store.Real && math.IsInf(v.Float(), -1):
			other = "(-9e999)"
		case v.Kind() == store.Text && !plain(v.Bytes()):
			other = fmt.Sprintf("(+CAST(?%d AS TEXT))", i+1) // without the affinity of CAST, as a parameter has none
		default:
			continue
		}
		if others == nil {
			others = map[string]string{}
		}
		others[fmt.Sprintf("?%d", i+1)] = other
	}
	return others
}
