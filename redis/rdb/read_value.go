package rdb

import (
	"encoding/binary"
	"math"
	"strconv"
)

// pieces reads a value in pieces as large as the reader's room, the last one with
// what is left.
type pieces func() (v Value, last bool)

// room is how much a piece may hold: it ends with the element that goes beyond.
type room struct{ elements, bytes int }

// enough reports whether a piece of so many elements is to end.
func (r *reader) enough(elements int) bool {
	return elements > 0 && (elements >= r.room.elements || r.room.bytes < 0)
}

// value reads a value in one piece.
func (r *reader) value(typ byte) Value {
	r.room = room{math.MaxInt, math.MaxInt}
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

// open begins to read a value of the type, whose elements are count, unknown unless
// the value says so in front. What is one string in the file is one piece.
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
	case typeModule: // of a payload; see File.module
		name, version := r.moduleType()
		must(name == vectorSetModule && version == 0)
		next, count, ok := r.vectorSet()
		must(ok)
		return next, count
	}
	var v Value = List(nil) // of what is broken
	decode := packedForm(typ)
	if decode == nil {
		bad() // a module's, or one that is newer
	}
	if typ == typeHashPackExpiry {
		r.uint64() // the first expiry of all
	}
	b := r.string()
	r.sound(func() { v = decode(b) })
	return once(v), int64(v.Len())
}

func once(v Value) pieces { return func() (Value, bool) { return v, true } }

// text reads a string, whose elements are bytes.
func (r *reader) text() (next pieces, count int64) {
	left, encoded := r.lengthOrEncoding()
	if encoded {
		s := String(r.encoded(left))
		return once(s), int64(len(s))
	}
	must(left <= maxString)
	return func() (Value, bool) {
		n := min(left, uint64(r.room.bytes))
		left -= n
		return String(r.raw(n)), left == 0
	}, int64(left)
}

// packedForm makes a value of one string, nil where the type is none that is one.
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

// elements reads a value whose elements stand one after the other, after their
// number.
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
		next = func() (Value, bool) { return r.soundly(r.strings(&left, 1), asValue(asSet)), left == 0 }
	case typeHash:
		next = func() (Value, bool) { return r.soundly(r.strings(&left, 2), asValue(asHash)), left == 0 }
	case typeHashExpiry, typeHashExpiryEarly:
		next = func() (Value, bool) { return r.hashExpiry(&left, typ == typeHashExpiry, first), left == 0 }
	default:
		next = func() (Value, bool) { return r.zset(&left, typ), left == 0 }
	}
	return next, count
}

// soundly is what make makes of strings, nothing when they make no sense.
func (r *reader) soundly(all [][]byte, make func([][]byte) Value) (v Value) {
	v = List(nil)
	r.sound(func() { v = make(all) })
	return v
}

func asValue[V Value](make func([][]byte) V) func([][]byte) Value {
	return func(all [][]byte) Value { return make(all) }
}

// strings reads a piece of *left groups of width strings.
func (r *reader) strings(left *uint64, width int) [][]byte {
	var all [][]byte
	for ; *left > 0 && !r.enough(len(all)/width); *left-- {
		for range width {
			all = append(all, r.string())
		}
	}
	return all
}

// quicklist reads the nodes of a list; from the second form on a node may be one
// element that is too large for a listpack.
func (r *reader) quicklist(typ byte) pieces {
	left := r.length()
	return func() (Value, bool) {
		var all [][]byte
		for ; left > 0 && !r.enough(len(all)); left-- {
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
	r.sound(func() {
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

// unique fails when a name comes twice.
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

// maxExpiry is the latest expiry of a field, Unix ms, that Redis restores.
const maxExpiry = 1<<48 - 1

// asHashExpiry is asHash for fields with their expiry after them, 0 for none. The fields stand in the order of
// their expiry, and fields without one are the last.
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

// hashExpiry reads a piece of *left fields with their expiry in front of them, 0 for none. In the
// form that was released it counts from the first expiry of all, plus one.
func (r *reader) hashExpiry(left *uint64, relative bool, first int64) Hash {
	var fields Hash
	for ; *left > 0 && !r.enough(len(fields)); *left-- {
		at := r.number()
		if relative && at > 0 {
			r.must(at-1 <= math.MaxInt64-first)
			at += first - 1
		}
		r.must(at <= maxExpiry)
		fields = append(fields, Field{Name: r.string(), Value: r.string(), ExpiresAt: at})
	}
	r.sound(func() { fields.checked() })
	return fields
}

// zset reads a piece of *left members.
func (r *reader) zset(left *uint64, typ byte) ZSet {
	var members ZSet
	for ; *left > 0 && !r.enough(len(members)); *left-- {
		m := Member{Name: r.string()}
		if typ == typeZSet2 {
			m.Score = math.Float64frombits(r.uint64())
		} else {
			m.Score = r.score()
		}
		members = append(members, m)
	}
	r.sound(func() { members.checked() })
	return members
}

// score reads a score in text after its length, or in place of that one of three
// numbers that have no text.
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
		r.sound(func() { score = parseScore(text) })
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

// intset reads the integers of a set: their width, their number, themselves.
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

// signed is a little-endian integer of one to eight bytes.
func signed(b []byte) int64 {
	var n int64
	for i, c := range b {
		n |= int64(c) << (8 * i)
	}
	unused := 64 - 8*len(b)
	return n << unused >> unused
}
