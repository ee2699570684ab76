package commands

var zsetCommands = []Command{
	{
		Name: "ZADD", Group: "sorted-set", Since: "1.2.0", Arity: -4, Flags: Write | DenyOOM | Fast,
		Summary: "Adds members to a sorted set or moves them to new scores",
		Syntax:  "key [NX|XX] [GT|LT] [CH] [INCR] score member [score member ...]",
		Keys:    []KeySpec{oneKey(RW, 1)},
	},
	{
		Name: "ZINCRBY", Group: "sorted-set", Since: "1.2.0", Arity: 4, Flags: Write | DenyOOM | Fast,
		Summary: "Adds a number to the score of a member, which starts at 0",
		Syntax:  "key increment member", Keys: []KeySpec{oneKey(RW|Returns|Updates, 1)},
	},
	{
		Name: "ZREM", Group: "sorted-set", Since: "1.2.0", Arity: -3, Flags: Write | Fast,
		Summary: "Removes members and counts those that were there",
		Syntax:  "key member [member ...]", Keys: []KeySpec{oneKey(RW|Deletes, 1)},
	},
	{
		Name: "ZCARD", Group: "sorted-set", Since: "1.2.0", Arity: 2, Flags: ReadOnly | Fast,
		Summary: "Counts the members of a sorted set",
		Syntax:  "key", Keys: []KeySpec{oneKey(RO|Metadata, 1)},
	},
	{
		Name: "ZSCORE", Group: "sorted-set", Since: "1.2.0", Arity: 3, Flags: ReadOnly | Fast,
		Summary: "Returns the score of a member, nil when there is none",
		Syntax:  "key member", Keys: []KeySpec{oneKey(RO, 1)},
	},
	{
		Name: "ZMSCORE", Group: "sorted-set", Since: "6.2.0", Arity: -3, Flags: ReadOnly | Fast,
		Summary: "Returns the scores of several members, nil for each that is not there",
		Syntax:  "key member [member ...]", Keys: []KeySpec{oneKey(RO, 1)},
	},
	{
		Name: "ZRANK", Group: "sorted-set", Since: "2.0.0", Arity: -3, Flags: ReadOnly | Fast,
		Summary: "Returns how many members come before one, lowest score first",
		Syntax:  "key member [WITHSCORE]", Keys: []KeySpec{oneKey(RO, 1)},
	},
	{
		Name: "ZREVRANK", Group: "sorted-set", Since: "2.0.0", Arity: -3, Flags: ReadOnly | Fast,
		Summary: "Returns how many members come before one, highest score first",
		Syntax:  "key member [WITHSCORE]", Keys: []KeySpec{oneKey(RO, 1)},
	},
	{
		Name: "ZCOUNT", Group: "sorted-set", Since: "2.0.0", Arity: 4, Flags: ReadOnly | Fast,
		Summary: "Counts the members whose score lies in a range",
		Syntax:  "key min max", Keys: []KeySpec{oneKey(RO, 1)},
	},
	{
		Name: "ZLEXCOUNT", Group: "sorted-set", Since: "2.8.9", Arity: 4, Flags: ReadOnly | Fast,
		Summary: "Counts the members that lie in a range of bytes, all scores being equal",
		Syntax:  "key min max", Keys: []KeySpec{oneKey(RO, 1)},
	},
	{
		Name: "ZRANGE", Group: "sorted-set", Since: "1.2.0", Arity: -4, Flags: ReadOnly,
		Summary: "Returns the members in a range of ranks, scores or bytes",
		Syntax:  "key start stop [BYSCORE|BYLEX] [REV] [LIMIT offset count] [WITHSCORES]",
		Keys:    []KeySpec{oneKey(RO, 1)},
	},
	{
		Name: "ZREVRANGE", Group: "sorted-set", Since: "1.2.0", Arity: -4, Flags: ReadOnly,
		Summary: "Returns the members in a range of ranks, highest score first",
		Syntax:  "key start stop [WITHSCORES]",
		Keys:    []KeySpec{oneKey(RO, 1)},
	},
	{
		Name: "ZRANGEBYSCORE", Group: "sorted-set", Since: "1.0.5", Arity: -4, Flags: ReadOnly,
		Summary: "Returns the members in a range of scores",
		Syntax:  "key min max [WITHSCORES] [LIMIT offset count]",
		Keys:    []KeySpec{oneKey(RO, 1)},
	},
	{
		Name: "ZREVRANGEBYSCORE", Group: "sorted-set", Since: "2.2.0", Arity: -4, Flags: ReadOnly,
		Summary: "Returns the members in a range of scores, highest first",
		Syntax:  "key max min [WITHSCORES] [LIMIT offset count]",
		Keys:    []KeySpec{oneKey(RO, 1)},
	},
	{
		Name: "ZRANGEBYLEX", Group: "sorted-set", Since: "2.8.9", Arity: -4, Flags: ReadOnly,
		Summary: "Returns the members in a range of bytes, all scores being equal",
		Syntax:  "key min max [LIMIT offset count]",
		Keys:    []KeySpec{oneKey(RO, 1)},
	},
	{
		Name: "ZREVRANGEBYLEX", Group: "sorted-set", Since: "2.8.9", Arity: -4, Flags: ReadOnly,
		Summary: "Returns the members in a range of bytes, greatest first, all scores being equal",
		Syntax:  "key max min [LIMIT offset count]",
		Keys:    []KeySpec{oneKey(RO, 1)},
	},
	{
		Name: "ZRANGESTORE", Group: "sorted-set", Since: "6.2.0", Arity: -5, Flags: Write | DenyOOM,
		Summary: "Stores what ZRANGE would return at another key",
		Syntax:  "dst src min max [BYSCORE|BYLEX] [REV] [LIMIT offset count]",
		Keys:    []KeySpec{oneKey(OW, 1), oneKey(RO, 2)},
	},
	{
		Name: "ZREMRANGEBYRANK", Group: "sorted-set", Since: "2.0.0", Arity: 4, Flags: Write,
		Summary: "Removes the members in a range of ranks",
		Syntax:  "key start stop", Keys: []KeySpec{oneKey(RW|Deletes, 1)},
	},
	{
		Name: "ZREMRANGEBYSCORE", Group: "sorted-set", Since: "1.2.0", Arity: 4, Flags: Write,
		Summary: "Removes the members in a range of scores",
		Syntax:  "key min max", Keys: []KeySpec{oneKey(RW|Deletes, 1)},
	},
	{
		Name: "ZREMRANGEBYLEX", Group: "sorted-set", Since: "2.8.9", Arity: 4, Flags: Write,
		Summary: "Removes the members in a range of bytes, all scores being equal",
		Syntax:  "key min max", Keys: []KeySpec{oneKey(RW|Deletes, 1)},
	},
	{
		Name: "ZPOPMIN", Group: "sorted-set", Since: "5.0.0", Arity: -2, Flags: Write | Fast,
		Summary: "Removes and returns the members with the lowest scores",
		Syntax:  "key [count]", Keys: []KeySpec{oneKey(RW|Returns|Deletes, 1)},
	},
	{
		Name: "ZPOPMAX", Group: "sorted-set", Since: "5.0.0", Arity: -2, Flags: Write | Fast,
		Summary: "Removes and returns the members with the highest scores",
		Syntax:  "key [count]", Keys: []KeySpec{oneKey(RW|Returns|Deletes, 1)},
	},
	{
		Name: "ZMPOP", Group: "sorted-set", Since: "7.0.0", Arity: -4, Flags: Write | MovableKeys,
		Summary: "Removes and returns members from the first sorted set that there is",
		Syntax:  "numkeys key [key ...] <MIN|MAX> [COUNT count]",
		Keys:    []KeySpec{numKeys(RW|Returns|Deletes, 1)},
	},
	{
		Name: "ZRANDMEMBER", Group: "sorted-set", Since: "6.2.0", Arity: -2, Flags: ReadOnly,
		Summary: "Returns random members",
		Syntax:  "key [count [WITHSCORES]]", Keys: []KeySpec{oneKey(RO, 1)},
		Tips: []string{"nondeterministic_output"},
	},
	{
		Name: "ZSCAN", Group: "sorted-set", Since: "2.8.0", Arity: -3, Flags: ReadOnly,
		Summary: "Walks over the members and their scores, a page a call",
		Syntax:  "key cursor [MATCH pattern] [COUNT count]", Keys: []KeySpec{oneKey(RO, 1)},
		Tips: []string{"nondeterministic_output"},
	},
	{
		Name: "ZUNION", Group: "sorted-set", Since: "6.2.0", Arity: -3, Flags: ReadOnly | MovableKeys,
		Summary: "Returns the members of any of several sorted sets",
		Syntax:  "numkeys key [key ...] [WEIGHTS weight [weight ...]] [AGGREGATE <SUM|MIN|MAX|COUNT>] [WITHSCORES]",
		Keys:    []KeySpec{numKeys(RO, 1)},
	},
	{
		Name: "ZUNIONSTORE", Group: "sorted-set", Since: "2.0.0", Arity: -4, Flags: Write | DenyOOM | MovableKeys,
		Summary: "Stores the union of several sorted sets at a key",
		Syntax:  "destination numkeys key [key ...] [WEIGHTS weight [weight ...]] [AGGREGATE <SUM|MIN|MAX|COUNT>]",
		Keys:    []KeySpec{oneKey(OW, 1), numKeys(RO, 2)},
	},
	{
		Name: "ZINTER", Group: "sorted-set", Since: "6.2.0", Arity: -3, Flags: ReadOnly | MovableKeys,
		Summary: "Returns the members that several sorted sets share",
		Syntax:  "numkeys key [key ...] [WEIGHTS weight [weight ...]] [AGGREGATE <SUM|MIN|MAX|COUNT>] [WITHSCORES]",
		Keys:    []KeySpec{numKeys(RO, 1)},
	},
	{
		Name: "ZINTERSTORE", Group: "sorted-set", Since: "2.0.0", Arity: -4, Flags: Write | DenyOOM | MovableKeys,
		Summary: "Stores the intersection of several sorted sets at a key",
		Syntax:  "destination numkeys key [key ...] [WEIGHTS weight [weight ...]] [AGGREGATE <SUM|MIN|MAX|COUNT>]",
		Keys:    []KeySpec{oneKey(OW, 1), numKeys(RO, 2)},
	},
	{
		Name: "ZINTERCARD", Group: "sorted-set", Since: "7.0.0", Arity: -3, Flags: ReadOnly | MovableKeys,
		Summary: "Counts the members that several sorted sets share",
		Syntax:  "numkeys key [key ...] [LIMIT limit]",
		Keys:    []KeySpec{numKeys(RO, 1)},
	},
	{
		Name: "ZDIFF", Group: "sorted-set", Since: "6.2.0", Arity: -3, Flags: ReadOnly | MovableKeys,
		Summary: "Returns the members of the first sorted set that no other one has",
		Syntax:  "numkeys key [key ...] [WITHSCORES]",
		Keys:    []KeySpec{numKeys(RO, 1)},
	},
	{
		Name: "ZDIFFSTORE", Group: "sorted-set", Since: "6.2.0", Arity: -4, Flags: Write | DenyOOM | MovableKeys,
		Summary: "Stores the difference of several sorted sets at a key",
		Syntax:  "destination numkeys key [key ...]",
		Keys:    []KeySpec{oneKey(OW, 1), numKeys(RO, 2)},
	},
}
