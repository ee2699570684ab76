package main

import (
	"fmt"
	"strconv"
	"strings"
)

// slow is a command on a key of many elements, and the data that it needs. {half} stands for
// half the number of elements, {most} for nine tenths, {names} for the names of a tenth of
// them, {new} for a tenth in new elements, and {dump} for the payload of DUMP k.
type slow struct {
	command string
	filling
	holds string // the reason why other clients wait for it in meowdis, or "" if they must not
}

// filling is a type, the command that adds elements to a key of it, and an element: %d is its
// number.
type filling struct{ typ, command, element string }

var (
	aHash   = filling{"hash", "HSET k", "f%d v%d"}
	aList   = filling{"list", "RPUSH k", "e%d"}
	aSet    = filling{"set", "SADD k", "m%d"}
	aZSet   = filling{"zset", "ZADD k", "%d m%d"}
	aPlace  = filling{"zset of places", "GEOADD k", "13.%d 38.%d m%d"}
	aStream = filling{"stream", "EVAL", "for i = 1, 1000 do redis.call('XADD', KEYS[1], '*', 'f', i) end"}
	aString = filling{"string of 100 bytes for each", "APPEND k", strings.Repeat("x", 100)}
	keys    = filling{"database of that many strings", "MSET", "k%d v%d"}
)

const script = "a script is one transaction"

var slows = []slow{
	{"DEL k", aHash, ""},
	{"UNLINK k", aZSet, ""},
	{"UNLINK k", aStream, ""},
	{"SET k v", aList, ""},
	{"RENAME small k", aSet, ""},
	{"PEXPIRE k 1", aHash, ""},
	{"SUNIONSTORE k none small", aSet, ""},
	{"FLUSHALL", aHash, ""},
	{"DEBUG RELOAD", aHash, ""},

	{"COPY k l", aHash, ""},
	{"COPY k l", aList, ""},
	{"COPY k l", aSet, ""},
	{"COPY k l", aZSet, ""},
	{"COPY k l", aStream, ""},
	{"COPY k l", aString, ""},
	{"SUNIONSTORE l k small", aSet, ""},
	{"SINTERSTORE l k k", aSet, ""},
	{"SDIFFSTORE l k small", aSet, ""},
	{"ZUNIONSTORE l 1 k", aZSet, ""},
	{"ZRANGESTORE l k 0 -1", aZSet, ""},
	{"GEOSEARCHSTORE l k FROMLONLAT 13 38 BYRADIUS 5000 km", aPlace, ""},
	{"SORT k ALPHA STORE l", aList, ""},
	{"BITOP NOT l k", aString, ""},
	{"RESTORE l 0 {dump}", aList, ""},
	{"RESTORE l 0 {dump}", aHash, ""},

	{"LTRIM k 0 99", aList, ""},
	{"LTRIM k {half} -1", aList, ""},
	{"LREM k 0 e7", aList, ""},
	{"LINSERT k BEFORE e{half} x", aList, ""},
	{"ZREMRANGEBYRANK k 0 -101", aZSet, ""},
	{"ZPOPMIN k {most}", aZSet, ""},
	{"SPOP k {most}", aSet, ""},
	{"XTRIM k MAXLEN 100", aStream, ""},
	{"ZREMRANGEBYRANK k 0 {half}", aZSet, ""},
	{"ZREMRANGEBYSCORE k -inf {half}", aZSet, ""},
	{"ZPOPMIN k {half}", aZSet, ""},
	{"SPOP k {half}", aSet, ""},
	{"SREM k {names}", aSet, ""},
	{"HDEL k {names}", aHash, ""},
	{"HPEXPIRE k 1 FIELDS {names}", aHash, ""},

	{"LPOP k {half}", aList, ""},
	{"LMPOP 1 k LEFT COUNT {half}", aList, ""},
	{"ZMPOP 1 k MIN COUNT {half}", aZSet, ""},
	{"RPUSH l {new}", aList, ""},
	{"HSET l {new}", aHash, ""},
	{"SADD l {new}", aSet, ""},
	{"ZADD l {new}", aZSet, ""},
	{"MSET {new}", keys, ""},

	{"SETRANGE l 300000000 x", aString, ""},
	{"SET l {dump}", aString, "a string is written whole"},
	{"FLUSHALL", keys, ""},
	{"FLUSHDB", keys, ""},
	{"SWAPDB 0 1", keys, ""},
	{"EVAL for+i=1,{half}+do+redis.call('SET','k'..i,i)+end 0", keys, script},
}

// words returns the words of a slow command.
func (s slow) words(c *client, elements int) ([]string, error) {
	var all []string
	for _, word := range strings.Fields(s.command) {
		switch word {
		case "{dump}":
			payload, err := c.do("DUMP", "k")
			if err != nil {
				return nil, err
			}
			all = append(all, string(payload.Str))
			continue
		case "{new}":
			for i := range elements / 10 {
				all = append(all, strings.Fields(strings.ReplaceAll(s.element, "%d", strconv.Itoa(elements+i)))...)
			}
			continue
		case "{names}":
			name, _, _ := strings.Cut(s.element, " ")
			if all[0] == "HPEXPIRE" {
				all = append(all, strconv.Itoa(elements/10))
			}
			for i := range elements / 10 {
				all = append(all, strings.ReplaceAll(name, "%d", strconv.Itoa(i*10)))
			}
			continue
		}
		if s.command[:4] == "EVAL" {
			word = strings.ReplaceAll(word, "+", " ")
		}
		word = strings.ReplaceAll(word, "{most}", strconv.Itoa(elements-elements/10))
		all = append(all, strings.ReplaceAll(word, "{half}", strconv.Itoa(elements/2)))
	}
	return all, nil
}

// prepare creates a key with this number of elements, and two small keys.
func prepare(c *client, f filling, elements int) error {
	const perCommand = 1000
	for i := 0; i < elements; i += perCommand {
		args := strings.Fields(f.command)
		switch f.command {
		case aStream.command:
			args = append(args, f.element, "1", "k")
		case aString.command:
			args = append(args, strings.Repeat(f.element, perCommand))
		default:
			for k := i; k < i+perCommand; k++ {
				args = append(args, strings.Fields(strings.ReplaceAll(f.element, "%d", strconv.Itoa(k)))...)
			}
		}
		if _, err := c.do(args...); err != nil {
			return fmt.Errorf("%s: %w", args[0], err)
		}
	}
	if _, err := c.do("SADD", "small", "a", "b"); err != nil {
		return err
	}
	for _, args := range [][]string{{"SELECT", "1"}, {"SET", "elsewhere", "v"}, {"SELECT", "0"}, {"SET", "bystander", "v"}} {
		if _, err := c.do(args...); err != nil {
			return err
		}
	}
	return nil
}
