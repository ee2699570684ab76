package translator

import (
	"github.com/meowdis/meowdis/resp"
)

var persistTranslations = translations{
	"ROLE": func(*Call) Plan {
		return answer(resp.MakeArray(resp.MakeString("master"), resp.Zero, resp.EmptyArray))
	},
}
