package commands

// The fieldsets of HIMPORT belong to the session. It runs everything except HIMPORT SET:
// redis.io/docs/latest/commands/himport.
var hashImportCommands = []Command{
	{
		Name: "HIMPORT", Group: "hash", Since: "8.10.0", Arity: -2,
		Summary: "Creates many hashes with the same fields",
	},
	{
		Name: "HIMPORT PREPARE", Group: "hash", Since: "8.10.0", Arity: -4, Flags: DenyOOM,
		Traits:  OfConnection,
		Summary: "Names a list of fields for the rest of the session",
		Syntax:  "fieldset-name field [field ...]",
	},
	{
		Name: "HIMPORT SET", Group: "hash", Since: "8.10.0", Arity: -5, Flags: Write | DenyOOM,
		Summary: "Creates or replaces a hash: a named list of fields with these values",
		Syntax:  "key fieldset-name value [value ...]", Keys: []KeySpec{oneKey(OW, 2)},
	},
	{
		Name: "HIMPORT DISCARD", Group: "hash", Since: "8.10.0", Arity: 3,
		Traits:  OfConnection,
		Summary: "Forgets a named list of fields",
		Syntax:  "fieldset-name",
	},
	{
		Name: "HIMPORT DISCARDALL", Group: "hash", Since: "8.10.0", Arity: 2,
		Traits:  OfConnection,
		Summary: "Forgets all named lists of fields",
	},
}
