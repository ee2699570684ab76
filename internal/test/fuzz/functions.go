package fuzz

import (
	"fmt"
	"strings"

	"github.com/meowdis/meowdis/redis/rdb"
	"github.com/meowdis/meowdis/redis/resp"
)

// running is a library with the scripts as functions: run0, run1, …
var running = func() string {
	var b strings.Builder
	b.WriteString("#!lua name=running")
	for i, script := range scripts {
		fmt.Fprintf(&b, "\nredis.register_function('run%d', function(KEYS, ARGV) %s end)", i, script)
	}
	return b.String()
}()

// libraries holds sources of libraries. No two functions of a library conflict with existing
// ones, since Redis leaves open which function its error names. None calls a command with nil:
// after that, Redis 8.0.2 crashes on FUNCTION FLUSH.
var libraries = []string{
	"#!lua name=m\nredis.register_function('f', function(keys, args) return {#keys, #args, keys, args} end)\n" +
		"local n = 0 redis.register_function('count', function() n = n + 1 return n end)",
	"#!lua name=n\nredis.register_function{function_name='f', callback=function(keys) return redis.call('TYPE', tostring(keys[1])) end, flags={'no-writes', 'allow-stale'}, description='type'}",
	"#!lua name=o\nredis.register_function{function_name='o', callback=function(keys, args) return redis.call(unpack(args)) end, flags={'no-writes'}}",
	"#!lua name=o\nredis.register_function('o', function(keys, args) redis.call('INCR', tostring(keys[1])) return redis.pcall(unpack(args)) end)",
	"#!lua name=p\nredis.register_function('P', function() return redis.status_reply('p') end)",
	"#!lua name=p\nlocal x = nosuch",
	"#!lua name=m\nreturn (",
	"#!lua name=n\nreturn 1",
	"#!lua nam=e\n", "#!lua name=a-b\n", "return 1",
}

var functions = []string{"f", "count", "o", "p", "F", "run0", "run1", "nosuch", ""}

// functionPayloads holds payloads for FUNCTION RESTORE.
var functionPayloads = func() (all []string) {
	all = append(all, string(rdb.DumpFunctions(nil)), "")
	for _, source := range libraries[:8] {
		all = append(all, string(rdb.DumpFunctions([][]byte{[]byte(source)})))
	}
	broken := []byte(all[2])
	broken[3] ^= 1
	return append(all, string(broken))
}()

// exchangeFunctions restores each side's dump on the other side.
func exchangeFunctions(ours, theirs doer, args [][]byte) (got, want resp.Value) {
	got, want = ours(args...), theirs(args...)
	if got.Kind != resp.Bulk || want.Kind != resp.Bulk {
		return got, want
	}
	restore := func(do doer, payload []byte) resp.Value {
		return do([]byte("FUNCTION"), []byte("RESTORE"), payload, []byte("FLUSH"))
	}
	return restore(ours, want.Str), restore(theirs, got.Str)
}
