// Package install makes the tables of a store that has none, and says of any other whether its
// tables are those that this program knows. It is for stores that are no file of ours (package local
// makes and migrates those): whatever runs batches.
package install

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/store/schema"
)

// Apply runs batches, each atomic, as a store does.
type Apply = func(context.Context, []store.Batch) ([]store.Result, error)

const sqlHas = `SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = 'meowdis'`

// Tables is the batch that makes the tables of an empty store at now, in Unix ms.
func Tables(now int64) (b store.Batch) {
	for _, text := range schema.Tables {
		b.Stmts = append(b.Stmts, store.Stmt{SQL: text})
	}
	record := store.Stmt{SQL: schema.SetVersion, Args: []store.Value{store.Int(schema.Version), store.Digits(now)}}
	b.Stmts = append(b.Stmts, record)
	return b
}

// Ready makes the tables at now, in Unix ms, when there are none. It fails when those that are there
// have another version than schema.Version. Several processes may call it at once.
func Ready(ctx context.Context, apply Apply, now int64) error {
	version, err := Version(ctx, apply)
	if err != nil {
		return err
	}
	if version == 0 {
		made := errors.New("the store refused them")
		if results, err := apply(ctx, []store.Batch{Tables(now)}); err != nil {
			made = err
		} else if results[0].Refused == nil {
			return nil
		}
		// Another process may have been faster.
		if version, err = Version(ctx, apply); err != nil || version == 0 {
			return fmt.Errorf("making the tables: %w", errors.Join(made, err))
		}
	}
	return Check(version)
}

// Version is that of the tables, 0 when there are none.
func Version(ctx context.Context, apply Apply) (int, error) {
	version, err := ask(ctx, apply, schema.VersionQuery)
	if err == nil || !strings.Contains(err.Error(), "no such table") {
		return version, err // a store that does not answer is not asked again
	}
	if has, other := ask(ctx, apply, sqlHas); other == nil && has == 0 {
		return 0, nil
	}
	return 0, err
}

func ask(ctx context.Context, apply Apply, sql string) (int, error) {
	results, err := apply(ctx, []store.Batch{{ReadOnly: true, Stmts: []store.Stmt{{SQL: sql}}}})
	switch {
	case err != nil:
		return 0, fmt.Errorf("looking for the tables: %w", err)
	case results[0].Refused != nil:
		return 0, fmt.Errorf("looking for the tables: %s", results[0].Refused.Reason)
	}
	return int(results[0].Rows[0][0][0].Int()), nil
}

// Check is the error of tables that do not have schema.Version.
func Check(version int) error {
	switch {
	case version > schema.Version:
		return fmt.Errorf("it has schema version %d, and this meowdis knows %d: use a newer meowdis", version, schema.Version)
	case version < schema.Version:
		return fmt.Errorf("it has schema version %d, not %d: meowdis migrate brings its file up to date", version, schema.Version)
	}
	return nil
}
