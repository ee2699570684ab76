package commands

// What Redis answers that has no script and no function, which is so here: the
// commands with which tests and tools tidy up, and look.
var scriptingCommands = []Command{
	{
		Name: "EVAL", Group: "scripting", Since: "2.6.0", Arity: -3, Flags: NoScript | SkipMonitor | MovableKeys | NoMandatoryKeys | Stale,
		Traits: Scripts | Replicates, Replies: asScripts,
		Summary: "Runs a Lua script in a transaction",
		Syntax:  "script numkeys [key [key ...]] [arg [arg ...]]",
		Keys:    []KeySpec{numKeys(RW|Returns|Updates, 2)},
	},
	{
		Name: "EVALSHA", Group: "scripting", Since: "2.6.0", Arity: -3, Flags: NoScript | SkipMonitor | MovableKeys | NoMandatoryKeys | Stale,
		Traits: Scripts | Replicates, Replies: asScripts,
		Summary: "Runs a Lua script that the server has seen, by its SHA1, in a transaction",
		Syntax:  "sha1 numkeys [key [key ...]] [arg [arg ...]]",
		Keys:    []KeySpec{numKeys(RW|Returns|Updates, 2)},
	},
	{
		Name: "EVALSHA_RO", Group: "scripting", Since: "7.0.0", Arity: -3, Flags: ReadOnly | NoScript | SkipMonitor | MovableKeys | NoMandatoryKeys | Stale,
		Traits: Looks, Replies: asScripts,
		Summary: "Runs a Lua script that the server has seen, by its SHA1, and that only reads",
		Syntax:  "sha1 numkeys [key [key ...]] [arg [arg ...]]",
		Keys:    []KeySpec{numKeys(RO|Returns, 2)},
	},
	{
		Name: "EVAL_RO", Group: "scripting", Since: "7.0.0", Arity: -3, Flags: ReadOnly | NoScript | SkipMonitor | MovableKeys | NoMandatoryKeys | Stale,
		Traits: Looks, Replies: asScripts,
		Summary: "Runs a Lua script that only reads",
		Syntax:  "script numkeys [key [key ...]] [arg [arg ...]]",
		Keys:    []KeySpec{numKeys(RO|Returns, 2)},
	},
	{
		Name: "FUNCTION", Group: "scripting", Since: "7.0.0", Arity: -2,
		Summary: "Holds the commands about functions, of which there are none",
	},
	{
		Name: "FUNCTION FLUSH", Group: "scripting", Since: "7.0.0", Arity: -2, Flags: Write | NoScript,
		Traits:  Dangerous | AnswersOK,
		Summary: "Answers OK: there are no functions",
		Syntax:  "[ASYNC|SYNC]",
		Tips:    []string{"request_policy:all_shards", "response_policy:all_succeeded"},
	},
	{
		Name: "FUNCTION HELP", Group: "scripting", Since: "7.0.0", Arity: 2, Flags: Loading | Stale,
		Traits:  Looks,
		Summary: "Lists the subcommands",
	},
	{
		Name: "FUNCTION KILL", Group: "scripting", Since: "7.0.0", Arity: 2, Flags: NoScript | AllowBusy,
		Summary: "Answers that no function is running",
		Tips:    []string{"request_policy:all_shards", "response_policy:one_succeeded"},
	},
	{
		Name: "FUNCTION LIST", Group: "scripting", Since: "7.0.0", Arity: -2, Flags: NoScript,
		Replies: someMaps,
		Traits:  Looks,
		Summary: "Answers an empty list: there are no functions",
		Syntax:  "[LIBRARYNAME library-name-pattern] [WITHCODE]",
		Tips:    []string{"nondeterministic_output_order"},
	},
	{
		Name: "FUNCTION STATS", Group: "scripting", Since: "7.0.0", Arity: 2, Flags: NoScript | AllowBusy,
		Replies: []Reply{{RESP3: &Shape{Form: ToMap, Named: map[string]*Shape{"engines": {Form: ToMap, Each: toMap}}}}},
		Traits:  Looks,
		Summary: "Answers that no function is running and that there are none",
		Tips:    []string{"nondeterministic_output", "request_policy:all_shards", "response_policy:special"},
	},
	{
		Name: "SCRIPT", Group: "scripting", Since: "2.6.0", Arity: -2,
		Summary: "Holds the commands about scripts",
	},
	{
		Name: "SCRIPT EXISTS", Group: "scripting", Since: "2.6.0", Arity: -3, Flags: NoScript,
		Traits:  Looks,
		Summary: "Answers for each digest whether the server knows its script: 1 or 0",
		Syntax:  "sha1 [sha1 ...]",
		Tips:    []string{"request_policy:all_shards", "response_policy:agg_logical_and"},
	},
	{
		Name: "SCRIPT FLUSH", Group: "scripting", Since: "2.6.0", Arity: -2, Flags: NoScript,
		Traits:  Dangerous | AnswersOK,
		Summary: "Forgets all scripts",
		Syntax:  "[ASYNC|SYNC]",
		Tips:    []string{"request_policy:all_nodes", "response_policy:all_succeeded"},
	},
	{
		Name: "SCRIPT HELP", Group: "scripting", Since: "5.0.0", Arity: 2, Flags: Loading | Stale,
		Traits:  Looks,
		Summary: "Lists the subcommands",
	},
	{
		Name: "SCRIPT LOAD", Group: "scripting", Since: "2.6.0", Arity: 3, Flags: NoScript | Stale,
		Summary: "Compiles a script for EVALSHA, and answers its SHA1",
		Syntax:  "script",
		Tips:    []string{"request_policy:all_nodes", "response_policy:all_succeeded"},
	},
	{
		Name: "SCRIPT KILL", Group: "scripting", Since: "2.6.0", Arity: 2, Flags: NoScript | AllowBusy,
		Summary: "Ends the scripts that run and have not written",
		Tips:    []string{"request_policy:all_shards", "response_policy:one_succeeded"},
	},
}
