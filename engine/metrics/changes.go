package metrics

import (
	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
)

// counting is a way to count changes from the reply of a command.
type counting byte

const (
	countsNone      counting = iota
	countsOne                // one, unless the reply is null, empty, 0 or negative
	countsAlways             // one, whatever the reply
	countsReply              // the integer of the reply
	countsDouble             // twice the integer of the reply
	countsElements           // the elements of an array
	countsNested             // the elements of the array within the array
	countsPairs              // the pairs of an array
	countsSet                // the elements that are neither null, 0 nor negative
	countsArgs               // the args after the key, unless the reply is 0
	countsPairArgs           // the pairs of args after the key
	countsKeyValues          // the pairs of args, unless the reply is 0
	countsAny                // one, if an element is neither null, 0 nor negative
	countsOptions            // one, if there are args after the key and the reply is not null
)

// countings holds the counting of each command, by its ID.
var countings = func() []counting {
	all := make([]counting, len(commands.All()))
	for i, c := range commands.All() {
		if c.Flags&commands.Write != 0 {
			all[i] = countsOne
		}
	}
	for how, names := range map[counting][]string{
		countsAlways: {"INCR", "DECR", "INCRBY", "DECRBY", "HINCRBY", "SETBIT", "GETSET"},
		countsReply: {
			"DEL", "UNLINK", "SADD", "SREM", "HDEL", "LREM", "ZADD", "GEOADD", "ZREM", "ZREMRANGEBYRANK", "ZREMRANGEBYSCORE", "ZREMRANGEBYLEX",
			"XDEL", "XACK", "XTRIM", "SORT",
		},
		countsDouble:    {"SMOVE"},
		countsElements:  {"LPOP", "RPOP", "SPOP"},
		countsNested:    {"LMPOP", "BLMPOP", "ZMPOP", "BZMPOP"},
		countsPairs:     {"ZPOPMIN", "ZPOPMAX"},
		countsSet:       {"HEXPIRE", "HPEXPIRE", "HEXPIREAT", "HPEXPIREAT", "HGETDEL"},
		countsAny:       {"HPERSIST"},
		countsArgs:      {"LPUSH", "RPUSH", "LPUSHX", "RPUSHX"},
		countsPairArgs:  {"HSET", "HMSET"},
		countsKeyValues: {"MSET", "MSETNX"},
		countsOptions:   {"GETEX"},
	} {
		for _, name := range names {
			if c := commands.Lookup(name); c != nil {
				all[c.ID()] = how
			}
		}
	}
	return all
}()

// changed returns the number of changes of a call with a number of words, as far as its reply shows it.
func changed(c *commands.Command, words int, v *resp.Value) uint64 {
	how := countings[c.ID()]
	if how == countsNone || v.IsError() {
		return 0
	}
	n, some := 0, !isEmpty(v) && (v.Kind != resp.Int || v.Int > 0)
	switch {
	case how == countsAlways:
		n = 1
	case how == countsPairArgs:
		n = (words - 2) / 2
	case !some:
	case how == countsReply:
		n = int(v.Int)
	case how == countsDouble:
		n = 2 * int(v.Int)
	case how == countsElements && (v.Kind == resp.Array || v.Kind == resp.Set):
		n = v.Len()
	case how == countsNested && len(v.Elems) == 2:
		n = len(v.Elems[1].Elems)
	case how == countsPairs:
		n = len(v.Elems) / 2
	case how == countsSet, how == countsAny:
		for i := range v.Elems {
			if e := &v.Elems[i]; !isEmpty(e) && (e.Kind != resp.Int || e.Int > 0) {
				n++
			}
		}
		if how == countsAny {
			n = min(n, 1)
		}
	case how == countsArgs:
		n = words - 2
	case how == countsKeyValues:
		n = (words - 1) / 2
	case how == countsOptions && words == 2:
	default:
		n = 1
	}
	return uint64(n)
}

func (t *Tally) changes(n uint64) {
	for ; t != nil && n > 0; t = t.parent {
		t.written.Add(n)
	}
}

// Changes returns how many changes the counted calls made, as Redis counts them for
// rdb_changes_since_last_save. Reset does not reset it.
func (t *Tally) Changes() uint64 { return t.written.Load() }
