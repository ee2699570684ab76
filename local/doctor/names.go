package doctor

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/translator"
)

// named describes a table whose rows are found by the hash of a name.
type named struct {
	table, name string
	// next reads the rows after a position: the columns of the position, then the name and the hash.
	next  string
	place int // columns of a position
	// move sets the hash of the row at a position; leave takes a row off its key if another row already has
	// the correct position.
	move, leave string
}

// perPage allows for long names and is still fast.
const perPage = ` LIMIT 2000`

var namedTables = []named{
	{
		table: "keys", name: "key", place: 1,
		next: `SELECT id, key, hash FROM keys WHERE id > ?1 ORDER BY id` + perPage,
		move: `UPDATE keys SET hash = ?2 WHERE id = ?1 RETURNING 1`,
	},
	inHashes("hashes", "field"), inHashes("sets", "member"), inHashes("zsets", "member"),
}

func inHashes(table, name string) named {
	return named{
		table: table, name: name, place: 3,
		next: fmt.Sprintf(`SELECT key_id, hash, %s, %s, hash FROM %s WHERE (key_id, hash, %s) > (?1, ?2, ?3) ORDER BY key_id, hash, %s`+perPage,
			name, name, table, name, name),
		move:  fmt.Sprintf(`UPDATE OR IGNORE %s SET hash = ?4 WHERE key_id = ?1 AND hash = ?2 AND %s = ?3 RETURNING 1`, table, name),
		leave: fmt.Sprintf(`UPDATE %s SET key_id = -key_id, hash = ?4 WHERE key_id = ?1 AND hash = ?2 AND %s = ?3`, table, name),
	}
}

// firstPlace is before every row.
var firstPlace = []store.Value{store.Int(-1 << 63), store.Int(-1 << 63), store.Bytes(nil)}

// each calls wrong for each row whose hash does not match its name. wrong may change that row.
func (n named) each(q Query, wrong func(row store.Row, hash int64) error) error {
	place := firstPlace[:n.place]
	for {
		rows, err := q(n.next, place...)
		if err != nil || len(rows) == 0 {
			return err
		}
		for _, row := range rows {
			name, is := row[n.place], row[n.place+1]
			if hash := translator.HashOf(name.Bytes()); is.Int() != hash {
				if err := wrong(row, hash); err != nil {
					return err
				}
			}
		}
		next := rows[len(rows)-1][:n.place]
		if slices.CompareFunc(next, place, compare) <= 0 {
			return errDisorder
		}
		place = next
	}
}

// errDisorder prevents an endless loop: a damaged table may have its rows in any order.
var errDisorder = errors.New("rows are out of order")

// compare orders two cells of a column, numbers or names, as SQLite does.
func compare(a, b store.Value) int {
	if a.Bytes() == nil && b.Bytes() == nil {
		return cmp.Compare(a.Int(), b.Int())
	}
	return bytes.Compare(a.Bytes(), b.Bytes())
}

// names finds rows with a wrong hash, which no command can find.
func (e Exam) names() ([]Finding, error) {
	f := Finding{Check: "hashes", Severity: Error, Says: "names have a wrong hash, so commands do not find them",
		Fix: "the hashes are corrected; duplicates move to keys whose names begin with lost+found"}
	for _, n := range namedTables {
		e.step("names in " + n.table)
		err := n.each(e.Query, func(row store.Row, _ int64) error {
			f.Count++
			f.example(e, formatRow("in "+n.table+": %s", row[n.place:n.place+1]))
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return nonEmpty(f), nil
}

// fixHashes corrects the hashes of all rows of n.
func (n named) fixHashes(q Query) error {
	return n.each(q, func(row store.Row, hash int64) error {
		args := append(append([]store.Value{}, row[:n.place]...), store.Int(hash))
		moved, err := q(n.move, args...)
		if err == nil && len(moved) == 0 && n.leave != "" {
			_, err = q(n.leave, args...)
		}
		return err
	})
}
