package translator

import "github.com/meowdis/meowdis/resp"

// What Redis answers that has no script and no function, which is so here: the
// commands with which tests and tools tidy up, and look.
var scriptingCommands = []Command{
	{
		Name: "FUNCTION", Group: "scripting", Since: "7.0.0", Arity: -2,
		Summary: "Holds the commands about functions, of which there are none",
	},
	{
		Name: "FUNCTION FLUSH", Group: "scripting", Since: "7.0.0", Arity: -2, Flags: Write | NoScript,
		Summary: "Answers OK: there are no functions",
		Syntax:  "[ASYNC|SYNC]", Translate: functionFlush,
		Tips: []string{"request_policy:all_shards", "response_policy:all_succeeded"},
	},
	{
		Name: "FUNCTION HELP", Group: "scripting", Since: "7.0.0", Arity: 2, Flags: Loading | Stale,
		Summary: "Lists the subcommands", Translate: help,
	},
	{
		Name: "FUNCTION KILL", Group: "scripting", Since: "7.0.0", Arity: 2, Flags: NoScript | AllowBusy,
		Summary: "Answers that no function is running", Translate: nothingRuns,
		Tips: []string{"request_policy:all_shards", "response_policy:one_succeeded"},
	},
	{
		Name: "FUNCTION LIST", Group: "scripting", Since: "7.0.0", Arity: -2, Flags: NoScript,
		Summary: "Answers an empty list: there are no functions",
		Syntax:  "[LIBRARYNAME library-name-pattern] [WITHCODE]", Translate: functionList,
		Tips: []string{"nondeterministic_output_order"},
	},
	{
		Name: "FUNCTION STATS", Group: "scripting", Since: "7.0.0", Arity: 2, Flags: NoScript | AllowBusy,
		Summary: "Answers that no function is running and that there are none", Translate: functionStats,
		Tips: []string{"nondeterministic_output", "request_policy:all_shards", "response_policy:special"},
	},
	{
		Name: "SCRIPT", Group: "scripting", Since: "2.6.0", Arity: -2,
		Summary: "Holds the commands about scripts, of which there are none",
	},
	{
		Name: "SCRIPT EXISTS", Group: "scripting", Since: "2.6.0", Arity: -3, Flags: NoScript,
		Summary: "Answers 0 for each digest: there are no scripts",
		Syntax:  "sha1 [sha1 ...]", Translate: scriptExists,
		Tips: []string{"request_policy:all_shards", "response_policy:agg_logical_and"},
	},
	{
		Name: "SCRIPT FLUSH", Group: "scripting", Since: "2.6.0", Arity: -2, Flags: NoScript,
		Summary: "Answers OK: there are no scripts",
		Syntax:  "[ASYNC|SYNC]", Translate: scriptFlush,
		Tips: []string{"request_policy:all_nodes", "response_policy:all_succeeded"},
	},
	{
		Name: "SCRIPT HELP", Group: "scripting", Since: "5.0.0", Arity: 2, Flags: Loading | Stale,
		Summary: "Lists the subcommands", Translate: help,
	},
	{
		Name: "SCRIPT KILL", Group: "scripting", Since: "2.6.0", Arity: 2, Flags: NoScript | AllowBusy,
		Summary: "Answers that no script is running", Translate: nothingRuns,
		Tips: []string{"request_policy:all_shards", "response_policy:one_succeeded"},
	},
}

func nothingRuns(*Call) Plan { return fail("NOTBUSY No scripts in execution right now.") }

// flushes tells whether the call has no words behind its name, or one that says
// how to flush.
func (c *Call) flushes() bool {
	return len(c.Args) == 2 || len(c.Args) == 3 && (c.is(2, "ASYNC") || c.is(2, "SYNC"))
}

func functionFlush(c *Call) Plan {
	switch {
	case len(c.Args) > 3:
		return fail(subcommandSyntax(c.Args))
	case !c.flushes():
		return fail("ERR FUNCTION FLUSH only supports SYNC|ASYNC option")
	}
	return answer(resp.OK)
}

func functionList(c *Call) Plan {
	withCode, named := false, false
	for i := 2; i < len(c.Args); i++ {
		switch {
		case !withCode && c.is(i, "WITHCODE"):
			withCode = true
		case !named && c.is(i, "LIBRARYNAME"):
			if i++; i == len(c.Args) {
				return fail("ERR library name argument was not given")
			}
			named = true
		default:
			return fail(oneLine("ERR Unknown argument " + string(cString(c.Args[i]))))
		}
	}
	return answer(resp.EmptyArray)
}

func functionStats(*Call) Plan {
	lua := resp.MakeMap(
		resp.MakeString("libraries_count"), resp.Zero,
		resp.MakeString("functions_count"), resp.Zero)
	return answer(resp.MakeMap(
		resp.MakeString("running_script"), resp.Nil,
		resp.MakeString("engines"), resp.MakeMap(resp.MakeString("LUA"), lua)))
}

func scriptExists(c *Call) Plan {
	v := resp.EmptyArray
	for range c.Args[2:] {
		v.Elems = append(v.Elems, resp.Zero)
	}
	return answer(v)
}

func scriptFlush(c *Call) Plan {
	if !c.flushes() {
		return fail("ERR SCRIPT FLUSH only support SYNC|ASYNC option")
	}
	return answer(resp.OK)
}
