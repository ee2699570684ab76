package translator

import (
	"math"
	"slices"

	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
)

// MSET sets the keys ?2 as SET sets one: it creates keys or reuses their rows, and overwrites their values, which are
// in the argument of hashedJSON.
const (
	sqlSetKeys = insertString + `SELECT ?1, ` + itemName + `, ` + itemHash + `, 'string', ?4, ?5, ?3, ?3, ` + itemValue + `
		FROM json_each(?2) j WHERE true` + onConflictOverwrite + `excluded.expires_at`
	sqlSetKeysKeepTTL = insertString + `SELECT ?1, ` + itemName + `, ` + itemHash + `, 'string', ?4, NULL, ?3, ?3, ` + itemValue + `
		FROM json_each(?2) j WHERE true` + onConflictOverwrite + keepTTL
	sqlGuardAllAbsent = `INSERT INTO guard SELECT NULL FROM json_each(?2) j CROSS JOIN keys k
		WHERE k.db = ?1 AND k.key = ` + itemName + ` AND (k.dies_at IS NULL OR k.dies_at > ?3)`
	sqlGuardAllPresent = `INSERT INTO guard SELECT NULL FROM json_each(?2) j WHERE NOT EXISTS (SELECT 1 FROM keys k
		WHERE k.db = ?1 AND k.key = ` + itemName + ` AND (k.dies_at IS NULL OR k.dies_at > ?3))`
)

// everySecond returns the elements 0, 2, 4 and so on.
func everySecond(pairs [][]byte) [][]byte {
	var list [][]byte
	for i := 0; i < len(pairs); i += 2 {
		list = append(list, pairs[i])
	}
	return list
}

// Up to fewKeys keys, separate statements are faster than a list.
const fewKeys = 16

// setAll appends the statements that set the keys to the values of pairs.
func (c *Call) setAll(stmts []store.Stmt, pairs [][]byte, exp expiry) []store.Stmt {
	switch {
	case exp.given && exp.at <= c.Env.Now:
		return append(stmts, sqlDel.stmt(c, everySecond(pairs)))
	case len(pairs) <= 2*fewKeys:
		for i := 0; i < len(pairs); i += 2 {
			stmts = c.setString(stmts, pairs[i], pairs[i+1], exp)
		}
		return stmts
	}
	pairs, long := c.splitLong(pairs)
	set := store.Stmt{SQL: sqlSetKeysKeepTTL, Args: []store.Value{store.Int(int64(c.Env.DB)), hashedJSON(pairs, 2), store.Int(c.Env.Now), c.newVersion()}}
	if !exp.keep {
		set = store.Stmt{SQL: sqlSetKeys, Args: append(set.Args, exp.column())}
	}
	return append(append(stmts, set), long...)
}

// splitLong returns the pairs with empty values in place of long ones, and the statements that then write the long
// ones. For a repeated key only the last value is written.
func (c *Call) splitLong(pairs [][]byte) (short [][]byte, long []store.Stmt) {
	if !slices.ContainsFunc(pairs, isLong) {
		return pairs, nil
	}
	short = slices.Clone(pairs)
	last := map[string]int{}
	for i := 0; i < len(pairs); i += 2 {
		last[string(pairs[i])] = i
	}
	for i := 0; i < len(pairs); i += 2 {
		if !isLong(pairs[i+1]) {
			continue
		}
		short[i+1] = nil
		if last[string(pairs[i])] == i {
			long = append(long, c.makeLong(pairs[i], pairs[i+1])...)
		}
	}
	return short, long
}

// hashedKeys is list for keys with their hashes.
func (c *Call) hashedKeys(keys [][]byte) []store.Value {
	return []store.Value{store.Int(int64(c.Env.DB)), hashedJSON(keys, 1), store.Int(c.Env.Now)}
}

func mset(c *Call) Plan {
	if len(c.Args)%2 == 0 {
		return answer(commands.WrongArity(c.Command))
	}
	return write(decodeOK, c.setAll(nil, c.Args[1:], expiry{})...)
}

func msetnx(c *Call) Plan {
	if len(c.Args)%2 == 0 {
		return answer(commands.WrongArity(c.Command))
	}
	absent := store.Stmt{SQL: sqlGuardAllAbsent, Args: c.hashedKeys(everySecond(c.Args[1:])), Refused: &resp.Zero}
	return write(always(resp.One), c.setAll([]store.Stmt{absent}, c.Args[1:], expiry{})...)
}

// msetex sets all keys, or none if NX or XX refuses.
func msetex(c *Call) Plan {
	n, ok := parseInt(c.Args[1])
	switch {
	case !ok || n < 1 || n > math.MaxInt32:
		return fail("ERR invalid numkeys value")
	case 2*n > int64(len(c.Args)-2):
		return fail("ERR wrong number of key-value pairs")
	}
	end := int(2 + 2*n)
	o, ok := c.parseOptions(end, c.msetexOption)
	if !ok {
		return fail(errSyntax)
	}
	exp, bad := c.expiry(o)
	if bad.IsError() {
		return answer(bad)
	}
	pairs := c.Args[2:end]
	var stmts []store.Stmt
	if o.nx || o.xx {
		guard := store.Stmt{SQL: sqlGuardAllAbsent, Args: c.hashedKeys(everySecond(pairs)), Refused: &resp.Zero}
		if o.xx {
			guard.SQL = sqlGuardAllPresent
		}
		stmts = append(stmts, guard)
	}
	return write(always(resp.One), c.setAll(stmts, pairs, exp)...)
}
