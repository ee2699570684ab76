package commands

// The commands that may wait for an element. In transactions and scripts they do not wait:
// without an element they reply nil.
var blockingCommands = []Command{
	{
		Name: "BLPOP", Group: "list", Since: "2.0.0", Arity: -3, Flags: Write | Blocking,
		Traits:  NeedsConnection,
		Summary: "Removes and returns the first element of the first list that has one",
		Syntax:  "key [key ...] timeout", Keys: []KeySpec{keysFrom(RW|Returns|Deletes, 1, -2, 1)},
	},
	{
		Name: "BRPOP", Group: "list", Since: "2.0.0", Arity: -3, Flags: Write | Blocking,
		Traits:  NeedsConnection,
		Summary: "Removes and returns the last element of the first list that has one",
		Syntax:  "key [key ...] timeout", Keys: []KeySpec{keysFrom(RW|Returns|Deletes, 1, -2, 1)},
	},
	{
		Name: "BLMPOP", Group: "list", Since: "7.0.0", Arity: -5, Flags: Write | Blocking | MovableKeys,
		Traits:  NeedsConnection,
		Summary: "Removes and returns elements of the first list that has any",
		Syntax:  "timeout numkeys key [key ...] <LEFT|RIGHT> [COUNT count]",
		Keys:    []KeySpec{numKeys(RW|Returns|Deletes, 2)},
	},
	{
		Name: "BLMOVE", Group: "list", Since: "6.2.0", Arity: 6, Flags: Write | DenyOOM | Blocking,
		Traits:  NeedsConnection,
		Summary: "Moves an element from an end of a list to an end of another",
		Syntax:  "source destination <LEFT|RIGHT> <LEFT|RIGHT> timeout",
		Keys:    []KeySpec{oneKey(RW|Returns|Deletes, 1), oneKey(RW|Inserts, 2)},
	},
	{
		Name: "BLMOVEM", Group: "list", Since: "8.10.0", Arity: -6, Flags: Write | DenyOOM | Blocking,
		Traits:  NeedsConnection,
		Summary: "Moves elements from an end of a list to an end of another",
		Syntax:  "source destination <LEFT|RIGHT> <LEFT|RIGHT> timeout [<COUNT count|EXACTLY exactly> <OBO|BULK>]",
		Keys:    []KeySpec{oneKey(RW|Returns|Deletes, 1), oneKey(RW|Inserts, 2)},
	},
	{
		Name: "BRPOPLPUSH", Group: "list", Since: "2.2.0", Arity: 4, Flags: Write | DenyOOM | Blocking,
		Traits:  NeedsConnection,
		Summary: "Moves the last element of a list to the front of another",
		Syntax:  "source destination timeout",
		Keys:    []KeySpec{oneKey(RW|Returns|Deletes, 1), oneKey(RW|Inserts, 2)},
	},
	{
		Name: "BZPOPMIN", Group: "sorted-set", Since: "5.0.0", Arity: -3, Flags: Write | Blocking | Fast,
		Replies: rank,
		Traits:  NeedsConnection,
		Summary: "Removes and returns the member with the lowest score of the first sorted set that has one",
		Syntax:  "key [key ...] timeout", Keys: []KeySpec{keysFrom(RW|Returns|Deletes, 1, -2, 1)},
	},
	{
		Name: "BZPOPMAX", Group: "sorted-set", Since: "5.0.0", Arity: -3, Flags: Write | Blocking | Fast,
		Replies: rank,
		Traits:  NeedsConnection,
		Summary: "Removes and returns the member with the highest score of the first sorted set that has one",
		Syntax:  "key [key ...] timeout", Keys: []KeySpec{keysFrom(RW|Returns|Deletes, 1, -2, 1)},
	},
	{
		Name: "BZMPOP", Group: "sorted-set", Since: "7.0.0", Arity: -5, Flags: Write | Blocking | MovableKeys,
		Replies: poppedFrom,
		Traits:  NeedsConnection,
		Summary: "Removes and returns members of the first sorted set that has any",
		Syntax:  "timeout numkeys key [key ...] <MIN|MAX> [COUNT count]",
		Keys:    []KeySpec{numKeys(RW|Returns|Deletes, 2)},
	},
}
