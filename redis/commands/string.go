package commands

import "slices"

var stringCommands = []Command{
	{
		Name: "GET", Group: "string", Since: "1.0.0", Arity: 2, Flags: ReadOnly | Fast,
		Summary: "Returns the string at a key, or nil",
		Syntax:  "key", Keys: []KeySpec{oneKey(RO, 1)},
	},
	{
		Name: "SET", Group: "string", Since: "1.0.0", Arity: -3, Flags: Write | DenyOOM,
		Traits:  Repeatable | AnswersOK,
		Summary: "Sets a key to a string, and replaces any value",
		Syntax:  "key value [NX|XX|IFEQ ifeq-value|IFNE ifne-value|IFDEQ ifdeq-digest|IFDNE ifdne-digest] [GET] [EX seconds|PX milliseconds|EXAT unix-time-seconds|PXAT unix-time-milliseconds|KEEPTTL]",
		Keys:    []KeySpec{oneKey(RW|Returns|Updates|Varies, 1)}, FindKeys: setKeys,
	},
	{
		Name: "SETNX", Group: "string", Since: "1.0.0", Arity: 3, Flags: Write | DenyOOM | Fast,
		Summary: "Sets a key to a string only if it does not exist",
		Syntax:  "key value", Keys: []KeySpec{oneKey(OW|Inserts, 1)},
	},
	{
		Name: "SETEX", Group: "string", Since: "2.0.0", Arity: 4, Flags: Write | DenyOOM,
		Traits:  Repeatable | AnswersOK,
		Summary: "Sets a key to a string that expires after some seconds",
		Syntax:  "key seconds value", Keys: []KeySpec{oneKey(OW, 1)},
	},
	{
		Name: "PSETEX", Group: "string", Since: "2.6.0", Arity: 4, Flags: Write | DenyOOM,
		Traits:  Repeatable | AnswersOK,
		Summary: "Sets a key to a string that expires after some milliseconds",
		Syntax:  "key milliseconds value", Keys: []KeySpec{oneKey(OW, 1)},
	},
	{
		Name: "GETSET", Group: "string", Since: "1.0.0", Arity: 3, Flags: Write | DenyOOM | Fast,
		Summary: "Sets a key to a string and returns the old one",
		Syntax:  "key value", Keys: []KeySpec{oneKey(RW|Returns|Updates, 1)},
	},
	{
		Name: "INCR", Group: "string", Since: "1.0.0", Arity: 2, Flags: Write | DenyOOM | Fast,
		Summary: "Adds one to the integer at a key, which starts at 0",
		Syntax:  "key", Keys: []KeySpec{oneKey(RW|Returns|Updates, 1)},
	},
	{
		Name: "DECR", Group: "string", Since: "1.0.0", Arity: 2, Flags: Write | DenyOOM | Fast,
		Summary: "Subtracts one from the integer at a key, which starts at 0",
		Syntax:  "key", Keys: []KeySpec{oneKey(RW|Returns|Updates, 1)},
	},
	{
		Name: "INCRBY", Group: "string", Since: "1.0.0", Arity: 3, Flags: Write | DenyOOM | Fast,
		Summary: "Adds a number to the integer at a key, which starts at 0",
		Syntax:  "key increment", Keys: []KeySpec{oneKey(RW|Returns|Updates, 1)},
	},
	{
		Name: "DECRBY", Group: "string", Since: "1.0.0", Arity: 3, Flags: Write | DenyOOM | Fast,
		Summary: "Subtracts a number from the integer at a key, which starts at 0",
		Syntax:  "key decrement", Keys: []KeySpec{oneKey(RW|Returns|Updates, 1)},
	},
	{
		Name: "INCRBYFLOAT", Group: "string", Since: "2.6.0", Arity: 3, Flags: Write | DenyOOM | Fast,
		Summary: "Adds a floating-point number to the number at a key, which starts at 0",
		Syntax:  "key increment", Keys: []KeySpec{oneKey(RW|Returns|Updates, 1)},
	},
	{
		Name: "MGET", Group: "string", Since: "1.0.0", Arity: -2, Flags: ReadOnly | Fast,
		Summary: "Returns the strings at keys, nil for a key without a string",
		Syntax:  "key [key ...]", Keys: []KeySpec{keysFrom(RO, 1, -1, 1)},
		Tips: []string{"request_policy:multi_shard"},
	},
	{
		Name: "MSET", Group: "string", Since: "1.0.1", Arity: -3, Flags: Write | DenyOOM,
		Traits:  Repeatable | AnswersOK,
		Summary: "Sets keys to strings, and replaces any values",
		Syntax:  "key value [key value ...]", Keys: []KeySpec{keysFrom(OW, 1, -1, 2)},
		Tips: []string{"request_policy:multi_shard", "response_policy:all_succeeded"},
	},
	{
		Name: "MSETNX", Group: "string", Since: "1.0.1", Arity: -3, Flags: Write | DenyOOM,
		Summary: "Sets keys to strings only if none of them exists",
		Syntax:  "key value [key value ...]", Keys: []KeySpec{keysFrom(OW|Inserts, 1, -1, 2)},
	},
	{
		Name: "MSETEX", Group: "string", Since: "8.4.0", Arity: -4, Flags: Write | DenyOOM | MovableKeys,
		Summary: "Sets keys to strings, and one expiry for all",
		Syntax: "numkeys key value [key value ...] [NX|XX] " +
			"[EX seconds|PX milliseconds|EXAT unix-time-seconds|PXAT unix-time-milliseconds|KEEPTTL]",
		Keys: []KeySpec{{Access: OW, Index: 1, Step: 2, KeyNum: true}},
		Tips: []string{"request_policy:multi_shard", "response_policy:all_succeeded"},
	},
	{
		Name: "DELEX", Group: "string", Since: "8.4.0", Arity: -2, Flags: Write | Fast,
		Summary: "Deletes a key, or a string only if it or its digest meets a condition",
		Syntax:  "key [IFEQ ifeq-value|IFNE ifne-value|IFDEQ ifdeq-digest|IFDNE ifdne-digest]",
		Keys:    []KeySpec{oneKey(RW|Deletes|Varies, 1)}, FindKeys: delexKeys,
	},
	{
		Name: "DIGEST", Group: "string", Since: "8.4.0", Arity: 2, Flags: ReadOnly | Fast,
		Summary: "Returns the XXH3 hash of the string at a key, in hex",
		Syntax:  "key", Keys: []KeySpec{oneKey(RO, 1)},
	},
	{
		Name: "INCREX", Group: "string", Since: "8.8.0", Arity: -2, Flags: Write | DenyOOM | Fast,
		Replies: []Reply{{RESP3: toDoubles}},
		Summary: "Adds to the number at a key within bounds, and changes its expiry",
		Syntax: "key [BYFLOAT float|BYINT integer] [SATURATE] [LBOUND lowerbound] [UBOUND upperbound] " +
			"[EX seconds|PX milliseconds|EXAT unix-time-seconds|PXAT unix-time-milliseconds|PERSIST] [ENX]",
		Keys: []KeySpec{oneKey(RW|Returns|Updates, 1)},
	},
	{
		Name: "GETDEL", Group: "string", Since: "6.2.0", Arity: 2, Flags: Write | Fast,
		Summary: "Returns the string at a key and deletes the key",
		Syntax:  "key", Keys: []KeySpec{oneKey(RW|Returns|Deletes, 1)},
	},
	{
		Name: "GETEX", Group: "string", Since: "6.2.0", Arity: -2, Flags: Write | Fast,
		Summary: "Returns the string at a key and changes its expiry",
		Syntax:  "key [EX seconds|PX milliseconds|EXAT unix-time-seconds|PXAT unix-time-milliseconds|PERSIST]",
		Keys:    []KeySpec{oneKey(RW|Returns|Updates, 1)},
	},
	{
		Name: "STRLEN", Group: "string", Since: "2.2.0", Arity: 2, Flags: ReadOnly | Fast,
		Summary: "Returns the length of the string at a key",
		Syntax:  "key", Keys: []KeySpec{oneKey(RO|Metadata, 1)},
	},
	{
		Name: "GETRANGE", Group: "string", Since: "2.4.0", Arity: 4, Flags: ReadOnly,
		Summary: "Returns the bytes of a string from one index to another",
		Syntax:  "key start end", Keys: []KeySpec{oneKey(RO, 1)},
	},
	{
		Name: "SUBSTR", Group: "string", Since: "1.0.0", Arity: 4, Flags: ReadOnly,
		Summary: "Returns the bytes of a string from one index to another, as GETRANGE does",
		Syntax:  "key start end", Keys: []KeySpec{oneKey(RO, 1)},
	},
	{
		Name: "SETRANGE", Group: "string", Since: "2.2.0", Arity: 4, Flags: Write | DenyOOM,
		Summary: "Overwrites the bytes of a string from an index on, which may be beyond its end",
		Syntax:  "key offset value", Keys: []KeySpec{oneKey(RW, 1)},
	},
	{
		Name: "APPEND", Group: "string", Since: "2.0.0", Arity: 3, Flags: Write | DenyOOM | Fast,
		Summary: "Appends to the string at a key, which starts empty",
		Syntax:  "key value", Keys: []KeySpec{oneKey(RW|Inserts, 1)},
	},
	{
		Name: "LCS", Group: "string", Since: "7.0.0", Arity: -3, Flags: ReadOnly,
		Replies: aMap,
		Summary: "Returns the longest common subsequence of two strings",
		Syntax:  "key1 key2 [LEN] [IDX] [MINMATCHLEN min-match-len] [WITHMATCHLEN]",
		Keys:    []KeySpec{keysFrom(RO, 1, 1, 1)},
	},
}

// setKeys returns the key of SET. GET or a condition on the value reads it, too.
func setKeys(args [][]byte) []KeyRef {
	access := OW
	looks := func(word []byte) bool {
		return slices.ContainsFunc([]string{"GET", "IFEQ", "IFNE", "IFDEQ", "IFDNE"}, func(option string) bool { return Is(word, option) })
	}
	if len(args) > 3 && slices.ContainsFunc(args[3:], looks) {
		access = RW | Returns | Updates
	}
	return firstKey(args, access)
}

// delexKeys returns the key of DELEX. A condition reads it, too.
func delexKeys(args [][]byte) []KeyRef {
	access := RM
	if len(args) > 2 {
		access = RW | Returns | Deletes
	}
	return firstKey(args, access)
}
