package translator

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/redis/xxh3"
	"github.com/meowdis/meowdis/store"
)

const errDigest = "ERR must be exactly 16 hexadecimal characters"

// comparison is IFEQ, IFNE, IFDEQ or IFDNE: a condition on the string at a key.
type comparison struct {
	word byte // '=' and '!' for the value, 'd' and 'D' (differs) for the digest; 0 for no condition
	with []byte
}

var comparisons = [...]struct {
	name string
	word byte
}{{"IFEQ", '='}, {"IFNE", '!'}, {"IFDEQ", 'd'}, {"IFDNE", 'D'}}

// comparison parses the optional condition at argument i.
func (c *Call) comparison(i int) comparison {
	if i+1 == len(c.Args) {
		return comparison{}
	}
	if word := comparing(c.Args[i]); word != 0 {
		return comparison{word, c.Args[i+1]}
	}
	return comparison{}
}

// comparing returns the word of the condition named by the argument, 0 for none.
func comparing(arg []byte) byte {
	for _, m := range comparisons {
		if wordIs(arg, m.name) {
			return m.word
		}
	}
	return 0
}

func (m comparison) digest() bool { return m.word|0x20 == 'd' }

// negated reports whether a missing key meets the condition.
func (m comparison) negated() bool { return m.word == '!' || m.word == 'D' }

// invalid reports whether the condition has an invalid digest. Redis checks only its length, and only if a string
// exists to compare with.
func (m comparison) invalid() bool { return m.digest() && len(m.with) != 16 }

// holds reports whether old, a string or nil, meets the condition.
func (m comparison) holds(old resp.Value) bool {
	switch {
	case m.word == 0:
		return true
	case old.IsNull():
		return m.negated()
	case !m.digest():
		return bytes.Equal(old.Str, m.with) != m.negated()
	}
	return strings.EqualFold(digestOf(old.Str), string(m.with)) != m.negated()
}

// digestOf returns the digest of a string, 16 hexadecimal digits.
func digestOf(value []byte) string { return fmt.Sprintf("%016x", xxh3.Hash(value)) }

// These fragments compare the string at a live key with ?4, which is not long.
const (
	comparedString   = ` FROM keys WHERE ` + live + ` AND type = 'string' AND (count = 0 AND value = ?4)`
	sqlGuardEqual    = `INSERT INTO guard SELECT NULL WHERE NOT EXISTS (SELECT 1` + comparedString + ` = true)`
	sqlGuardDiffers  = `INSERT INTO guard SELECT NULL` + comparedString + ` = true`
	sqlDropEqual     = `DELETE FROM keys WHERE id = (SELECT id` + comparedString + ` = true) RETURNING 1`
	sqlDropDiffering = `DELETE FROM keys WHERE id = (SELECT id` + comparedString + ` = false) RETURNING 1`
)

// guardCompare refuses a key of another type, and a string that does not meet m. Conditions on digests and on long
// strings are not supported.
func (c *Call) guardCompare(key []byte, m comparison, refused *resp.Value) []store.Stmt {
	guard := c.stmt(sqlGuardEqual, key, store.Bytes(m.with))
	if m.negated() {
		guard.SQL = sqlGuardDiffers
	}
	guard.Refused = refused
	return []store.Stmt{c.guardType(key, stringType), guard}
}

var notString = resp.MakeError("ERR Key should be of string type if conditions are specified")

// delex is DEL if it has no condition. With one, the reply for a missing key is 0, even if the condition is invalid.
func delex(c *Call) Plan {
	switch len(c.Args) {
	case 2:
		return del(c)
	case 4:
	default:
		return answer(commands.WrongArity(c.Command))
	}
	key, m := c.Args[1], c.comparison(2)
	if m.word == 0 || m.digest() || isLong(m.with) {
		return readThen(func(r *store.Result) Plan {
			switch old := decodeString(r); {
			case old.IsError():
				return answer(notString)
			case old.IsNull():
				return answer(resp.Zero)
			case m.word == 0:
				return fail("ERR Invalid condition. Use IFEQ, IFNE, IFDEQ, or IFDNE")
			case m.invalid():
				return fail(errDigest)
			case !m.holds(old):
				return answer(resp.Zero)
			}
			return write(always(resp.One), c.drop(key))
		}, c.stmt(sqlGet, key))
	}
	guard := c.guardType(key, stringType)
	guard.Refused = &notString
	drop := c.stmt(sqlDropEqual, key, store.Bytes(m.with))
	if m.negated() {
		drop.SQL = sqlDropDiffering
	}
	return write(intOf(1), guard, drop)
}

func digest(c *Call) Plan {
	return read(func(r *store.Result) resp.Value {
		v := decodeString(r)
		if v.Kind != resp.Bulk {
			return v
		}
		return resp.MakeString(digestOf(v.Str))
	}, c.stmt(sqlGet, c.Args[1]))
}
