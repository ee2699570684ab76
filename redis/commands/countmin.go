package commands

var countMinCommands = []Command{
	{
		Name: "CMS.INITBYDIM", Group: "module", Since: "2.0.0", Arity: 4, Flags: Write | DenyOOM | Module, Categories: sketchFast("cms"),
		Traits:  AnswersOK,
		Summary: "Creates a count-min sketch with a width and a depth",
		Syntax:  "key width depth", Keys: []KeySpec{oneKey(RW, 1)},
	},
	{
		Name: "CMS.INITBYPROB", Group: "module", Since: "2.0.0", Arity: 4, Flags: Write | DenyOOM | Module, Categories: sketchFast("cms"),
		Traits:  AnswersOK,
		Summary: "Creates a count-min sketch for an error rate and its probability",
		Syntax:  "key error probability", Keys: []KeySpec{oneKey(RW, 1)},
	},
	{
		Name: "CMS.INCRBY", Group: "module", Since: "2.0.0", Arity: -4, Flags: Write | DenyOOM | Module, Categories: []string{"cms"},
		Summary: "Adds to the counts of items and returns them",
		Syntax:  "key item increment [item increment ...]", Keys: []KeySpec{oneKey(RW, 1)},
	},
	{
		Name: "CMS.QUERY", Group: "module", Since: "2.0.0", Arity: -3, Flags: ReadOnly | Module, Categories: []string{"cms"},
		Summary: "Returns the counts of items",
		Syntax:  "key item [item ...]", Keys: []KeySpec{oneKey(RO, 1)},
	},
	{
		Name: "CMS.MERGE", Group: "module", Since: "2.0.0", Arity: -4, Flags: Write | DenyOOM | Module, Categories: []string{"cms"},
		Traits:  AnswersOK,
		Summary: "Replaces a count-min sketch by the weighted sum of its sources",
		Syntax:  "key numKeys source [source ...] [WEIGHTS weight [weight ...]]", Keys: []KeySpec{oneKey(RW, 1)}, FindKeys: countMinKeys,
	},
	{
		Name: "CMS.INFO", Group: "module", Since: "2.0.0", Arity: 2, Flags: ReadOnly | Module, Categories: sketchFast("cms"), Tips: dontCache,
		Replies: properties,
		Summary: "Returns the width, the depth and the total count of a count-min sketch",
		Syntax:  "key", Keys: []KeySpec{oneKey(RO, 1)},
	},
}

// countMinKeys finds the target and the sources of CMS.MERGE. Redis declares only the target.
func countMinKeys(args [][]byte) []KeyRef {
	refs, _ := numKeys(RO, 2).find(firstKey(args, RW), args)
	return refs
}
