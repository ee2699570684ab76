package translator

import (
	"strconv"

	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/store/schema"
)

// The staged STORE forms of sets walk over sets, and look each member up in the other sets. A union walks over all
// sets, and the first set with a member decides its seq. An intersection walks over the smallest set, and a difference
// over the first one. For a union, ?7 is added to seq; for the others it lists the ids of the other sets.
var (
	memberRows   = rowsAfter("sets", []string{"hash", "member"})
	stagedMember = insertAll + `sets(key_id, hash, member, seq) SELECT ` + hiddenID + `, hash, member, seq`
	walked       = ` FROM (SELECT hash, member, seq` + memberRows + ` LIMIT ?4) m WHERE `
	inOther      = `sets x ON x.key_id = j.value AND x.hash = m.hash AND x.member = m.member`

	sqlWalked = map[string]string{
		sqlUnionStore: stagedMember + ` + ?7` + walked + `true ON CONFLICT(key_id, hash, member) DO NOTHING`,
		sqlInterStore: stagedMember + walked + `NOT EXISTS (SELECT 1 FROM json_each(?7) j LEFT JOIN ` + inOther + ` WHERE x.key_id IS NULL)`,
		sqlDiffStore:  stagedMember + walked + `NOT EXISTS (SELECT 1 FROM json_each(?7) j CROSS JOIN ` + inOther + `)`,
	}
	sqlLastWalked = `SELECT hash, member` + memberRows + ` LIMIT 1 OFFSET ?4 - 1`
)

const (
	sqlSources = `SELECT k.id, k.seq, j.key FROM ` + sources + ` ORDER BY j.key`
	// sqlSmallest selects the set that sqlInterStore walks over.
	sqlSmallest = `WITH source(id, count) AS MATERIALIZED (SELECT DISTINCT k.id, k.count FROM ` + sources + `)
		SELECT id FROM source ORDER BY count LIMIT 1`

	sqlHideSet         = `INSERT INTO keys(db, key, hash, type, version, seq, created_at, updated_at) VALUES(?1, ?2, ?6, 'set', ?4, ?5, ?3, ?3)`
	sqlHidden          = `SELECT count FROM keys WHERE db = ` + schema.Hidden + ` AND key = ?1`
	sqlDropEmptyHidden = `DELETE FROM keys WHERE db = ` + schema.Hidden + ` AND key = ?1 AND count = 0`
)

// setWalk is a walk over a source set.
type setWalk struct {
	*walk
	more store.Value // ?7
}

// setWalks returns the walks of an operation, and the initial seq of its result. It returns no walks if the result is
// certainly empty.
func setWalks(sql string, keys int, rows []store.Row, smallest store.Value) (walks []setWalk, seq int64) {
	over := func(id, more store.Value) { walks = append(walks, setWalk{newWalk(id, 2), more}) }
	others := func(but store.Value) store.Value {
		list := []byte{'['}
		for _, row := range rows {
			if row[0].Int() == but.Int() && sql == sqlInterStore || row[2].Int() == 0 && sql == sqlDiffStore {
				continue
			}
			if len(list) > 1 {
				list = append(list, ',')
			}
			list = strconv.AppendInt(list, row[0].Int(), 10)
		}
		return store.TextBytes(append(list, ']'))
	}
	for _, row := range rows {
		if sql == sqlUnionStore {
			over(row[0], store.Int(seq))
		}
		seq += row[1].Int()
	}
	switch {
	case sql == sqlInterStore && len(rows) == keys:
		over(smallest, others(smallest))
	case sql == sqlDiffStore && len(rows) > 0 && rows[0][2].Int() == 0:
		over(rows[0][0], others(rows[0][0]))
	}
	return walks, seq
}

// stageCombined plans a staged combinedStore.
func (c *Call) stageCombined(sql string) Plan {
	to, keys := c.Args[1], c.Args[2:]
	from := hexList(keys)
	return readThen(func(r *store.Result) Plan {
		if len(r.Rows[0]) > 0 {
			return answer(wrongType)
		}
		smallest := store.Value{}
		if len(r.Rows[2]) > 0 {
			smallest = r.Rows[2][0][0]
		}
		walks, seq := setWalks(sql, len(keys), r.Rows[1], smallest)
		if len(walks) == 0 {
			c.Env.MayStage = false
			return combinedStore(sql)(c)
		}
		return Plan{Staged: c.stage(
			func(c *Call, hidden []byte) Plan {
				name := []store.Value{store.Bytes(hidden)}
				return write(intOf(0), store.Stmt{SQL: sqlHidden, Args: name}, c.drop(to),
					store.Stmt{SQL: sqlDropEmptyHidden, Args: name}, c.publishStmt(to, hidden, c.Env.Now, store.Value{}))
			},
			func(hidden *Call, name []byte) func(*store.Result, int) []store.Stmt {
				last := 0
				return func(before *store.Result, rows int) (stmts []store.Stmt) {
					if before == nil {
						stmts = append(stmts, hidden.stmt(sqlHideSet, name, hidden.newVersion(), store.Int(seq), hashValue(name)))
					} else if !walks[0].advance(before.Rows[last]) {
						walks = walks[1:]
					}
					if len(walks) == 0 {
						return stmts
					}
					args := walks[0].args(hidden, name, rows, walks[0].more)
					last = len(stmts) + 2
					return append(stmts, store.Stmt{SQL: sqlWalked[sql], Args: args}, store.Stmt{SQL: sqlCounted, Args: args[:2]},
						store.Stmt{SQL: sqlLastWalked, Args: args[:6]})
				}
			})}
	}, c.stmt(sqlWrongSource, keys[0], from), c.stmt(sqlSources, keys[0], from), c.stmt(sqlSmallest, keys[0], from))
}
