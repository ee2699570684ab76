package engine

import (
	"context"
	"maps"

	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/translator"
)

func (s *Session) prepareFieldset(_ context.Context, c call) (resp.Value, error) {
	name, fields, bad := translator.Fieldset(c.args)
	if bad.IsError() {
		return bad, nil
	}
	s.fieldsets = maps.Clone(s.fieldsets)
	if s.fieldsets == nil {
		s.fieldsets = map[string][][]byte{}
	}
	s.fieldsets[name] = fields
	return resp.OK, nil
}

func (s *Session) discardFieldset(_ context.Context, c call) (resp.Value, error) {
	if _, ok := s.fieldsets[string(c.args[2])]; !ok {
		return resp.Zero, nil
	}
	s.fieldsets = maps.Clone(s.fieldsets)
	delete(s.fieldsets, string(c.args[2]))
	return resp.One, nil
}

func (s *Session) discardFieldsets(context.Context, call) (resp.Value, error) {
	n := len(s.fieldsets)
	s.fieldsets = nil
	return resp.MakeInt(int64(n)), nil
}
