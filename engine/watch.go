package engine

import (
	"context"

	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/translator"
)

// Watched returns the number of keys that EXEC will check.
func (s *Session) Watched() int { return len(s.watched) }

func (s *Session) watch(ctx context.Context, c call) (resp.Value, error) {
	if s.multi {
		return resp.MakeError("ERR WATCH inside MULTI is not allowed"), nil
	}
	env := s.engine.env(s.db, nil)
	batch := store.Batch{ReadOnly: true}
	keys := s.unwatched(c.args[1:])
	for _, key := range keys {
		batch.Stmts = append(batch.Stmts, translator.ReadVersion(env, key))
	}
	if len(keys) == 0 {
		return resp.OK, nil
	}
	results, err := s.engine.store.Apply(ctx, []store.Batch{batch})
	if err != nil {
		return resp.Value{}, err
	}
	if no := results[0].Refused; no != nil { // only a time limit refuses it
		return refusal(batch.Stmts[no.At], no)
	}
	for i, key := range keys {
		s.watched = append(s.watched, versionOf(s.db, key, results[0].Rows[i]))
	}
	return resp.OK, nil
}

// unwatched returns the keys that are not watched yet, without duplicates.
func (s *Session) unwatched(keys [][]byte) (others [][]byte) {
	seen := map[string]bool{}
	for _, v := range s.watched {
		if v.DB == s.db {
			seen[string(v.Key)] = true
		}
	}
	for _, key := range keys {
		if !seen[string(key)] {
			seen[string(key)] = true
			others = append(others, key)
		}
	}
	return others
}

func versionOf(db int, key []byte, rows []store.Row) translator.Version {
	v := translator.Version{DB: db, Key: key}
	if len(rows) > 0 {
		v.At = rows[0][0]
	}
	return v
}

func (s *Session) unwatch(context.Context, call) (resp.Value, error) {
	s.watched = nil
	return resp.OK, nil
}

// inExec marks the context while EXEC runs commands of the connection.
type inExec struct{}

// InExec reports whether a Connection's command belongs to a transaction that has more commands to run.
func InExec(ctx context.Context) bool { return ctx.Value(inExec{}) != nil }

// Aborts reports whether EXEC would abort now: a command could not be queued, or a watched key has changed. It
// returns false outside of MULTI.
func (s *Session) Aborts(ctx context.Context) (bool, error) {
	if !s.multi || s.dirty || len(s.watched) == 0 {
		return s.multi && s.dirty, nil
	}
	same, err := unchanged(func(b store.Batch) (store.Result, error) {
		results, err := s.engine.store.Apply(ctx, []store.Batch{b})
		if err != nil {
			return store.Result{}, err
		}
		return results[0], nil
	}, s.engine.env(s.db, nil), s.watched)
	return err == nil && !same, err
}
