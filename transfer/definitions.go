package transfer

import (
	"context"
	"errors"

	"github.com/meowdis/meowdis/keyspace"
	"github.com/meowdis/meowdis/redis/resp"
)

// Definitions holds function libraries and the definitions of search. They belong to no key, so they are moved with all
// keys or not at all.
type Definitions struct {
	Libraries Libraries
	Indexes   Indexes
}

// DefinitionSink is a sink that also accepts definitions, before the first key.
type DefinitionSink interface{ Definitions(all Definitions) error }

// ReadDefinitions reads the definitions of a session. After an error, all lacks only the definitions that the error names.
// incomplete, unless it is empty, names definitions that the server does not show.
func ReadDefinitions(ctx context.Context, s keyspace.Session) (all Definitions, incomplete string, err error) {
	all.Libraries, err = ReadLibraries(ctx, s)
	if err != nil {
		err = &LeftOutError{"libraries of functions", err}
	}
	var failed error
	if all.Indexes, incomplete, failed = ReadIndexes(ctx, s); failed != nil {
		err = errors.Join(err, &LeftOutError{"indexes of search", failed})
	}
	return all, incomplete, err
}

// LeftOutError reports definitions that could not be read.
type LeftOutError struct {
	What string
	Err  error
}

func (e *LeftOutError) Error() string { return e.What + " were left out: " + e.Err.Error() }

func (e *LeftOutError) Unwrap() error { return e.Err }

// Made counts the definitions that WriteDefinitions created.
type Made struct{ Libraries, Indexes int }

// WriteDefinitions creates definitions. It skips equal ones. It replaces or skips a different existing one, or calls
// refused, depending on existing. It also calls refused for each one that the session refuses, with its name and
// the reason.
func WriteDefinitions(ctx context.Context, s keyspace.Session, all Definitions, existing Existing, refused func(name, why string)) (made Made, err error) {
	made.Libraries, err = WriteLibraries(ctx, s, all.Libraries, existing, func(v resp.Value) { refused("a library of functions", string(v.Str)) })
	if err == nil {
		made.Indexes, err = WriteIndexes(ctx, s, all.Indexes, existing, func(x *Index, why string) { refused("the "+x.String(), why) })
	}
	return made, err
}

// DiffDefinitions calls found for each definition that differs between a and b. If copied is set, b may have more.
func DiffDefinitions(a, b Definitions, copied bool, found func(Difference)) {
	DiffLibraries(a.Libraries, b.Libraries, copied, found)
	DiffIndexes(a.Indexes, b.Indexes, copied, found)
}
