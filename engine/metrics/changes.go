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
	countsOptions            // what changedByOptions returns
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
			"XDEL", "XACK", "XTRIM", "SORT", "GEOSEARCHSTORE",
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
		countsOptions:   {"SET", "SETRANGE", "GETEX", "HGETEX", "HSETEX"},
	} {
		for _, name := range names {
			if c := commands.Lookup(name); c != nil {
				all[c.ID()] = how
			}
		}
	}
	return all
}()

// changed returns the number of changes of a call, as far as its args and its reply show it.
func changed(c *commands.Command, args [][]byte, v *resp.Value) uint64 {
	how := countings[c.ID()]
	if how == countsNone || v.IsError() {
		return 0
	}
	n, some := 0, !isEmpty(v) && (v.Kind != resp.Int || v.Int > 0)
	switch {
	case how == countsAlways:
		n = 1
	case how == countsPairArgs:
		n = (len(args) - 2) / 2
	case how == countsOptions:
		n = changedByOptions(c.Name, args, v)
	case !some:
	case how == countsReply && v.Kind != resp.Bulk && v.Kind != resp.Double: // unlike that of ZADD with INCR
		n = int(v.Int)
	case how == countsDouble:
		n = 2 * int(v.Int)
	case how == countsElements && (v.Kind == resp.Array || v.Kind == resp.Set):
		n = v.Len()
	case how == countsNested && len(v.Elems) == 2:
		n = len(v.Elems[1].Elems)
	case how == countsPairs:
		n = len(v.Elems) / 2
	case how == countsSet:
		n = changedElements(v)
	case how == countsAny:
		n = min(changedElements(v), 1)
	case how == countsArgs:
		n = len(args) - 2
	case how == countsKeyValues:
		n = (len(args) - 1) / 2
	default:
		n = 1
	}
	return uint64(n)
}

// changedElements returns how many elements of a reply are neither null, 0 nor negative.
func changedElements(v *resp.Value) (n int) {
	for i := range v.Elems {
		if e := &v.Elems[i]; !isEmpty(e) && (e.Kind != resp.Int || e.Int > 0) {
			n++
		}
	}
	return n
}

// changedByOptions returns the number of changes of a call of the command name.
func changedByOptions(name string, args [][]byte, v *resp.Value) int {
	done := !isEmpty(v)
	switch name {
	case "SET":
		if has(args[3:], "GET") {
			done = done != has(args[3:], "NX") || !done && !has(args[3:], "XX")
		}
	case "SETRANGE":
		done = len(args[3]) > 0
	case "GETEX":
		done = done && len(args) > 2
	case "HGETEX":
		if len(args) > 4+len(v.Elems) {
			return changedElements(v)
		}
		done = false
	case "HSETEX":
		for args = args[2:]; done; args = args[1:] {
			if commands.Is(args[0], "FIELDS") {
				return len(args)/2 - 1
			}
		}
	}
	if done {
		return 1
	}
	return 0
}

func has(args [][]byte, option string) bool {
	for _, arg := range args {
		if commands.Is(arg, option) {
			return true
		}
	}
	return false
}

func (t *Tally) changes(n uint64) {
	for ; t != nil && n > 0; t = t.parent {
		t.written.Add(n)
	}
}

// Changes returns how many changes the counted calls made, as Redis counts them for
// rdb_changes_since_last_save. Reset does not reset it.
func (t *Tally) Changes() uint64 { return t.written.Load() }
