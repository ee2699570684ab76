package translator

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/store/schema"
)

// A call that adds many elements is staged, too, if it is not part of a pipeline. A hidden copy of the key, or a new key
// if the key is missing, gets the elements in slices, and then replaces the key. The elements are added in the order of
// their rows, so that a slice changes few pages.

// stagedAdditionNames lists the commands with staged additions.
var stagedAdditionNames = []string{"HSET", "HMSET", "SADD", "ZADD", "LPUSH", "RPUSH"}

// addition describes the elements 0 to n-1 that a call adds to a key of the type.
type addition struct {
	typ  string
	n    int
	name func(i int) []byte // nil to add the elements in their order
	size func(i int) int    // in bytes

	// add returns the statements that add some of the elements to the hidden key.
	add        func(hidden *Call, name []byte, some []int) []store.Stmt
	seq        int  // growth of the key's seq
	overwrites bool // the call changes the key even if it adds nothing
	reply      func(added, count int64) resp.Value
}

// sqlAdded reads the number of elements and the version of the hidden key ?4.
const (
	sqlAdded    = `SELECT count, version FROM keys WHERE db = ` + schema.Hidden + ` AND key = ?4`
	sqlAddedSeq = `UPDATE keys SET seq = seq + ?5 WHERE db = ` + schema.Hidden + ` AND key = ?4`
)

// stageAddition plans a staged addition. The call is one transaction if the key has another type or fields that expire,
// if an element is large, or if too many elements would be copied.
func (c *Call) stageAddition(key []byte, a addition) Plan {
	for i := range a.n {
		if a.size(i) >= LargeElement {
			return c.inPlace()
		}
	}
	return readThen(func(r *store.Result) Plan {
		var from store.Row
		var size int64
		if len(r.Rows[0]) > 0 {
			from = r.Rows[0][0]
			size = from[copiedCount].Int()
			if string(from[copiedType].Bytes()) != a.typ || from[copiedVolatile].Int() > 0 || size > maxCopiesPerChange*int64(a.n) {
				return c.inPlace()
			}
		}
		b := &additionBuild{addition: a, rest: hashOrder(a.n, a.name)}
		return Plan{Staged: c.stage(
			func(c *Call, hidden []byte) Plan { return c.publishAddition(key, hidden, b, from, size) },
			func(hidden *Call, name []byte) func(*store.Result, int) []store.Stmt {
				b.hidden, b.name, b.version = hidden, name, hidden.newVersion()
				if from != nil {
					b.copied = &remainder{hidden: hidden, name: name, version: b.version, from: from, runs: allRows(from)}
				}
				return b.next
			})}
	}, c.stmt(sqlCopied, key))
}

// publishAddition replaces the key, unless nothing has changed.
func (c *Call) publishAddition(key, hidden []byte, b *additionBuild, from store.Row, size int64) Plan {
	at := store.Bytes(hidden)
	return readThen(func(r *store.Result) Plan {
		if len(r.Rows[0]) == 0 {
			return c.inPlace() // the hidden key has expired
		}
		row := r.Rows[0][0]
		added := row[0].Int() - size
		reply := b.reply(added, row[0].Int())
		switch {
		case added == 0 && !b.overwrites && row[1].Int() == b.version.Int():
			return answer(reply)
		case from == nil:
			return write(always(reply), c.stmt(sqlAddedSeq, key, at, store.Int(int64(b.seq))), c.purge(key),
				c.publishStmt(key, hidden, c.Env.Now, store.Value{}))
		}
		return write(always(reply), append([]store.Stmt{c.stmt(sqlAddedSeq, key, at, store.Int(int64(b.seq)))}, c.swapIn(key, hidden)...)...)
	}, c.stmt(sqlAdded, key, at))
}

// additionBuild builds the hidden key of an addition.
type additionBuild struct {
	addition
	hidden  *Call
	name    []byte
	version store.Value // of the new hidden key
	copied  *remainder  // copies the key's elements; nil if the key is missing
	rest    []int       // the elements to add
}

// additionBytes limits the size of the elements that a slice adds.
const additionBytes = 256 << 10

func (b *additionBuild) next(before *store.Result, rows int) (stmts []store.Stmt) {
	switch {
	case b.copied != nil:
		if stmts = b.copied.next(before, rows); len(stmts) > 0 {
			return stmts
		}
	case before == nil:
		stmts = append(stmts, b.hidden.stmt(sqlEnsure, b.name, store.String(b.typ), b.version, hashValue(b.name)))
	}
	n := 0
	for size := 0; n < min(rows, len(b.rest)) && size < additionBytes; n++ {
		size += b.size(b.rest[n])
	}
	if n == 0 {
		return stmts
	}
	stmts = append(stmts, b.add(b.hidden, b.name, b.rest[:n])...)
	b.rest = b.rest[n:]
	return stmts
}

// hashOrder returns the elements in the order of their rows. Elements with the same name, or without, keep their order.
func hashOrder(n int, name func(int) []byte) []int {
	hashes, order := make([]int64, n), make([]int, n)
	for i := range n {
		if order[i] = i; name != nil {
			hashes[i] = HashOf(name(i))
		}
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(hashes[i], hashes[j]) })
	return order
}

