package commands

var hashCommands = []Command{
	{
		Name: "HSET", Group: "hash", Since: "2.0.0", Arity: -4, Flags: Write | DenyOOM | Fast,
		Summary: "Sets fields of a hash and returns the number of new fields",
		Syntax:  "key field value [field value ...]", Keys: []KeySpec{oneKey(RW, 1)},
	},
	{
		Name: "HMSET", Group: "hash", Since: "2.0.0", Arity: -4, Flags: Write | DenyOOM | Fast,
		Traits:  Repeatable | AnswersOK,
		Summary: "Sets fields of a hash",
		Syntax:  "key field value [field value ...]", Keys: []KeySpec{oneKey(RW, 1)},
	},
	{
		Name: "HSETNX", Group: "hash", Since: "2.0.0", Arity: 4, Flags: Write | DenyOOM | Fast,
		Summary: "Sets a field of a hash only if it does not exist",
		Syntax:  "key field value", Keys: []KeySpec{oneKey(RW|Inserts, 1)},
	},
	{
		Name: "HGET", Group: "hash", Since: "2.0.0", Arity: 3, Flags: ReadOnly | Fast,
		Summary: "Returns the value of a field of a hash, or nil",
		Syntax:  "key field", Keys: []KeySpec{oneKey(RO, 1)},
	},
	{
		Name: "HMGET", Group: "hash", Since: "2.0.0", Arity: -3, Flags: ReadOnly | Fast,
		Summary: "Returns the values of several fields of a hash",
		Syntax:  "key field [field ...]", Keys: []KeySpec{oneKey(RO, 1)},
	},
	{
		Name: "HEXISTS", Group: "hash", Since: "2.0.0", Arity: 3, Flags: ReadOnly | Fast,
		Summary: "Reports whether a hash has a field",
		Syntax:  "key field", Keys: []KeySpec{oneKey(RO|Metadata, 1)},
	},
	{
		Name: "HSTRLEN", Group: "hash", Since: "3.2.0", Arity: 3, Flags: ReadOnly | Fast,
		Summary: "Returns the length of the value of a field of a hash",
		Syntax:  "key field", Keys: []KeySpec{oneKey(RO|Metadata, 1)},
	},
	{
		Name: "HLEN", Group: "hash", Since: "2.0.0", Arity: 2, Flags: ReadOnly | Fast,
		Summary: "Returns the number of fields of a hash",
		Syntax:  "key", Keys: []KeySpec{oneKey(RO|Metadata, 1)},
	},
	{
		Name: "HGETALL", Group: "hash", Since: "2.0.0", Arity: 2, Flags: ReadOnly,
		Replies: []Reply{{Records: Pairs, Columns: fieldValue, RESP3: toMap}},
		Summary: "Returns all fields of a hash and their values",
		Syntax:  "key", Keys: []KeySpec{oneKey(RO, 1)},
		Tips: []string{"nondeterministic_output_order"},
	},
	{
		Name: "HKEYS", Group: "hash", Since: "2.0.0", Arity: 2, Flags: ReadOnly,
		Replies: fieldNames,
		Summary: "Returns all fields of a hash",
		Syntax:  "key", Keys: []KeySpec{oneKey(RO, 1)},
		Tips: []string{"nondeterministic_output_order"},
	},
	{
		Name: "HVALS", Group: "hash", Since: "2.0.0", Arity: 2, Flags: ReadOnly,
		Summary: "Returns all values of a hash",
		Syntax:  "key", Keys: []KeySpec{oneKey(RO, 1)},
		Tips: []string{"nondeterministic_output_order"},
	},
	{
		Name: "HDEL", Group: "hash", Since: "2.0.0", Arity: -3, Flags: Write | Fast,
		Summary: "Deletes fields of a hash and returns the number of deleted fields",
		Syntax:  "key field [field ...]", Keys: []KeySpec{oneKey(RW|Deletes, 1)},
	},
	{
		Name: "HINCRBY", Group: "hash", Since: "2.0.0", Arity: 4, Flags: Write | DenyOOM | Fast,
		Summary: "Adds a number to the integer in a field of a hash, which starts at 0",
		Syntax:  "key field increment", Keys: []KeySpec{oneKey(RW|Returns|Updates, 1)},
	},
	{
		Name: "HINCRBYFLOAT", Group: "hash", Since: "2.6.0", Arity: 4, Flags: Write | DenyOOM | Fast,
		Summary: "Adds a number to the decimal number in a field of a hash, which starts at 0",
		Syntax:  "key field increment", Keys: []KeySpec{oneKey(RW|Returns|Updates, 1)},
	},
	{
		Name: "HRANDFIELD", Group: "hash", Since: "6.2.0", Arity: -2, Flags: ReadOnly,
		Replies: []Reply{
			{With: "WITHVALUES", From: 3, Records: Pairs, Columns: fieldValue, RESP3: &Shape{Form: ToPairs}}, fieldNames[0],
		},
		Summary: "Returns random fields of a hash",
		Syntax:  "key [count [WITHVALUES]]", Keys: []KeySpec{oneKey(RO, 1)},
		Tips: []string{"nondeterministic_output"},
	},
	{
		Name: "HSCAN", Group: "hash", Since: "2.8.0", Arity: -3, Flags: ReadOnly,
		Replies: []Reply{
			{With: "NOVALUES", From: 3, Records: Page, Columns: fieldValue[:1]}, {Records: Page, Columns: fieldValue},
		},
		Summary: "Returns the fields of a hash and their values page by page",
		Syntax:  "key cursor [MATCH pattern] [COUNT count] [NOVALUES]", Keys: []KeySpec{oneKey(RO, 1)},
		Tips: []string{"nondeterministic_output"},
	},
}
