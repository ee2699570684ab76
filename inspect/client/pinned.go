package client

import (
	"context"

	"github.com/meowdis/meowdis/redis/resp"
)

// dbConn binds a Conn to one database.
type dbConn struct {
	conn *Conn
	db   int
}

// In returns the connection bound to database db.
func (c *Conn) In(db int) *dbConn { return &dbConn{c, db} }

func (p *dbConn) DB() int { return p.db }

// InMulti returns false: Do refuses MULTI.
func (p *dbConn) InMulti() bool { return false }

// Do refuses a single MULTI: calls of other jobs would come between it and the next command.
func (p *dbConn) Do(ctx context.Context, args ...[]byte) (resp.Value, error) {
	if string(args[0]) == "MULTI" {
		return resp.MakeError("ERR the connection is shared"), nil
	}
	values, err := p.Pipeline(ctx, [][][]byte{args})
	if err != nil {
		return resp.Value{}, err
	}
	return values[0], nil
}

func (p *dbConn) Pipeline(ctx context.Context, calls [][][]byte) ([]resp.Value, error) {
	if len(calls) == 1 && string(calls[0][0]) == "SELECT" {
		p.db = int(Number(resp.MakeBulk(calls[0][1])))
		return []resp.Value{resp.OK}, nil
	}
	return p.conn.Do(ctx, p.db, calls...)
}
func (p *dbConn) PipelineUntilError(ctx context.Context, calls [][][]byte) (replies []resp.Value, err error) {
	for _, args := range calls {
		v, err := p.Do(ctx, args...)
		if err != nil {
			return replies, err
		}
		if replies = append(replies, v); v.HasError() {
			break
		}
	}
	return replies, nil
}
