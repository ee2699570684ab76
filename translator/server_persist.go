package translator

import (
	"github.com/meowdis/meowdis/resp"
)

// The commands that save, and what stands around them: every commit is in the
// file already, so that they have nothing to do and say what Redis says.
var persistCommands = []Command{
	{
		Name: "SAVE", Group: "server", Since: "1.0.0", Arity: 1, Flags: Admin | NoScript | NoAsyncLoading | NoMulti,
		Summary: "Answers OK: every change is in the file already", Translate: func(*Call) Plan { return answer(resp.OK) },
	},
	{
		Name: "BGSAVE", Group: "server", Since: "1.0.0", Arity: -1, Flags: Admin | NoScript | NoAsyncLoading,
		Summary: "Answers as if it saved: every change is in the file already",
		Syntax:  "[SCHEDULE]", Translate: bgsave,
	},
	{
		Name: "BGREWRITEAOF", Group: "server", Since: "1.0.0", Arity: 1, Flags: Admin | NoScript | NoAsyncLoading,
		Summary:   "Answers as if it rewrote a log, of which there is none",
		Translate: func(*Call) Plan { return answer(resp.MakeStatus("Background append only file rewriting started")) },
	},
	{
		Name: "LASTSAVE", Group: "server", Since: "1.0.0", Arity: 1, Flags: Loading | Stale | Fast,
		Summary:    "Returns the Unix time in seconds: everything is saved now",
		Categories: []string{"admin", "dangerous"}, Tips: []string{"nondeterministic_output"},
		Translate: func(c *Call) Plan { return answer(resp.MakeInt(c.Env.Now / 1000)) },
	},
	{
		Name: "ROLE", Group: "server", Since: "2.8.12", Arity: 1, Flags: NoScript | Loading | Stale | Fast,
		Summary:    "Answers that this is a master without replicas",
		Categories: []string{"admin", "dangerous"},
		Translate: func(*Call) Plan {
			return answer(resp.MakeArray(resp.MakeString("master"), resp.Zero, resp.EmptyArray))
		},
	},
}

func bgsave(c *Call) Plan {
	if len(c.Args) > 2 || len(c.Args) == 2 && !c.is(1, "SCHEDULE") {
		return fail(errSyntax)
	}
	return answer(resp.MakeStatus("Background saving started"))
}
