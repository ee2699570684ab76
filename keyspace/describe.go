package keyspace

import (
	"context"
	"errors"
	"slices"
	"strconv"

	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store/keytype"
)

// Describe reads the metadata of the keys in two round trips, as the command that counts
// depends on the type. It omits missing keys and keys of a type other than the Lister's.
func (l *Lister) Describe(ctx context.Context, names [][]byte) ([]Key, error) {
	keys, err := l.DescribeAll(ctx, names)
	return l.matching(keys), err
}

// DescribeAll is like Describe, but returns a key for each name. A missing key has the type None.
func (l *Lister) DescribeAll(ctx context.Context, names [][]byte) ([]Key, error) {
	keys := newKeys(names)
	var heads, counts RoundTrip
	l.addHeads(&heads, keys, func() {})
	if err := heads.Run(ctx, l.Client); err != nil {
		return nil, err
	}
	l.addCounts(&counts, keys, func() {})
	return keys, counts.Run(ctx, l.Client)
}

// AddDescribe adds the calls of DescribeAll for keys of expected types, in one round trip. The Count of a
// key with another type is -1.
func (l *Lister) AddDescribe(t *RoundTrip, keys []Key) {
	for i := range keys {
		keys[i] = Key{Name: keys[i].Name, Type: keys[i].Type, TTL: -1, Count: -1, Bytes: -1}
	}
	l.addCounts(t, keys, func() {})
	l.addHeads(t, keys, func() {})
}

// newKeys returns keys with only their names set.
func newKeys(names [][]byte) []Key {
	keys := make([]Key, len(names))
	for i, name := range names {
		keys[i] = Key{Name: name, TTL: -1, Count: -1, Bytes: -1}
	}
	return keys
}

// matching removes missing keys and keys of a type other than the Lister's.
func (l *Lister) matching(keys []Key) []Key {
	return slices.DeleteFunc(keys, func(k Key) bool {
		return k.Err == nil && (k.Type == None || l.Type != "" && k.Type != l.Type)
	})
}

// None is the TYPE of a missing key.
const None = "none"

// expiry describes a command that returns a key's expiry in Unix ms, ms or s.
type expiry struct {
	name     string
	absolute bool
	unit     int64
}

// expiries lists the expiry commands, the most precise first.
var expiries = []expiry{{"PEXPIRETIME", true, 1}, {"PTTL", false, 1}, {"TTL", false, 1000}}

// expiry returns the best expiry command of the server, or one with an empty name.
func (l *Lister) expiry() expiry {
	for _, e := range expiries {
		if l.Detail&Expiries != 0 && (l.Absolute || !e.absolute) && !l.Lacks(e.name) {
			return e
		}
	}
	return expiry{}
}

// addHeads requests types, expiries and bytes of keys, then calls took.
func (l *Lister) addHeads(t *RoundTrip, keys []Key, took func()) {
	l.addTypes(t, keys)
	l.addExpiries(t, keys)
	l.addBytes(t, keys)
	t.Add(nil, func(context.Context, []resp.Value) error {
		took()
		return nil
	})
}

