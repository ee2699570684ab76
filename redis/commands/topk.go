package commands

var topKCommands = []Command{
	{
		Name: "TOPK.RESERVE", Group: "module", Since: "2.0.0", Arity: -3, Flags: Write | DenyOOM | Module, Categories: sketchFast("topk"),
		Traits:  AnswersOK,
		Summary: "Creates an empty list of the k most frequent items",
		Syntax:  "key topk [width depth decay]", Keys: []KeySpec{oneKey(RW, 1)},
	},
	{
		Name: "TOPK.ADD", Group: "module", Since: "2.0.0", Arity: -3, Flags: Write | DenyOOM | Module, Categories: []string{"topk"},
		Summary: "Counts items in a Top-K list and returns the items that left it",
		Syntax:  "key item [item ...]", Keys: []KeySpec{oneKey(RW, 1)},
	},
	{
		Name: "TOPK.INCRBY", Group: "module", Since: "2.0.0", Arity: -4, Flags: Write | DenyOOM | Module, Categories: []string{"topk"},
		Summary: "Adds to the counts of items in a Top-K list and returns the items that left it",
		Syntax:  "key item increment [item increment ...]", Keys: []KeySpec{oneKey(RW, 1)},
	},
	{
		Name: "TOPK.QUERY", Group: "module", Since: "2.0.0", Arity: -3, Flags: ReadOnly | Module, Categories: []string{"topk"},
		Replies: bools,
		Summary: "Returns which items are in a Top-K list",
		Syntax:  "key item [item ...]", Keys: []KeySpec{oneKey(RO, 1)},
	},
	{
		Name: "TOPK.COUNT", Group: "module", Since: "2.0.0", Arity: -3, Flags: ReadOnly | Module, Categories: []string{"topk"},
		Summary: "Returns the estimated counts of items",
		Syntax:  "key item [item ...]", Keys: []KeySpec{oneKey(RO, 1)},
	},
	{
		Name: "TOPK.LIST", Group: "module", Since: "2.0.0", Arity: -2, Flags: ReadOnly | Module, Categories: []string{"topk"},
		Summary: "Returns the items of a Top-K list, the most frequent first",
		Syntax:  "key [WITHCOUNT]", Keys: []KeySpec{oneKey(RO, 1)},
	},
	{
		Name: "TOPK.INFO", Group: "module", Since: "2.0.0", Arity: 2, Flags: ReadOnly | Module, Categories: sketchFast("topk"),
		Replies: topKInfo,
		Summary: "Describes a Top-K list",
		Syntax:  "key", Keys: []KeySpec{oneKey(RO, 1)},
	},
}
