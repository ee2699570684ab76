package commands

var jsonCommands = []Command{
	{
		Name: "JSON.SET", Group: "module", Since: "1.0.0", Arity: -4, Flags: Write | DenyOOM | Module,
		Traits:  AnswersOK,
		Summary: "Sets the values at a path of a document, or a whole document",
		Syntax:  "key path json [NX|XX] [FORMAT <STRING|JSON>]", Keys: []KeySpec{oneKey(RW, 1)},
	},
	{
		Name: "JSON.GET", Group: "module", Since: "1.0.0", Arity: -2, Flags: ReadOnly | Module,
		Summary: "Returns the values at one path or several as JSON",
		Syntax:  "key [INDENT indent] [NEWLINE newline] [SPACE space] [FORMAT <STRING|EXPAND1|EXPAND>] [path [path ...]]",
		Keys:    []KeySpec{oneKey(RO, 1)},
	},
	{
		Name: "JSON.MGET", Group: "module", Since: "1.0.0", Arity: -3, Flags: ReadOnly | Module,
		Summary: "Returns the values at a path of several documents, nil for a missing document",
		Syntax:  "key [key ...] path", Keys: []KeySpec{keysFrom(RO, 1, -2, 1)},
	},
	{
		Name: "JSON.MSET", Group: "module", Since: "2.6.0", Arity: -4, Flags: Write | DenyOOM | Module,
		Traits:  AnswersOK,
		Summary: "Sets the values at paths of several documents, all or none",
		Syntax:  "key path json [key path json ...]", Keys: []KeySpec{keysFrom(RW, 1, -1, 3)},
	},
	{
		Name: "JSON.MERGE", Group: "module", Since: "2.6.0", Arity: -4, Flags: Write | DenyOOM | Module,
		Traits:  AnswersOK,
		Summary: "Merges a value into the values at a path; null deletes a key",
		Syntax:  "key path json [FORMAT <STRING|JSON>]", Keys: []KeySpec{oneKey(RW, 1)},
	},
	{
		Name: "JSON.DEL", Group: "module", Since: "1.0.0", Arity: -2, Flags: Write | Module,
		Summary: "Deletes the values at a path and returns the number of deleted values",
		Syntax:  "key [path]", Keys: []KeySpec{oneKey(RW, 1)},
	},
	{
		Name: "JSON.FORGET", Group: "module", Since: "1.0.0", Arity: -2, Flags: Write | Module,
		Summary: "Deletes the values at a path, as JSON.DEL does",
		Syntax:  "key [path]", Keys: []KeySpec{oneKey(RW, 1)},
	},
	{
		Name: "JSON.CLEAR", Group: "module", Since: "2.0.0", Arity: -2, Flags: Write | Module,
		Summary: "Empties the arrays and objects at a path, sets its numbers to 0 and returns the number of changed values",
		Syntax:  "key [path]", Keys: []KeySpec{oneKey(RW, 1)},
	},
	{
		Name: "JSON.TOGGLE", Group: "module", Since: "2.0.0", Arity: 3, Flags: Write | Module,
		Summary: "Turns true into false and false into true",
		Syntax:  "key path", Keys: []KeySpec{oneKey(RW, 1)},
	},
	{
		Name: "JSON.NUMINCRBY", Group: "module", Since: "1.0.0", Arity: 4, Flags: Write | Module,
		Replies: numbers,
		Summary: "Adds a number to the numbers at a path",
		Syntax:  "key path number", Keys: []KeySpec{oneKey(RW, 1)},
	},
	{
		Name: "JSON.NUMMULTBY", Group: "module", Since: "1.0.0", Arity: 4, Flags: Write | Module,
		Replies: numbers,
		Summary: "Multiplies the numbers at a path by a number",
		Syntax:  "key path number", Keys: []KeySpec{oneKey(RW, 1)},
	},
	{
		Name: "JSON.NUMPOWBY", Group: "module", Since: "1.0.0", Arity: 4, Flags: Write | Module,
		Replies: numbers,
		Summary: "Raises the numbers at a path to a power",
		Syntax:  "key path number", Keys: []KeySpec{oneKey(RW, 1)},
	},
	{
		Name: "JSON.STRAPPEND", Group: "module", Since: "1.0.0", Arity: -3, Flags: Write | DenyOOM | Module,
		Summary: "Appends to the strings at a path and returns their lengths",
		Syntax:  "key [path] json-string", Keys: []KeySpec{oneKey(RW, 1)},
	},
	{
		Name: "JSON.STRLEN", Group: "module", Since: "1.0.0", Arity: -2, Flags: ReadOnly | Module,
		Summary: "Returns the lengths in bytes of the strings at a path",
		Syntax:  "key [path]", Keys: []KeySpec{oneKey(RO, 1)},
	},
	{
		Name: "JSON.ARRAPPEND", Group: "module", Since: "1.0.0", Arity: -4, Flags: Write | DenyOOM | Module,
		Summary: "Appends values to the arrays at a path and returns their lengths",
		Syntax:  "key path json [json ...]", Keys: []KeySpec{oneKey(RW, 1)},
	},
	{
		Name: "JSON.ARRINDEX", Group: "module", Since: "1.0.0", Arity: -4, Flags: ReadOnly | Module,
		Summary: "Returns the first index of a value in the arrays at a path, -1 if it is missing",
		Syntax:  "key path json-value [start [stop]]", Keys: []KeySpec{oneKey(RO, 1)},
	},
	{
		Name: "JSON.ARRINSERT", Group: "module", Since: "1.0.0", Arity: -5, Flags: Write | DenyOOM | Module,
		Summary: "Inserts values into the arrays at a path before an index and returns their lengths",
		Syntax:  "key path index json [json ...]", Keys: []KeySpec{oneKey(RW, 1)},
	},
	{
		Name: "JSON.ARRLEN", Group: "module", Since: "1.0.0", Arity: -2, Flags: ReadOnly | Module,
		Summary: "Returns the lengths of the arrays at a path",
		Syntax:  "key [path]", Keys: []KeySpec{oneKey(RO, 1)},
	},
	{
		Name: "JSON.ARRPOP", Group: "module", Since: "1.0.0", Arity: -2, Flags: Write | Module,
		Summary: "Removes one element from each of the arrays at a path and returns it",
		Syntax:  "key [FORMAT <STRINGS|EXPAND1|EXPAND>] [path [index]]", Keys: []KeySpec{oneKey(RW, 1)},
	},
	{
		Name: "JSON.ARRTRIM", Group: "module", Since: "1.0.0", Arity: 5, Flags: Write | Module,
		Summary: "Cuts the arrays at a path down to a range and returns their lengths",
		Syntax:  "key path start stop", Keys: []KeySpec{oneKey(RW, 1)},
	},
	{
		Name: "JSON.OBJKEYS", Group: "module", Since: "1.0.0", Arity: -2, Flags: ReadOnly | Module,
		Summary: "Returns the keys of the objects at a path",
		Syntax:  "key [path]", Keys: []KeySpec{oneKey(RO, 1)},
	},
	{
		Name: "JSON.OBJLEN", Group: "module", Since: "1.0.0", Arity: -2, Flags: ReadOnly | Module,
		Summary: "Returns the number of keys of the objects at a path",
		Syntax:  "key [path]", Keys: []KeySpec{oneKey(RO, 1)},
	},
	{
		Name: "JSON.TYPE", Group: "module", Since: "1.0.0", Arity: -2, Flags: ReadOnly | Module,
		Replies: jsonTypes,
		Summary: "Returns the JSON types of the values at a path",
		Syntax:  "key [path]", Keys: []KeySpec{oneKey(RO, 1)},
	},
	{
		Name: "JSON.RESP", Group: "module", Since: "1.0.0", Arity: -2, Flags: ReadOnly | Module,
		Summary: "Returns the values at a path as nested replies",
		Syntax:  "key [path]", Keys: []KeySpec{oneKey(RO, 1)},
	},
	{
		Name: "JSON.DEBUG", Group: "module", Since: "1.0.0", Arity: -2, Flags: ReadOnly | Module | MovableKeys,
		Summary: "Estimates the memory of the values at a path, in bytes",
		Syntax:  "<MEMORY|HELP> [key] [path]",
		Keys:    []KeySpec{{Access: RO, Keyword: "MEMORY", Index: 1, Step: 1}},
	},
}
