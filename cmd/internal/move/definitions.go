package move

import (
	"context"

	"github.com/meowdis/meowdis/cmd/internal/targets"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/transfer"
)

// All reports whether the flags choose all keys and change none. Then the definitions are moved, too.
func (o *Options) All() bool {
	return o.Selection.All() && o.prefix == "" && o.From < 0 && o.To < 0
}

// Definitions reads the libraries of functions and the indexes of search at c. It reports missing ones on Notes.
func (r *Report) Definitions(ctx context.Context, c *targets.Conn) transfer.Definitions {
	all, incomplete, err := transfer.ReadDefinitions(ctx, c)
	if ctx.Err() != nil {
		return all
	}
	for _, err := range errorsOf(err) {
		r.Failed++
		r.Say("%v", err)
	}
	if incomplete != "" {
		r.Say("%s does not show %s of search: create them again if you use them", c.Target, incomplete)
	}
	return all
}

// errorsOf returns the errors that errors.Join has joined.
func errorsOf(err error) []error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		return joined.Unwrap()
	}
	if err == nil {
		return nil
	}
	return []error{err}
}

// DiffDefinitions compares the definitions at a and b. With copied set, b may have more.
func (r *Report) DiffDefinitions(ctx context.Context, a, b *targets.Conn, copied bool, found func(transfer.Difference)) {
	failed := r.Failed
	first, second := r.Definitions(ctx, a), r.Definitions(ctx, b)
	if r.Failed == failed {
		transfer.DiffDefinitions(first, second, copied, found)
	}
}

// Load creates definitions at c, and reports the result. A file indexes its keys when it is closed. did is the verb's past
// participle.
func (r *Report) Load(ctx context.Context, c *targets.Conn, all transfer.Definitions, existing transfer.Existing, did string) error {
	made, err := transfer.WriteDefinitions(ctx, c, all, existing, func(name, why string) {
		r.Failed++
		r.Say("%s was left out: %s", name, why)
	})
	if err != nil {
		return err
	}
	switch n := made.Libraries; {
	case n == 1:
		r.Say("%s 1 library of functions", did)
	case n > 1:
		r.Say("%s %d libraries of functions", did, n)
	}
	if made.Indexes > 0 {
		r.Say("%s %s of search", did, Count(int64(made.Indexes), "definition"))
	}
	return nil
}

// IndexedKeys is the number of keys that a transaction indexes.
const IndexedKeys = 500

// BuildIndexes indexes all keys of a file that its indexes of search lack. If ctx ends, the next process that uses the
// file continues.
func BuildIndexes(ctx context.Context, f *local.Store) error {
	for ctx.Err() == nil {
		n, err := f.BuildIndexes(ctx, IndexedKeys)
		if n == 0 || err != nil {
			return err
		}
	}
	return context.Cause(ctx)
}

// Put writes definitions to a sink, or reports that the format cannot hold them.
func (r *Report) Put(all transfer.Definitions, sink transfer.Sink) error {
	if s, can := sink.(transfer.DefinitionSink); can {
		return s.Definitions(all)
	}
	if len(all.Libraries) > 0 {
		r.Failed++
		r.Say("libraries of functions were left out: this format cannot hold them")
	}
	if len(all.Indexes) > 0 {
		r.Failed++
		r.Say("indexes of search were left out: this format cannot hold them")
	}
	return nil
}
