package schema

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/meowdis/meowdis/store"
)

// Apply runs batches, each atomic, as a store does. The functions below serve stores that are not local files;
// package local creates and migrates files.
type Apply = func(context.Context, []store.Batch) ([]store.Result, error)

const sqlHasTables = `SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = 'meowdis'`

// CreateTables returns the batch that creates the tables of an empty store at now, in Unix ms.
func CreateTables(now int64) (b store.Batch) {
	for _, text := range Tables {
		b.Stmts = append(b.Stmts, store.Stmt{SQL: text})
	}
	record := store.Stmt{SQL: SetVersion, Args: []store.Value{store.Int(Version), store.Digits(now)}}
	b.Stmts = append(b.Stmts, record)
	return b
}

// Ready creates the tables at now, in Unix ms, if they are missing. It fails if existing tables have a version
// other than Version. Several processes may call it at the same time.
func Ready(ctx context.Context, apply Apply, now int64) error {
	version, err := StoredVersion(ctx, apply)
	if err != nil {
		return err
	}
	if version == 0 {
		made := errors.New("the store refused the batch")
		if results, err := apply(ctx, []store.Batch{CreateTables(now)}); err != nil {
			made = err
		} else if results[0].Refused == nil {
			return nil
		}
		// Another process may have been faster.
		if version, err = StoredVersion(ctx, apply); err != nil || version == 0 {
			return fmt.Errorf("creating the tables: %w", errors.Join(made, err))
		}
	}
	return CheckVersion(version)
}

// StoredVersion returns the version of the tables, 0 if they are missing.
func StoredVersion(ctx context.Context, apply Apply) (int, error) {
	version, err := ask(ctx, apply, VersionQuery)
	if err == nil || !strings.Contains(err.Error(), "no such table") {
		return version, err // do not ask an unreachable store again
	}
	if has, other := ask(ctx, apply, sqlHasTables); other == nil && has == 0 {
		return 0, nil
	}
	return 0, err
}

func ask(ctx context.Context, apply Apply, sql string) (int, error) {
	results, err := apply(ctx, []store.Batch{{ReadOnly: true, Stmts: []store.Stmt{{SQL: sql}}}})
	switch {
	case err != nil:
		return 0, fmt.Errorf("reading the schema version: %w", err)
	case results[0].Refused != nil:
		return 0, fmt.Errorf("reading the schema version: %s", results[0].Refused.Reason)
	}
	return int(results[0].Rows[0][0][0].Int()), nil
}

// CheckVersion returns an error if version is not Version.
func CheckVersion(version int) error {
	switch {
	case version > Version:
		return fmt.Errorf("it has schema version %d, but this meowdis supports only %d: use a newer meowdis", version, Version)
	case version < Version:
		return fmt.Errorf("it has schema version %d, not %d: run meowdis migrate on its file", version, Version)
	}
	return nil
}
