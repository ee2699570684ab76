package engine

import (
	"context"

	"github.com/meowdis/meowdis/resp"
	"github.com/meowdis/meowdis/translator"
)

// FirstKeys returns a map of the first keys of the selected database that begin
// with prefix, in order and at most limit, and their types. An open transaction
// has nothing to do with it.
func (s *Session) FirstKeys(ctx context.Context, prefix []byte, limit int) (v resp.Value, err error) {
	plan := translator.FirstKeys(s.engine.env(s.db), prefix, limit)
	err = s.engine.apply(ctx, []translator.Plan{plan}, []*resp.Value{&v})
	return v, err
}
