package translator

import "github.com/meowdis/meowdis/store"

// Keyspace says how many keys a database has, and how many of them expire.
// Expired keys count until they are swept, as in Redis.
type Keyspace struct {
	DB            int
	Keys, Expires int64
}

const sqlKeyspace = `SELECT d.db, d.keys, COALESCE(e.n, 0) FROM dbs d
	LEFT JOIN (SELECT db, count(*) AS n FROM keys WHERE expires_at IS NOT NULL GROUP BY db) e ON e.db = d.db
	WHERE d.keys > 0 ORDER BY d.db`

// ReadKeyspace is the batch that counts the keys of all databases.
func ReadKeyspace() store.Batch {
	return store.Batch{Stmts: []store.Stmt{{SQL: sqlKeyspace}}, ReadOnly: true}
}

// DecodeKeyspace shapes its result: the databases that have keys.
func DecodeKeyspace(r *store.Result) []Keyspace {
	var all []Keyspace
	for _, row := range r.Rows[0] {
		all = append(all, Keyspace{DB: int(row[0].Int()), Keys: row[1].Int(), Expires: row[2].Int()})
	}
	return all
}
