package keyevents

// rule adds the events of a call.
type rule func(*Call)

// on returns a rule for one event of the first key, if when returns true. The key may be deleted by then.
func on(class byte, name string, when func(*Call) bool) rule {
	return func(c *Call) {
		if k := c.key(1); when(c) {
			c.added(class, name, k)
			c.emptied(k)
		}
	}
}

func always(*Call) bool { return true }

func touched(c *Call) bool { return c.key(1).changed() }

func existed(c *Call) bool { k := c.key(1); return k != nil && k.Before.There }

// stored returns a rule for the key that a call stores its result in: the event, or "del" if the result is
// empty.
func stored(class byte, name string, at func(*Call) int) rule {
	return func(c *Call) {
		k := c.key(at(c))
		if c.positive() {
			c.added(class, name, k)
		} else {
			c.emptied(k)
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
	"SET": set, "SETEX": setex, "PSETEX": setex, "SETNX": on('$', "set", (*Call).positive),
	"GETSET": on('$', "set", always), "GETDEL": deleted, "GETEX": getex,
	"MSET": mset, "MSETNX": func(c *Call) {
		if c.positive() {
			mset(c)
		}
	},
	"SETRANGE": on('$', "setrange", func(c *Call) bool { return len(c.Args[3]) > 0 }),
	"APPEND":   on('$', "append", always), "INCR": on('$', "incrby", always), "DECR": on('$', "incrby", always),
	"INCRBY": on('$', "incrby", always), "DECRBY": on('$', "incrby", always), "INCRBYFLOAT": on('$', "incrbyfloat", always),
	"SETBIT": on('$', "setbit", touched), "BITFIELD": bitfield, "BITOP": stored('$', "set", at(2)),
	"PFADD": on('$', "pfadd", (*Call).positive), "PFMERGE": on('$', "pfadd", always),

	"DEL": deleted, "UNLINK": deleted, "EXPIRE": expire, "PEXPIRE": expire, "EXPIREAT": expire, "PEXPIREAT": expire,
	"PERSIST": on('g', "persist", (*Call).positive), "RENAME": rename, "RENAMENX": func(c *Call) {
		if c.positive() {
			rename(c)
		}
	},
	"COPY": copied, "MOVE": moved, "RESTORE": restored, "SORT": sorted,

	"LPUSH": on('l', "lpush", (*Call).positive), "LPUSHX": on('l', "lpush", (*Call).positive),
	"RPUSH": on('l', "rpush", (*Call).positive), "RPUSHX": on('l', "rpush", (*Call).positive),
	"LPOP": on('l', "lpop", (*Call).some), "RPOP": on('l', "rpop", (*Call).some),
	"LINSERT": on('l', "linsert", (*Call).positive), "LSET": on('l', "lset", always),
	"LREM": on('l', "lrem", (*Call).positive), "LTRIM": on('l', "ltrim", existed),
	"RPOPLPUSH": listMove, "BRPOPLPUSH": listMove, "LMOVE": listMove, "BLMOVE": listMove,
	"BLPOP": popped, "BRPOP": popped, "LMPOP": popped, "BLMPOP": popped,
	"BZPOPMIN": popped, "BZPOPMAX": popped, "ZMPOP": popped, "BZMPOP": popped,

	"SADD": on('s', "sadd", (*Call).positive), "SREM": on('s', "srem", (*Call).positive),
	"SPOP": on('s', "spop", (*Call).some), "SMOVE": setMove,
	"SINTERSTORE": stored('s', "sinterstore", at(1)), "SUNIONSTORE": stored('s', "sunionstore", at(1)),
	"SDIFFSTORE": stored('s', "sdiffstore", at(1)),

	"ZADD": zadd, "ZINCRBY": on('z', "zincr", touched), "GEOADD": on('z', "zadd", touched),
	"ZREM": on('z', "zrem", (*Call).positive), "ZREMRANGEBYRANK": on('z', "zremrangebyrank", (*Call).positive),
	"ZREMRANGEBYSCORE": on('z', "zremrangebyscore", (*Call).positive), "ZREMRANGEBYLEX": on('z', "zremrangebylex", (*Call).positive),
	"ZPOPMIN": on('z', "zpopmin", (*Call).some), "ZPOPMAX": on('z', "zpopmax", (*Call).some),
	"ZRANGESTORE": stored('z', "zrangestore", at(1)), "ZUNIONSTORE": stored('z', "zunionstore", at(1)),
	"ZINTERSTORE": stored('z', "zinterstore", at(1)), "ZDIFFSTORE": stored('z', "zdiffstore", at(1)),
	"GEOSEARCHSTORE": stored('z', "geosearchstore", at(1)),
	"GEORADIUS":      stored('z', "georadiusstore", storeOption("STORE", "STOREDIST")), "GEORADIUSBYMEMBER": stored('z', "georadiusstore", storeOption("STORE", "STOREDIST")),

	"HSET": on('h', "hset", always), "HMSET": on('h', "hset", always), "HSETNX": on('h', "hset", (*Call).positive),
	"HINCRBY": on('h', "hincrby", always), "HINCRBYFLOAT": on('h', "hincrbyfloat", always),
	"HDEL": on('h', "hdel", (*Call).positive), "HGETDEL": on('h', "hdel", found),
	"HEXPIRE": hexpire, "HPEXPIRE": hexpire, "HEXPIREAT": hexpire, "HPEXPIREAT": hexpire,
	"HPERSIST": on('h', "hpersist", oneOf(1)), "HGETEX": hgetex, "HSETEX": hsetex,

	"XADD": xadd, "XDEL": on('t', "xdel", (*Call).positive), "XTRIM": on('t', "xtrim", (*Call).positive),
	"XSETID": on('t', "xsetid", always), "XGROUP CREATE": group("xgroup-create", always), "XGROUP SETID": group("xgroup-setid", always),
	"XGROUP DESTROY": group("xgroup-destroy", (*Call).positive), "XGROUP CREATECONSUMER": group("xgroup-createconsumer", (*Call).positive),
	"XGROUP DELCONSUMER": group("xgroup-delconsumer", func(c *Call) bool {
		k := c.key(2)
		return k != nil && k.After.Consumers < k.Before.Consumers
	}),
	"XREADGROUP": consumers, "XCLAIM": consumers, "XAUTOCLAIM": consumers,
}
