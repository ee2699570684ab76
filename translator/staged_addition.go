package translator

import (
	"bytes"
	"cmp"
	"iter"
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

	// add returns the statements that add some of the elements to the hidden key. A large element is alone.
	add        func(hidden *Call, name []byte, some []int) []store.Stmt
	seq        int  // growth of the key's seq
	overwrites bool // the call changes the key even if it adds nothing
	reply      func(added, count int64) resp.Value

	volatile, latest int64 // the number of fields that expire, and the last expiry
}

// isFew reports whether the elements fit into that many rounds of a staged build.
func (a *addition) isFew(rounds int) bool {
	size := 0
	for i := range min(a.n, rounds*stagedRound) {
		size += a.size(i)
	}
	return a.n <= rounds*stagedRound && size <= rounds*additionBytes
}

// parts splits elements, in order, so that a large one is alone.
func (a *addition) parts(some []int) iter.Seq[[]int] {
	return func(yield func([]int) bool) {
		start := 0
		for k, i := range some {
			if a.size(i) < LargeElement {
				continue
			}
			if k > start && !yield(some[start:k]) || !yield(some[k:k+1]) {
				return
			}
			start = k + 1
		}
		if start < len(some) {
			yield(some[start:])
		}
	}
}

// sqlAdded reads the number of elements and the version of the hidden key ?4.
const (
	sqlAdded    = `SELECT count, version FROM keys WHERE db = ` + schema.Hidden + ` AND key = ?4`
	sqlAddedSeq = `UPDATE keys SET seq = seq + ?3 WHERE db = ?1 AND key = ?2`
)

