package client

import (
	"context"
	"slices"

	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store/keytype"
)

// minPageNames sets the minimum size of a page that is cut out of all elements: each page
// costs reading them all.
const minPageNames = 10_000

// Pages is Do for commands that read pages of values. If the target does not have such a
// command, Pages reads all elements and cuts the page out, if it can.
func (c *Conn) Pages(ctx context.Context, db int, calls ...[][]byte) ([]resp.Value, error) {
	calls = slices.Clone(calls)
	cuts := make([]func(resp.Value) resp.Value, len(calls))
	stand := func(i int) (ok bool) {
		call, cut := keytype.Fallback(calls[i], minPageNames)
		if call == nil || !c.Refusals.Has(string(calls[i][0])) {
			return false
		}
		calls[i], cuts[i] = call, cut
		return true
	}
	for i := range calls {
		stand(i)
	}
	values, err := c.Do(ctx, db, calls...)
	if err != nil {
		return nil, err
	}
	for i := range values {
		if values[i].IsError() && cuts[i] == nil && stand(i) {
			again, err := c.Do(ctx, db, calls[i])
			if err != nil {
				return nil, err
			}
			values[i] = again[0]
		}
		if cuts[i] != nil {
			values[i] = cuts[i](values[i])
		}
	}
	return values, nil
}

// Page is One for a command that reads a page.
func (c *Conn) Page(ctx context.Context, db int, call [][]byte) (resp.Value, error) {
	values, err := c.Pages(ctx, db, call)
	if err != nil {
		return resp.Value{}, err
	}
	return values[0], ReplyError(values[0])
}
