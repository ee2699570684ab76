package commands

var vectorSetCommands = []Command{
	{
		Name: "VADD", Group: "module", Since: "8.0.0", Arity: -5, Flags: Write | DenyOOM | Module,
		Replies: aBool,
		Summary: "Adds an element with its vector to a vector set, or gives it another vector",
		Syntax: "key [REDUCE dim] <FP32 vector|VALUES num component [component ...]> element [CAS] [NOQUANT|BIN|Q8] [EF build-exploration-factor] " +
			"[SETATTR attributes] [M numlinks]",
		Keys: []KeySpec{oneKey(RW|Returns|Updates, 1)},
	},
	{
		Name: "VCARD", Group: "module", Since: "8.0.0", Arity: 2, Flags: ReadOnly | Module | Fast,
		Summary: "Returns the number of elements of a vector set, 0 if it is missing",
		Syntax:  "key", Keys: []KeySpec{oneKey(RW|Returns|Updates, 1)},
	},
	{
		Name: "VDIM", Group: "module", Since: "8.0.0", Arity: 2, Flags: ReadOnly | Module | Fast,
		Summary: "Returns the number of components of the vectors of a vector set",
		Syntax:  "key", Keys: []KeySpec{oneKey(RW|Returns|Updates, 1)},
	},
	{
		Name: "VEMB", Group: "module", Since: "8.0.0", Arity: -3, Flags: ReadOnly | Module | Fast,
		Replies: []Reply{{With: "RAW", From: 3, RESP3: &Shape{At: []PlacedShape{{2, toDouble}, {3, toDouble}}}}, {RESP3: toDoubles}},
		Summary: "Returns the vector of an element, approximated if quantized, or nil",
		Syntax:  "key element [RAW]", Keys: []KeySpec{oneKey(RW|Returns|Updates, 1)},
	},
	{
		Name: "VGETATTR", Group: "module", Since: "8.0.0", Arity: 3, Flags: ReadOnly | Module | Fast,
		Summary: "Returns the attributes of an element, or nil",
		Syntax:  "key element", Keys: []KeySpec{oneKey(RW|Returns|Updates, 1)},
	},
	{
		Name: "VINFO", Group: "module", Since: "8.0.0", Arity: 2, Flags: ReadOnly | Module | Fast,
		Replies: aMap,
		Summary: "Describes a vector set, nil if it is missing",
		Syntax:  "key", Keys: []KeySpec{oneKey(RW|Returns|Updates, 1)},
	},
	{
		Name: "VISMEMBER", Group: "module", Since: "8.2.0", Arity: 3, Flags: ReadOnly | Module,
		Replies: aBool,
		Summary: "Returns whether a vector set has an element",
		Syntax:  "key element", Keys: []KeySpec{oneKey(RW|Returns|Updates, 1)},
	},
	{
		Name: "VLINKS", Group: "module", Since: "8.0.0", Arity: -3, Flags: ReadOnly | Module | Fast,
		Replies: links,
		Summary: "Returns the neighbours of an element, nil if it is missing",
		Syntax:  "key element [WITHSCORES]", Keys: []KeySpec{oneKey(RW|Returns|Updates, 1)},
	},
	{
		Name: "VRANDMEMBER", Group: "module", Since: "8.0.0", Arity: -2, Flags: ReadOnly | Module,
		Replies: vectorElements,
		Summary: "Returns random elements of a vector set",
		Syntax:  "key [count]", Keys: []KeySpec{oneKey(RW|Returns|Updates, 1)},
	},
	{
		Name: "VRANGE", Group: "module", Since: "8.4.0", Arity: -4, Flags: ReadOnly | Module,
		Replies: vectorElements,
		Summary: "Returns the elements of a vector set in a range of their names, in order",
		Syntax:  "key start end [count]", Keys: []KeySpec{oneKey(RW|Returns|Updates, 1)},
	},
	{
		Name: "VREM", Group: "module", Since: "8.0.0", Arity: 3, Flags: Write | Module,
		Replies: aBool,
		Summary: "Removes an element from a vector set and returns whether it existed",
		Syntax:  "key element", Keys: []KeySpec{oneKey(RW|Returns|Updates, 1)},
	},
	{
		Name: "VSETATTR", Group: "module", Since: "8.0.0", Arity: 4, Flags: Write | Module | Fast,
		Replies: aBool,
		Summary: "Sets the attributes of an element, or removes them when they are empty",
		Syntax:  "key element json", Keys: []KeySpec{oneKey(RW|Returns|Updates, 1)},
	},
	{
		Name: "VSIM", Group: "module", Since: "8.0.0", Arity: -4, Flags: ReadOnly | Module,
		Replies: similar,
		Summary: "Returns the elements most similar to a vector or an element",
		Syntax: "key <ELE element|FP32 vector|VALUES num component [component ...]> [WITHSCORES] [WITHATTRIBS] [COUNT count] [EPSILON max_distance] " +
			"[EF search-exploration-factor] [FILTER expression] [FILTER-EF max-filtering-effort] [TRUTH] [NOTHREAD]",
		Keys: []KeySpec{oneKey(RW|Returns|Updates, 1)},
	},
}
