//go:build !wasip1

package engine

import (
	"strings"

	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/translator"
)

// effect makes the effects of a command that has changed something.
type effect struct {
	make func(*effectWriter)
	// always uses make even if the command has removed something expired: the old value does not matter.
	always bool
	// reply means that make needs the reply.
	reply bool
}

// effectOf has the commands with effects of their own: those whose keys may be large, and those without keys. The
// effect of every other command is the state of its keys.
var effectOf map[string]effect

func init() {
	verbatim := effect{make: func(w *effectWriter) { w.add(w.call.args) }}
	everywhere := effect{make: verbatim.make, always: true}
	effectOf = map[string]effect{
		"SET": {make: set(1, 2), always: true}, "SETEX": {make: set(1, 3), always: true}, "PSETEX": {make: set(1, 3), always: true},
		"SETNX": {make: set(1, 2), always: true}, "GETSET": {make: set(1, 2), always: true},
		"MSET": everywhere, "MSETNX": {make: func(w *effectWriter) { w.put("MSET", w.call.args[1:]...) }, always: true},
		"INCRBYFLOAT": {make: floatString},
		"EXPIRE":      {make: expiry}, "PEXPIRE": {make: expiry}, "EXPIREAT": {make: expiry}, "PEXPIREAT": {make: expiry},
		"PERSIST": {make: expiry}, "GETEX": {make: expiry},
		"RENAME": {make: renamed}, "RENAMENX": {make: renamed},
		"SPOP":    {make: popped("SREM", 1), reply: true},
		"ZPOPMIN": {make: verbatim.make}, "ZPOPMAX": {make: verbatim.make},
		"BLPOP": {make: poppedFirst("LPOP"), reply: true}, "BRPOP": {make: poppedFirst("RPOP"), reply: true},
		"LMPOP": {make: poppedMany, reply: true}, "BLMPOP": {make: poppedMany, reply: true},
		"BLMOVE":     {make: func(w *effectWriter) { w.put("LMOVE", w.call.args[1:5]...) }},
		"BRPOPLPUSH": {make: func(w *effectWriter) { w.put("RPOPLPUSH", w.call.args[1:3]...) }},
		"BZPOPMIN":   {make: poppedScored, reply: true}, "BZPOPMAX": {make: poppedScored, reply: true},
		"ZMPOP": {make: poppedScored, reply: true}, "BZMPOP": {make: poppedScored, reply: true},
		"HINCRBYFLOAT": {make: func(w *effectWriter) { w.fields(w.call.args[2:3]) }},
		"HGETDEL":      {make: namedFields}, "HGETEX": {make: namedFields}, "HPERSIST": {make: namedFields},
		"HEXPIRE": {make: namedFields}, "HPEXPIRE": {make: namedFields}, "HEXPIREAT": {make: namedFields}, "HPEXPIREAT": {make: namedFields},
		"FUNCTION RESTORE": {make: restoredLibraries, always: true},
		"XADD":             {make: added, reply: true}, "XTRIM": {make: trimmed},
		"XREADGROUP": {make: readByGroup, reply: true}, "XCLAIM": {make: claimed, reply: true}, "XAUTOCLAIM": {make: claimed, reply: true},
	}
	for _, name := range strings.Fields(`APPEND SETRANGE SETBIT BITFIELD INCR DECR INCRBY DECRBY PFADD
		LPUSH RPUSH LPUSHX RPUSHX LPOP RPOP LREM LTRIM LSET LINSERT LMOVE RPOPLPUSH
		SADD SREM SMOVE HSET HMSET HSETNX HDEL HINCRBY
		ZADD ZINCRBY ZREM ZREMRANGEBYRANK ZREMRANGEBYSCORE ZREMRANGEBYLEX GEOADD
		XDEL XACK XSETID`) {
		effectOf[name] = verbatim
	}
	for _, name := range []string{"XGROUP CREATE", "XGROUP CREATECONSUMER", "XGROUP DELCONSUMER", "XGROUP DESTROY", "XGROUP SETID"} {
		effectOf[name] = verbatim
	}
	for _, name := range strings.Fields("DEL UNLINK SWAPDB") {
		effectOf[name] = everywhere
	}
	for _, name := range []string{"FLUSHALL", "FLUSHDB"} { // without ASYNC, Redis 8.0 cannot resume while it empties
		effectOf[name] = effect{make: func(w *effectWriter) { w.put(name, []byte("ASYNC")) }, always: true}
	}
	addModuleEffects()
	for _, name := range []string{"FUNCTION LOAD", "FUNCTION DELETE", "FUNCTION FLUSH"} {
		effectOf[name] = everywhere
	}
}

// effectsFromReply reports whether the effects of a command depend on its reply.
func effectsFromReply(cmd *commands.Command) bool { return cmd != nil && effectOf[cmd.Name].reply }

// set tells a string and its TTL, from the positions of key and value.
func set(key, value int) func(*effectWriter) {
	return func(w *effectWriter) {
		args := w.call.args
		k := args[key]
		if len(args) == 3 {
			w.put("SET", k, args[value])
			return
		}
		switch at, ok := w.ask([]byte("PEXPIRETIME"), k); {
		case !ok:
		case at.Int == -2:
			w.put("UNLINK", k)
		default:
			w.put("SET", withExpiry([][]byte{k, args[value]}, at.Int)...)
		}
	}
}

// floatString reports the result of INCRBYFLOAT.
func floatString(w *effectWriter) {
	if v, ok := w.ask([]byte("GET"), w.call.args[1]); ok {
		w.put("SET", w.call.args[1], v.Str, []byte("KEEPTTL"))
	}
}

