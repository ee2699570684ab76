package catalog

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/meowdis/meowdis/schema"
	"github.com/meowdis/meowdis/store"
)

// Kind is the keys of one type.
type Kind struct {
	Type     string
	Keys     int64
	Elements int64 // 0 for strings and documents
}

// kindNames are the types that a file can hold.
var kindNames = []string{"string", "hash", "list", "set", "zset", "stream", "array", "ReJSON-RL"}

// sqlKinds counts all types in one pass. To group by the type would sort the keys.
var sqlKinds = func() string {
	var columns []string
	for _, kind := range kindNames {
		columns = append(columns, `count(*) FILTER (WHERE type = '`+kind+`'), ifnull(sum(count) FILTER (WHERE type = '`+kind+`'), 0)`)
	}
	return `SELECT ` + strings.Join(columns, ", ") + ` FROM keys NOT INDEXED WHERE db = ?1 AND (dies_at IS NULL OR dies_at > ?2)`
}()

// Kinds counts the keys of each type that there is, the most frequent first. It
// goes through all keys.
func (c *Catalog) Kinds(ctx context.Context, db int) ([]Kind, error) {
	rows, err := c.read(ctx, store.Stmt{SQL: sqlKinds, Args: []store.Value{store.Int(int64(db)), store.Int(c.now())}})
	if err != nil {
		return nil, err
	}
	var kinds []Kind
	for i, name := range kindNames {
		if n := rows[0][0][2*i].Int(); n > 0 {
			kinds = append(kinds, Kind{name, n, rows[0][0][2*i+1].Int()})
		}
	}
	slices.SortStableFunc(kinds, func(a, b Kind) int { return cmp.Compare(b.Keys, a.Keys) })
	return kinds, nil
}

const sqlDeaths = `SELECT count(*) FROM keys INDEXED BY keys_by_death WHERE ` + schema.DiesAt + ` > ?2 AND ` + schema.DiesAt + ` <= ?3 AND db = ?1`

// Deaths counts the keys that end within each of the spans, in ms from now, but
// not within the one before it. The spans rise.
func (c *Catalog) Deaths(ctx context.Context, db int, spans []int64) ([]int64, error) {
	from := c.now()
	now := from
	var stmts []store.Stmt
	for _, span := range spans {
		to := now + span
		stmts = append(stmts, store.Stmt{SQL: sqlDeaths, Args: []store.Value{store.Int(int64(db)), store.Int(from), store.Int(to)}})
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

// File is facts of a SQLite file.
type File struct {
	PageSize  int64
	Pages     int64
	FreePages int64
	Journal   string
	Schema    int64
}

// File reads the facts of the store's file.
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
