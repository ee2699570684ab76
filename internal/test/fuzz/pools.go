package fuzz

import (
	"slices"
	"strings"

	"github.com/meowdis/meowdis/redis/rdb"
)

// Few keys and few elements, so that commands of all types share them. The numbers are edge
// cases: limits, fractions, and text that resembles a number.
var (
	keys     = []string{"a", "b", "c", "d", "e\x00\xff"}
	elements = []string{"", "a", "x", "y", "z", "xyzxy", "1", "2", "10", "-1", "3.5", "\xff\x00", "Hello World", "field", strings.Repeat("long", 20)}
	integers = []string{"0", "1", "2", "-1", "-2", "3", "5", "10", "-100", "100", "9223372036854775807", "-9223372036854775808", "9223372036854775800"}
	floats   = []string{"0", "-0", "1", "2", "-1", "0.5", "3.14", "-1.5", "1e3", "1e-5", "17179869184", "0.1", "inf", "-inf", "+inf", "5e-324", "1.7976931348623157e308",
		"0x10", "-0x1.8p3", " 1", "2 ", "0.12345678901234568", "123456789012345678", ".5", "5.", "1e22", "-1e-7", "nan"}
	bounds       = []string{"0", "1", "2", "-1", "(1", "(0.5", "-inf", "+inf", "(inf", "-", "+", "[x", "(x", "[", "(y", "[z", "3.14"}
	offsets      = []string{"0", "1", "2", "3", "5", "-1", "-2", "-3", "-100", "100", "131070", "4294967296"}
	counts       = []string{"0", "1", "1", "2", "2", "3", "10", "-1", "-2", "-5"}
	patterns     = []string{"*", "?", "a", "[a-c]", "[^a]*", "x*", "*y*", "\\x", "[", "a*b", "e?*", "*\xff"}
	sortPatterns = []string{"*", "#", "a", "b*", "*->field", "c->x", "*->", "nosuch", "c->*", "x*y*"}
	typeWord     = []string{"string", "list", "set", "zset", "hash", "stream", "STRING", "none"}

	bits    = []string{"0", "1", "2"}
	widths  = []string{"u8", "i8", "u1", "i64", "u63", "u64", "i5", "u0", "x8", "I8"}
	degrees = []string{"0", "13.361389", "38.115556", "15.087269", "37.502669", "-179.9", "85.05", "-85.06", "181", "2.349014"}
	radii   = []string{"0", "1", "100", "200.5", "1000", "20000", "-1"}

	// IDs that collide. XADD's IDs mostly exceed the others.
	entryIDs = []string{"1-0", "1-1", "1-2", "2-0", "2-1", "3-0", "3", "4-0", "5-1", "0", "0-1", "20-5"}
	nextIDs  = []string{"1-*", "2-*", "2-*", "3-*", "4-*", "5-*", "1-1", "2-5", "4", "7-1", "20-*", "0-*", "18446744073709551615-18446744073709551614"}
	fromIDs  = []string{"-", "-", "0", "1", "1-1", "(1-1", "2", "(2-0", "3-0", "+", "(0", "(18446744073709551615-18446744073709551615"}
	toIDs    = []string{"+", "+", "+", "5", "3-0", "(3-0", "2", "(2", "1-1", "-", "(0-0", "20"}
	groupIDs = []string{">", ">", ">", ">", "0", "0", "1-0", "2", "$"}
	readIDs  = []string{"0", "0", "0", "1-0", "1-1", "2", "3-0", "$", ">"}
	edges    = []string{"0", "1", "2", "3", "5", "1-1", "2-0", "3-0", "-1"}
	names    = []string{"g", "g", "h", "\x00g"}
	readers  = []string{"alice", "bob", "bob", ""}

	// No entry is pending for about as long as the longest of these.
	idles = []string{"0", "0", "0", "1", "-1", "300000", "1000000000000000000"}
	since = []string{"0", "600000", "900000", "-1"}

	// No lifetime ends by itself while a case runs: see racy, and ageing.go.
	lifetimes = []string{"100000", "100001", "200000", "1000000", "4102444800", "4102444800000", "0", "-1", "9223372036854775807", "9223372036854775", "-9223372036854775808"}

	// Parameters of the server's own commands with the same meaning on both sides.
	params     = []string{"hash-max-listpack-entries", "HASH-max-ziplist-value", "zset-max-listpack-value", "set-max-intset-entries", "slowlog-max-len", "maxmemory-samples", "lfu-log-factor", "loglevel", "LUA-time-limit", "nosuch"}
	paramGlobs = []string{"hash-max-*", "*-max-listpack-entries", "lazyfree-*", "stream-node-ma[x]-*", "maxmemor?", "[", "*nosuch*", ""}
	settings   = []string{"0", "1", "5", "512", "-1", "+1", "64b", "1kb", "1k", "2gb", "yes", "NO", "notice", "Warning", "x", "", "9223372036854775807", "2147483648"}
	clientIDs  = []string{"99999", "0", "-1", "x", "9223372036854775807"}
	indexes    = []string{"0", "0", "1", "1", "2", "15", "16", "-1", "2147483648", "x"}

	// Vectors of three components, and a few others.
	blobs      = []string{"\x00\x00\x80?\x00\x00\x00\x00\x00\x00\x80\xbf", "\x00\x00\x80?\xcd\xcc\xcc=\x00\x00@@", "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00", "\x00\x00\x80?\x00\x00\x00@", "abc", ""}
	components = []string{"0", "1", "-1", "0.5", "2", "3.25", "-0.1", "1e3", "-7", "0.3333333"}
	attributes = []string{"", "x", "{}", `{"n":1}`, `{"n":2,"s":"x"}`, `{"n":10.5,"t":["a","b"]}`, `{"s":"y","b":true}`, `{"n":"1"}`, "[1]"}
	filters    = []string{".n > 1", ".n == 1", `.s == "x"`, `.s in ["x","y"]`, `"a" in .t`, "not .b", ".b and .s", ".n * 2 >= 4 or .s", ".n % 2 == 1", ".n ** 2 < 5", ".nosuch", "(.n", ".n >", "", "1", "0"}

	payloads = func() (all []string) {
		for _, v := range []rdb.Value{
			rdb.String("123"), rdb.String("hello"), rdb.List{[]byte("x"), []byte("1")}, rdb.Set{[]byte("1"), []byte("2")},
		} {
			all = append(all, string(rdb.Dump(v, nil)))
		}
		broken := []byte(all[1])
		broken[2] ^= 1
		return append(all, string(broken), all[2][:5], "")
	}()

	// Junk replaces any other argument. It has no small numbers above 0, since they could be a
	// time to live.
	junk = []string{"", "abc", "-1", "0", "1.5", " 1", "+1", "0x10", "nan", "inf", "-", "(", "9223372036854775808", "1e400", "\x00\xff", "NX", "XX", "GET", "LIMIT", "COUNT"}
)

