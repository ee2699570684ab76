//go:build wasip1 && !search

package translator

import (
	"github.com/meowdis/meowdis/redis/rdb"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/store/keytype"
)

// hasSearch is unset in the Worker, whose program may have 3 MB: search adds 0.7 MB. The build tag search includes it.
const hasSearch = false

var searchTranslations translations

// CheckIndexes finds nothing.
func CheckIndexes(int64, func(name []byte, how string)) Plan { return answer(resp.OK) }

// IndexSlice plans nothing: the program cannot create indexes.
func IndexSlice(int64, int, *store.Work) Plan { return answer(resp.Zero) }

// A key with suggestions can be neither dumped nor restored.

const suggestionsType = keytype.Suggestions

type suggestionsValue struct{ *rdb.Module }

func (c *Call) dumpSuggestions() Plan {
	return fail("ERR cannot dump a value of type " + suggestionsType)
}

func dumpedSuggestions(*rdb.Module, *store.Work) rdb.Value { return nil }

func (c *Call) restoreSuggestions([]byte, *suggestionsValue) []store.Stmt { return nil }
