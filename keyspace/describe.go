package keyspace

import (
	"context"
	"errors"
	"slices"
	"strconv"

	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store/keytype"
)

// Describe finds out what the keys are, in two round trips: the command that counts
// depends on the type. Those that are gone, and those of another type than the Lister's,
// are left out.
func (l *Lister) Describe(ctx context.Context, names [][]byte) ([]Key, error) {
	keys, err := l.Look(ctx, names)
	return l.wanted(keys), err
}

// Look is Describe with a key for each name, which has the type None where there is none.
func (l *Lister) Look(ctx context.Context, names [][]byte) ([]Key, error) {
	keys := unknown(names)
	var heads, counts Trip
	l.askHeads(&heads, keys, func() {})
	if err := heads.Go(ctx, l.Client); err != nil {
		return nil, err
	}
	l.askCounts(&counts, keys, func() {})
	return keys, counts.Go(ctx, l.Client)
}

// Expect is Look in one round trip, for keys that are taken to have the types that are
// given. Of one that has another type, the Count is -1.
func (l *Lister) Expect(t *Trip, keys []Key) {
	for i := range keys {
		keys[i] = Key{Name: keys[i].Name, Type: keys[i].Type, TTL: -1, Count: -1, Bytes: -1}
	}
	l.askCounts(t, keys, func() {})
	l.askHeads(t, keys, func() {})
}

// unknown are keys of which the names are known.
func unknown(names [][]byte) []Key {
	keys := make([]Key, len(names))
	for i, name := range names {
		keys[i] = Key{Name: name, TTL: -1, Count: -1, Bytes: -1}
	}
	return keys
}

// wanted are the keys that are there and have the Lister's type.
func (l *Lister) wanted(keys []Key) []Key {
	return slices.DeleteFunc(keys, func(k Key) bool {
		return k.Err == nil && (k.Type == None || l.Type != "" && k.Type != l.Type)
	})
}

// None is the type of a key that is not there, as TYPE answers it.
const None = "none"

// expiry is a command that says when a key expires: in Unix ms, ms or s.
type expiry struct {
	name     string
	absolute bool
	unit     int64
}

// expiries are those commands, the most exact first.
var expiries = []expiry{{"PEXPIRETIME", true, 1}, {"PTTL", false, 1}, {"TTL", false, 1000}}

// expiry is the best command that the server has; one without a name where it has none.
func (l *Lister) expiry() expiry {
	for _, e := range expiries {
		if l.Detail&Expiries != 0 && (l.Absolute || !e.absolute) && !l.Lacks(e.name) {
			return e
		}
	}
	return expiry{}
}

// askHeads asks for types, expiries and bytes of keys, and calls took.
func (l *Lister) askHeads(t *Trip, keys []Key, took func()) {
	l.askTypes(t, keys)
	l.askExpiries(t, keys)
	l.askBytes(t, keys)
	t.Ask(nil, func(context.Context, []resp.Value) error {
		took()
		return nil
	})
}

func (l *Lister) askTypes(t *Trip, keys []Key) {
	if l.refusals().lacks("TYPE") {
		t.Ask(nil, func(ctx context.Context, _ []resp.Value) error { return l.Probe(ctx, keys) })
		return
	}
	if v, forbidden := l.refusals().forbids("TYPE"); forbidden {
		for i := range keys {
			keys[i].Err = Refusal(v.Str)
		}
		return
	}
	t.Ask(each(keys, "TYPE"), func(ctx context.Context, replies []resp.Value) error {
		for i, v := range replies {
			switch {
			case Unknown(v):
				l.Lack("TYPE")
				return l.Probe(ctx, keys)
			case v.IsError():
				keys[i].Err = Refusal(v.Str)
			default:
				keys[i].Type = string(Text(v))
			}
		}
		return nil
	})
}

// each is a call about each key.
func each(keys []Key, words ...string) [][][]byte {
	calls := make([][][]byte, len(keys))
	for i, k := range keys {
		calls[i] = append(Call(words...), k.Name)
	}
	return calls
}

// askExpiries makes further trips for commands that turn out to be refused.
func (l *Lister) askExpiries(t *Trip, keys []Key) {
	e := l.expiry()
	if e.name == "" {
		return
	}
	t.Ask(each(keys, e.name), func(ctx context.Context, replies []resp.Value) error {
		for i, v := range replies {
			k := &keys[i]
			n, ok := Integer(v)
			switch {
			case Unknown(v):
				l.Lack(e.name)
				fallthrough
			case l.Lacks(e.name):
				var again Trip
				l.askExpiries(&again, keys)
				return again.Go(ctx, l.Client)
			case v.IsError():
				k.NoExpiry = Refusal(v.Str)
			case ok:
				l.expires(k, e, n)
			}
		}
		return nil
	})
}

func (l *Lister) expires(k *Key, e expiry, n int64) {
	const missing = -2
	switch {
	case n == missing:
		k.Type, k.Err = None, nil
	case n < 0:
	case e.absolute:
		k.ExpiresAt = n
	default:
		k.TTL = n * e.unit
		k.ExpiresAt = l.now() + k.TTL
	}
}

