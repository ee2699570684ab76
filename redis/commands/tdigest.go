package commands

var tdigestCommands = []Command{
	{
		Name: "TDIGEST.CREATE", Group: "module", Since: "2.4.0", Arity: -2, Flags: Write | DenyOOM | Module, Categories: sketchFast("tdigest"),
		Traits:  AnswersOK,
		Summary: "Creates an empty t-digest",
		Syntax:  "key [COMPRESSION compression]", Keys: []KeySpec{oneKey(RW, 1)},
	},
	{
		Name: "TDIGEST.RESET", Group: "module", Since: "2.4.0", Arity: 2, Flags: Write | DenyOOM | Module, Categories: sketchFast("tdigest"),
		Traits:  AnswersOK,
		Summary: "Removes all observations of a t-digest",
		Syntax:  "key", Keys: []KeySpec{oneKey(RW, 1)},
	},
	{
		Name: "TDIGEST.ADD", Group: "module", Since: "2.4.0", Arity: -3, Flags: Write | DenyOOM | Module, Categories: []string{"tdigest"},
		Traits:  AnswersOK,
		Summary: "Adds observations to a t-digest",
		Syntax:  "key value [value ...]", Keys: []KeySpec{oneKey(RW, 1)},
	},
	{
		Name: "TDIGEST.MERGE", Group: "module", Since: "2.4.0", Arity: -4, Flags: Write | DenyOOM | Module | MovableKeys, Categories: []string{"tdigest"},
		Traits:  AnswersOK,
		Summary: "Merges t-digests into one",
		Syntax:  "destination-key numkeys source-key [source-key ...] [COMPRESSION compression] [OVERRIDE]", Keys: []KeySpec{oneKey(RW, 1), numKeys(RO, 2)},
	},
	{
		Name: "TDIGEST.MIN", Group: "module", Since: "2.4.0", Arity: 2, Flags: ReadOnly | Module, Categories: sketchFast("tdigest"),
		Replies: aDouble,
		Summary: "Returns the least observation of a t-digest",
		Syntax:  "key", Keys: []KeySpec{oneKey(RO, 1)},
	},
	{
		Name: "TDIGEST.MAX", Group: "module", Since: "2.4.0", Arity: 2, Flags: ReadOnly | Module, Categories: sketchFast("tdigest"),
		Replies: aDouble,
		Summary: "Returns the greatest observation of a t-digest",
		Syntax:  "key", Keys: []KeySpec{oneKey(RO, 1)},
	},
	{
		Name: "TDIGEST.QUANTILE", Group: "module", Since: "2.4.0", Arity: -3, Flags: ReadOnly | Module, Categories: sketchFast("tdigest"),
		Replies: someDoubles,
		Summary: "Estimates the values at quantiles",
		Syntax:  "key quantile [quantile ...]", Keys: []KeySpec{oneKey(RO, 1)},
	},
	{
		Name: "TDIGEST.CDF", Group: "module", Since: "2.4.0", Arity: -3, Flags: ReadOnly | Module, Categories: sketchFast("tdigest"),
		Replies: someDoubles,
		Summary: "Estimates the fractions of observations up to values",
		Syntax:  "key value [value ...]", Keys: []KeySpec{oneKey(RO, 1)},
	},
	{
		Name: "TDIGEST.TRIMMED_MEAN", Group: "module", Since: "2.4.0", Arity: 4, Flags: ReadOnly | Module, Categories: []string{"tdigest"},
		Replies: aDouble,
		Summary: "Estimates the mean of the observations between two quantiles",
		Syntax:  "key low_cut_quantile high_cut_quantile", Keys: []KeySpec{oneKey(RO, 1)},
	},
	{
		Name: "TDIGEST.RANK", Group: "module", Since: "2.4.0", Arity: -3, Flags: ReadOnly | Module, Categories: sketchFast("tdigest"),
		Summary: "Estimates the numbers of observations below values",
		Syntax:  "key value [value ...]", Keys: []KeySpec{oneKey(RO, 1)},
	},
	{
		Name: "TDIGEST.REVRANK", Group: "module", Since: "2.4.0", Arity: -3, Flags: ReadOnly | Module, Categories: sketchFast("tdigest"),
		Summary: "Estimates the numbers of observations above values",
		Syntax:  "key value [value ...]", Keys: []KeySpec{oneKey(RO, 1)},
	},
	{
		Name: "TDIGEST.BYRANK", Group: "module", Since: "2.4.0", Arity: -3, Flags: ReadOnly | Module, Categories: sketchFast("tdigest"),
		Replies: someDoubles,
		Summary: "Estimates the values at ranks from the least",
		Syntax:  "key rank [rank ...]", Keys: []KeySpec{oneKey(RO, 1)},
	},
	{
		Name: "TDIGEST.BYREVRANK", Group: "module", Since: "2.4.0", Arity: -3, Flags: ReadOnly | Module, Categories: sketchFast("tdigest"),
		Replies: someDoubles,
		Summary: "Estimates the values at ranks from the greatest",
		Syntax:  "key reverse_rank [reverse_rank ...]", Keys: []KeySpec{oneKey(RO, 1)},
	},
	{
		Name: "TDIGEST.INFO", Group: "module", Since: "2.4.0", Arity: 2, Flags: ReadOnly | Module, Categories: sketchFast("tdigest"), Tips: dontCache,
		Replies: properties,
		Summary: "Describes a t-digest",
		Syntax:  "key", Keys: []KeySpec{oneKey(RO, 1)},
	},
}