func (l *Lister) addTypes(t *RoundTrip, keys []Key) {
	if l.refusals().lacks("TYPE") {
		t.Add(nil, func(ctx context.Context, _ []resp.Value) error { return l.Probe(ctx, keys) })
		return
	}
	if v, forbidden := l.refusals().forbids("TYPE"); forbidden {
		for i := range keys {
			keys[i].Err = Refusal(v.Str)
		}
		return
	}
	t.Add(callEach(keys, "TYPE"), func(ctx context.Context, replies []resp.Value) error {
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

// callEach returns a call of the command for each key.
func callEach(keys []Key, words ...string) [][][]byte {
	shared, n := Call(words...), len(words)+1
	calls, args := make([][][]byte, len(keys)), make([][]byte, 0, len(keys)*n)
	for i := range keys {
		args = append(append(args, shared...), keys[i].Name)
		calls[i] = args[i*n : (i+1)*n : (i+1)*n]
	}
	return calls
}

// addExpiries retries with another command if the server refuses the first.
func (l *Lister) addExpiries(t *RoundTrip, keys []Key) {
	e := l.expiry()
	if e.name == "" {
		return
	}
	t.Add(callEach(keys, e.name), func(ctx context.Context, replies []resp.Value) error {
		for i, v := range replies {
			k := &keys[i]
			n, ok := Integer(v)
			switch {
			case Unknown(v):
				l.Lack(e.name)
				fallthrough
			case l.Lacks(e.name):
				var again RoundTrip
				l.addExpiries(&again, keys)
				return again.Run(ctx, l.Client)
			case v.IsError():
				k.NoExpiry = Refusal(v.Str)
			case ok:
				l.setExpiry(k, e, n)
			}
		}
		return nil
	})
}

func (l *Lister) setExpiry(k *Key, e expiry, n int64) {
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

// addBytes requests MEMORY USAGE if the server supports it.
func (l *Lister) addBytes(t *RoundTrip, keys []Key) {
	if l.Detail&Sizes == 0 || l.Bytes != nil || l.Lacks("MEMORY") {
		return
	}
	calls := callEach(keys, "MEMORY", "USAGE")
	for i := range calls {
		if l.Samples != 0 {
			calls[i] = append(calls[i], []byte("SAMPLES"), strconv.AppendInt(nil, max(l.Samples, 0), 10))
		}
	}
	t.Add(calls, func(_ context.Context, replies []resp.Value) error {
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

// addCounts requests the sizes of keys of known types, then calls took. It also measures bytes
// with l.Bytes.
func (l *Lister) addCounts(t *RoundTrip, keys []Key, took func()) {
	var calls [][][]byte
	var asked []*Key
	for i := range keys {
		k := &keys[i]
		if c := keytype.Of(k.Type).Count; l.Detail&Counts != 0 && c != "" && k.Err == nil && !l.Lacks(c) {
			calls, asked = append(calls, [][]byte{[]byte(c), k.Name}), append(asked, k)
		}
	}
	t.Add(calls, func(ctx context.Context, replies []resp.Value) error {
		for i, v := range replies {
			if n, ok := Integer(v); ok {
				asked[i].Count = n
			} else if Unknown(v) {
				l.Lack(string(calls[i][0]))
			} else if v.IsError() { // e.g. the key's type has changed
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

// errNoType reports a key of unknown type.
var errNoType = errors.New("its type is not known")

// Probe finds the types of keys where TYPE is refused. For every type that the server may have,
// it runs a command that fails on keys of other types, or reads the key.
func (l *Lister) Probe(ctx context.Context, keys []Key) error {
	var calls [][][]byte
	var asked []typeProbe
	for i := range keys {
		for _, t := range keytype.Types {
			call, reads := l.probe(t, keys[i].Name)
			if call != nil {
				calls, asked = append(calls, call), append(asked, typeProbe{i, t, reads})
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

// typeProbe holds a call that tests whether a key has a type. reads is set if its reply to a
// missing key is empty.
type typeProbe struct {
	key     int
	keyType *keytype.Type
	reads   bool
}

// probe returns the call that tests whether a key has the type, or nil if the server refuses
// all such calls.
func (l *Lister) probe(t *keytype.Type, key []byte) (call [][]byte, reads bool) {
	if prober := t.ProbeCommand(); prober != "" && !l.Lacks(prober) {
		return [][]byte{[]byte(prober), key}, false
	}
	if call := readProbe(t, key); !l.Lacks(string(call[0])) {
		return call, true
	}
	return nil, false
}

// settleProbes sets the types from the replies. A key that matches several types is missing, as
// is a key whose read returns nothing.
func settleProbes(keys []Key, asked []typeProbe, replies []resp.Value) error {
	for i := range keys {
		keys[i].Type, keys[i].Err = "", errNoType
	}
	closed := make([]resp.Value, len(keys))
	open := make([]bool, len(keys))
	for i, v := range replies {
		k := &keys[asked[i].key]
		switch empty := v.IsNull() || asked[i].reads && len(v.Elems) == 0 && asked[i].keyType.Form != keytype.Whole; {
		case Forbidden(v):
			closed[asked[i].key] = v
			continue
		case v.IsError():
		case empty || k.Type != "":
			k.Type, k.Err = None, nil
		default:
			k.Type, k.Err = asked[i].keyType.Name, nil
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

// readProbe returns a call that tests whether a key of the type exists, by reading its first
// element if that needs no cursor: servers without TYPE have no HSCAN.
func readProbe(t *keytype.Type, key []byte) [][]byte {
	if t.Form == keytype.Whole || t.Pages == keytype.ByCursor {
		return t.ReadAll(key)
	}
	return t.PageAt(key, "", 1)
}
