package commands

var cuckooCommands = []Command{
	{
		Name: "CF.RESERVE", Group: "module", Since: "1.0.0", Arity: -3, Flags: Write | DenyOOM | Module, Categories: sketchFast("cuckoo"),
		Traits:  AnswersOK,
		Summary: "Creates an empty cuckoo filter for a number of items",
		Syntax:  "key capacity [BUCKETSIZE bucketsize] [MAXITERATIONS maxiterations] [EXPANSION expansion]", Keys: []KeySpec{oneKey(RW, 1)},
	},
	{
		Name: "CF.ADD", Group: "module", Since: "1.0.0", Arity: 3, Flags: Write | DenyOOM | Module, Categories: []string{"cuckoo"},
		Replies: aBool,
		Summary: "Adds an item to a cuckoo filter; creates a missing filter",
		Syntax:  "key item", Keys: []KeySpec{oneKey(RW, 1)},
	},
	{
		Name: "CF.ADDNX", Group: "module", Since: "1.0.0", Arity: 3, Flags: Write | DenyOOM | Module, Categories: []string{"cuckoo"},
		Replies: aBool,
		Summary: "Adds an item to a cuckoo filter unless it may be there, and returns whether it did",
		Syntax:  "key item", Keys: []KeySpec{oneKey(RW, 1)},
	},
	{
		Name: "CF.INSERT", Group: "module", Since: "1.0.0", Arity: -4, Flags: Write | DenyOOM | Module, Categories: []string{"cuckoo"},
		Replies: cuckooInserted,
		Summary: "Adds items to a cuckoo filter; the options are for a filter that it creates",
		Syntax:  "key [CAPACITY capacity] [NOCREATE] ITEMS item [item ...]", Keys: []KeySpec{oneKey(RW, 1)},
	},
	{
		Name: "CF.INSERTNX", Group: "module", Since: "1.0.0", Arity: -4, Flags: Write | DenyOOM | Module, Categories: []string{"cuckoo"},
		Summary: "Adds the items to a cuckoo filter that it does not seem to have",
		Syntax:  "key [CAPACITY capacity] [NOCREATE] ITEMS item [item ...]", Keys: []KeySpec{oneKey(RW, 1)},
	},
	{
		Name: "CF.EXISTS", Group: "module", Since: "1.0.0", Arity: 3, Flags: ReadOnly | Module | Fast, Categories: []string{"cuckoo"},
		Replies: aBool,
		Summary: "Returns whether an item may be in a cuckoo filter; false is certain",
		Syntax:  "key item", Keys: []KeySpec{oneKey(RO, 1)},
	},
	{
		Name: "CF.MEXISTS", Group: "module", Since: "1.0.0", Arity: -3, Flags: ReadOnly | Module | Fast, Categories: []string{"cuckoo"},
		Replies: bools,
		Summary: "Returns which items may be in a cuckoo filter",
		Syntax:  "key item [item ...]", Keys: []KeySpec{oneKey(RO, 1)},
	},
	{
		Name: "CF.COUNT", Group: "module", Since: "1.0.0", Arity: 3, Flags: ReadOnly | Module | Fast, Categories: []string{"cuckoo"},
		Summary: "Returns how often an item may be in a cuckoo filter",
		Syntax:  "key item", Keys: []KeySpec{oneKey(RO, 1)},
	},
	{
		Name: "CF.DEL", Group: "module", Since: "1.0.0", Arity: 3, Flags: Write | Module | Fast, Categories: []string{"cuckoo"},
		Replies: aBool,
		Summary: "Removes an item from a cuckoo filter once",
		Syntax:  "key item", Keys: []KeySpec{oneKey(RW, 1)},
	},
	{
		Name: "CF.COMPACT", Group: "module", Since: "", Arity: -1, Flags: Write | Module | Fast, Categories: []string{"cuckoo"},
		Traits:  AnswersOK,
		Summary: "Moves the fingerprints of a cuckoo filter to its older filters",
		Syntax:  "[key ...]", Keys: []KeySpec{oneKey(RW, 1)},
	},
	{
		Name: "CF.INFO", Group: "module", Since: "1.0.0", Arity: 2, Flags: ReadOnly | Module | Fast, Categories: sketchFast("cuckoo"), Tips: dontCache,
		Replies: properties,
		Summary: "Describes a cuckoo filter",
		Syntax:  "key", Keys: []KeySpec{oneKey(RO, 1)},
	},
	{
		Name: "CF.DEBUG", Group: "module", Since: "1.0.0", Arity: 2, Flags: ReadOnly | Module | Fast, Categories: []string{"cuckoo"}, Tips: dontCache,
		Summary: "Describes a cuckoo filter in a line",
		Syntax:  "key", Keys: []KeySpec{oneKey(RO, 1)},
	},
	{
		Name: "CF.SCANDUMP", Group: "module", Since: "1.0.0", Arity: 3, Flags: ReadOnly | Module | Fast, Categories: []string{"cuckoo"}, Tips: dontCache,
		Summary: "Returns a chunk of a cuckoo filter and the iterator of the next one, 0 after the last",
		Syntax:  "key iterator", Keys: []KeySpec{oneKey(RW, 1)},
	},
	{
		Name: "CF.LOADCHUNK", Group: "module", Since: "1.0.0", Arity: 4, Flags: Write | DenyOOM | Module, Categories: []string{"cuckoo"},
		Traits:  AnswersOK,
		Summary: "Restores a chunk of a cuckoo filter that CF.SCANDUMP returned",
		Syntax:  "key iterator data", Keys: []KeySpec{oneKey(RW, 1)},
	},
}
