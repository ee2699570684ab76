package translator

import (
	"bytes"

	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
)

var sqlAddMembers = newListSQL(1, `INSERT INTO sets(key_id, hash, member, seq)
	SELECT `+liveID+`, `+itemHash+`, `+itemName+`, (SELECT seq FROM keys WHERE `+live+`) + j.key FROM json_each(?4) j WHERE true
	ON CONFLICT DO NOTHING`)

const (
	sqlAddMember = `INSERT INTO sets(key_id, hash, member, seq)
		SELECT id, ?4, ?5, seq FROM keys WHERE ` + live + ` ON CONFLICT DO NOTHING`

	// sqlAddNew alone adds a new member to an existing set. sqlAddFirst follows it, for a set that ensureOne has
	// created.
	sqlAddFirst = `INSERT INTO sets(key_id, hash, member, seq) VALUES(` + liveID + `, ?4, ?5, 0) ON CONFLICT DO NOTHING`
	sqlAddNew   = `INSERT INTO sets(key_id, hash, member, seq)
		SELECT id, ?4, ?5, seq FROM keys WHERE ` + live + ` AND type = 'set' ON CONFLICT DO NOTHING`
)

var sqlRemoveMembers = nameSQL{
	several: newListSQL(1, `DELETE FROM sets WHERE key_id = `+liveID+` AND (hash, member) IN (SELECT `+itemHash+`, `+itemName+` FROM json_each(?4) j)`),
	one:     `DELETE FROM sets WHERE key_id = ` + liveID + ` AND hash = ?4 AND member = ?5`,
}

// addMembers returns the statements that add the missing members. Every second statement, from the first on, inserts.
func (c *Call) addMembers(key []byte, members [][]byte) (stmts []store.Stmt) {
	for piece, alone := range pieces(members, 1) {
		var add store.Stmt
		if alone {
			add = c.stmt(sqlAddMember, key, hashValue(piece[0]), store.Bytes(piece[0]))
		} else {
			add = sqlAddMembers.stmt(c, key, piece)
		}
		stmts = append(stmts, add, c.countAddedWithSeq(key, len(piece)))
	}
	return stmts
}

// removeMembers returns the statements that delete members. Every second statement, from the first on and except for
// the last, deletes.
func (c *Call) removeMembers(key []byte, members [][]byte) []store.Stmt {
	return append(each(c.stmtsForNames(key, members, sqlRemoveMembers), c.countRemoved(key)), c.dropEmpty(key))
}

func sadd(c *Call) Plan {
	key, members := c.Args[1], c.Args[2:]
	if len(members) == 1 {
		args := c.key(key, hashValue(members[0]), store.Bytes(members[0]))
		stmts := c.tryFirst(store.Stmt{SQL: sqlAddNew, Args: args}, c.countAdded(key), c.readKey(key), key, setType)
		first := store.Stmt{SQL: sqlAddFirst, Args: args, SkipIf: skipsAfterTry[setType].ofType}
		return write(changedEither(0, tryFirstStmts), append(stmts, first)...)
	}
	if c.Env.MayStage {
		return c.stageAddition(key, setAddition(members))
	}
	stmts := append(c.openOrCreate(c.readKey(key), key, setType), c.addMembers(key, members)...)
	return write(changedEach(3, len(stmts)), stmts...)
}

func srem(c *Call) Plan {
	key, members := c.Args[1], c.Args[2:]
	if c.Env.MayStage {
		return c.stageNamedRemoval(key, members, memberRow)
	}
	stmts := c.openExisting(c.readKey(key), key, setType)
	stmts = append(stmts, each(c.stmtsForNames(key, members, sqlRemoveMembers), c.countRemoved(key))...)
	return write(changedEach(3, len(stmts)), append(stmts, c.dropIfEmptied(key, len(members)))...)
}

// The last check is that the source has the member; otherwise nothing moves. The type of the destination matters only
// if the source exists.
const (
	sqlGuardDestination = `INSERT INTO guard SELECT NULL FROM keys WHERE ` + live + ` AND type <> 'set'
		AND EXISTS (SELECT 1 FROM keys WHERE db = ?1 AND key = ?4 AND (dies_at IS NULL OR dies_at > ?3))`
	sqlGuardMember = `INSERT INTO guard SELECT NULL
		WHERE NOT EXISTS (SELECT 1 FROM sets WHERE key_id = ` + liveID + ` AND hash = ?4 AND member = ?5)`
)

func smove(c *Call) Plan {
	from, to, member := c.Args[1], c.Args[2], c.Args[3]
	if bytes.Equal(from, to) {
		return read(decodeCell(setType, resp.Zero, integer),
			c.stmt(sqlIsMember, from, hashValue(member), store.Bytes(member)))
	}
	destination := c.stmt(sqlGuardDestination, to, store.Bytes(from))
	destination.Refused = &wrongType
	present := c.stmt(sqlGuardMember, from, hashValue(member), store.Bytes(member))
	present.Refused = &resp.Zero
	stmts := []store.Stmt{c.guardType(from, setType), destination, present, c.purge(to)}
	stmts = append(stmts, c.removeMembers(from, c.Args[3:])...)
	stmts = append(append(stmts, c.ensure(to, setType)), c.addMembers(to, c.Args[3:])...)
	return write(always(resp.One), stmts...)
}
