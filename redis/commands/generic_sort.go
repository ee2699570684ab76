package commands

var sortCategories = []string{"set", "sortedset", "list", "dangerous"}

var sortCommands = []Command{
	{
		Name: "SORT", Group: "generic", Since: "1.0.0", Arity: -2, Flags: Write | DenyOOM | MovableKeys,
		Summary: "Sorts the elements of a list, a set or a sorted set, by value or by keys named after them",
		Syntax:  "key [BY pattern] [LIMIT offset count] [GET pattern [GET pattern ...]] [ASC|DESC] [ALPHA] [STORE destination]",
		Keys:    []KeySpec{oneKey(RO, 1), {Access: RO, Unknown: true}, {Access: OW, Unknown: true}}, FindKeys: sortKeys, Categories: sortCategories,
	},
	{
		Name: "SORT_RO", Group: "generic", Since: "7.0.0", Arity: -2, Flags: ReadOnly | MovableKeys,
		Summary: "Sorts like SORT, without storing the result",
		Syntax:  "key [BY pattern] [LIMIT offset count] [GET pattern [GET pattern ...]] [ASC|DESC] [ALPHA]",
		Keys:    []KeySpec{oneKey(RO, 1), {Access: RO, Unknown: true}}, Categories: sortCategories,
	},
}

// sortKeys finds the key of SORT and the key of its last STORE. It skips the arguments of the
// other options, and ignores errors.
func sortKeys(args [][]byte) []KeyRef {
	refs := []KeyRef{{Pos: 1, Access: RO}}
	for i := 2; i < len(args); i++ {
		switch {
		case Is(args[i], "LIMIT"):
			i += 2
		case Is(args[i], "GET"), Is(args[i], "BY"):
			i++
		case Is(args[i], "STORE") && i+1 < len(args):
			refs = append(refs[:1], KeyRef{Pos: i + 1, Access: OW})
		}
	}
	return refs
}
