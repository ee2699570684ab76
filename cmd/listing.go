package cmd

import (
	"context"

	"github.com/meowdis/meowdis/catalog"
	"github.com/meowdis/meowdis/glob"
	"github.com/meowdis/meowdis/rdb"
	"github.com/meowdis/meowdis/transfer"
)

// keys yields the keys of a connection.
func (c *connection) keys(ctx context.Context, read transfer.ReadOptions) transfer.Source {
	read.List = c.list(read)
	return transfer.FromSession(ctx, c, read)
}

// list is how the keys of a file are listed that is read as the options say: by page,
// with the values of the small ones, instead of by several commands a key. It is nil
// for everything else.
func (c *connection) list(read transfer.ReadOptions) transfer.List {
	if c.file == nil || c.file.Foreign() {
		return nil
	}
	keys := catalog.New(c.file, systemClock)
	wanted := func(name []byte, typ string) bool {
		return (read.Type == "" || string(read.Type) == typ) && (read.Match == "" || glob.MatchKey([]byte(read.Match), name))
	}
	return func(ctx context.Context, db int, after, n int64) ([]transfer.Listed, int64, error) {
		page, next, err := keys.Scan(ctx, db, after, n, wanted)
		if err != nil {
			return nil, 0, err
		}
		listed := make([]transfer.Listed, len(page))
		for i, k := range page {
			listed[i] = transfer.Listed{Place: k.Hash, Value: listedValue(k), Key: &transfer.Key{
				DB: db, Name: k.Name, Type: transfer.Type(k.Type), ExpiresAt: k.Expires, Count: k.Size}}
		}
		return listed, next, nil
	}
}

// listedValue is the value that came with a key, nil for none.
func listedValue(k catalog.Scanned) transfer.Value {
	text, isText := k.Value.(rdb.String)
	switch {
	case k.Value == nil:
		return nil
	case isText && k.Type == string(transfer.JSONType):
		return transfer.Document(text)
	}
	return k.Value
}
