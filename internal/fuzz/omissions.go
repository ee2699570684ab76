package fuzz

import (
	"bytes"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/meowdis/meowdis/commands"
)

// later tells whether the call has words that only a later Redis reads, also by
// chance; in the place of ZRANK's anything may stand.
func later(args [][]byte) bool {
	name := nameOf(args)
	if strings.HasPrefix(name, "COMMAND GETKEYS") {
		return halfANumber(args) || later(args[2:])
	}
	if (name == "ZRANK" || name == "ZREVRANK") && len(args) > 3 {
		return true
	}
	return slices.ContainsFunc(newer[name], func(word string) bool {
		return slices.ContainsFunc(args[1:], func(a []byte) bool { return bytes.EqualFold(a, []byte(word)) })
	})
}

// halfANumber tells whether an argument only begins with a number of keys, which is
// enough for Redis when it is asked for the keys, and not when it runs the call.
func halfANumber(args [][]byte) bool {
	return slices.ContainsFunc(args, func(a []byte) bool {
		_, err := strconv.Atoi(string(a))
		return err != nil && len(a) > 0 && '1' <= a[0] && a[0] <= '9'
	})
}

// unqueued tells whether a call stays out of transactions: what is compared in a
// way of its own, or not at all where Redis leaves the answer open. HELLO changes
// the form of the replies in the middle of EXEC's.
func unqueued(args [][]byte, how treatment) bool {
	cmd := commands.Lookup(nameOf(args))
	waits := cmd != nil && cmd.Flags&commands.Blocking != 0
	return how.special != nil && !waits || sorts(args) || comparesTTL(args) || byName(args) ||
		slices.Contains([]string{"HELLO", "DBSIZE", "MEMORY USAGE"}, nameOf(args))
}

// undefined tells whether Redis leaves open what the call answers: a range by
// name of a sorted set whose scores are not all the same; a SORT of a set or a
// sorted set, which have no order, by what may be the same; whether a TTL that is
// nearly the present one is more or less than that; and whether dead keys count.
func undefined(theirs doer, args [][]byte) bool {
	switch name := nameOf(args); {
	case name == "DBSIZE":
		return theirs(args...).Int != int64(len(theirs(words("KEYS", "*")...).Elems))
	case name == "MEMORY USAGE" && len(args) > 2:
		theirs([]byte("EXISTS"), args[2]) // removes a dead key, which counts until then
		return false
	}
	if comparesTTL(args) {
		unit := int64(1)
		if bytes.EqualFold(args[0], []byte("EXPIRE")) {
			unit = 1000
		}
		n, _ := strconv.ParseInt(string(args[2]), 10, 64)
		apart := theirs([]byte("PTTL"), args[1]).Int - n*unit
		return -10_000 < apart && apart < 10_000
	}
	if sorts(args) && len(args) > 1 {
		has := func(option string) bool {
			return slices.ContainsFunc(args[2:], func(a []byte) bool { return bytes.EqualFold(a, []byte(option)) })
		}
		typ := string(theirs([]byte("TYPE"), args[1]).Str)
		return has("BY") && (typ == "set" || typ == "zset" && has("ALPHA")) || typ == "zset" && tinyScores(theirs, args[1])
	}
	if !byName(args) {
		return false
	}
	for _, key := range args[1:] {
		scores := theirs(words("ZRANGE", string(key), "0", "-1", "WITHSCORES")...)
		for i, pair := 3, flatten(scores); i < len(pair); i += 2 {
			if !bytes.Equal(pair[i], pair[1]) {
				return true
			}
		}
	}
	return false
}

// tinyScores tells whether the sorted set has a score so small that Redis takes it
// for out of range when it reads it back, and then refuses to sort.
func tinyScores(theirs doer, key []byte) bool {
	scores := flatten(theirs(words("ZRANGE", string(key), "0", "-1", "WITHSCORES")...))
	for i := 1; i < len(scores); i += 2 {
		if f, _ := strconv.ParseFloat(string(scores[i]), 64); f != 0 && math.Abs(f) < 0x1p-1022 {
			return true
		}
	}
	return false
}

// sorts tells whether the command is SORT or SORT_RO.
func sorts(args [][]byte) bool { return bytes.HasPrefix(args[0], []byte("SORT")) }

// comparesTTL tells whether the call sets a TTL under the condition that the
// present one is longer or shorter.
func comparesTTL(args [][]byte) bool {
	name := nameOf(args)
	if name != "EXPIRE" && name != "PEXPIRE" || len(args) < 4 {
		return false
	}
	return slices.ContainsFunc(args[3:], func(a []byte) bool {
		return bytes.EqualFold(a, []byte("GT")) || bytes.EqualFold(a, []byte("LT"))
	})
}

// byName tells whether the call is about a range of names.
func byName(args [][]byte) bool {
	if bytes.HasSuffix(args[0], []byte("LEX")) || bytes.Equal(args[0], []byte("ZLEXCOUNT")) {
		return true
	}
	return bytes.HasPrefix(args[0], []byte("ZRANGE")) && slices.ContainsFunc(args, func(a []byte) bool {
		return bytes.EqualFold(a, []byte("BYLEX"))
	})
}
