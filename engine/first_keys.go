package engine

import (
	"context"

	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/translator"
)

// FirstKeys returns the first keys of the selected database that begin with prefix, in order and at most limit,
// as a map from key to type. It ignores an open transaction.
func (s *Session) FirstKeys(ctx context.Context, prefix []byte, limit int) (resp.Value, error) {
	plan := translator.FirstKeys(s.engine.env(s.db, &s.work), prefix, limit)
	replies, _, err := s.engine.apply(ctx, []translator.Plan{plan}, &s.work)
	if err != nil {
		return resp.Value{}, err
	}
	return replies[0], nil
}
