package commands

var setCommands = []Command{
	{
		Name: "SADD", Group: "set", Since: "1.0.0", Arity: -3, Flags: Write | DenyOOM | Fast,
		Summary: "Adds members to a set and returns the number of new members",
		Syntax:  "key member [member ...]", Keys: []KeySpec{oneKey(RW|Inserts, 1)},
	},
	{
		Name: "SREM", Group: "set", Since: "1.0.0", Arity: -3, Flags: Write | Fast,
		Summary: "Removes members from a set and returns the number of removed members",
		Syntax:  "key member [member ...]", Keys: []KeySpec{oneKey(RW|Deletes, 1)},
	},
	{
		Name: "SMOVE", Group: "set", Since: "1.0.0", Arity: 4, Flags: Write | Fast,
		Summary: "Moves a member from one set to another",
		Syntax:  "source destination member",
		Keys:    []KeySpec{oneKey(RW|Returns|Deletes, 1), oneKey(RW|Inserts, 2)},
	},
	{
		Name: "SCARD", Group: "set", Since: "1.0.0", Arity: 2, Flags: ReadOnly | Fast,
		Summary: "Returns the number of members of a set",
		Syntax:  "key", Keys: []KeySpec{oneKey(RO|Metadata, 1)},
	},
	{
		Name: "SISMEMBER", Group: "set", Since: "1.0.0", Arity: 3, Flags: ReadOnly | Fast,
		Summary: "Reports whether a set has a member",
		Syntax:  "key member", Keys: []KeySpec{oneKey(RO|Metadata, 1)},
	},
	{
		Name: "SMISMEMBER", Group: "set", Since: "6.2.0", Arity: -3, Flags: ReadOnly | Fast,
		Summary: "Reports for each of several members whether a set has it",
		Syntax:  "key member [member ...]", Keys: []KeySpec{oneKey(RO, 1)},
	},
	{
		Name: "SMEMBERS", Group: "set", Since: "1.0.0", Arity: 2, Flags: ReadOnly,
		Replies: members,
		Summary: "Returns all members of a set",
		Syntax:  "key", Keys: []KeySpec{oneKey(RO, 1)},
		Tips: []string{"nondeterministic_output_order"},
	},
	{
		Name: "SSCAN", Group: "set", Since: "2.8.0", Arity: -3, Flags: ReadOnly,
		Replies: page("member"),
		Summary: "Returns the members of a set page by page",
		Syntax:  "key cursor [MATCH pattern] [COUNT count]", Keys: []KeySpec{oneKey(RO, 1)},
		Tips: []string{"nondeterministic_output"},
	},
	{
		Name: "SPOP", Group: "set", Since: "1.0.0", Arity: -2, Flags: Write | Fast,
		Replies: members,
		Summary: "Removes random members from a set and returns them",
		Syntax:  "key [count]", Keys: []KeySpec{oneKey(RW|Returns|Deletes, 1)},
		Tips: []string{"nondeterministic_output"},
	},
	{
		Name: "SRANDMEMBER", Group: "set", Since: "1.0.0", Arity: -2, Flags: ReadOnly,
		Replies: members,
		Summary: "Returns random members of a set",
		Syntax:  "key [count]", Keys: []KeySpec{oneKey(RO, 1)},
		Tips: []string{"nondeterministic_output"},
	},
	{
		Name: "SINTER", Group: "set", Since: "1.0.0", Arity: -2, Flags: ReadOnly,
		Replies: members,
		Summary: "Returns the members that all of several sets have",
		Syntax:  "key [key ...]", Keys: []KeySpec{keysFrom(RO, 1, -1, 1)},
		Tips: []string{"nondeterministic_output_order"},
	},
	{
		Name: "SUNION", Group: "set", Since: "1.0.0", Arity: -2, Flags: ReadOnly,
		Replies: members,
		Summary: "Returns the members that any of several sets has",
		Syntax:  "key [key ...]", Keys: []KeySpec{keysFrom(RO, 1, -1, 1)},
		Tips: []string{"nondeterministic_output_order"},
	},
	{
		Name: "SDIFF", Group: "set", Since: "1.0.0", Arity: -2, Flags: ReadOnly,
		Replies: members,
		Summary: "Returns the members of a set that are in none of the other sets",
		Syntax:  "key [key ...]", Keys: []KeySpec{keysFrom(RO, 1, -1, 1)},
		Tips: []string{"nondeterministic_output_order"},
	},
	{
		Name: "SINTERCARD", Group: "set", Since: "7.0.0", Arity: -3, Flags: ReadOnly | MovableKeys,
		Summary: "Counts the members that all of several sets have, up to a limit",
		Syntax:  "numkeys key [key ...] [LIMIT limit]", Keys: []KeySpec{numKeys(RO, 1)},
	},
	{
		Name: "SUNIONCARD", Group: "set", Since: "8.10.0", Arity: -3, Flags: ReadOnly | MovableKeys,
		Summary: "Returns the number of members of the union of sets",
		Syntax:  "numkeys key [key ...] [APPROX] [LIMIT limit]", Keys: []KeySpec{numKeys(RO, 1)},
	},
	{
		Name: "SDIFFCARD", Group: "set", Since: "8.10.0", Arity: -3, Flags: ReadOnly | MovableKeys,
		Summary: "Returns the number of members of a set that other sets lack",
		Syntax:  "numkeys key [key ...] [LIMIT limit]", Keys: []KeySpec{numKeys(RO, 1)},
	},
	{
		Name: "SINTERSTORE", Group: "set", Since: "1.0.0", Arity: -3, Flags: Write | DenyOOM,
		Summary: "Stores the members that all of several sets have",
		Syntax:  "destination key [key ...]",
		Keys:    []KeySpec{oneKey(OW|Updates, 1), keysFrom(RO, 2, -1, 1)},
	},
	{
		Name: "SUNIONSTORE", Group: "set", Since: "1.0.0", Arity: -3, Flags: Write | DenyOOM,
		Summary: "Stores the members that any of several sets has",
		Syntax:  "destination key [key ...]",
		Keys:    []KeySpec{oneKey(OW, 1), keysFrom(RO, 2, -1, 1)},
	},
	{
		Name: "SDIFFSTORE", Group: "set", Since: "1.0.0", Arity: -3, Flags: Write | DenyOOM,
		Summary: "Stores the members of a set that are in none of the other sets",
		Syntax:  "destination key [key ...]",
		Keys:    []KeySpec{oneKey(OW, 1), keysFrom(RO, 2, -1, 1)},
	},
}
