package commands

// CL.THROTTLE is the rate limiter of redis-cell.
var throttleCommands = []Command{
	{
		Name: "CL.THROTTLE", Group: "module", Since: "0.2.0", Arity: -5, Flags: Write | DenyOOM | Module,
		Summary: "Takes tokens of a rate limit: returns whether it is limited, the limit, the rest, and the seconds until a retry and until a full reset",
		Syntax:  "key max_burst count_per_period period [quantity]",
		Keys:    []KeySpec{oneKey(RW|Returns|Updates, 1)},
	},
}
