//go:build wasip1

package translator

import (
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
)

// hasSearch is unset in the Worker, whose program may have 3 MB: search would add 0.4 MB.
const hasSearch = false

var searchTranslations translations

// IndexSlice plans nothing: the program cannot create indexes.
func IndexSlice(int64, int, *store.Work) Plan { return answer(resp.Zero) }
