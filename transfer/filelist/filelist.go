// Package filelist lists the keys of a meowdis file for package transfer, by the file's index and with the values of
// small keys.
package filelist

import (
	"context"

	"github.com/meowdis/meowdis/keyspace/catalog"
	"github.com/meowdis/meowdis/redis/glob"
	"github.com/meowdis/meowdis/redis/rdb"
	"github.com/meowdis/meowdis/transfer"
)

// Scanner reads pages of keys, as catalog.Catalog does.
type Scanner interface {
	Scan(ctx context.Context, db int, after, most int64, wanted func(name []byte, typ string) bool) (keys []catalog.Scanned, next int64, err error)
}

// New returns a function that lists the keys that the options choose.
func New(keys Scanner, read transfer.ReadOptions) transfer.List {
	wanted := Wanted(read)
	return func(ctx context.Context, db int, after, n int64) ([]transfer.Listed, int64, error) {
		page, next, err := keys.Scan(ctx, db, after, n, wanted)
		if err != nil {
			return nil, 0, err
		}
		return Listed(db, page), next, nil
	}
}

// Wanted returns a function that accepts the keys that the options choose.
func Wanted(read transfer.ReadOptions) func(name []byte, typ string) bool {
	return func(name []byte, typ string) bool {
		return (read.Type == "" || string(read.Type) == typ) && (read.Match == "" || glob.MatchKey([]byte(read.Match), name))
	}
}

// Listed converts keys of a catalog.
func Listed(db int, keys []catalog.Scanned) []transfer.Listed {
	listed := make([]transfer.Listed, len(keys))
	for i, k := range keys {
		listed[i] = transfer.Listed{Place: k.Hash, ID: k.ID, Value: listedValue(k), Key: &transfer.Key{
			DB: db, Name: k.Name, Type: transfer.Type(k.Type), ExpiresAt: k.Expires, Count: k.Size}}
	}
	return listed
}

// listedValue returns the value that was read with a key, or nil.
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
