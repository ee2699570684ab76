package catalog

import (
	"context"

	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/store/schema"
)

const sqlExpiries = `SELECT count(*) FROM keys INDEXED BY keys_by_death WHERE ` + schema.DiesAt + ` > ?2 AND ` + schema.DiesAt + ` <= ?3 AND db = ?1`

// ExpiryCounts counts the keys that expire within each span, in ms from now, excluding the spans
// before it. Spans must be in ascending order.
func (c *Catalog) ExpiryCounts(ctx context.Context, db int, spans []int64) ([]int64, error) {
	from := c.now()
	now := from
	var stmts []store.Stmt
	for _, span := range spans {
		to := now + span
		stmts = append(stmts, store.Stmt{SQL: sqlExpiries, Args: []store.Value{store.Int(int64(db)), store.Int(from), store.Int(to)}})
		from = to
	}
	rows, err := c.read(ctx, stmts...)
	if err != nil {
		return nil, err
	}
	counts := make([]int64, len(spans))
	for i := range counts {
		counts[i] = rows[i][0][0].Int()
	}
	return counts, nil
}

// File holds the page counts, journal mode and schema version of a SQLite file.
type File struct {
	PageSize  int64
	Pages     int64
	FreePages int64
	Journal   string
	Schema    int64
}

// File reads the statistics of the store's file.
func (c *Catalog) File(ctx context.Context) (File, error) {
	rows, err := c.read(ctx,
		store.Stmt{SQL: `SELECT page_size, page_count, freelist_count, journal_mode
			FROM pragma_page_size, pragma_page_count, pragma_freelist_count, pragma_journal_mode`},
		store.Stmt{SQL: schema.VersionQuery})
	if err != nil {
		return File{}, err
	}
	row := rows[0][0]
	return File{row[0].Int(), row[1].Int(), row[2].Int(), string(row[3].Bytes()), rows[1][0][0].Int()}, nil
}
