package client

import (
	"context"
	"testing"

	"github.com/meowdis/meowdis/keyspace"
	"github.com/meowdis/meowdis/redis/resp"
)

// short returns fewer replies than commands.
type short struct{ keyspace.Client }

func (short) Pipeline(context.Context, [][][]byte) ([]resp.Value, error) { return nil, nil }

func TestTooFewReplies(t *testing.T) {
	c := NewConn(short{}, func() int64 { return 0 })
	if _, err := c.One(context.Background(), 0, Command("DBSIZE")); err != errReplies {
		t.Errorf("got %v", err)
	}
}
