package commands

// Commands that read or set fields together with their expiry.
var hashGetexCommands = []Command{
	{
		Name: "HGETDEL", Group: "hash", Since: "8.0.0", Arity: -5, Flags: Write | Fast,
		Summary: "Returns the values of fields of a hash and deletes the fields",
		Syntax:  "key FIELDS numfields field [field ...]",
		Keys:    []KeySpec{oneKey(RW|Returns|Deletes, 1)},
	},
	{
		Name: "HGETEX", Group: "hash", Since: "8.0.0", Arity: -5, Flags: Write | Fast,
		Summary: "Returns the values of fields of a hash and changes their expiry",
		Syntax:  "key [EX seconds|PX milliseconds|EXAT unix-time-seconds|PXAT unix-time-milliseconds|PERSIST] FIELDS numfields field [field ...]",
		Keys:    []KeySpec{oneKey(RW|Returns|Updates, 1)},
	},
	{
		Name: "HSETEX", Group: "hash", Since: "8.0.0", Arity: -6, Flags: Write | DenyOOM | Fast,
		Summary: "Sets fields of a hash and their expiry",
		Syntax: "key [FNX|FXX] [EX seconds|PX milliseconds|EXAT unix-time-seconds|PXAT unix-time-milliseconds|KEEPTTL] " +
			"FIELDS numfields field value [field value ...]",
		Keys: []KeySpec{oneKey(RW, 1)},
	},
}
