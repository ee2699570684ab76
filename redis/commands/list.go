package commands

var listCommands = []Command{
	{
		Name: "LPUSH", Group: "list", Since: "1.0.0", Arity: -3, Flags: Write | DenyOOM | Fast,
		Summary: "Adds elements in front of a list, and creates it if missing",
		Syntax:  "key element [element ...]", Keys: []KeySpec{oneKey(RW|Inserts, 1)},
	},
	{
		Name: "RPUSH", Group: "list", Since: "1.0.0", Arity: -3, Flags: Write | DenyOOM | Fast,
		Summary: "Adds elements at the end of a list, and creates it if missing",
		Syntax:  "key element [element ...]", Keys: []KeySpec{oneKey(RW|Inserts, 1)},
	},
	{
		Name: "LPUSHX", Group: "list", Since: "2.2.0", Arity: -3, Flags: Write | DenyOOM | Fast,
		Summary: "Adds elements in front of a list that exists",
		Syntax:  "key element [element ...]", Keys: []KeySpec{oneKey(RW|Inserts, 1)},
	},
	{
		Name: "RPUSHX", Group: "list", Since: "2.2.0", Arity: -3, Flags: Write | DenyOOM | Fast,
		Summary: "Adds elements at the end of a list that exists",
		Syntax:  "key element [element ...]", Keys: []KeySpec{oneKey(RW|Inserts, 1)},
	},
	{
		Name: "LPOP", Group: "list", Since: "1.0.0", Arity: -2, Flags: Write | Fast,
		Summary: "Removes and returns the first elements of a list",
		Syntax:  "key [count]", Keys: []KeySpec{oneKey(RW|Returns|Deletes, 1)},
	},
	{
		Name: "RPOP", Group: "list", Since: "1.0.0", Arity: -2, Flags: Write | Fast,
		Summary: "Removes and returns the last elements of a list",
		Syntax:  "key [count]", Keys: []KeySpec{oneKey(RW|Returns|Deletes, 1)},
	},
	{
		Name: "LMPOP", Group: "list", Since: "7.0.0", Arity: -4, Flags: Write | MovableKeys,
		Summary: "Removes and returns elements of the first list that is not empty",
		Syntax:  "numkeys key [key ...] <LEFT|RIGHT> [COUNT count]",
		Keys:    []KeySpec{numKeys(RW|Returns|Deletes, 1)},
	},
	{
		Name: "LMOVE", Group: "list", Since: "6.2.0", Arity: 5, Flags: Write | DenyOOM,
		Summary: "Moves an element from one end of a list to an end of another or the same",
		Syntax:  "source destination <LEFT|RIGHT> <LEFT|RIGHT>",
		Keys:    []KeySpec{oneKey(RW|Returns|Deletes, 1), oneKey(RW|Inserts, 2)},
	},
	{
		Name: "LMOVEM", Group: "list", Since: "8.10.0", Arity: -5, Flags: Write | DenyOOM,
		Summary: "Moves elements from one end of a list to an end of another or the same",
		Syntax:  "source destination <LEFT|RIGHT> <LEFT|RIGHT> [<COUNT count|EXACTLY exactly> <OBO|BULK>]",
		Keys:    []KeySpec{oneKey(RW|Returns|Deletes, 1), oneKey(RW|Inserts, 2)},
	},
	{
		Name: "RPOPLPUSH", Group: "list", Since: "1.2.0", Arity: 3, Flags: Write | DenyOOM,
		Summary: "Moves the last element of a list to the front of another or the same",
		Syntax:  "source destination", Keys: []KeySpec{oneKey(RW|Returns|Deletes, 1), oneKey(RW|Inserts, 2)},
	},
	{
		Name: "LLEN", Group: "list", Since: "1.0.0", Arity: 2, Flags: ReadOnly | Fast,
		Summary: "Returns the number of elements of a list",
		Syntax:  "key", Keys: []KeySpec{oneKey(RO|Metadata, 1)},
	},
	{
		Name: "LINDEX", Group: "list", Since: "1.0.0", Arity: 3, Flags: ReadOnly,
		Summary: "Returns the element at an index, or nil",
		Syntax:  "key index", Keys: []KeySpec{oneKey(RO, 1)},
	},
	{
		Name: "LRANGE", Group: "list", Since: "1.0.0", Arity: 4, Flags: ReadOnly,
		Summary: "Returns the elements from one index to another",
		Syntax:  "key start stop", Keys: []KeySpec{oneKey(RO, 1)},
	},
	{
		Name: "LPOS", Group: "list", Since: "6.0.6", Arity: -3, Flags: ReadOnly,
		Summary: "Returns the indexes of an element",
		Syntax:  "key element [RANK rank] [COUNT num-matches] [MAXLEN len]",
		Keys:    []KeySpec{oneKey(RO, 1)},
	},
	{
		Name: "LSET", Group: "list", Since: "1.0.0", Arity: 4, Flags: Write | DenyOOM,
		Traits:  AnswersOK,
		Summary: "Replaces the element at an index",
		Syntax:  "key index element", Keys: []KeySpec{oneKey(RW, 1)},
	},
	{
		Name: "LINSERT", Group: "list", Since: "2.2.0", Arity: 5, Flags: Write | DenyOOM,
		Summary: "Inserts an element before or after the first occurrence of another",
		Syntax:  "key <BEFORE|AFTER> pivot element", Keys: []KeySpec{oneKey(RW|Inserts, 1)},
	},
	{
		Name: "LREM", Group: "list", Since: "1.0.0", Arity: 4, Flags: Write,
		Summary: "Removes occurrences of an element, from the front, the back or everywhere",
		Syntax:  "key count element", Keys: []KeySpec{oneKey(RW|Deletes, 1)},
	},
	{
		Name: "LTRIM", Group: "list", Since: "1.0.0", Arity: 4, Flags: Write,
		Traits:  AnswersOK,
		Summary: "Removes all elements outside a range of indexes",
		Syntax:  "key start stop", Keys: []KeySpec{oneKey(RW|Deletes, 1)},
	},
}
