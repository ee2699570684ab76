package client

import (
	"context"
	"errors"
	"slices"
)

// KeyCounts is the number of keys of each database.
type KeyCounts []int64

// MostDatabases is how many databases are counted.
const MostDatabases = 16

// CountDatabases counts the keys of each database until the target refuses one. A count is
// -1 if the target has no DBSIZE.
func (c *Conn) CountDatabases(ctx context.Context) (KeyCounts, error) {
	var found KeyCounts
	for db := range MostDatabases {
		v, err := c.One(ctx, db, Command("DBSIZE"))
		var no Refusal
		if c.Refusals.Has("DBSIZE") {
			return slices.Repeat(KeyCounts{-1}, MostDatabases), nil
		}
		if errors.As(err, &no) && db > 0 {
			break
		}
		if err != nil {
			return nil, err
		}
		found = append(found, Number(v))
	}
	return found, nil
}
