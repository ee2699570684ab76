package follow

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"github.com/meowdis/meowdis/redis/commands"
)

// sortByKey sorts calls that run in one transaction of a file, so that neighbours in the file's index change together.
// The commands of one key keep their order, and no command passes one that may concern several keys.
func sortByKey(calls [][][]byte) {
	type keyed struct {
		key   []byte
		place int // in calls
		args  [][]byte
	}
	run := make([]keyed, 0, len(calls))
	end := func(i int) {
		slices.SortFunc(run, func(a, b keyed) int {
			return cmp.Or(bytes.Compare(a.key, b.key), cmp.Compare(a.place, b.place))
		})
		for j, k := range run {
			calls[i-len(run)+j] = k.args
		}
		run = run[:0]
	}
	for i, args := range calls {
		if key, ok := onlyKey(args); ok {
			run = append(run, keyed{key, i, args})
		} else {
			end(i)
		}
	}
	end(len(calls))
}

// onlyKey returns the key that a command changes, and false if the command may concern another key, too.
func onlyKey(args [][]byte) ([]byte, bool) {
	c := commands.Known(args)
	if c == nil || c.Flags&commands.Write == 0 || c.Name == "MOVE" || strings.HasPrefix(c.Name, "TS.") { // rules write other series
		return nil, false
	}
	keys := c.KeyNames(args)
	if len(keys) != 1 {
		return nil, false
	}
	return keys[0], true
}
