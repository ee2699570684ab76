package translator

import (
	"math/rand/v2"

	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/store/schema"
)

// These are the eviction policies, values of maxmemory-policy.
const (
	NoEviction    = "noeviction"
	AllKeysRandom = "allkeys-random"
	VolatileTTL   = "volatile-ttl"
)

// UsedBytes returns the statement that reads the bytes in use in the file, and whether elements of deleted keys are
// among them.
func UsedBytes() store.Stmt {
	return store.Stmt{SQL: `SELECT (p.page_count - f.freelist_count) * s.page_size, EXISTS (SELECT 1 FROM pending_deletes)
		FROM pragma_page_count p, pragma_freelist_count f, pragma_page_size s`}
}

const (
	sqlSoonest = `SELECT db, key FROM keys WHERE ` + schema.DiesAt + ` IS NOT NULL AND expires_at IS NOT NULL AND db >= 0 ORDER BY ` + schema.DiesAt + ` LIMIT ?1`
	// sqlSomeKey selects the key at the fraction ?1, between 0 and 1, of all ids.
	sqlSomeKey = `SELECT db, key FROM keys WHERE id >= CAST(?1 * (SELECT id FROM keys WHERE +db >= 0 ORDER BY id DESC LIMIT 1) AS INTEGER) AND +db >= 0 ORDER BY id LIMIT 1`
)

// EvictionCandidates returns the statements that read the databases and names of up to n keys to evict by the policy. A
// key may occur more than once.
func EvictionCandidates(env Env, policy string, n int) []store.Stmt {
	if policy == VolatileTTL {
		return []store.Stmt{{SQL: sqlSoonest, Args: []store.Value{store.Int(int64(n))}}}
	}
	random := rand.New(rand.NewPCG(env.Seed, 1))
	stmts := make([]store.Stmt, n)
	for i := range stmts {
		stmts[i] = store.Stmt{SQL: sqlSomeKey, Args: []store.Value{store.Float(random.Float64())}}
	}
	return stmts
}