// askBytes asks MEMORY USAGE, where the server measures keys.
func (l *Lister) askBytes(t *Trip, keys []Key) {
	if l.Detail&Sizes == 0 || l.Bytes != nil || l.Lacks("MEMORY") {
		return
	}
	calls := each(keys, "MEMORY", "USAGE")
	for i := range calls {
		if l.Samples != 0 {
			calls[i] = append(calls[i], []byte("SAMPLES"), strconv.AppendInt(nil, max(l.Samples, 0), 10))
		}
	}
	t.Ask(calls, func(_ context.Context, replies []resp.Value) error {
		for i, v := range replies {
			if n, ok := Integer(v); ok {
				keys[i].Bytes = n
			} else if Unknown(v) {
				l.Lack("MEMORY")
			}
		}
		return nil
	})
}

// askCounts asks how much is in keys whose types are known, where the server counts, and
// calls took. Bytes that no command measures are found then, too.
func (l *Lister) askCounts(t *Trip, keys []Key, took func()) {
	var calls [][][]byte
	var asked []*Key
	for i := range keys {
		k := &keys[i]
		if c := keytype.Of(k.Type).Count; l.Detail&Counts != 0 && c != "" && k.Err == nil && !l.Lacks(c) {
			calls, asked = append(calls, [][]byte{[]byte(c), k.Name}), append(asked, k)
		}
	}
	t.Ask(calls, func(ctx context.Context, replies []resp.Value) error {
		for i, v := range replies {
			if n, ok := Integer(v); ok {
				asked[i].Count = n
			} else if Unknown(v) {
				l.Lack(string(calls[i][0]))
			} else if v.IsError() { // as when the key has changed its type
				asked[i].NoCount = Refusal(v.Str)
			}
		}
		took()
		if l.Detail&Sizes == 0 || l.Bytes == nil || len(keys) == 0 {
			return nil
		}
		return l.Bytes(ctx, keys)
	})
}

// errNoType is why a key of a type that no command is known for cannot be described.
var errNoType = errors.New("its type is not known")

// Probe finds out the types of keys where TYPE is refused: of all types that the server
// may have, by the command that refuses keys of others, or else by reading.
func (l *Lister) Probe(ctx context.Context, keys []Key) error {
	var calls [][][]byte
	var asked []probing
	for i := range keys {
		for _, t := range keytype.Types {
			call, reads := l.probe(t, keys[i].Name)
			if call != nil {
				calls, asked = append(calls, call), append(asked, probing{i, t, reads})
			}
		}
	}
	if len(calls) == 0 {
		return settleProbes(keys, nil, nil)
	}
	replies, err := l.Client.Pipeline(ctx, calls)
	if err != nil {
		return err
	}
	again := false
	for i, v := range replies {
		if Unknown(v) {
			l.Lack(string(calls[i][0]))
			again = true
		}
	}
	if again {
		return l.Probe(ctx, keys)
	}
	return settleProbes(keys, asked, replies)
}

// probing is a call that asks whether key has a type; reads says what it answers where
// there is no key.
type probing struct {
	key   int
	typ   *keytype.Type
	reads bool
}

// probe is the call that shows whether a key has the type, nil where all that could be
// are refused.
func (l *Lister) probe(t *keytype.Type, key []byte) (call [][]byte, reads bool) {
	if prober := t.Prober(); prober != "" && !l.Lacks(prober) {
		return [][]byte{[]byte(prober), key}, false
	}
	if call := reading(t, key); !l.Lacks(string(call[0])) {
		return call, true
	}
	return nil, false
}

// settleProbes finds the types in the replies. A key that could have several is not there,
// nor is one of which a read finds nothing.
func settleProbes(keys []Key, asked []probing, replies []resp.Value) error {
	for i := range keys {
		keys[i].Type, keys[i].Err = "", errNoType
	}
	closed := make([]resp.Value, len(keys))
	open := make([]bool, len(keys))
	for i, v := range replies {
		k := &keys[asked[i].key]
		switch empty := v.IsNull() || asked[i].reads && len(v.Elems) == 0 && asked[i].typ.Form != keytype.Whole; {
		case Forbidden(v):
			closed[asked[i].key] = v
			continue
		case v.IsError():
		case empty || k.Type != "":
			k.Type, k.Err = None, nil
		default:
			k.Type, k.Err = asked[i].typ.Name, nil
		}
		open[asked[i].key] = true
	}
	for i := range keys {
		if closed[i].IsError() && !open[i] {
			keys[i].Err = Refusal(closed[i].Str)
		}
	}
	return nil
}

// reading is a call that shows whether a key of the type exists, by its
// first element where no cursor is needed for that: servers without TYPE have no
// HSCAN.
func reading(t *keytype.Type, key []byte) [][]byte {
	if t.Form == keytype.Whole || t.Pages == keytype.ByCursor {
		return t.ReadAll(key)
	}
	return t.PageAt(key, "", 1)
}
