package commands

var hyperloglogCommands = []Command{
	{
		Name: "PFADD", Group: "hyperloglog", Since: "2.8.9", Arity: -2, Flags: Write | DenyOOM | Fast,
		Summary: "Adds elements to a HyperLogLog and returns 1 if its estimate may have changed",
		Syntax:  "key [element [element ...]]", Keys: []KeySpec{oneKey(RW|Inserts, 1)},
	},
	{
		Name: "PFCOUNT", Group: "hyperloglog", Since: "2.8.9", Arity: -2, Flags: ReadOnly,
		Traits:  Replicates,
		Summary: "Estimates the number of distinct elements in the union of HyperLogLogs",
		Syntax:  "key [key ...]", Keys: []KeySpec{keysFrom(RW|Returns, 1, -1, 1)},
	},
	{
		Name: "PFMERGE", Group: "hyperloglog", Since: "2.8.9", Arity: -2, Flags: Write | DenyOOM,
		Summary: "Merges HyperLogLogs into the first key",
		Syntax:  "destkey [sourcekey [sourcekey ...]]",
		Keys:    []KeySpec{oneKey(RW|Returns|Inserts, 1), keysFrom(RO, 2, -1, 1)},
	},
}
