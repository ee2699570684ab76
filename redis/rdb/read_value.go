package rdb

import (
	"encoding/binary"
	"math"
	"slices"
	"strconv"
)

// pieces reads the next piece of a value, as large as the reader's room. last is true for the
// last piece.
type pieces func() (v Value, last bool)

// pieceLimit limits a piece: it ends with the element that exceeds a limit.
type pieceLimit struct{ elements, bytes int }

// pieceFull reports whether a piece with this number of elements ends.
func (r *reader) pieceFull(elements int) bool {
	return elements > 0 && (elements >= r.limit.elements || r.limit.bytes < 0)
}

// value reads a value in one piece.
func (r *reader) value(typ byte) Value {
	r.limit = pieceLimit{math.MaxInt, math.MaxInt}
	next, _ := r.open(typ)
	v, last := next()
	must(last && !isEmpty(v))
	return v
}

// isEmpty reports whether v is a collection without elements, which no key holds.
func isEmpty(v Value) bool {
	switch v.(type) {
	case String, *Stream:
		return false
	}
	return v.Len() == 0
}

// open opens a value. count is its number of elements, if the file has it before the value. A
// value stored as one string is one piece.
func (r *reader) open(typ byte) (next pieces, count int64) {
	switch typ {
	case typeString:
		return r.text()
	case typeQuicklist, typeQuicklist2:
		return r.quicklist(typ), 0
	case typeStream, typeStream2, typeStream3:
		return r.stream(typ), 0
	case typeList, typeSet, typeHash, typeZSet, typeZSet2, typeHashExpiry, typeHashExpiryEarly:
		return r.elements(typ)
	case typeModule: // in a payload; see File.module
		name, version := r.moduleType()
		if slices.Contains(moduleNames, name) {
			return func() (Value, bool) { return r.moduleValue(name, version), true }, 1
		}
		must(name == vectorSetModule && version == 0)
		next, count, ok := r.vectorSet()
		must(ok)
		return next, count
	}
	var v Value = List(nil) // for broken values
	decode := packedForm(typ)
	if decode == nil {
		failFormat() // a module's value, or a newer type
	}
	if typ == typeHashPackExpiry {
		r.uint64() // first expiry of all fields
	}
	b := r.string()
	r.attempt(func() { v = decode(b) })
	return once(v), int64(v.Len())
}

func once(v Value) pieces { return func() (Value, bool) { return v, true } }

// text reads a string. Its elements are bytes.
func (r *reader) text() (next pieces, count int64) {
	left, encoded := r.lengthOrEncoding()
	if encoded {
		s := String(r.encoded(left))
		return once(s), int64(len(s))
	}
	must(left <= maxString)
	return func() (Value, bool) {
		n := min(left, uint64(r.limit.bytes))
		left -= n
		return String(r.raw(n)), left == 0
	}, int64(left)
}

// packedForm returns the decoder of a type stored as one string, or nil for other types.
func packedForm(typ byte) func(b []byte) Value {
	switch typ {
	case typeListZiplist:
		return func(b []byte) Value { return List(ziplist(b)) }
	case typeSetIntset:
		return func(b []byte) Value { return asSet(intset(b)) }
	case typeSetListpack:
		return func(b []byte) Value { return asSet(listpack(b)) }
	case typeHashZipmap:
		return func(b []byte) Value { return asHash(zipmap(b)) }
	case typeHashZiplist:
		return func(b []byte) Value { return asHash(ziplist(b)) }
	case typeHashListpack:
		return func(b []byte) Value { return asHash(listpack(b)) }
	case typeHashPackExpiry, typeHashPackEarly:
		return func(b []byte) Value { return asHashExpiry(listpack(b)) }
	case typeZSetZiplist:
		return func(b []byte) Value { return asZSet(ziplist(b)) }
	case typeZSetListpack:
		return func(b []byte) Value { return asZSet(listpack(b)) }
	}
	return nil
}

// elements reads a value stored as a count and one element after another.
func (r *reader) elements(typ byte) (next pieces, count int64) {
	first := int64(0)
	if typ == typeHashExpiry {
		first = int64(r.uint64())
		must(first >= 0)
	}
	left := r.length()
	count = int64(min(left, math.MaxInt64))
	switch typ {
	case typeList:
		next = func() (Value, bool) { return List(r.strings(&left, 1)), left == 0 }
	case typeSet:
		next = func() (Value, bool) { return r.attemptMake(r.strings(&left, 1), asValue(asSet)), left == 0 }
	case typeHash:
		next = func() (Value, bool) { return r.attemptMake(r.strings(&left, 2), asValue(asHash)), left == 0 }
	case typeHashExpiry, typeHashExpiryEarly:
		next = func() (Value, bool) { return r.hashExpiry(&left, typ == typeHashExpiry, first), left == 0 }
	default:
		next = func() (Value, bool) { return r.zset(&left, typ), left == 0 }
	}
	return next, count
}

// attemptMake returns make(all), or an empty list if the strings are invalid.
func (r *reader) attemptMake(all [][]byte, make func([][]byte) Value) (v Value) {
	v = List(nil)
	r.attempt(func() { v = make(all) })
	return v
}

func asValue[V Value](make func([][]byte) V) func([][]byte) Value {
	return func(all [][]byte) Value { return make(all) }
}

// strings reads a piece of up to *left groups of width strings.
func (r *reader) strings(left *uint64, width int) [][]byte {
	var all [][]byte
	for ; *left > 0 && !r.pieceFull(len(all)/width); *left-- {
		for range width {
			all = append(all, r.string())
		}
	}
	return all
}

