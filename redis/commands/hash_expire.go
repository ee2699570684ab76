package commands

var hashExpireCommands = []Command{
	{
		Name: "HEXPIRE", Group: "hash", Since: "7.4.0", Arity: -6, Flags: Write | Fast,
		Summary: "Makes fields of a hash expire after some seconds",
		Syntax:  "key seconds [NX|XX|GT|LT] FIELDS numfields field [field ...]",
		Keys:    []KeySpec{oneKey(RW, 1)},
	},
	{
		Name: "HPEXPIRE", Group: "hash", Since: "7.4.0", Arity: -6, Flags: Write | Fast,
		Summary: "Makes fields of a hash expire after some milliseconds",
		Syntax:  "key milliseconds [NX|XX|GT|LT] FIELDS numfields field [field ...]",
		Keys:    []KeySpec{oneKey(RW, 1)},
	},
	{
		Name: "HEXPIREAT", Group: "hash", Since: "7.4.0", Arity: -6, Flags: Write | Fast,
		Summary: "Makes fields of a hash expire at a Unix time",
		Syntax:  "key unix-time-seconds [NX|XX|GT|LT] FIELDS numfields field [field ...]",
		Keys:    []KeySpec{oneKey(RW, 1)},
	},
	{
		Name: "HPEXPIREAT", Group: "hash", Since: "7.4.0", Arity: -6, Flags: Write | Fast,
		Summary: "Makes fields of a hash expire at a Unix time in milliseconds",
		Syntax:  "key unix-time-milliseconds [NX|XX|GT|LT] FIELDS numfields field [field ...]",
		Keys:    []KeySpec{oneKey(RW, 1)},
	},
	{
		Name: "HTTL", Group: "hash", Since: "7.4.0", Arity: -5, Flags: ReadOnly | Fast,
		Summary: "Returns the times to live of fields of a hash in seconds, -1 without expiry, -2 for a missing field",
		Syntax:  "key FIELDS numfields field [field ...]",
		Keys:    []KeySpec{oneKey(RO, 1)},
		Tips:    []string{"nondeterministic_output"},
	},
	{
		Name: "HPTTL", Group: "hash", Since: "7.4.0", Arity: -5, Flags: ReadOnly | Fast,
		Summary: "Returns the times to live of fields of a hash in milliseconds, -1 without expiry, -2 for a missing field",
		Syntax:  "key FIELDS numfields field [field ...]",
		Keys:    []KeySpec{oneKey(RO, 1)},
		Tips:    []string{"nondeterministic_output"},
	},
	{
		Name: "HEXPIRETIME", Group: "hash", Since: "7.4.0", Arity: -5, Flags: ReadOnly | Fast,
		Summary: "Returns the Unix times when fields of a hash expire, -1 without expiry, -2 for a missing field",
		Syntax:  "key FIELDS numfields field [field ...]",
		Keys:    []KeySpec{oneKey(RO, 1)},
	},
	{
		Name: "HPEXPIRETIME", Group: "hash", Since: "7.4.0", Arity: -5, Flags: ReadOnly | Fast,
		Summary: "Returns the Unix times in milliseconds when fields of a hash expire, -1 without expiry, -2 for a missing field",
		Syntax:  "key FIELDS numfields field [field ...]",
		Keys:    []KeySpec{oneKey(RO, 1)},
	},
	{
		Name: "HPERSIST", Group: "hash", Since: "7.4.0", Arity: -5, Flags: Write | Fast,
		Summary: "Removes the expiry of fields of a hash",
		Syntax:  "key FIELDS numfields field [field ...]",
		Keys:    []KeySpec{oneKey(RW, 1)},
	},
}
