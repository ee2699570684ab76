package engine

import (
	"context"

	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/translator"
)

// FirstKeys looks at up to look keys of the selected database with the prefix, in order and beginning at from. It
// returns a map of the keys of the type kind, or of any type if kind is "", and the key after the last one it looked
// at; nil at the end. It ignores an open transaction.
func (s *Session) FirstKeys(ctx context.Context, prefix, from []byte, kind string, look int) (found resp.Value, next []byte, err error) {
	found, last, err := s.searchKeys(ctx, translator.FirstKeys(s.engine.env(s.db, &s.work), prefix, from, kind, look))
	return found, last.Str, err
}

// KeysOfType looks at up to look keys of a type, however many keys of other types exist. It returns a map of the keys
// with the prefix in the selected database, and whether it looked at all keys of the type.
func (s *Session) KeysOfType(ctx context.Context, prefix []byte, kind string, look int) (found resp.Value, all bool, err error) {
	plan, ok := translator.KeysOfType(s.engine.env(s.db, &s.work), prefix, kind, look)
	if !ok {
		return resp.EmptyMap, false, nil
	}
	found, last, err := s.searchKeys(ctx, plan)
	return found, last.Int == 1, err
}

// searchKeys runs a plan and splits its reply into a map and the last element.
func (s *Session) searchKeys(ctx context.Context, plan translator.Plan) (found, last resp.Value, err error) {
	replies, _, err := s.engine.apply(ctx, []translator.Plan{plan}, &s.work)
	if err != nil {
		return resp.Nil, resp.Nil, err
	}
	n := len(replies[0].Elems) - 1
	if n < 0 {
		return resp.EmptyMap, resp.Nil, nil
	}
	found = resp.EmptyMap
	found.Elems = replies[0].Elems[:n]
	return found, replies[0].Elems[n], nil
}