// pools holds the values of an argument by its name in the syntax, prefixed by the command or
// its group if the name has another meaning there. Arguments without a pool are elements.
var pools = map[string][]string{
	"dim": {"2", "2", "1", "3", "4", "0", "x"}, vectorSets + " vector": blobs, "component": components, vectorSets + " json": attributes, vectorSets + " attributes": attributes,
	"build-exploration-factor": {"1", "200", "0", "1000001"}, "search-exploration-factor": {"1", "200", "0", "1000001"}, "max-filtering-effort": {"0", "1", "100"},
	"numlinks": {"16", "16", "4", "5", "3", "4097"}, "expression": filters,
	"key": keys, "key1": keys, "key2": keys, "newkey": keys, "source": keys, "destination": keys, "dst": keys, "src": keys,
	"increment": integers, "decrement": integers,
	"score": floats, "weight": floats,
	"min": bounds, "max": bounds,
	"start": offsets, "stop": offsets, "end": offsets, "index": offsets, "offset": offsets, "rank": offsets,
	"count": counts, "limit": counts, "len": counts, "num-matches": counts, "min-match-len": counts,
	"bit": bits, "encoding": widths, "bitmap offset": append([]string{"1048572", "1048575"}, offsets...),
	"longitude": degrees, "latitude": degrees, "radius": radii, "width": radii, "height": radii,
	"destkey": keys, "sourcekey": keys,
	"cursor":  {"0", "0", "0", "0", "x", "-1", "18446744073709551616"},
	"pattern": patterns, "type": typeWord,
	"db": {"0", "1", "2", "16", "-1"}, "destination-db": {"0", "1", "2", "16", "-1"}, "index1": {"0", "1", "2", "16"}, "index2": {"0", "1", "2", "16"},
	"stream id": entryIDs, "stream start": fromIDs, "stream end": toIDs, "stream lastid": entryIDs, "stream last-id": entryIDs,
	"XADD id": nextIDs, "XREAD id": readIDs, "XREADGROUP id": groupIDs, "max-deleted-id": entryIDs,
	"group": names, "consumer": readers, "threshold": edges, "entries-added": counts, "entries-read": counts,
	"timeout":       {"0", "0", "0", "0.1", "1e2", "-1"},
	"min-idle-time": idles, "ms": since, "XCLAIM unix-time-milliseconds": {"0", "100000", "4102444800000", "-1"},
	"SORT pattern": sortPatterns, "SORT_RO pattern": sortPatterns,
	"RESTORE ttl": {"0", "0", "0", "100000", "4102444800000", "-1", "x"}, "serialized-value": payloads, "frequency": {"0", "5", "255", "256", "-1"},
	"CONFIG GET parameter": slices.Concat(params, paramGlobs), "CONFIG SET parameter": params, "CONFIG SET value": settings,
	"client-id": clientIDs, "protover": {"2", "2", "3", "3", "1", "4", "x"}, "clientname": {"me", "", "a b", "caf\xc3\xa9"}, "connection-name": {"me", "", "a b", "\x7f"},
	"username": {"default", "nobody"}, "password": {"secret", ""},
	"SELECT index": indexes, "SWAPDB index1": indexes, "SWAPDB index2": indexes,
	"module-name": {"nosuch"}, "category": {"hash", "nosuch"}, "command-name": {"get", "XGROUP", "xgroup|create", "nosuch", "get|x"},
	"section": {"server", "keyspace", "nosuch", "everything"}, "version": {"5", "x"},
	"function": functions, "function-code": libraries, "library-name": {"m", "n", "o", "p", "running", "M", "nosuch"}, "library-name-pattern": {"*", "m", "[N-P]", "nosuch", ""},
	"FUNCTION RESTORE serialized-value": functionPayloads,
	"seconds":                           lifetimes, "milliseconds": lifetimes, "unix-time-seconds": lifetimes, "unix-time-milliseconds": lifetimes,
}

// scripts run the command given by their arguments.
var scripts = []string{
	"return redis.call(unpack(ARGV))",
	"return redis.pcall(unpack(ARGV))",
	"redis.setresp(3) return redis.call(unpack(ARGV))",
	"redis.call('incr', 'scripts') return {redis.pcall(unpack(ARGV)), redis.call('get', 'scripts')}",
	"local ok, r = pcall(redis.call, unpack(ARGV)) return {tostring(ok), r}",
	"return #ARGV .. type(redis.call(unpack(ARGV)))",
	"return cjson.encode(ARGV)",
	"local s = 0 for _, a in ipairs(ARGV) do s = s + (tonumber(a) or 1) end return tostring(s)",
	"table.sort(ARGV) return ARGV",
	"local t = {} for _, a in ipairs(ARGV) do t[a] = #a end local r = {} for k, v in pairs(t) do r[#r + 1] = k .. v end return r",
	"return {pcall(string.format, unpack(ARGV))}",
	"return {pcall(string.find, ARGV[#ARGV], ARGV[1])}",
	"return loadstring(ARGV[1])",
}
