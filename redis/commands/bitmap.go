package commands

var bitmapCommands = []Command{
	{
		Name: "SETBIT", Group: "bitmap", Since: "2.2.0", Arity: 4, Flags: Write | DenyOOM,
		Summary: "Sets the bit at an offset and returns the old one",
		Syntax:  "key offset value", Keys: []KeySpec{oneKey(RW|Returns|Updates, 1)},
	},
	{
		Name: "GETBIT", Group: "bitmap", Since: "2.2.0", Arity: 3, Flags: ReadOnly | Fast,
		Summary: "Returns the bit at an offset, 0 beyond the end",
		Syntax:  "key offset", Keys: []KeySpec{oneKey(RO, 1)},
	},
	{
		Name: "BITCOUNT", Group: "bitmap", Since: "2.6.0", Arity: -2, Flags: ReadOnly,
		Summary: "Counts the bits that are set, in a range of bytes or bits",
		Syntax:  "key [start end [BYTE|BIT]]", Keys: []KeySpec{oneKey(RO, 1)},
	},
	{
		Name: "BITPOS", Group: "bitmap", Since: "2.8.7", Arity: -3, Flags: ReadOnly,
		Summary: "Finds the first bit that is 0, or 1, in a range of bytes or bits",
		Syntax:  "key bit [start [end [BYTE|BIT]]]", Keys: []KeySpec{oneKey(RO, 1)},
	},
	{
		Name: "BITOP", Group: "bitmap", Since: "2.6.0", Arity: -4, Flags: Write | DenyOOM,
		Summary: "Stores the bitwise combination of strings and returns its length",
		Syntax:  "<AND|OR|XOR|NOT|DIFF|DIFF1|ANDOR|ONE> destkey key [key ...]",
		Keys:    []KeySpec{oneKey(OW, 2), keysFrom(RO, 3, -1, 1)},
	},
	{
		Name: "BITFIELD", Group: "bitmap", Since: "3.2.0", Arity: -2, Flags: Write | DenyOOM,
		Summary: "Reads, sets and increments integers of any width inside a string",
		Syntax: "key [<GET encoding offset|[OVERFLOW <WRAP|SAT|FAIL>] <SET encoding offset value|INCRBY encoding offset increment>> " +
			"[<GET encoding offset|[OVERFLOW <WRAP|SAT|FAIL>] <SET encoding offset value|INCRBY encoding offset increment>> ...]]",
		Keys: []KeySpec{oneKey(RW|Returns|Updates|Varies, 1)}, FindKeys: bitfieldKeys,
	},
	{
		Name: "BITFIELD_RO", Group: "bitmap", Since: "6.0.0", Arity: -2, Flags: ReadOnly | Fast,
		Summary: "Reads integers of any width inside a string",
		Syntax:  "key [GET encoding offset [GET encoding offset ...]]",
		Keys:    []KeySpec{oneKey(RO, 1)},
	},
}

// bitfieldKeys returns the key of a BITFIELD call. It is only read if every operation is GET.
func bitfieldKeys(args [][]byte) []KeyRef {
	for i := 2; i < len(args); i++ {
		switch left := len(args) - i - 1; {
		case Is(args[i], "GET") && left >= 2:
			i += 2
		case Is(args[i], "OVERFLOW") && left >= 1:
			i++
		default:
			return firstKey(args, RW|Returns|Updates)
		}
	}
	return firstKey(args, RO)
}
