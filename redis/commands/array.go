package commands

var arrayCommands = []Command{
	{
		Name: "ARSET", Group: "array", Since: "8.8.0", Arity: -4, Flags: Write | DenyOOM | Fast,
		Summary: "Sets values from an index on and returns the number of slots that were empty",
		Syntax:  "key index value [value ...]", Keys: []KeySpec{oneKey(RW, 1)},
	},
	{
		Name: "ARMSET", Group: "array", Since: "8.8.0", Arity: -4, Flags: Write | DenyOOM | Fast,
		Summary: "Sets the values at several indexes and returns the number of slots that were empty",
		Syntax:  "key index value [index value ...]", Keys: []KeySpec{oneKey(RW, 1)},
	},
	{
		Name: "ARGET", Group: "array", Since: "8.8.0", Arity: 3, Flags: ReadOnly | Fast,
		Summary: "Returns the value at an index, nil when the slot is empty",
		Syntax:  "key index", Keys: []KeySpec{oneKey(RO, 1)},
	},
	{
		Name: "ARMGET", Group: "array", Since: "8.8.0", Arity: -3, Flags: ReadOnly | Fast,
		Summary: "Returns the values at several indexes, nil for an empty slot",
		Syntax:  "key index [index ...]", Keys: []KeySpec{oneKey(RO, 1)},
	},
	{
		Name: "ARGETRANGE", Group: "array", Since: "8.8.0", Arity: 4, Flags: ReadOnly,
		Summary: "Returns every slot of a range, nil for an empty one, backwards when start is beyond end",
		Syntax:  "key start end", Keys: []KeySpec{oneKey(RO, 1)},
	},
	{
		Name: "ARSCAN", Group: "array", Since: "8.8.0", Arity: -4, Flags: ReadOnly,
		Replies: []Reply{{RESP3: &Shape{Each: &Shape{At: []PlacedShape{{0, toUnsigned}}}}}},
		Summary: "Returns the values in a range with their indexes, backwards when start is beyond end",
		Syntax:  "key start end [LIMIT limit]", Keys: []KeySpec{oneKey(RO, 1)},
	},
	{
		Name: "ARGREP", Group: "array", Since: "8.8.0", Arity: -6, Flags: ReadOnly,
		Summary: "Returns the indexes of the values in a range that match a text, a glob or a regular expression",
		Syntax: "key start end <EXACT string|MATCH string|GLOB pattern|RE pattern> [<EXACT string|MATCH string|GLOB pattern|RE pattern> ...] " +
			"[<AND|OR|LIMIT limit|WITHVALUES|NOCASE> [<AND|OR|LIMIT limit|WITHVALUES|NOCASE> ...]]",
		Keys: []KeySpec{oneKey(RO, 1)},
	},
	{
		Name: "AROP", Group: "array", Since: "8.8.0", Arity: -5, Flags: ReadOnly,
		Summary: "Sums, compares or counts the values in a range",
		Syntax:  "key start end <SUM|MIN|MAX|AND|OR|XOR|MATCH value|USED>", Keys: []KeySpec{oneKey(RO, 1)},
	},
	{
		Name: "ARDEL", Group: "array", Since: "8.8.0", Arity: -3, Flags: Write | Fast,
		Summary: "Empties slots and returns the number that had a value",
		Syntax:  "key index [index ...]", Keys: []KeySpec{oneKey(RW|Deletes, 1)},
	},
	{
		Name: "ARDELRANGE", Group: "array", Since: "8.8.0", Arity: -4, Flags: Write,
		Summary: "Empties the slots of ranges and returns the number that had a value",
		Syntax:  "key start end [start end ...]", Keys: []KeySpec{oneKey(RW|Deletes, 1)},
	},
	{
		Name: "ARCOUNT", Group: "array", Since: "8.8.0", Arity: 2, Flags: ReadOnly | Fast,
		Summary: "Returns the number of values in an array",
		Syntax:  "key", Keys: []KeySpec{oneKey(RO, 1)},
	},
	{
		Name: "ARLEN", Group: "array", Since: "8.8.0", Arity: 2, Flags: ReadOnly | Fast,
		Replies: anIndex,
		Summary: "Returns the highest index of an array plus one",
		Syntax:  "key", Keys: []KeySpec{oneKey(RO, 1)},
	},
	{
		Name: "ARINSERT", Group: "array", Since: "8.8.0", Arity: -3, Flags: Write | DenyOOM | Fast,
		Replies: anIndex,
		Summary: "Appends values at the cursor and returns the index of the last one",
		Syntax:  "key value [value ...]", Keys: []KeySpec{oneKey(RW, 1)},
	},
	{
		Name: "ARRING", Group: "array", Since: "8.8.0", Arity: -4, Flags: Write | DenyOOM,
		Summary: "Appends values to a ring of the given size and returns the index of the last one",
		Syntax:  "key size value [value ...]", Keys: []KeySpec{oneKey(RW, 1)},
	},
	{
		Name: "ARNEXT", Group: "array", Since: "8.8.0", Arity: 2, Flags: ReadOnly | Fast,
		Replies: anIndex,
		Summary: "Returns the index of the next append, or nil if the array is full",
		Syntax:  "key", Keys: []KeySpec{oneKey(RO, 1)},
	},
	{
		Name: "ARSEEK", Group: "array", Since: "8.8.0", Arity: 3, Flags: Write | Fast,
		Summary: "Sets the index of the next append",
		Syntax:  "key index", Keys: []KeySpec{oneKey(RW, 1)},
	},
	{
		Name: "ARLASTITEMS", Group: "array", Since: "8.8.0", Arity: -3, Flags: ReadOnly,
		Summary: "Returns the last appended values, oldest first",
		Syntax:  "key count [REV]", Keys: []KeySpec{oneKey(RO, 1)},
	},
	{
		Name: "ARINFO", Group: "array", Since: "8.8.0", Arity: -2, Flags: ReadOnly,
		Replies: []Reply{{RESP3: &Shape{Form: ToMap, Named: []NamedShape{
			{"avg-dense-size", toDouble}, {"avg-dense-fill", toDouble}, {"avg-sparse-size", toDouble},
		}}}},
		Summary: "Describes an array: its size, its cursor and the distribution of its indexes",
		Syntax:  "key [FULL]", Keys: []KeySpec{oneKey(RO, 1)},
	},
}