// numberedJSON is hashedJSON for some elements of a list, each with its index after its words.
func numberedJSON(list [][]byte, width int, some []int) store.Value {
	n := 2
	for _, i := range some {
		n += 32
		for _, b := range list[i*width : (i+1)*width] {
			n += 2*len(b) + 3
		}
	}
	out := append(make([]byte, 0, n), '[')
	for k, i := range some {
		if k > 0 {
			out = append(out, ',')
		}
		words := list[i*width : (i+1)*width]
		out = strconv.AppendInt(append(out, '['), HashOf(words[0]), 10)
		for _, b := range words {
			out = appendHex(append(out, ','), b)
		}
		out = append(strconv.AppendInt(append(out, ','), int64(i), 10), ']')
	}
	return store.TextBytes(append(out, ']'))
}

// seq counts from the key's seq before the call, which stays the same until the key is complete.
const (
	hiddenSeq       = `(SELECT seq FROM keys WHERE db = ?1 AND key = ?2)`
	sqlStageMembers = `INSERT INTO sets(key_id, hash, member, seq)
		SELECT ` + hiddenID + `, ` + itemHash + `, ` + itemName + `, ` + hiddenSeq + ` + (j.value ->> 2) FROM json_each(?4) j WHERE true
		ON CONFLICT DO NOTHING`
	sqlStageFields = `INSERT INTO hashes(key_id, hash, field, value, seq)
		SELECT ` + hiddenID + `, ` + itemHash + `, ` + itemName + `, ` + itemValue + `, ` + hiddenSeq + ` + (j.value ->> 3) FROM json_each(?4) j WHERE true
		ON CONFLICT DO `
	sqlStageNewFields = sqlStageFields + `NOTHING`
	sqlStageOldFields = sqlStageFields + `UPDATE SET value = excluded.value`
)

func countOfAdded(added, _ int64) resp.Value { return resp.MakeInt(added) }

// stagePush plans LPUSH and RPUSH of many elements.
func (c *Call) stagePush(key []byte, e end, list [][]byte) Plan {
	return c.stageAddition(key, addition{
		typ: listType, n: len(list), seq: len(list), overwrites: true,
		reply: func(_, count int64) resp.Value { return resp.MakeInt(count) },
		size:  func(i int) int { return len(list[i]) },
		add: func(hidden *Call, name []byte, some []int) []store.Stmt {
			part := list[some[0] : some[len(some)-1]+1]
			return each(hidden.pushStmts(name, e, part), store.Stmt{SQL: sqlCounted, Args: hidden.key(name)[:2]})
		},
	})
}

// stageSAdd plans SADD of many members.
func (c *Call) stageSAdd(key []byte, members [][]byte) Plan {
	return c.stageAddition(key, addition{
		typ: setType, n: len(members), seq: len(members), reply: countOfAdded,
		name: func(i int) []byte { return members[i] },
		size: func(i int) int { return len(members[i]) },
		add: func(hidden *Call, name []byte, some []int) []store.Stmt {
			args := hidden.key(name, numberedJSON(members, 1, some))
			return []store.Stmt{{SQL: sqlStageMembers, Args: args}, {SQL: sqlCounted, Args: args[:2:2]}}
		},
	})
}

// stageHSet plans HSET of many fields, which are all different.
func (c *Call) stageHSet(key []byte, fields [][]byte, reply func(added, count int64) resp.Value) Plan {
	return c.stageAddition(key, addition{
		typ: hashType, n: len(fields) / 2, seq: len(fields) / 2, overwrites: true, reply: reply,
		name: func(i int) []byte { return fields[2*i] },
		size: func(i int) int { return max(len(fields[2*i]), len(fields[2*i+1])) },
		add: func(hidden *Call, name []byte, some []int) []store.Stmt {
			args := hidden.key(name, numberedJSON(fields, 2, some))
			allNew := func(before store.Result) bool {
				return before.Changes[len(before.Changes)-2] == int64(len(some))
			}
			return []store.Stmt{{SQL: sqlStageNewFields, Args: args}, {SQL: sqlCounted, Args: args[:2:2]}, {SQL: sqlStageOldFields, Args: args, SkipIf: allNew}}
		},
	})
}

// stageZAdd plans ZADD of many members.
func (c *Call) stageZAdd(key []byte, elems []element, o zaddOptions) Plan {
	return c.stageAddition(key, addition{
		typ: zsetType, n: len(elems), reply: countOfAdded,
		name: func(i int) []byte { return elems[i].member },
		size: func(i int) int { return len(elems[i].member) },
		add: func(hidden *Call, name []byte, some []int) []store.Stmt {
			chosen := make([]element, len(some))
			for k, i := range some {
				chosen[k] = elems[i]
			}
			var w zsetWrite
			w.addRounds(hidden, name, chosen, o)
			return w.stmts
		},
	})
}
