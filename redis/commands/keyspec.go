package commands

import (
	"bytes"
	"slices"
	"strconv"
)

// Access describes the use of a key by a command: one of Redis's two-letter flags, or'ed with
// the effect on the user's data. The default effects are RO Returns, RW and OW Updates, RM
// Deletes.
type Access uint16

const (
	RO Access = iota + 1 // reads the value or its metadata
	RW                   // reads and modifies it
	OW                   // overwrites it
	RM                   // deletes it

	letters Access = 7
)

const (
	Returns    Access = 8 << iota // returns, copies or uses the data: Redis's ACCESS
	Updates                       // changes data
	Inserts                       // only adds data
	Deletes                       // only removes data
	Metadata                      // none of these, as in EXISTS
	Varies                        // one of these, depending on the arguments
	NotKey                        // not a key, but routed like one in a cluster: a shard channel
	Incomplete                    // the words alone do not determine the keys, e.g. with two STORE: see FindKeys
)

// defaultAccess maps the letters to the access with their default effect.
var defaultAccess = map[Access]Access{RO: RO | Returns, RW: RW | Updates, OW: OW | Updates, RM: RM | Deletes}

// Names returns the flags as in COMMAND, "RO" first.
func (a Access) Names() []string {
	switch {
	case a == NotKey:
		return []string{"not_key"}
	case a&^letters == 0:
		a = defaultAccess[a]
	}
	names := []string{[]string{"", "RO", "RW", "OW", "RM"}[a&letters]}
	for i, name := range []string{"access", "update", "insert", "delete", "", "variable_flags"} {
		if name != "" && a&(Returns<<i) != 0 {
			names = append(names, name)
		}
	}
	if a&Incomplete != 0 {
		names = append(names, "incomplete")
	}
	return names
}

// Needs reports whether a client must have the right to read and to write the key. Metadata
// alone needs neither.
func (a Access) Needs() (read, write bool) {
	if a&^letters == 0 {
		a = defaultAccess[a]
	}
	return a&Returns != 0, a&(Updates|Inserts|Deletes) != 0
}

// OnlyReads reports whether the key is unchanged.
func (a Access) OnlyReads() bool { return a&letters == RO }

// KeySpec locates a command's keys. The keys begin at argument Index, or after the word
// Keyword. They are either a range up to Last (relative to the first; negative counts from the
// end of the call) in steps of Step, or, with KeyNum, their number is the argument at the
// beginning. See https://redis.io/docs/latest/develop/reference/key-specs/.
type KeySpec struct {
	Access  Access
	Index   int
	Keyword string // searched from Index on; a negative Index searches backwards
	Last    int
	Step    int
	Limit   int // with Last -1: the range ends after 1/Limit of the arguments
	KeyNum  bool
	Unknown bool // the words alone do not determine the keys (SORT … STORE)
}

// oneKey describes a single key at position i.
func oneKey(a Access, i int) KeySpec { return KeySpec{Access: a, Index: i, Step: 1} }

// keysFrom describes keys from position i to last, counted from the end if negative, every
// step words.
func keysFrom(a Access, i, last, step int) KeySpec {
	return KeySpec{Access: a, Index: i, Last: last, Step: step}
}

// numKeys describes "numkeys key [key …]" with numkeys at position i.
func numKeys(a Access, i int) KeySpec { return KeySpec{Access: a, Index: i, Step: 1, KeyNum: true} }

// KeyRef is one key of a call.
type KeyRef struct {
	Pos    int // position in the call's words
	Access Access
}

// firstKey returns the key at position 1, if the call has one.
func firstKey(args [][]byte, a Access) []KeyRef {
	if len(args) < 2 {
		return nil
	}
	return []KeyRef{{Pos: 1, Access: a}}
}

// KeysOf finds the keys of a call of c. For a malformed call it returns the keys that can be
// found.
func (c *Command) KeysOf(args [][]byte) []KeyRef {
	if c.FindKeys != nil {
		return c.FindKeys(args)
	}
	return c.bySpecs(args)
}

