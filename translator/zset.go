package translator

const zsetType = "zset"

var zsetCommands = []Command{
	{
		Name: "ZADD", Group: "sorted-set", Since: "1.2.0", Arity: -4, Flags: Write | DenyOOM | Fast,
		Summary: "Adds members to a sorted set or moves them to new scores",
		Syntax:  "key [NX|XX] [GT|LT] [CH] [INCR] score member [score member ...]",
		Keys:    []KeySpec{oneKey(RW, 1)}, Translate: zadd,
	},
	{
		Name: "ZINCRBY", Group: "sorted-set", Since: "1.2.0", Arity: 4, Flags: Write | DenyOOM | Fast,
		Summary: "Adds a number to the score of a member, which starts at 0",
		Syntax:  "key increment member", Keys: []KeySpec{oneKey(RW|Returns|Updates, 1)}, Translate: zincrby,
	},
	{
		Name: "ZCARD", Group: "sorted-set", Since: "1.2.0", Arity: 2, Flags: ReadOnly | Fast,
		Summary: "Counts the members of a sorted set",
		Syntax:  "key", Keys: []KeySpec{oneKey(RO|Metadata, 1)}, Translate: zcard,
	},
	{
		Name: "ZSCORE", Group: "sorted-set", Since: "1.2.0", Arity: 3, Flags: ReadOnly | Fast,
		Summary: "Returns the score of a member, nil when there is none",
		Syntax:  "key member", Keys: []KeySpec{oneKey(RO, 1)}, Translate: zscore,
	},
	{
		Name: "ZMSCORE", Group: "sorted-set", Since: "6.2.0", Arity: -3, Flags: ReadOnly | Fast,
		Summary: "Returns the scores of several members, nil for each that is not there",
		Syntax:  "key member [member ...]", Keys: []KeySpec{oneKey(RO, 1)}, Translate: zmscore,
	},
	{
		Name: "ZRANK", Group: "sorted-set", Since: "2.0.0", Arity: 3, Flags: ReadOnly | Fast,
		Summary: "Returns how many members come before one, lowest score first",
		Syntax:  "key member", Keys: []KeySpec{oneKey(RO, 1)}, Translate: zrank(false),
	},
	{
		Name: "ZREVRANK", Group: "sorted-set", Since: "2.0.0", Arity: 3, Flags: ReadOnly | Fast,
		Summary: "Returns how many members come before one, highest score first",
		Syntax:  "key member", Keys: []KeySpec{oneKey(RO, 1)}, Translate: zrank(true),
	},
}
