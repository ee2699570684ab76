package client

import (
	"context"

	"github.com/meowdis/meowdis/keyspace"
	"github.com/meowdis/meowdis/keyspace/catalog"
	"github.com/meowdis/meowdis/redis/resp"
)

// Types of keys whose real type is unknown: the user may not read the key, or the target
// refuses to report the type.
const (
	ClosedType  = "closed"
	UnknownType = "?"
)

// Lister lists and describes the keys of database db, without the commands in Refusals.
func (c *Conn) Lister(db int, now func() int64, detail keyspace.Detail) *keyspace.Lister {
	return &keyspace.Lister{Client: c.In(db), Detail: detail, Refusals: &c.Refusals, Now: now}
}

func fixedClock(now int64) func() int64 { return func() int64 { return now } }

// Types looks up types and TTLs, as far as the target reports them. The type of a missing
// key is "".
func (c *Conn) Types(ctx context.Context, db int, keys []string, now int64) ([]catalog.Facts, error) {
	return describe(ctx, c.Lister(db, fixedClock(now), keyspace.Expiries), keys)
}

// Describe looks up keys at time now, in two round trips. The type of a missing key is "".
func (c *Conn) Describe(ctx context.Context, db int, keys []string, now int64) ([]catalog.Facts, error) {
	return describe(ctx, c.Lister(db, fixedClock(now), keyspace.Described), keys)
}

func describe(ctx context.Context, l *keyspace.Lister, keys []string) ([]catalog.Facts, error) {
	found, err := l.DescribeAll(ctx, Names(keys))
	if err != nil {
		return nil, err
	}
	facts := make([]catalog.Facts, len(found))
	for i, k := range found {
		if facts[i], err = FactsOf(k); err != nil {
			return nil, err
		}
	}
	return facts, nil
}

// Names converts keys to command arguments.
func Names(keys []string) [][]byte {
	names := make([][]byte, len(keys))
	for i, key := range keys {
		names[i] = []byte(key)
	}
	return names
}

// FactsOf converts a described key; a missing key has no type. Fields that the user may not read are left out; any
// other error reply is an error.
func FactsOf(k keyspace.Key) (catalog.Facts, error) {
	if k.Type == keyspace.None {
		return catalog.Facts{}, nil
	}
	f := catalog.Facts{Type: k.Type, Size: k.Count, Bytes: k.Bytes, Expires: k.ExpiresAt}
	if no, ok := k.Err.(keyspace.Refusal); ok {
		switch v := resp.MakeError(string(no)); {
		case keyspace.Refused(v):
			f.Type = UnknownType
		case keyspace.Forbidden(v):
			f.Type = ClosedType
		default:
			return f, Refusal(no)
		}
	} else if k.Err != nil {
		f.Type = UnknownType
	}
	if no, ok := k.NoExpiry.(keyspace.Refusal); ok && !keyspace.Forbidden(resp.MakeError(string(no))) {
		return f, Refusal(no)
	}
	return f, nil
}

// Probe determines the type of a key if TYPE is refused.
func (c *Conn) Probe(ctx context.Context, db int, key string) (string, error) {
	keys := []keyspace.Key{{Name: []byte(key)}}
	if err := c.Lister(db, fixedClock(0), keyspace.Names).Probe(ctx, keys); err != nil {
		return "", err
	}
	f, err := FactsOf(keys[0])
	return f.Type, err
}
