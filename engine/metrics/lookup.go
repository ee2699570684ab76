package metrics

import (
	"bytes"

	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
)

// lookup names the way to count hits and misses from the reply of a command.
type lookup byte

const (
	looksNone  lookup = iota
	looksOne          // one lookup: a miss if the reply is empty
	looksEach         // one lookup per element
	looksTTL          // one lookup: a miss if the reply is -2
	looksCount        // one lookup per key: the reply is the number of hits
)

// lookups holds the lookup of each command, by its ID.
var lookups = func() []lookup {
	all := make([]lookup, len(commands.All()))
	for i, c := range commands.All() {
		if c.Flags&commands.ReadOnly != 0 && len(c.Keys) > 0 {
			all[i] = looksOne
		}
	}
	for name, how := range map[string]lookup{
		"MGET": looksEach, "TTL": looksTTL, "PTTL": looksTTL, "EXPIRETIME": looksTTL, "PEXPIRETIME": looksTTL,
		"GETEX": looksOne, "GETDEL": looksOne, "GETSET": looksOne, "EXISTS": looksCount, "TOUCH": looksCount,
		"EVAL_RO": looksNone, "EVALSHA_RO": looksNone, "FCALL_RO": looksNone,
		"MEMORY USAGE": looksNone, "SORT_RO": looksOne, "XREAD": looksOne,
	} {
		if c := commands.Lookup(name); c != nil {
			all[c.ID()] = how
		}
	}
	return all
}()

// countLookups returns how many keys a call found and did not find. It only has the reply: a nil, 0 or empty reply is
// a miss, even if only the field or member was missing.
func countLookups(c *commands.Command, words int, v *resp.Value) (hits, misses uint64) {
	found := false
	switch lookups[c.ID()] {
	case looksNone:
		return 0, 0
	case looksEach:
		for i := range v.Elems {
			if v.Elems[i].Kind != resp.Null {
				hits++
			}
		}
		return hits, uint64(len(v.Elems)) - hits
	case looksCount:
		return uint64(v.Int), uint64(int64(words) - 1 - v.Int)
	case looksTTL:
		found = v.Int != -2
	default:
		found = !isEmpty(v)
	}
	if found {
		return 1, 0
	}
	return 0, 1
}

func (t *Tally) addLookups(hits, misses uint64) {
	if t.parent != nil {
		t.parent.addLookups(hits, misses)
	}
	if hits > 0 {
		t.hits.Add(hits)
	}
	if misses > 0 {
		t.misses.Add(misses)
	}
}

func isEmpty(v *resp.Value) bool {
	switch v.Kind {
	case resp.Null, resp.NullArray:
		return true
	case resp.Int, resp.Bool:
		return v.Int == 0
	case resp.Status:
		return bytes.Equal(v.Str, []byte("none")) // the reply of TYPE
	case resp.Array, resp.Map, resp.PairMap, resp.Set, resp.Scored:
		return v.Len() == 0
	}
	return false
}

// Lookups returns the numbers of reads that found and did not find their key.
func (t *Tally) Lookups() (hits, misses uint64) { return t.hits.Load(), t.misses.Load() }
