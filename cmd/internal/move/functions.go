package move

import (
	"context"

	"github.com/meowdis/meowdis/cmd/internal/targets"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/transfer"
)

// All reports whether the flags choose all keys and change none. Then the libraries of functions are moved, too.
func (o *Options) All() bool {
	return o.Selection.All() && o.prefix == "" && o.From < 0 && o.To < 0
}

// Libraries reads the libraries of functions at c. It reports an error on Notes.
func (r *Report) Libraries(ctx context.Context, c *targets.Conn) transfer.Libraries {
	all, err := transfer.ReadLibraries(ctx, c)
	if err != nil && ctx.Err() == nil {
		r.Failed++
		r.Say("libraries of functions were left out: %v", err)
	}
	return all
}

// DiffLibraries compares the libraries of functions at a and b. With copied set, b may have more.
func (r *Report) DiffLibraries(ctx context.Context, a, b *targets.Conn, copied bool, found func(transfer.Difference)) {
	failed := r.Failed
	first, second := r.Libraries(ctx, a), r.Libraries(ctx, b)
	if r.Failed == failed {
		transfer.DiffLibraries(first, second, copied, found)
	}
}

// Load loads libraries at c and reports the result. did is the verb's past participle.
func (r *Report) Load(ctx context.Context, c *targets.Conn, all transfer.Libraries, existing transfer.Existing, did string) error {
	n, err := transfer.WriteLibraries(ctx, c, all, existing, func(reply resp.Value) {
		r.Failed++
		r.Say("a library of functions was left out: %s", reply.Str)
	})
	switch {
	case err != nil:
		return err
	case n == 1:
		r.Say("%s 1 library of functions", did)
	case n > 1:
		r.Say("%s %d libraries of functions", did, n)
	}
	return nil
}

// Put writes libraries to a sink, or reports that the format cannot hold them.
func (r *Report) Put(all transfer.Libraries, sink transfer.Sink) error {
	s, can := sink.(transfer.LibrarySink)
	switch {
	case can:
		return s.Libraries(all)
	case len(all) > 0:
		r.Failed++
		r.Say("libraries of functions were left out: this format cannot hold them")
	}
	return nil
}
