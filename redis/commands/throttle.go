package commands

// CL.THROTTLE is the rate limiter of redis-cell.
var throttleCommands = []Command{
	{
		Name: "CL.THROTTLE", Group: "module", Since: "0.2.0", Arity: -5, Flags: Write | DenyOOM | Module,
		Summary: "Takes tokens of a rate limit: whether it is limited, the limit, what remains, and the seconds until a retry and until all is restored",
		Syntax:  "key max_burst count_per_period period [quantity]",
		Keys:    []KeySpec{oneKey(RW|Returns|Updates, 1)},
	},
}
