package translator

import (
	"slices"

	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/store/schema"
)

// A staged HPEXPIRE inserts the rows of the fields again, with their expiry: no trigger then counts each field, and the
// hidden key cannot expire because of its fields. Its row gets the number of these fields when the key is published.
var sqlStageExpiries = nameSQL{newListSQL(1, stageExpiry+`json_each(?4) j CROSS JOIN hashes h
		ON h.key_id = `+hiddenID+` AND h.hash = `+itemHash+` AND h.field = `+itemName),
	stageExpiry + `hashes h WHERE h.key_id = ` + hiddenID + ` AND h.hash = ?4 AND h.field = ?5`}

const (
	stageExpiry = `INSERT OR REPLACE INTO hashes(key_id, hash, field, value, seq, expires_at)
		SELECT h.key_id, h.hash, h.field, h.value, h.seq, ?6 FROM `

	sqlCountVolatile = `UPDATE keys SET (volatile, last_field) = (SELECT count(*), max(h.expires_at) FROM hashes h WHERE h.key_id = keys.id AND h.expires_at IS NOT NULL)
		WHERE db = ` + schema.Hidden + ` AND key = ?4`
)

// stageFieldExpiry plans HPEXPIRE of many fields with a time to come. due reads what becomes of each field, and codes
// decodes the reply from these rows, which follow a row of the key.
func (c *Call) stageFieldExpiry(key []byte, fields [][]byte, at int64, due []store.Stmt, codes func(*store.Result) resp.Value) Plan {
	return readThen(func(r *store.Result) Plan {
		if len(r.Rows[0]) == 0 || string(r.Rows[0][0][copiedType].Bytes()) != hashType {
			return c.inPlace()
		}
		from := r.Rows[0][0]
		var chosen [][]byte
		for i, row := range nameRows(r, 1, len(due)) {
			if row[0].Int() == fieldChanged {
				chosen = append(chosen, fields[i])
			}
		}
		reply := codes(r)
		chosen = byHash(chosen)
		switch n := int64(len(chosen)); {
		case n == 0:
			return answer(reply)
		case n <= MaxUnstagedChanges || from[copiedCount].Int() > maxCopiesPerChange*n:
			return c.inPlace()
		}
		return Plan{Staged: c.stage(
			func(c *Call, hidden []byte) Plan {
				count := c.stmt(sqlCountVolatile, key, store.Bytes(hidden))
				return write(always(reply), append([]store.Stmt{count}, c.swapIn(key, hidden)...)...)
			},
			func(hidden *Call, name []byte) func(*store.Result, int) []store.Stmt {
				l := &remainder{hidden: hidden, name: name, version: hidden.newVersion(), from: from, runs: allRows(from)}
				for some := range slices.Chunk(chosen, stagedRound) {
					l.groups = append(l.groups, hidden.stmtsForNames(name, some, sqlStageExpiries, store.Digits(at)))
				}
				return l.next
			})}
	}, append([]store.Stmt{c.stmt(sqlCopied, key)}, due...)...)
}
