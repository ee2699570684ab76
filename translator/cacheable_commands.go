package translator

import "github.com/meowdis/meowdis/redis/commands"

// cacheable lists the commands whose rows a store may cache (store.Batch.Keys): they read one key, and the clock
// matters only to whether the key or a field has expired. Caching pays most for commands that read much and return
// little. Commands with random results are excluded.
var cacheable = []string{
	"GET", "STRLEN", "GETRANGE", "SUBSTR", "GETBIT",
	"EXISTS", "TYPE", "TTL", "PTTL", "EXPIRETIME", "PEXPIRETIME",
	"HGET", "HMGET", "HEXISTS", "HSTRLEN", "HLEN", "HGETALL", "HKEYS", "HVALS",
	"SCARD", "SISMEMBER", "SMISMEMBER", "SMEMBERS",
	"LLEN", "LINDEX", "LRANGE",
	"ZCARD", "ZSCORE", "ZMSCORE", "ZRANK", "ZREVRANK", "ZCOUNT",
	"ZRANGE", "ZREVRANGE", "ZRANGEBYSCORE", "ZREVRANGEBYSCORE",
}

var cacheableByID = func() []bool {
	by := make([]bool, len(commands.All()))
	for _, name := range cacheable {
		by[commands.Lookup(name).ID()] = true
	}
	return by
}()