// stageAddition plans a staged addition. The call is one transaction if the key has another type or fields that expire,
// or if too many elements would be copied.
func (c *Call) stageAddition(key []byte, a addition) Plan {
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
		b := newAdditionBuild(a)
		return Plan{Staged: c.stage(
			func(c *Call, hidden []byte) Plan { return c.publishAddition(key, hidden, b, from, size) },
			func(hidden *Call, name []byte) func(*store.Result, int) []store.Stmt {
				next := b.begin(hidden, name)
				if from != nil {
					b.copied = &remainder{hidden: hidden, name: name, version: b.version, from: from, runs: allRows(from)}
				}
				return next
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
			return write(always(reply), append(b.countStmts(b.hidden, hidden), c.purge(key), c.publishStmt(key, hidden, c.Env.Now, store.Value{}))...)
		}
		return write(always(reply), append(b.countStmts(b.hidden, hidden), c.swapIn(key, hidden)...)...)
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

func newAdditionBuild(a addition) *additionBuild {
	return &additionBuild{addition: a, rest: hashOrder(a.n, a.name)}
}

// begin returns the function that makes the slices.
func (b *additionBuild) begin(hidden *Call, name []byte) func(*store.Result, int) []store.Stmt {
	b.hidden, b.name, b.version = hidden, name, hidden.newVersion()
	return b.next
}

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
	for part := range b.parts(b.rest[:n]) {
		stmts = append(stmts, b.add(b.hidden, b.name, part)...)
	}
	b.rest = b.rest[n:]
	return stmts
}

// countStmts returns the statements that count the elements in the row of the complete key.
func (b *additionBuild) countStmts(c *Call, key []byte) []store.Stmt {
	stmts := []store.Stmt{{SQL: sqlAddedSeq, Args: append(c.key(key)[:2], store.Int(int64(b.seq)))}}
	if b.volatile > 0 {
		stmts = append(stmts, c.addVolatile(key, b.volatile, store.Digits(b.latest)))
	}
	return stmts
}

// all returns the statements that create the key in one transaction.
func (b *additionBuild) all(c *Call, key []byte) (stmts []store.Stmt) {
	next := b.begin(c, key)
	for some := next(nil, c.round()); len(some) > 0; some = next(&store.Result{}, c.round()) {
		stmts = append(stmts, some...)
	}
	return append(stmts, b.countStmts(c, key)...)
}

// hashOrder returns the elements in the order of their rows. Elements with the same name, or without, keep their order.
func hashOrder(n int, name func(int) []byte) []int {
	order := make([]int, n)
	if name == nil {
		for i := range order {
			order[i] = i
		}
		return order
	}
	type hashed struct {
		hash int64
		i    int
	}
	all := make([]hashed, n)
	for i := range all {
		all[i] = hashed{HashOf(name(i)), i}
	}
	slices.SortFunc(all, func(a, b hashed) int {
		if a.hash != b.hash {
			return cmp.Compare(a.hash, b.hash)
		}
		return cmp.Or(bytes.Compare(name(a.i), name(b.i)), cmp.Compare(a.i, b.i))
	})
	for k, e := range all {
		order[k] = e.i
	}
	return order
}

// numberedJSON is hashedJSON for some elements of a list, each with its index after its words, and then its expiry if it
// has one. A nil expires is for elements that do not expire.
func numberedJSON(list [][]byte, width int, some []int, expires []int64) store.Value {
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
		out = strconv.AppendInt(append(out, ','), int64(i), 10)
		if expires != nil && expires[i] != 0 {
			out = strconv.AppendInt(append(out, ','), expires[i], 10)
		}
		out = append(out, ']')
	}
	return store.TextBytes(append(out, ']'))
}

// seq counts from the key's seq before the call, which stays the same until the key is complete. The statements for one
// element are for a large one.
const (
	hiddenSeq       = `(SELECT seq FROM keys WHERE db = ?1 AND key = ?2)`
	stageMemberRows = insertAll + `sets(key_id, hash, member, seq) `
	sqlStageMember  = stageMemberRows + `VALUES(` + hiddenID + `, ?4, ?5, ` + hiddenSeq + ` + ?6)
		ON CONFLICT DO NOTHING`
	sqlStageMembers = stageMemberRows + `SELECT ` + hiddenID + `, ` + itemHash + `, ` + itemName + `, ` + hiddenSeq + ` + (j.value ->> 2) FROM json_each(?4) j WHERE true
		ON CONFLICT DO NOTHING`
	stageFieldRows = insertAll + `hashes(key_id, hash, field, value, seq, expires_at) `
	stageOneField  = stageFieldRows + `VALUES(` + hiddenID + `, ?4, ?5, ?6, ` + hiddenSeq + ` + ?7, ?8)
		ON CONFLICT DO `
	stageSomeFields = stageFieldRows + `SELECT ` + hiddenID + `, ` + itemHash + `, ` + itemName + `, ` + itemValue + `, ` + hiddenSeq + ` + (j.value ->> 3), j.value ->> 4
		FROM json_each(?4) j WHERE true ON CONFLICT DO `
	setValue          = `UPDATE SET value = excluded.value`
	sqlStageNewField  = stageOneField + `NOTHING`
	sqlStageOldField  = stageOneField + setValue
	sqlStageNewFields = stageSomeFields + `NOTHING`
	sqlStageOldFields = stageSomeFields + setValue
)

func countOfAdded(added, _ int64) resp.Value { return resp.MakeInt(added) }

// listAddition returns the addition of the elements to an end of a list.
func listAddition(e end, list [][]byte) addition {
	return addition{
		typ: listType, n: len(list), seq: len(list), overwrites: true,
		reply: func(_, count int64) resp.Value { return resp.MakeInt(count) },
		size:  func(i int) int { return len(list[i]) },
		add: func(hidden *Call, name []byte, some []int) []store.Stmt {
			part := list[some[0] : some[len(some)-1]+1]
			return each(hidden.pushStmts(name, e, part), store.Stmt{SQL: sqlCounted, Args: hidden.key(name)[:2]})
		},
	}
}

// setAddition returns the addition of members to a set.
func setAddition(members [][]byte) addition {
	return addition{
		typ: setType, n: len(members), seq: len(members), reply: countOfAdded,
		name: func(i int) []byte { return members[i] },
		size: func(i int) int { return len(members[i]) },
		add: func(hidden *Call, name []byte, some []int) []store.Stmt {
			var add store.Stmt
			if i := some[0]; len(some) == 1 {
				add = hidden.stmt(sqlStageMember, name, hashValue(members[i]), store.Bytes(members[i]), store.Int(int64(i)))
			} else {
				add = hidden.stmt(sqlStageMembers, name, numberedJSON(members, 1, some, nil))
			}
			return []store.Stmt{add, {SQL: sqlCounted, Args: add.Args[:2:2]}}
		},
	}
}

// hashAddition returns the addition of fields, which are all different, to a hash. Expiries are given, or nil, only for a
// new hash.
func hashAddition(fields [][]byte, expires []int64) addition {
	a := addition{
		typ: hashType, n: len(fields) / 2, seq: len(fields) / 2, overwrites: true, reply: countOfAdded,
		name: func(i int) []byte { return fields[2*i] },
		size: func(i int) int { return max(len(fields[2*i]), len(fields[2*i+1])) },
		add: func(hidden *Call, name []byte, some []int) []store.Stmt {
			insert, set := sqlStageNewFields, sqlStageOldFields
			var args []store.Value
			if i := some[0]; len(some) == 1 {
				insert, set = sqlStageNewField, sqlStageOldField
				var at store.Value
				if expires != nil && expires[i] != 0 {
					at = store.Digits(expires[i])
				}
				args = hidden.key(name, hashValue(fields[2*i]), store.Bytes(fields[2*i]), store.Bytes(fields[2*i+1]), store.Int(int64(i)), at)
			} else {
				args = hidden.key(name, numberedJSON(fields, 2, some, expires))
			}
			allNew := func(before store.Result) bool {
				return before.Changes[len(before.Changes)-2] == int64(len(some))
			}
			return []store.Stmt{{SQL: insert, Args: args}, {SQL: sqlCounted, Args: args[:2:2]}, {SQL: set, Args: args, SkipIf: allNew}}
		},
	}
	for _, at := range expires {
		if at != 0 {
			a.volatile++
			a.latest = max(a.latest, at)
		}
	}
	return a
}

// zsetAddition returns the addition of elements to a sorted set.
func zsetAddition(elems []element, o zaddOptions) addition {
	return addition{
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
	}
}
