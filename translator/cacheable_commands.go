package translator

import "github.com/meowdis/meowdis/redis/commands"

// lasting are commands that read one key, and whose rows depend on the clock only by whether
// the key or a field of it has expired: so a store may keep them (store.Batch.Keys). Those that read
// much to say little are best kept, and those that draw are none.
var lasting = []string{
	"GET", "STRLEN", "GETRANGE", "SUBSTR", "GETBIT",
	"EXISTS", "TYPE", "TTL", "PTTL", "EXPIRETIME", "PEXPIRETIME",
	"HGET", "HMGET", "HEXISTS", "HSTRLEN", "HLEN", "HGETALL", "HKEYS", "HVALS",
	"SCARD", "SISMEMBER", "SMISMEMBER", "SMEMBERS",
	"LLEN", "LINDEX", "LRANGE",
	"ZCARD", "ZSCORE", "ZMSCORE", "ZRANK", "ZREVRANK", "ZCOUNT",
	"ZRANGE", "ZREVRANGE", "ZRANGEBYSCORE", "ZREVRANGEBYSCORE",
}

var lastingByID = func() []bool {
	by := make([]bool, len(commands.All()))
	for _, name := range lasting {
		by[commands.Lookup(name).ID()] = true
	}
	return by
}()
