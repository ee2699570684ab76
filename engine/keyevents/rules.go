package keyevents

// rule adds the events of a call.
type rule func(*Call)

// firstKey returns a rule for one event of the first key, if when returns true. The key may be deleted by then.
func firstKey(class byte, name string, when func(*Call) bool) rule {
	return func(c *Call) {
		if k := c.key(1); when(c) {
			c.emitAfterNew(class, name, k)
			c.emitIfGone(k)
		}
	}
}

func always(*Call) bool { return true }

func touched(c *Call) bool { return c.key(1).changed() }

func existed(c *Call) bool { k := c.key(1); return k != nil && k.Before.Exists }

// stored returns a rule for the key that a call stores its result in: the event, or "del" if the result is
// empty.
func stored(class byte, name string, at func(*Call) int) rule {
	return func(c *Call) {
		k := c.key(at(c))
		if c.positive() {
			c.emitAfterNew(class, name, k)
		} else {
			c.emitIfGone(k)
		}
	}
}

func at(n int) func(*Call) int { return func(*Call) int { return n } }

// storeOption returns a function for the position after an option that names a key.
func storeOption(words ...string) func(*Call) int {
	return func(c *Call) int {
		last := 0
		for i := c.has(2, words...); i > 0; i = c.has(i+1, words...) {
			last = i + 1
		}
		return last
	}
}

// rules maps commands to their rules.
var rules = map[string]rule{
	"SET": set, "SETEX": setex, "PSETEX": setex, "SETNX": firstKey('$', "set", (*Call).positive),
	"GETSET": firstKey('$', "set", always), "GETDEL": deleted, "GETEX": getex,
	"MSET": mset, "MSETNX": func(c *Call) {
		if c.positive() {
			mset(c)
		}
	},
	"SETRANGE": firstKey('$', "setrange", func(c *Call) bool { return len(c.Args[3]) > 0 }),
	"APPEND":   firstKey('$', "append", always), "INCR": firstKey('$', "incrby", always), "DECR": firstKey('$', "incrby", always),
	"INCRBY": firstKey('$', "incrby", always), "DECRBY": firstKey('$', "incrby", always), "INCRBYFLOAT": firstKey('$', "incrbyfloat", always),
	"SETBIT": firstKey('$', "setbit", touched), "BITFIELD": bitfield, "BITOP": stored('$', "set", at(2)),
	"PFADD": firstKey('$', "pfadd", (*Call).positive), "PFMERGE": firstKey('$', "pfadd", always),

	"DEL": deleted, "UNLINK": deleted, "EXPIRE": expire, "PEXPIRE": expire, "EXPIREAT": expire, "PEXPIREAT": expire,
	"PERSIST": firstKey('g', "persist", (*Call).positive), "RENAME": rename, "RENAMENX": func(c *Call) {
		if c.positive() {
			rename(c)
		}
	},
	"COPY": copied, "MOVE": moved, "RESTORE": restored, "RESTORE-ASKING": restored, "SORT": sorted,

	"LPUSH": firstKey('l', "lpush", (*Call).positive), "LPUSHX": firstKey('l', "lpush", (*Call).positive),
	"RPUSH": firstKey('l', "rpush", (*Call).positive), "RPUSHX": firstKey('l', "rpush", (*Call).positive),
	"LPOP": firstKey('l', "lpop", (*Call).some), "RPOP": firstKey('l', "rpop", (*Call).some),
	"LINSERT": firstKey('l', "linsert", (*Call).positive), "LSET": firstKey('l', "lset", always),
	"LREM": firstKey('l', "lrem", (*Call).positive), "LTRIM": firstKey('l', "ltrim", existed),
	"RPOPLPUSH": listMove, "BRPOPLPUSH": listMove, "LMOVE": listMove, "BLMOVE": listMove,
	"BLPOP": popped, "BRPOP": popped, "LMPOP": popped, "BLMPOP": popped,
	"BZPOPMIN": popped, "BZPOPMAX": popped, "ZMPOP": popped, "BZMPOP": popped,

	"SADD": firstKey('s', "sadd", (*Call).positive), "SREM": firstKey('s', "srem", (*Call).positive),
	"SPOP": firstKey('s', "spop", (*Call).some), "SMOVE": setMove,
	"SINTERSTORE": stored('s', "sinterstore", at(1)), "SUNIONSTORE": stored('s', "sunionstore", at(1)),
	"SDIFFSTORE": stored('s', "sdiffstore", at(1)),

	"ZADD": zadd, "ZINCRBY": firstKey('z', "zincr", touched), "GEOADD": firstKey('z', "zadd", touched),
	"ZREM": firstKey('z', "zrem", (*Call).positive), "ZREMRANGEBYRANK": firstKey('z', "zremrangebyrank", (*Call).positive),
	"ZREMRANGEBYSCORE": firstKey('z', "zremrangebyscore", (*Call).positive), "ZREMRANGEBYLEX": firstKey('z', "zremrangebylex", (*Call).positive),
	"ZPOPMIN": firstKey('z', "zpopmin", (*Call).some), "ZPOPMAX": firstKey('z', "zpopmax", (*Call).some),
	"ZRANGESTORE": stored('z', "zrangestore", at(1)), "ZUNIONSTORE": stored('z', "zunionstore", at(1)),
	"ZINTERSTORE": stored('z', "zinterstore", at(1)), "ZDIFFSTORE": stored('z', "zdiffstore", at(1)),
	"GEOSEARCHSTORE": stored('z', "geosearchstore", at(1)),
	"GEORADIUS":      stored('z', "georadiusstore", storeOption("STORE", "STOREDIST")), "GEORADIUSBYMEMBER": stored('z', "georadiusstore", storeOption("STORE", "STOREDIST")),

	"HSET": firstKey('h', "hset", always), "HMSET": firstKey('h', "hset", always), "HSETNX": firstKey('h', "hset", (*Call).positive),
	"HINCRBY": firstKey('h', "hincrby", always), "HINCRBYFLOAT": firstKey('h', "hincrbyfloat", always),
	"HDEL": firstKey('h', "hdel", (*Call).positive), "HGETDEL": firstKey('h', "hdel", found),
	"HEXPIRE": hexpire, "HPEXPIRE": hexpire, "HEXPIREAT": hexpire, "HPEXPIREAT": hexpire,
	"HPERSIST": firstKey('h', "hpersist", oneOf(1)), "HGETEX": hgetex, "HSETEX": hsetex,

	"XADD": xadd, "XDEL": firstKey('t', "xdel", (*Call).positive), "XTRIM": firstKey('t', "xtrim", (*Call).positive),
	"XSETID": firstKey('t', "xsetid", always), "XGROUP CREATE": group("xgroup-create", always), "XGROUP SETID": group("xgroup-setid", always),
	"XGROUP DESTROY": group("xgroup-destroy", (*Call).positive), "XGROUP CREATECONSUMER": group("xgroup-createconsumer", (*Call).positive),
	"XGROUP DELCONSUMER": group("xgroup-delconsumer", func(c *Call) bool {
		k := c.key(2)
		return k != nil && k.After.Consumers < k.Before.Consumers
	}),
	"XREADGROUP": consumers, "XCLAIM": consumers, "XAUTOCLAIM": consumers,
}
