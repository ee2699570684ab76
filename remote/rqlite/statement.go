package rqlite

import (
	"fmt"
	"math"
	"strings"
	"sync"

	"github.com/meowdis/meowdis/store"
)

// form holds a statement as it is sent. It depends on the statement's text only.
type form struct {
	kind kind
	text string // for a transaction that writes
	read string // for a request that only reads
	star bool   // only the database knows how many columns read has; text is missing
}

type kind byte

const (
	writes  kind = iota // returns no rows
	reads               // returns rows and changes nothing
	returns             // a write that returns rows
)

// Inside a transaction, rqlite prepares the first statement of a text to learn whether it reads, and continues
// with the transaction if that fails. The same happens when a statement with RETURNING fails that rqlite's own
// parser recognizes. Later statements of a text are prepared when they run, and an error rolls the transaction
// back. So each text begins with a statement that does nothing and leaves changes() unchanged. A SELECT that
// is never stepped marks a text that returns rows; a statement that only looks like a change marks a text that
// is executed.
const (
	returning = "SELECT 1;"
	executing = "DROP INDEX IF EXISTS _;"
)

// cell holds the SQL that encodes one cell as text, with its type and value; its parameter is an expression.
// rqlite reads computed blobs as text even if they are not valid text, fails on infinities after it has
// committed, and prints 1.0 as 1. A cell that is a JSON number is a finite double.
const cell = `CASE typeof(%[1]s) WHEN 'text' THEN 't' || %[1]s WHEN 'blob' THEN 'b' || hex(%[1]s) WHEN 'integer' THEN 'i' || %[1]s ` +
	`WHEN 'real' THEN iif(%[1]s - %[1]s IS NULL, iif(%[1]s > 0, 'f+', 'f-'), %[1]s) END`

// forms caches forms by statement text. Most texts are constants; maxForms bounds the memory for a program
// that generates texts.
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

// reading returns the form of a statement that reads n columns.
func reading(sql string, n int) *form {
	read := tagged(sql, n)
	return &form{kind: reads, read: read, text: returning + read}
}

// mainVerb returns the verb of a statement and its index, after any WITH clause.
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

// columns counts the columns of the SELECT or VALUES that all begins with. It returns 0 if only the database
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
			// A factor has an operand on both sides.
			if before := all[i].text; before == "SELECT" || before == "DISTINCT" || before == "ALL" || before == "," || before == "." {
				return 0
			}
		case "FROM", "WHERE", "GROUP", "HAVING", "WINDOW", "ORDER", "LIMIT", "UNION", "EXCEPT", "INTERSECT":
			return n
		}
	}
	return n
}

// tagged returns sql, which has n columns, with each cell encoded with its type. It materializes the rows so
// that SQLite computes each expression once and keeps the order of the rows.
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

// taggedReturning encodes each cell that a write returns with its type. It returns false if the write returns
// no rows.
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
	from, to := all[at].end, -1 // the expression ends at to, unless to is negative
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

// rebound replaces each parameter of sql that has an entry in others, keyed by "?N", with that expression.
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

// substitutes returns expressions for the parameters of a statement that cannot be sent unchanged, or nil if
// there are none. JSON has no infinities, and rqlite reads text that looks like a blob literal as a blob.
func substitutes(args []store.Value) map[string]string {
	var others map[string]string
	for i, v := range args {
		other := ""
		switch {
		case v.Kind() == store.Real && math.IsInf(v.Float(), 1):
			other = "9e999"
		case v.Kind() == store.Real && math.IsInf(v.Float(), -1):
			other = "(-9e999)"
		case v.Kind() == store.Text && !plain(v.Bytes()):
			other = fmt.Sprintf("(+CAST(?%d AS TEXT))", i+1) // + removes the affinity of CAST, because a parameter has none
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
