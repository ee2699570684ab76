package fuzz

import (
	"bytes"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/meowdis/meowdis/internal/test/oracle"
	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/store/keytype"
)

// later reports whether the call contains a word that only a later Redis knows, even by
// chance. At the position of ZRANK's option, any word may occur.
func later(args [][]byte, server oracle.Version) bool {
	name := nameOf(args)
	if strings.HasPrefix(name, "COMMAND GETKEYS") {
		return later(args[2:], server)
	}
	if (name == "ZRANK" || name == "ZREVRANK") && len(args) > 3 && server.Before("7.2") {
		return true
	}
	return slices.ContainsFunc(unknown(name, server), func(word string) bool {
		return slices.ContainsFunc(args[1:], func(a []byte) bool { return bytes.EqualFold(a, []byte(word)) })
	})
}

// redisBug reports whether Redis 8.0 answers the call wrongly: HGETEX reads past its words, a
// negative offset of LIMIT counts from the other end, and LSET truncates an index to 32 bits.
func redisBug(args [][]byte) bool {
	negative := func(i int) bool { return i < len(args) && len(args[i]) > 0 && args[i][0] == '-' }
	switch name := nameOf(args); {
	case name == "HGETEX" && len(args) > 2:
		fields := 2
		switch strings.ToUpper(string(args[2])) {
		case "EX", "PX", "EXAT", "PXAT":
			fields = 4
		case "PERSIST":
			fields = 3
		}
		return len(args) <= fields+1
	case strings.HasPrefix(name, "ZRANGE") || strings.HasPrefix(name, "ZREVRANGE"):
		i := slices.IndexFunc(args, func(a []byte) bool { return bytes.EqualFold(a, []byte("LIMIT")) })
		return i > 0 && negative(i+1)
	case name == "LSET" && len(args) > 2:
		n, err := strconv.ParseInt(string(args[2]), 10, 64)
		return err == nil && int64(int32(n)) != n
	}
	return false
}

// unqueued reports whether a call is kept out of transactions: its comparison is special, or
// impossible where Redis leaves the reply open. HELLO changes the format of replies in the
// middle of EXEC's, and Redis 8.0 does not reply to a failing AUTH there. COPY refuses vector
// sets, but undefined can check for them only before the transaction.
func unqueued(args [][]byte, how treatment) bool {
	cmd := commands.Lookup(nameOf(args))
	waits := cmd != nil && cmd.Flags&commands.Blocking != 0
	if cmd != nil && cmd.Flags&commands.Module != 0 && !cmd.Accepts(len(args)) {
		return true // a module may count the words when its command runs
	}
	return how.special != nil && !waits || sorts(args) || comparesTTL(args) || comparesFieldTTL(args) || byName(args) ||
		slices.Contains([]string{"AUTH", "HELLO", "DBSIZE", "MEMORY USAGE", "COPY"}, nameOf(args))
}

// undefinedVector reports whether a component is not a number, or not finite.
func undefinedVector(args [][]byte) bool {
	c := commands.Lookup(nameOf(args))
	return c != nil && groupOf(c) == vectorSets && slices.ContainsFunc(args, func(a []byte) bool {
		f, err := strconv.ParseFloat(string(a), 64)
		return err == nil && (math.IsNaN(f) || math.IsInf(f, 0))
	})
}

// undefined reports whether Redis leaves the reply open: a range by name of a sorted set with
// different scores; a SORT of an unordered set or sorted set whose weights may tie; a
// comparison with a TTL close to the present one; and counts of dead keys.
func undefined(theirs doer, args [][]byte) bool {
	switch name := nameOf(args); {
	case name == "COPY" && len(args) > 1 && string(theirs([]byte("TYPE"), args[1]).Str) == keytype.VectorSet:
		return true // Redis returns an error
	case name == "DBSIZE":
		return theirs(args...).Int != int64(len(theirs(words("KEYS", "*")...).Elems))
	case name == "MEMORY USAGE" && len(args) > 2:
		theirs([]byte("EXISTS"), args[2]) // deletes a dead key, which counts otherwise
		return false
	}
	if comparesFieldTTL(args) || undefinedVector(args) {
		return true
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
	return byName(args) && slices.ContainsFunc(args[1:], func(key []byte) bool { return hasTwoScores(theirs, key) })
}

// hasTwoScores reports whether the scores of a sorted set differ.
func hasTwoScores(theirs doer, key []byte) bool {
	scores := theirs(words("ZRANGE", string(key), "0", "-1", "WITHSCORES")...)
	for i, pair := 3, flatten(scores); i < len(pair); i += 2 {
		if !bytes.Equal(pair[i], pair[1]) {
			return true
		}
	}
	return false
}

// tinyScores reports whether the sorted set has a score so small that Redis considers it out
// of range when reading it back, and refuses to sort.
func tinyScores(theirs doer, key []byte) bool {
	scores := flatten(theirs(words("ZRANGE", string(key), "0", "-1", "WITHSCORES")...))
	for i := 1; i < len(scores); i += 2 {
		if f, _ := strconv.ParseFloat(string(scores[i]), 64); f != 0 && math.Abs(f) < 0x1p-1022 {
			return true
		}
	}
	return false
}

// sorts reports whether the command is SORT or SORT_RO.
func sorts(args [][]byte) bool { return bytes.HasPrefix(args[0], []byte("SORT")) }

// comparesTTL reports whether the call sets a TTL under the condition that the
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

// comparesFieldTTL reports whether the call sets TTLs of fields under the condition that
// the present ones are longer or shorter.
func comparesFieldTTL(args [][]byte) bool {
	name := nameOf(args)
	return (name == "HEXPIRE" || name == "HPEXPIRE") && len(args) > 3 &&
		(bytes.EqualFold(args[3], []byte("GT")) || bytes.EqualFold(args[3], []byte("LT")))
}

// byName reports whether the call uses a range of names.
func byName(args [][]byte) bool {
	if bytes.HasSuffix(args[0], []byte("LEX")) || bytes.Equal(args[0], []byte("ZLEXCOUNT")) {
		return true
	}
	return bytes.HasPrefix(args[0], []byte("ZRANGE")) && slices.ContainsFunc(args, func(a []byte) bool {
		return bytes.EqualFold(a, []byte("BYLEX"))
	})
}
