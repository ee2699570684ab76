package commands

var dumpCommands = []Command{
	{
		Name: "DUMP", Group: "generic", Since: "2.6.0", Arity: 2, Flags: ReadOnly,
		Summary: "Returns the value at a key as a payload for RESTORE, or nil",
		Syntax:  "key", Keys: []KeySpec{oneKey(RO, 1)},
		Tips: []string{"nondeterministic_output"},
	},
	{
		Name: "RESTORE", Group: "generic", Since: "2.6.0", Arity: -4, Flags: Write | DenyOOM,
		Traits:  AnswersOK,
		Summary: "Creates a key from the result of DUMP",
		Syntax:  "key ttl serialized-value [REPLACE] [ABSTTL] [IDLETIME seconds] [FREQ frequency]",
		Keys:    []KeySpec{oneKey(OW, 1)}, Categories: []string{"keyspace", "dangerous"},
	},
	{
		Name: "RESTORE-ASKING", Group: "server", Since: "3.0.0", Arity: -4, Flags: Write | DenyOOM | Asking,
		Traits:  AnswersOK,
		Summary: "RESTORE, as MIGRATE of a node of a cluster sends it",
		Syntax:  "key ttl serialized-value [REPLACE] [ABSTTL] [IDLETIME seconds] [FREQ frequency]",
		Keys:    []KeySpec{oneKey(OW, 1)}, Categories: []string{"keyspace", "dangerous"},
	},
}
