package translator

import (
	"github.com/meowdis/meowdis/resp"
)

var persistTranslations = translations{
	"SAVE":         func(*Call) Plan { return answer(resp.OK) },
	"BGSAVE":       bgsave,
	"BGREWRITEAOF": func(*Call) Plan { return answer(resp.MakeStatus("Background append only file rewriting started")) },
	"LASTSAVE":     func(c *Call) Plan { return answer(resp.MakeInt(c.Env.Now / 1000)) },
	"ROLE": func(*Call) Plan {
		return answer(resp.MakeArray(resp.MakeString("master"), resp.Zero, resp.EmptyArray))
	},
}

func bgsave(c *Call) Plan {
	if len(c.Args) > 2 || len(c.Args) == 2 && !c.is(1, "SCHEDULE") {
		return fail(errSyntax)
	}
	return answer(resp.MakeStatus("Background saving started"))
}
