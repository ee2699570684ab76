package commands

import (
	"slices"
	"strconv"
)

// Access says what a command does with a key: one of Redis's pairs of letters,
// with what it does to the user's data or'ed to it. Without the latter it is the
// usual for the letters: RO Returns, RW and OW Updates, RM Deletes.
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
	Metadata                      // nothing of these, as EXISTS
	Varies                        // depends on the arguments which of these
	NotKey                        // a name beside the keys, which a cluster places as one: a shard channel
	Incomplete                    // the words alone do not tell, as of two STORE: see FindKeys
)

// usual is what the letters mean without more.
var usual = map[Access]Access{RO: RO | Returns, RW: RW | Updates, OW: OW | Updates, RM: RM | Deletes}

// Names lists the flags as COMMAND does, "RO" first.
func (a Access) Names() []string {
	switch {
	case a == NotKey:
		return []string{"not_key"}
	case a&^letters == 0:
		a = usual[a]
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

// Needs says what a client needs the right to do with the key. Metadata alone needs
// neither.
func (a Access) Needs() (read, write bool) {
	if a&^letters == 0 {
		a = usual[a]
	}
	return a&Returns != 0, a&(Updates|Inserts|Deletes) != 0
}

// OnlyReads reports whether the key stays as it is.
func (a Access) OnlyReads() bool { return a&letters == RO }

// KeySpec says where a command's keys are: begin at argument Index, or after
// the word Keyword; then either a range up to Last (relative to the first; negative
// counts from the end of the call) in steps of Step, or, when KeyNum is set, as
// many keys as the argument at the beginning says.
// See https://redis.io/docs/latest/develop/reference/key-specs/.
type KeySpec struct {
	Access  Access
	Index   int
	Keyword string // with Index as the place to start searching; negative searches backwards
	Last    int
	Step    int
	Limit   int // with Last -1: the range ends after 1/Limit of the arguments
	KeyNum  bool
	Unknown bool // keys that cannot be found from the words alone (SORT … STORE)
}

// oneKey is a single key at position i.
func oneKey(a Access, i int) KeySpec { return KeySpec{Access: a, Index: i, Step: 1} }

// keysFrom is a run of keys from position i to last, counted from the end when
// negative, every step words.
func keysFrom(a Access, i, last, step int) KeySpec {
	return KeySpec{Access: a, Index: i, Last: last, Step: step}
}

// numKeys is "numkeys key [key …]" with numkeys at position i.
func numKeys(a Access, i int) KeySpec { return KeySpec{Access: a, Index: i, Step: 1, KeyNum: true} }

// KeyRef is one key of a call.
type KeyRef struct {
	Pos    int // position in the call's words
	Access Access
}

// firstKey is the key at position 1, if the call has come that far.
func firstKey(args [][]byte, a Access) []KeyRef {
	if len(args) < 2 {
		return nil
	}
	return []KeyRef{{Pos: 1, Access: a}}
}

// KeysOf finds the keys of a call of c. Malformed calls give what can be found.
func (c *Command) KeysOf(args [][]byte) []KeyRef {
	if c.FindKeys != nil {
		return c.FindKeys(args)
	}
	return c.bySpecs(args)
}

// KeysSoFar finds the keys of a call of c that is being typed.
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

// KeyNames are the names of the keys of a call of c, and of one that has none those of
// any: nil. It is part of args where that is possible.
func (c *Command) KeyNames(args [][]byte) [][]byte {
	if len(c.Keys) == 1 {
		if first, last, ok := c.Keys[0].run(len(args)); ok {
			return every(c.Keys[0].Step, args[first:last+1:last+1])
		}
	}
	var names [][]byte
	for _, ref := range c.KeysOf(args) {
		names = append(names, args[ref.Pos])
	}
	return names
}

// every is every step-th of args.
func every(step int, args [][]byte) [][]byte {
	if step == 1 {
		return args
	}
	some := make([][]byte, 0, len(args)/step+1)
	for i := 0; i < len(args); i += step {
		some = append(some, args[i])
	}
	return some
}

// run is where the keys of a spec are in n arguments, if that is a range.
func (s KeySpec) run(n int) (first, last int, ok bool) {
	first, last = s.Index, s.Index+s.Last
	if s.Last < 0 {
		last = n + s.Last
	}
	return first, last, s.Keyword == "" && !s.KeyNum && !s.Unknown && s.Access != NotKey && s.Step > 0 && s.Limit <= 1 && first <= last && last < n
}

// WellFormed reports whether all the keys that the specs speak of are in args.
func (c *Command) WellFormed(args [][]byte) bool {
	if c.FindKeys != nil {
		return len(c.FindKeys(args)) > 0
	}
	return !slices.ContainsFunc(c.Keys, func(s KeySpec) bool {
		_, whole := s.find(nil, args)
		return !whole
	})
}

// find appends the keys of a spec. They are not whole when words are missing, or
// their number makes no sense.
func (s KeySpec) find(refs []KeyRef, args [][]byte) (_ []KeyRef, whole bool) {
	first := s.begin(args)
	if s.Unknown || s.Access == NotKey || first <= 0 {
		return refs, true
	}
	if first >= len(args) {
		return refs, s.Keyword != "" && s.Last == 0 // a keyword at the end has no key
	}
	last := first + s.Last
	switch {
	case s.KeyNum:
		n, err := strconv.Atoi(string(args[first]))
		if err != nil || n <= 0 {
			return refs, false
		}
		first++
		last = first + (n-1)*s.Step
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