// KeysSoFar finds the keys of a call of c that is still being typed.
func (c *Command) KeysSoFar(args [][]byte) []KeyRef {
	if refs := c.KeysOf(args); len(refs) > 0 {
		return refs
	}
	return c.bySpecs(args)
}

func (c *Command) bySpecs(args [][]byte) (refs []KeyRef) {
	for _, spec := range c.Keys {
		refs, _ = spec.find(refs, args)
	}
	return refs
}

// KeyNames returns the names of the keys of a call of c, or nil without keys. The result may
// share memory with args.
func (c *Command) KeyNames(args [][]byte) [][]byte {
	if len(c.Keys) == 1 {
		if first, last, ok := c.Keys[0].run(len(args)); ok {
			return strided(c.Keys[0].Step, args[first:last+1:last+1])
		}
	}
	var names [][]byte
	for _, ref := range c.KeysOf(args) {
		names = append(names, args[ref.Pos])
	}
	return names
}

// strided returns every step-th element of args.
func strided(step int, args [][]byte) [][]byte {
	if step == 1 {
		return args
	}
	some := make([][]byte, 0, len(args)/step+1)
	for i := 0; i < len(args); i += step {
		some = append(some, args[i])
	}
	return some
}

// run returns the positions of a spec's keys in n arguments. ok is false if they are not a
// range.
func (s KeySpec) run(n int) (first, last int, ok bool) {
	first, last = s.Index, s.Index+s.Last
	if s.Last < 0 {
		last = n + s.Last
	}
	return first, last, s.Keyword == "" && !s.KeyNum && !s.Unknown && s.Access != NotKey && s.Step > 0 && s.Limit <= 1 && first <= last && last < n
}

// WellFormed reports whether args contain all keys of the specs.
func (c *Command) WellFormed(args [][]byte) bool {
	if c.FindKeys != nil {
		return len(c.FindKeys(args)) > 0
	}
	return !slices.ContainsFunc(c.Keys, func(s KeySpec) bool {
		_, whole := s.find(nil, args)
		return !whole
	})
}

// find appends the keys of a spec. whole is false if words are missing or the number of keys
// is invalid.
func (s KeySpec) find(refs []KeyRef, args [][]byte) (_ []KeyRef, whole bool) {
	first := s.begin(args)
	if s.Unknown || s.Access == NotKey || first <= 0 {
		return refs, true
	}
	if first >= len(args) {
		return refs, s.Keyword != "" && s.Last == 0 // the call ends with a keyword and has no key
	}
	last := first + s.Last
	switch {
	case s.KeyNum:
		n := leadingInt(args[first])
		if n <= 0 {
			return refs, false
		}
		first++
		last = first + (int(n)-1)*s.Step
	case s.Last < 0 && s.Limit > 1:
		last = first + (len(args)-first)/s.Limit + s.Last
	case s.Last < 0:
		last = len(args) + s.Last
	}
	for i := first; i <= last && i < len(args); i += s.Step {
		refs = append(refs, KeyRef{Pos: i, Access: s.Access})
	}
	return refs, first <= last && last < len(args)
}

// leadingInt returns the number that an argument begins with, or 0. As Redis does in a number of keys,
// it skips spaces, ignores the rest and keeps 32 bits.
func leadingInt(arg []byte) int32 {
	arg = bytes.TrimLeft(arg, " \t\n\v\f\r")
	end := 0
	for end < len(arg) && ('0' <= arg[end] && arg[end] <= '9' || end == 0 && (arg[0] == '-' || arg[0] == '+')) {
		end++
	}
	n, _ := strconv.ParseInt(string(arg[:end]), 10, 64) // beyond 64 bits, the limit
	return int32(n)
}

func (s KeySpec) begin(args [][]byte) int {
	if s.Keyword == "" {
		return s.Index
	}
	if s.Index < 0 {
		for i := len(args) + s.Index; i > 0; i-- {
			if Is(args[i], s.Keyword) {
				return i + 1
			}
		}
		return 0
	}
	for i := s.Index; i < len(args); i++ {
		if Is(args[i], s.Keyword) {
			return i + 1
		}
	}
	return 0
}
