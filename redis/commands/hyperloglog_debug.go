package commands

// The commands that Redis's own tests use to inspect a HyperLogLog.
var hyperloglogDebugCommands = []Command{
	{
		Name: "PFDEBUG", Group: "hyperloglog", Since: "2.8.9", Arity: 3, Flags: Write | DenyOOM | Admin,
		Summary: "Shows the registers, the sparse operations or the encoding of a HyperLogLog, or converts it to dense",
		Syntax:  "<DECODE|ENCODING|GETREG|TODENSE> key", Keys: []KeySpec{oneKey(RW|Returns, 2)},
	},
	{
		Name: "PFSELFTEST", Group: "hyperloglog", Since: "2.8.9", Arity: 1, Flags: Admin,
		Summary: "Tests registers and estimates of random HyperLogLogs",
	},
}
