// Package sweep deletes what has expired, and what deleted keys have left, over any store. No
// command needs it: reads filter what is dead, a write purges what it touches, and nobody sees
// what has no key. It gives the room back.
package sweep

import (
	"context"
	"errors"

	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/store/schema"
)

// Apply runs batches in order, each of them atomic, as engine.Store does.
type Apply func(context.Context, []store.Batch) ([]store.Result, error)

// What has expired at ?1: whether a key has, and how many of the ?2 fields that did first
// are in which hash. A dead key takes its fields with it: only those of live ones count.
// A hash that is being made is left alone. Both only read, so that a sweep with nothing to do takes no
// write lock.
const (
	sqlAnyKey = `SELECT 1 FROM keys WHERE ` + schema.DiesAt + ` <= ?1 LIMIT 1`
	sqlHashes = `SELECT key_id, count(*) FROM (SELECT h.key_id FROM hashes h CROSS JOIN keys k
		ON k.id = h.key_id AND k.type = 'hash' AND k.db >= 0 AND (k.dies_at IS NULL OR k.dies_at > ?1)
		WHERE h.expires_at <= ?1 ORDER BY h.expires_at, h.key_id LIMIT ?2) GROUP BY key_id`
)

// largeSlice is how many elements make a slice of keys full, however few keys they are.
const largeSlice = 2000

// sqlKeys deletes at most ?2 of the keys that are dead at ?1, oldest first: as many as have
// ?3 elements together. A long string counts its parts, and a key with many elements
// none, since it leaves them.
const sqlKeys = `DELETE FROM keys WHERE id IN (SELECT id FROM (
		SELECT id, row_number() OVER age AS place, sum(iif(size > 256, 0, size)) OVER age AS total FROM (
			SELECT id, ` + schema.DiesAt + ` AS died_at, iif(type = 'string', count / ` + schema.PartBytes + `, count) AS size
			FROM keys WHERE ` + schema.DiesAt + ` <= ?1 ORDER BY ` + schema.DiesAt + ` LIMIT ?2)
		WINDOW age AS (ORDER BY died_at, id))
	WHERE place = 1 OR total <= ?3) RETURNING 1, db, key, type = 'hash' AND (expires_at IS NULL OR expires_at > ?1)`

// The fields of one hash go together with its count of them, in this order: were the
// count lowered first, it could be that of the fields that expire, and the hash dead
// with its live fields. Another process may have changed the hash, or deleted it, since
// it was chosen: what counts is how it is found.
const (
	sqlFields = `DELETE FROM hashes WHERE key_id = ?3 AND (hash, field) IN (
		SELECT hash, field FROM hashes WHERE key_id = ?3 AND expires_at <= ?1
			AND EXISTS (SELECT 1 FROM keys WHERE id = ?3 AND type = 'hash' AND (dies_at IS NULL OR dies_at > ?1))
		ORDER BY expires_at LIMIT ?2) RETURNING 1`
	sqlCount = `UPDATE keys SET count = count - changes() WHERE id = ?1 AND changes() > 0 RETURNING 0, db, key, 0`
)

// Swept is what a slice deleted.
type Swept struct {
	Rows         int // all, also what deleted keys had left
	Keys, Fields int // that had expired
}

// Slice deletes up to limit keys that have expired at now (Unix ms), or fields and what deleted
// keys have left once no such key is there. It returns what it did: no rows when nothing is left. Fields
// that cannot go, because their hash is damaged, are an error; the rest goes all the same.
func Slice(ctx context.Context, apply Apply, now int64, limit int) (Swept, error) {
	return run(ctx, apply, func(look look) ([]store.Batch, error) {
		return choose(look, store.Int(now), store.Int(int64(limit)))
	})
}

// Graves deletes what deleted keys have left, as much as counts as limit keys, and returns how many
// rows it did: 0 when nothing is left.
func Graves(ctx context.Context, apply Apply, limit int) (int, error) {
	swept, err := run(ctx, apply, func(look look) ([]store.Batch, error) { return dug(look, store.Int(int64(limit))) })
	return swept.Rows, err
}