// quicklist reads the nodes of a list. From the second format on, an element too large for a
// listpack has its own node.
func (r *reader) quicklist(typ byte) pieces {
	left := r.length()
	return func() (Value, bool) {
		var all [][]byte
		for ; left > 0 && !r.pieceFull(len(all)); left-- {
			all = append(all, r.listNode(typ)...)
		}
		return List(all), left == 0
	}
}

func (r *reader) listNode(typ byte) [][]byte {
	const plain, packed = 1, 2
	container := uint64(packed)
	if typ == typeQuicklist2 {
		container = r.length()
	}
	b := r.string()
	var all [][]byte
	r.attempt(func() {
		must(container == plain || container == packed)
		switch {
		case container == plain:
			must(len(b) > 0)
			all = [][]byte{b}
		case typ == typeQuicklist:
			all = ziplist(b)
		default:
			all = listpack(b)
		}
	})
	return all
}

// unique fails if a name occurs twice.
func unique(n int, name func(i int) []byte) {
	seen := make(map[string]struct{}, n)
	for i := range n {
		seen[string(name(i))] = struct{}{}
		must(len(seen) == i+1)
	}
}

func asSet(all [][]byte) Set {
	unique(len(all), func(i int) []byte { return all[i] })
	return all
}

func asHash(all [][]byte) Hash {
	must(len(all)%2 == 0)
	fields := make(Hash, len(all)/2)
	for i := range fields {
		fields[i] = Field{Name: all[2*i], Value: all[2*i+1]}
	}
	return fields.checked()
}

func (h Hash) checked() Hash {
	unique(len(h), func(i int) []byte { return h[i].Name })
	return h
}

// maxExpiry limits the expiry of a field, in Unix ms: Redis restores no later one.
const maxExpiry = 1<<48 - 1

// asHashExpiry is asHash for fields followed by their expiry, 0 for none. Fields are in the
// order of expiry, and fields without an expiry come last.
func asHashExpiry(all [][]byte) Hash {
	must(len(all)%3 == 0)
	fields := make(Hash, len(all)/3)
	for i := range fields {
		at, err := strconv.ParseInt(string(all[3*i+2]), 10, 64)
		must(err == nil && 0 <= at && at <= maxExpiry)
		must(i == 0 || at == 0 || fields[i-1].ExpiresAt > 0 && fields[i-1].ExpiresAt <= at)
		fields[i] = Field{Name: all[3*i], Value: all[3*i+1], ExpiresAt: at}
	}
	return fields.checked()
}

// hashExpiry reads a piece of up to *left fields, each preceded by its expiry, 0 for none. In
// the released format it is relative to the first expiry of all, plus one.
func (r *reader) hashExpiry(left *uint64, relative bool, first int64) Hash {
	var fields Hash
	for ; *left > 0 && !r.pieceFull(len(fields)); *left-- {
		at := r.number()
		if relative && at > 0 {
			r.must(at-1 <= math.MaxInt64-first)
			at += first - 1
		}
		r.must(at <= maxExpiry)
		fields = append(fields, Field{Name: r.string(), Value: r.string(), ExpiresAt: at})
	}
	r.attempt(func() { fields.checked() })
	return fields
}

// zset reads a piece of up to *left members.
func (r *reader) zset(left *uint64, typ byte) ZSet {
	var members ZSet
	for ; *left > 0 && !r.pieceFull(len(members)); *left-- {
		m := Member{Name: r.string()}
		if typ == typeZSet2 {
			m.Score = math.Float64frombits(r.uint64())
		} else {
			m.Score = r.score()
		}
		members = append(members, m)
	}
	r.attempt(func() { members.checked() })
	return members
}

// score reads a score as text with its length. Three special lengths stand for numbers without
// text.
func (r *reader) score() float64 {
	switch n := r.byte(); n {
	case 255:
		return math.Inf(-1)
	case 254:
		return math.Inf(1)
	case 253:
		return math.NaN()
	default:
		text, score := r.raw(uint64(n)), 0.0
		r.attempt(func() { score = parseScore(text) })
		return score
	}
}

func parseScore(b []byte) float64 {
	f, err := strconv.ParseFloat(string(b), 64)
	must(err == nil)
	return f
}

func asZSet(all [][]byte) ZSet {
	must(len(all)%2 == 0)
	members := make(ZSet, len(all)/2)
	for i := range members {
		members[i] = Member{all[2*i], parseScore(all[2*i+1])}
	}
	return members.checked()
}

func (z ZSet) checked() ZSet {
	unique(len(z), func(i int) []byte { return z[i].Name })
	for _, m := range z {
		must(!math.IsNaN(m.Score))
	}
	return z
}

// intset reads a set of integers: their width, their count, and the integers.
func intset(b []byte) [][]byte {
	must(len(b) >= 8)
	width, n := uint64(binary.LittleEndian.Uint32(b)), uint64(binary.LittleEndian.Uint32(b[4:]))
	b = b[8:]
	must((width == 2 || width == 4 || width == 8) && uint64(len(b)) == width*n && n <= maxPacked)
	all, last := make([][]byte, 0, n), int64(0)
	for ; len(b) > 0; b = b[width:] {
		next := signed(b[:width])
		must(len(all) == 0 || last < next)
		all, last = append(all, decimal(next)), next
	}
	return all
}

// signed decodes a little-endian integer of one to eight bytes.
func signed(b []byte) int64 {
	var n int64
	for i, c := range b {
		n |= int64(c) << (8 * i)
	}
	unused := 64 - 8*len(b)
	return n << unused >> unused
}
