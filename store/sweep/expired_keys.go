// Package sweep deletes expired keys, and elements left by deleted keys, over any store. No command needs it:
// reads skip expired keys, a write deletes the expired keys that it touches, and elements without a key are
// invisible. The sweep frees their space.
package sweep

import (
	"context"
	"errors"
	"slices"

	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/store/schema"
	"github.com/meowdis/meowdis/translator"
)

// Apply runs batches in order, each one atomic, as engine.Store does.
type Apply func(context.Context, []store.Batch) ([]store.Result, error)

// Expired data at ?1: whether any key has expired, and the hashes of the ?2 fields that expired first, with the
// number of those fields. An expired key takes its fields with it, so only fields of live hashes count. A hash
// under construction is skipped. Both statements only read, so a sweep with nothing to do takes no write lock.
const (
	sqlAnyKey = `SELECT 1 FROM keys WHERE ` + schema.DiesAt + ` <= ?1 LIMIT 1`
	sqlHashes = `SELECT key_id, count(*) FROM (SELECT h.key_id FROM hashes h CROSS JOIN keys k
		ON k.id = h.key_id AND k.type = 'hash' AND k.db >= 0 AND (k.dies_at IS NULL OR k.dies_at > ?1)
		WHERE h.expires_at <= ?1 ORDER BY h.expires_at, h.key_id LIMIT ?2) GROUP BY key_id`
)

// largeSlice is the number of elements that fill a slice of keys, however few keys they are.
const largeSlice = 2000

// sqlKeys deletes at most ?2 of the keys that have expired at ?1, oldest first, and stops at ?3 elements in
// total. A long string counts its parts. A key with many elements counts none, because it leaves them behind.
const sqlKeys = `DELETE FROM keys WHERE id IN (SELECT id FROM (
		SELECT id, row_number() OVER age AS place, sum(iif(size > 256, 0, size)) OVER age AS total FROM (
			SELECT id, ` + schema.DiesAt + ` AS died_at, iif(type = 'string', count / ` + schema.PartBytes + `, count) AS size
			FROM keys WHERE ` + schema.DiesAt + ` <= ?1 ORDER BY ` + schema.DiesAt + ` LIMIT ?2)
		WINDOW age AS (ORDER BY died_at, id))
	WHERE place = 1 OR total <= ?3) RETURNING 1, db, key, type = 'hash' AND (expires_at IS NULL OR expires_at > ?1)`

// The fields of one hash are deleted together with the update of its count, in this order. If the count were
// lowered first, it could equal the number of expiring fields, and the hash would be dead with its live fields.
// Another process may have changed or deleted the hash since it was chosen, so the statements check its current
// state.
const (
	sqlFields = `DELETE FROM hashes WHERE key_id = ?3 AND (hash, field) IN (
		SELECT hash, field FROM hashes WHERE key_id = ?3 AND expires_at <= ?1
			AND EXISTS (SELECT 1 FROM keys WHERE id = ?3 AND type = 'hash' AND (dies_at IS NULL OR dies_at > ?1))
		ORDER BY expires_at LIMIT ?2) RETURNING 1`
	sqlCount = `UPDATE keys SET count = count - changes() WHERE id = ?1 AND changes() > 0 RETURNING 0, db, key, 0`
)

// Swept is the number of rows deleted by a slice.
type Swept struct {
	Rows         int // all rows, including left-over elements
	Keys, Fields int // expired ones
	Indexed      int // keys indexed for FT.SEARCH, or other work on indexes; not in Rows
}

// Slice deletes up to limit keys that have expired at now (Unix ms). If no key has expired, it deletes expired
// fields and left-over elements, and otherwise works on the indexes of FT.CREATE. Rows and Indexed of its result are 0
// when nothing is left. If fields cannot be deleted because their hash is damaged, Slice returns an error, but still
// deletes the rest.
func Slice(ctx context.Context, apply Apply, now int64, limit int) (Swept, error) {
	swept, err := run(ctx, apply, func(look look) ([]store.Batch, error) {
		return choose(look, store.Int(now), store.Int(int64(limit)))
	})
	if err == nil && swept.Rows == 0 {
		swept.Indexed, err = Index(ctx, apply, now, limit)
	}
	return swept, err
}