// expiry reports the TTL of the key in argument 1.
func expiry(w *effectWriter) {
	key := w.call.args[1]
	switch at, ok := w.ask([]byte("PEXPIRETIME"), key); {
	case !ok:
	case at.Int == -2:
		w.put("UNLINK", key)
	case at.Int == -1:
		w.put("PERSIST", key)
	default:
		w.put("PEXPIREAT", key, number(at.Int))
	}
}

// renamed repeats RENAME. A replica without modules may lack the key.
func renamed(w *effectWriter) {
	from, to := w.call.args[1], w.call.args[2]
	switch typ, ok := w.ask([]byte("TYPE"), to); {
	case !ok:
	case redisTypes[string(typ.Str)]:
		w.put("RENAME", from, to)
	case string(typ.Str) == arrayType:
		w.states()
	default:
		w.to.ModuleKeys++
		w.putFor(WithoutModules, "UNLINK", from, to)
		w.putFor(WithModules, "RENAME", from, to)
	}
}

var redisTypes = map[string]bool{"string": true, "list": true, "set": true, "zset": true, "hash": true, "stream": true, "vectorset": true}

// arrayType has no form in DUMP and RDB files.
const arrayType = "array"

// popped reports the members that the reply names as removed from the key.
func popped(remove string, key int) func(*effectWriter) {
	return func(w *effectWriter) {
		v := w.reply()
		members := [][]byte{}
		for _, m := range v.Elems {
			members = append(members, m.Str)
		}
		if v.Elems == nil && !v.IsNull() {
			members = append(members, v.Str)
		}
		if len(members) > 0 {
			w.put(remove, append([][]byte{w.call.args[key]}, members...)...)
		}
	}
}

// poppedFirst reports BLPOP and BRPOP, whose reply begins with the key.
func poppedFirst(pop string) func(*effectWriter) {
	return func(w *effectWriter) {
		if v := w.reply(); len(v.Elems) > 0 {
			w.put(pop, v.Elems[0].Str)
			return
		}
		w.states()
	}
}

// poppedMany reports LMPOP and BLMPOP, whose reply has the key and the elements.
func poppedMany(w *effectWriter) {
	v := w.reply()
	if len(v.Elems) != 2 {
		w.states()
		return
	}
	side := 2 + len(w.call.keys())
	if w.call.cmd.Name == "BLMPOP" {
		side++
	}
	pop := "LPOP"
	if commands.Is(w.call.args[side], "RIGHT") {
		pop = "RPOP"
	}
	w.put(pop, v.Elems[0].Str, number(int64(len(v.Elems[1].Elems))))
}

// poppedScored reports ZMPOP, BZMPOP, BZPOPMIN and BZPOPMAX: the reply has the key, and then members with scores.
func poppedScored(w *effectWriter) {
	v := w.reply()
	switch {
	case len(v.Elems) == 3:
		w.put("ZREM", v.Elems[0].Str, v.Elems[1].Str)
	case len(v.Elems) == 2 && len(v.Elems[1].Elems) > 0:
		args := [][]byte{v.Elems[0].Str}
		for _, pair := range v.Elems[1].Elems {
			if len(pair.Elems) != 2 {
				w.states()
				return
			}
			args = append(args, pair.Elems[0].Str)
		}
		w.put("ZREM", args...)
	default:
		w.states()
	}
}

// namedFields reports the state of the fields after the word FIELDS and their number.
func namedFields(w *effectWriter) {
	args := w.call.args
	for i := 2; i+2 < len(args); i++ {
		if commands.Is(args[i], "FIELDS") {
			w.fields(args[i+2:])
			return
		}
	}
	w.states()
}

// fields reports values and expiry of some fields of the hash in argument 1.
func (w *effectWriter) fields(names [][]byte) {
	key := w.call.args[1]
	values, ok := w.ask(append([][]byte{[]byte("HMGET"), key}, names...)...)
	if !ok {
		return
	}
	expiries, ok := w.ask(append([][]byte{[]byte("HPEXPIRETIME"), key, []byte("FIELDS"), number(int64(len(names)))}, names...)...)
	if !ok {
		return
	}
	for i, name := range names {
		switch {
		case values.Elems[i].IsNull():
			w.put("HDEL", key, name)
			continue
		default:
			w.put("HSET", key, name, values.Elems[i].Str) // which ends the field's TTL
		}
		if i < len(expiries.Elems) && expiries.Elems[i].Int > 0 {
			w.put("HPEXPIREAT", key, number(expiries.Elems[i].Int), []byte("FIELDS"), []byte("1"), name)
		}
	}
}

// added reports XADD with the entry's ID.
func added(w *effectWriter) {
	fields, trims, ok := translator.AddedFields(w.call.cmd, w.call.args)
	id := w.reply()
	if !ok || len(id.Str) == 0 {
		w.states()
		return
	}
	w.put("XADD", append([][]byte{w.call.args[1], id.Str}, fields...)...)
	if trims {
		trimmed(w)
	}
}

// trimmed reports the length of the stream in argument 1: only its oldest entries were removed.
func trimmed(w *effectWriter) {
	if n, ok := w.ask([]byte("XLEN"), w.call.args[1]); ok {
		w.put("XTRIM", w.call.args[1], []byte("MAXLEN"), []byte("="), number(n.Int))
	}
}

// restoredLibraries reports all function libraries: a payload may have a version that a replica does not know.
func restoredLibraries(w *effectWriter) {
	all, ok := w.ask([]byte("FUNCTION"), []byte("LIST"), []byte("WITHCODE"))
	if !ok {
		return
	}
	w.put("FUNCTION", []byte("FLUSH"))
	for _, library := range all.Elems {
		for i := 0; i+1 < len(library.Elems); i += 2 {
			if string(library.Elems[i].Str) == "library_code" {
				w.put("FUNCTION", []byte("LOAD"), library.Elems[i+1].Str)
			}
		}
	}
}
