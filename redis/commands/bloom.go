package commands

var bloomCommands = []Command{
	{
		Name: "BF.RESERVE", Group: "module", Since: "1.0.0", Arity: -4, Flags: Write | DenyOOM | Module, Categories: sketchFast("bloom"),
		Summary: "Creates an empty Bloom filter with an error rate for a number of items",
		Syntax:  "key error_rate capacity [EXPANSION expansion] [NONSCALING]", Keys: []KeySpec{oneKey(RW, 1)},
	},
	{
		Name: "BF.ADD", Group: "module", Since: "1.0.0", Arity: 3, Flags: Write | DenyOOM | Module, Categories: []string{"bloom"},
		Replies: aBool,
		Summary: "Adds an item to a Bloom filter and returns whether it is new; creates a missing filter",
		Syntax:  "key item", Keys: []KeySpec{oneKey(RW, 1)},
	},
	{
		Name: "BF.MADD", Group: "module", Since: "1.0.0", Arity: -3, Flags: Write | DenyOOM | Module, Categories: []string{"bloom"},
		Replies: bools,
		Summary: "Adds items to a Bloom filter and returns which are new; creates a missing filter",
		Syntax:  "key item [item ...]", Keys: []KeySpec{oneKey(RW, 1)},
	},
	{
		Name: "BF.INSERT", Group: "module", Since: "1.0.0", Arity: -4, Flags: Write | DenyOOM | Module, Categories: []string{"bloom"},
		Replies: bools,
		Summary: "Adds items to a Bloom filter, as BF.MADD does; the options are for a filter that it creates",
		Syntax:  "key [CAPACITY capacity] [ERROR error] [EXPANSION expansion] [NOCREATE] [NONSCALING] ITEMS item [item ...]",
		Keys:    []KeySpec{oneKey(RW, 1)},
	},
	{
		Name: "BF.EXISTS", Group: "module", Since: "1.0.0", Arity: 3, Flags: ReadOnly | Module | Fast, Categories: []string{"bloom"},
		Replies: aBool,
		Summary: "Returns whether an item may be in a Bloom filter; false is certain",
		Syntax:  "key item", Keys: []KeySpec{oneKey(RO, 1)},
	},
	{
		Name: "BF.MEXISTS", Group: "module", Since: "1.0.0", Arity: -3, Flags: ReadOnly | Module | Fast, Categories: []string{"bloom"},
		Replies: bools,
		Summary: "Returns which items may be in a Bloom filter",
		Syntax:  "key item [item ...]", Keys: []KeySpec{oneKey(RO, 1)},
	},
	{
		Name: "BF.CARD", Group: "module", Since: "2.4.4", Arity: 2, Flags: ReadOnly | Module | Fast, Categories: sketchFast("bloom"),
		Summary: "Returns the number of items added to a Bloom filter, 0 if it is missing",
		Syntax:  "key", Keys: []KeySpec{oneKey(RO, 1)},
	},
	{
		Name: "BF.INFO", Group: "module", Since: "1.0.0", Arity: -2, Flags: ReadOnly | Module | Fast, Categories: sketchFast("bloom"), Tips: dontCache,
		Replies: infoReplies,
		Summary: "Describes a Bloom filter, or returns one of its properties",
		Syntax:  "key [CAPACITY|SIZE|FILTERS|ITEMS|EXPANSION]", Keys: []KeySpec{oneKey(RO, 1)},
	},
	{
		Name: "BF.DEBUG", Group: "module", Since: "1.0.0", Arity: 2, Flags: ReadOnly | Module | Fast, Categories: []string{"bloom"}, Tips: dontCache,
		Summary: "Describes each filter of a Bloom filter",
		Syntax:  "key", Keys: []KeySpec{oneKey(RO, 1)},
	},
	{
		Name: "BF.SCANDUMP", Group: "module", Since: "1.0.0", Arity: 3, Flags: ReadOnly | Module | Fast, Categories: []string{"bloom"}, Tips: dontCache,
		Summary: "Returns a chunk of a Bloom filter and the iterator of the next one, 0 after the last",
		Syntax:  "key iterator", Keys: []KeySpec{oneKey(RW, 1)},
	},
	{
		Name: "BF.LOADCHUNK", Group: "module", Since: "1.0.0", Arity: 4, Flags: Write | DenyOOM | Module, Categories: []string{"bloom"},
		Traits:  AnswersOK,
		Summary: "Restores a chunk of a Bloom filter that BF.SCANDUMP returned",
		Syntax:  "key iterator data", Keys: []KeySpec{oneKey(RW, 1)},
	},
}

// Shapes and categories shared by the probabilistic types.
var (
	bools       = []Reply{{RESP3: &Shape{Each: toBool}}}
	properties  = []Reply{{Records: Pairs, Columns: []string{"property", "value"}, RESP3: toMap}}
	infoReplies = []Reply{{From: 2}, properties[0]}
	topKInfo    = []Reply{{Records: Pairs, Columns: []string{"property", "value"}, RESP3: &Shape{Form: ToMap, Named: []NamedShape{{"decay", toDouble}}}}}
	someDoubles = []Reply{{RESP3: toDoubles}}

	cuckooInserted = []Reply{{RESP3: &Shape{Each: toBool}}}
	dontCache      = []string{"dont_cache"}
)

// sketchFast returns the categories of a command that is fast for ACL without the flag.
func sketchFast(category string) []string { return []string{category, "fast"} }
