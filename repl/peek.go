package repl

import (
	"context"
	"errors"
	"fmt"

	"github.com/meowdis/meowdis/keyspace"
	"github.com/meowdis/meowdis/keyspace/peek"
	"github.com/meowdis/meowdis/redis/resp"
)

const (
	peekElements = 10
	peekWidth    = 200 // if the output is not a terminal
)

// runPeek shows a key.
func runPeek(ctx context.Context, l *loop, c command, out *output) error {
	key, err := singleArg(c)
	if err != nil {
		return err
	}
	if l.multi {
		return errors.New(":peek cannot run inside MULTI: its reads would be queued")
	}
	keys := &keyspace.Lister{Client: loopSession{l}, Detail: keyspace.Measured, Bytes: l.Target.Bytes}
	p, err := peek.Take(ctx, keys, []byte(key), peekElements)
	if errors.Is(err, keyspace.ErrMissing) {
		return fmt.Errorf("no such key: %s", quoteWord([]byte(key), false))
	}
	if err != nil {
		return err
	}
	width := l.columns()
	if width == 0 || c.op != "" {
		width = peekWidth
	}
	return out.text(p.Text(width, func(text string) string { return l.coloured(dim, text) }))
}

// loopSession adapts the loop's session to package keyspace.
type loopSession struct{ *loop }

func (s loopSession) Do(ctx context.Context, args ...[]byte) (resp.Value, error) {
	v, _, err := s.do(ctx, args)
	return v, err
}

func (s loopSession) Pipeline(ctx context.Context, calls [][][]byte) (replies []resp.Value, err error) {
	for _, args := range calls {
		v, err := s.Do(ctx, args...)
		if err != nil {
			return replies, err
		}
		replies = append(replies, v)
	}
	return replies, nil
}