// Index indexes up to limit changed keys for FT.SEARCH, or does other work on indexes. It returns the number of keys, 0
// when nothing is left.
func Index(ctx context.Context, apply Apply, now int64, limit int) (n int, err error) {
	defer store.Catch(&err)
	plan := translator.IndexSlice(now, limit, nil)
	for plan.Batch.Stmts != nil {
		if !plan.Batch.ReadOnly {
			plan.Batch.Keys = noKeys
		}
		results, err := apply(ctx, []store.Batch{plan.Batch})
		switch {
		case err != nil:
			return 0, err
		case results[0].Refused != nil && results[0].Refused.TooLong == nil && plan.Then == nil:
			return 1, nil // another process was faster
		case results[0].Refused != nil:
			return 0, refused(results[0])
		case plan.Then == nil:
			return int(plan.Decode(&results[0]).Int), nil
		}
		plan = plan.Then(&results[0])
	}
	return 0, nil
}

// PendingDeletes deletes elements left by deleted keys, as many as count as limit keys. It returns the number of
// deleted rows, 0 when nothing is left.
func PendingDeletes(ctx context.Context, apply Apply, limit int) (int, error) {
	swept, err := run(ctx, apply, func(look look) ([]store.Batch, error) { return pendingBatch(look, store.Int(int64(limit))) })
	return swept.Rows, err
}

// sqlDue returns the time when the first key or field expires, and 0 if elements of deleted keys are left, or search
// has keys to index. Each
// part reads the first entry of an index.
const sqlDue = `SELECT min(at) FROM (SELECT min(` + schema.DiesAt + `) AS at FROM keys WHERE ` + schema.DiesAt + ` IS NOT NULL
	UNION ALL SELECT min(expires_at) FROM hashes WHERE expires_at IS NOT NULL
	UNION ALL SELECT 0 WHERE EXISTS (SELECT 1 FROM pending_deletes) OR EXISTS (SELECT 1 FROM search_pending) OR EXISTS (SELECT 1 FROM search_dropped)
		OR EXISTS (SELECT 1 FROM search_indexes WHERE scanned IS NOT NULL OR clean_term IS NOT NULL)
	UNION ALL SELECT min(dies_at) FROM search_indexes)`

// Due returns the next time to sweep, in Unix ms, which may have passed. some is false if nothing will ever
// expire.
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

// refused returns the reason why a batch was refused.
func refused(r store.Result) error {
	if r.Refused.TooLong != nil {
		return r.Refused.TooLong
	}
	return errors.New("the file is damaged (run meowdis doctor): " + r.Refused.Reason)
}

// look runs a statement that reads.
type look func(sql string, args ...store.Value) ([]store.Row, error)

// run applies the batches of choose. The first cells of their rows add up to the number of deleted rows.
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
		for _, row := range slices.Concat(r.Rows...) {
			swept.add(batches[i].Stmts[0].SQL, row)
		}
	}
	return swept, err
}

// add counts a row of a batch that begins with a statement.
func (s *Swept) add(sql string, row store.Row) {
	n := int(row[0].Int())
	s.Rows += n
	switch {
	case sql == sqlKeys && row[1].Int() >= 0: // hidden keys do not count
		s.Keys += n
	case sql == sqlFields:
		s.Fields += n
	}
}

// noKeys lists the keys that a sweep changes for clients: none, because expired keys are invisible already.
var noKeys = [][]byte{}

// choose returns the batches of a slice.
func choose(look look, now, limit store.Value) ([]store.Batch, error) {
	dead, err := look(sqlAnyKey, now)
	if err != nil {
		return nil, err
	}
	if len(dead) > 0 {
		return []store.Batch{{Keys: noKeys, Origin: store.Expired{}, Stmts: []store.Stmt{{SQL: sqlKeys, Args: []store.Value{now, limit, store.Int(largeSlice)}}}}}, nil
	}
	hashes, err := look(sqlHashes, now, limit)
	if err != nil {
		return nil, err
	}
	batches, err := pendingBatch(look, limit)
	for _, row := range hashes {
		id, n := row[0], row[1]
		batches = append(batches, store.Batch{Keys: noKeys, Origin: store.ExpiredFields{}, Stmts: []store.Stmt{
			{SQL: sqlFields, Args: []store.Value{now, n, id}}, {SQL: sqlCount, Args: []store.Value{id}},
		}})
	}
	return batches, err
}