// sqlDue is when the first key, or the first field, expires, and 0 when there are graves. Each is the
// first entry of an index.
const sqlDue = `SELECT min(at) FROM (SELECT min(` + schema.DiesAt + `) AS at FROM keys WHERE ` + schema.DiesAt + ` IS NOT NULL
	UNION ALL SELECT min(expires_at) FROM hashes WHERE expires_at IS NOT NULL
	UNION ALL SELECT * FROM (SELECT 0 FROM graves LIMIT 1))`

// Due is when there is something to sweep, in Unix ms: it may be over. some is false when there never is,
// as things are.
func Due(ctx context.Context, apply Apply) (at int64, some bool, err error) {
	rows, err := read(ctx, apply, store.Stmt{SQL: sqlDue})
	if err != nil {
		return 0, false, err
	}
	cell := rows[0][0]
	return cell.Int(), !cell.IsNull(), nil
}

// read runs a statement that reads.
func read(ctx context.Context, apply Apply, stmt store.Stmt) ([]store.Row, error) {
	results, err := apply(ctx, []store.Batch{{ReadOnly: true, Stmts: []store.Stmt{stmt}}})
	if err != nil {
		return nil, err
	}
	if results[0].Refused != nil {
		return nil, refused(results[0])
	}
	return results[0].Rows[0], nil
}

// refused is why a batch was.
func refused(r store.Result) error {
	if r.Refused.TooLong != nil {
		return r.Refused.TooLong
	}
	return errors.New("the file is damaged, doctor says more: " + r.Refused.Reason)
}

// look reads.
type look func(sql string, args ...store.Value) ([]store.Row, error)

// run runs the batches that choose makes. Their statements return a row for each that they delete.
func run(ctx context.Context, apply Apply, choose func(look) ([]store.Batch, error)) (swept Swept, err error) {
	batches, err := choose(func(sql string, args ...store.Value) ([]store.Row, error) {
		return read(ctx, apply, store.Stmt{SQL: sql, Args: args})
	})
	if err != nil || len(batches) == 0 {
		return Swept{}, err
	}
	results, err := apply(ctx, batches)
	if err != nil {
		return Swept{}, err
	}
	for i, r := range results {
		if r.Refused != nil {
			err = refused(r)
			continue
		}
		for _, rows := range r.Rows {
			for _, row := range rows {
				n := int(row[0].Int())
				swept.Rows += n
				switch batches[i].Stmts[0].SQL {
				case sqlKeys:
					if row[1].Int() >= 0 { // others were being made
						swept.Keys += n
					}
				case sqlFields:
					swept.Fields += n
				}
			}
		}
	}
	return swept, err
}

// noKeys is what a sweep changes as far as anybody can see: what has expired is there for
// no command.
var noKeys = [][]byte{}

// choose makes the batches of a slice.
func choose(look look, now, limit store.Value) ([]store.Batch, error) {
	dead, err := look(sqlAnyKey, now)
	if err != nil {
		return nil, err
	}
	if len(dead) > 0 {
		return []store.Batch{{Keys: noKeys, Of: store.Expired{}, Stmts: []store.Stmt{{SQL: sqlKeys, Args: []store.Value{now, limit, store.Int(largeSlice)}}}}}, nil
	}
	hashes, err := look(sqlHashes, now, limit)
	if err != nil {
		return nil, err
	}
	batches, err := dug(look, limit)
	for _, row := range hashes {
		id, n := row[0], row[1]
		batches = append(batches, store.Batch{Keys: noKeys, Of: store.ExpiredFields{}, Stmts: []store.Stmt{
			{SQL: sqlFields, Args: []store.Value{now, n, id}}, {SQL: sqlCount, Args: []store.Value{id}},
		}})
	}
	return batches, err
}
