package translator

import (
	"github.com/meowdis/meowdis/commands"
	"github.com/meowdis/meowdis/resp"
)

var scriptingTranslations = translations{
	"FUNCTION FLUSH": functionFlush,
	"FUNCTION HELP":  help,
	"FUNCTION KILL":  nothingRuns,
	"FUNCTION LIST":  functionList,
	"FUNCTION STATS": functionStats,
	"SCRIPT HELP":    help,
}

func nothingRuns(*Call) Plan { return fail("NOTBUSY No scripts in execution right now.") }

// flushes reports whether the call has no words after its name, or one that says
// how to flush.
func (c *Call) flushes() bool {
	return len(c.Args) == 2 || len(c.Args) == 3 && (c.is(2, "ASYNC") || c.is(2, "SYNC"))
}

func functionFlush(c *Call) Plan {
	switch {
	case len(c.Args) > 3:
		return answer(commands.SubcommandSyntax(c.Args))
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
			return fail(commands.OneLine("ERR Unknown argument " + string(cString(c.Args[i]))))
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
