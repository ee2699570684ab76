//go:build !wasip1

package translator

import (
	"strconv"
	"strings"
	"sync"

	"github.com/meowdis/meowdis/store"
)

// AddedTogether is the number of plans that AddTogether takes. With the pages of more keys in random order, SQLite would
// write its journal of the statement to a file.
const AddedTogether = 16

// addedBytes limits the names and values of the strings that are added together.
const addedBytes = 16 << 10

// sqlAddStrings is sqlAddString for several strings, which have their arguments one after the other.
var sqlAddStrings = sync.OnceValue(func() string {
	b := new(strings.Builder)
	b.WriteString(insertString + `VALUES`)
	for i := range AddedTogether {
		if i > 0 {
			b.WriteByte(',')
		}
		for j, text := range strings.Split(`(?1, ?2, ?5, 'string', ?4, ?7, ?3, ?3, ?6)`, "?") {
			if j > 0 {
				n := int(text[0]-'0') + i*addStringArgs
				b.WriteString("?" + strconv.Itoa(n))
				text = text[1:]
			}
			b.WriteString(text)
		}
	}
	return b.String()
})

const addStringArgs = 7 // of sqlAddString

// AddTogether returns one batch that does the work of AddedTogether plans if each of them sets a small string and no key
// exists yet. If a key exists, or occurs twice, the batch is refused and the caller runs the plans one by one. ok is false
// for other plans.
func AddTogether(plans []Plan) (b store.Batch, ok bool) {
	if len(plans) != AddedTogether {
		return b, false
	}
	bytes := 0
	for i := range plans {
		if bytes += plans[i].addsString(); bytes > addedBytes {
			return b, false
		}
	}
	args := make([]store.Value, 0, AddedTogether*addStringArgs)
	keys := make([][]byte, 0, AddedTogether)
	for i := range plans {
		args = append(args, plans[i].Batch.Stmts[0].Args...)
		keys = append(keys, plans[i].Keys...)
	}
	return store.Batch{Stmts: []store.Stmt{{SQL: sqlAddStrings(), Args: args}}, Keys: keys}, true
}

// addsString returns the bytes of the string that the plan adds if its key is missing, or more than addedBytes for other
// plans. Its first statement has the arguments of sqlAddString.
func (p *Plan) addsString() int {
	s := p.Batch.Stmts
	switch {
	case len(s) == 2 && s[0].Supersedes == sqlSetAnyKey:
	case len(s) == 1 && s[0].SQL == sqlAddOrReplace:
	default:
		return addedBytes + 1
	}
	return len(s[0].Args[1].Bytes()) + len(s[0].Args[5].Bytes())
}
