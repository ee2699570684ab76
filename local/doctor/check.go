package doctor

import (
	"strings"

	"github.com/meowdis/meowdis/store"
)

// Check is a condition that must hold in a meowdis file between two transactions.
type Check struct {
	Name     string
	Severity Severity
	Says     string // describes the problem
	// Broken are queries for the rows that violate it. Shows is the text of an example, with a verb %s for
	// each of their columns.
	Broken []string
	Shows  string
	// Fix describes what Repair does. In its statements, ?1 is the prefix of names for saved data.
	Fix    string
	Repair []string
	Advice string // if there is no Repair
}

// run finds the rows that violate the check.
func (c Check) run(e Exam) ([]Finding, error) {
	f := Finding{Check: c.Name, Severity: c.Severity, Says: c.Says, Fix: c.Fix, Advice: c.Advice}
	for _, broken := range c.Broken {
		// The extra row reports whether a count is needed.
		rows, err := e.Query(broken+" LIMIT ?1", store.Int(int64(e.Examples)+1))
		if err != nil {
			return nil, err
		}
		n := int64(len(rows))
		if len(rows) > e.Examples {
			all, err := e.Query("SELECT count(*) FROM (" + broken + ")")
			if err != nil {
				return nil, err
			}
			n = all[0][0].Int()
		}
		f.Count += n
		for _, row := range rows {
			f.example(e, formatRow(c.Shows, row))
		}
	}
	return nonEmpty(f), nil
}

// repairIfBroken runs the repair if the check fails.
func (c Check) repairIfBroken(q Query, prefix store.Value) error {
	for _, broken := range c.Broken {
		rows, err := q(broken + " LIMIT 1")
		if err != nil {
			return err
		}
		if len(rows) > 0 {
			return c.repair(q, prefix)
		}
	}
	return nil
}

func (c Check) repair(q Query, prefix store.Value) error {
	for _, sql := range c.Repair {
		var args []store.Value
		if strings.Contains(sql, "?1") {
			args = append(args, prefix)
		}
		if _, err := q(sql, args...); err != nil {
			return err
		}
	}
	return nil
}

// example adds an example, unless e has enough.
func (f *Finding) example(e Exam, text string) {
	if len(f.Examples) < e.Examples {
		f.Examples = append(f.Examples, text)
	}
}

// nonEmpty returns the findings with a count.
func nonEmpty(findings ...Finding) (some []Finding) {
	for _, f := range findings {
		if f.Count > 0 {
			some = append(some, f)
		}
	}
	return some
}
