package rdb

import (
	"encoding/binary"
	"math"
	"strconv"
)

func (r *Reader) value(typ byte) Value {
	switch typ {
	case typeString:
		return String(r.string())
	case typeList:
		return asList(r.strings(1))
	case typeListZiplist:
		return asList(ziplist(r.string()))
	case typeQuicklist, typeQuicklist2:
		return r.quicklist(typ)
	case typeSet:
		return asSet(r.strings(1))
	case typeSetIntset:
		return asSet(intset(r.string()))
	case typeSetListpack:
		return asSet(listpack(r.string()))
	case typeHash:
		return asHash(r.strings(2))
	case typeHashZipmap:
		return asHash(zipmap(r.string()))
	case typeHashZiplist:
		return asHash(ziplist(r.string()))
	case typeHashListpack:
		return asHash(listpack(r.string()))
	case typeHashExpiry, typeHashExpiryEarly:
		return r.hashExpiry(typ == typeHashExpiry)
	case typeHashPackExpiry:
		r.uint64() // the first expiry of all
		return asHashExpiry(listpack(r.string()))
	case typeHashPackEarly:
		return asHashExpiry(listpack(r.string()))
	case typeZSet, typeZSet2:
		return r.zset(typ)
	case typeZSetZiplist:
		return asZSet(ziplist(r.string()))
	case typeZSetListpack:
		return asZSet(listpack(r.string()))
	case typeStream, typeStream2, typeStream3:
		return r.stream(typ)
	}
	bad() // a module's, or one that is newer
	return nil
}

// strings reads a number, and as many groups of width strings.
func (r *Reader) strings(width int) [][]byte {
	var all [][]byte
	for n := r.length(); n > 0; n-- {
		for range width {
			all = append(all, r.string())
		}
	}
	return all
}

func asList(all [][]byte) List {
	must(len(all) > 0)
	return all
}

// quicklist reads the nodes of a list; from the second form on a node may be one
// element that is too large for a listpack.
func (r *Reader) quicklist(typ byte) List {
	const plain, packed = 1, 2
	var all [][]byte
	for n := r.length(); n > 0; n-- {
		container := uint64(packed)
		if typ == typeQuicklist2 {
			container = r.length()
		}
		b := r.string()
		switch {
		case container == plain:
			all = append(all, b)
		case container != packed:
			bad()
		case typ == typeQuicklist:
			all = append(all, ziplist(b)...)
		default:
			all = append(all, listpack(b)...)
		}
	}
	return asList(all)
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
	must(len(all) > 0)
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
	must(len(h) > 0)
	unique(len(h), func(i int) []byte { return h[i].Name })
	return h
}

// asHashExpiry is asHash for fields with their expiry behind them, 0 for none.
func asHashExpiry(all [][]byte) Hash {
	must(len(all)%3 == 0)
	fields := make(Hash, len(all)/3)
	for i := range fields {
		at, err := strconv.ParseInt(string(all[3*i+2]), 10, 64)
		must(err == nil && at >= 0)
		fields[i] = Field{Name: all[3*i], Value: all[3*i+1], ExpiresAt: at}
	}
	return fields.checked()
}

// hashExpiry reads fields with their expiry in front of them, 0 for none. In the
// form that was released it counts from the first expiry of all, plus one.
func (r *Reader) hashExpiry(relative bool) Hash {
	first := int64(0)
	if relative {
		first = int64(r.uint64())
		must(first >= 0)
	}
	var fields Hash
	for n := r.length(); n > 0; n-- {
		at := r.number()
		if relative && at > 0 {
			must(at-1 <= math.MaxInt64-first)
			at += first - 1
		}
		fields = append(fields, Field{Name: r.string(), Value: r.string(), ExpiresAt: at})
	}
	return fields.checked()
}

func (r *Reader) zset(typ byte) ZSet {
	var members ZSet
	for n := r.length(); n > 0; n-- {
		m := Member{Name: r.string()}
		if typ == typeZSet2 {
			m.Score = math.Float64frombits(r.uint64())
		} else {
			m.Score = r.score()
		}
		members = append(members, m)
	}
	return members.checked()
}

// score reads a score in text behind its length, or in place of that one of three
// numbers that have no text.
func (r *Reader) score() float64 {
	switch n := r.byte(); n {
	case 255:
		return math.Inf(-1)
	case 254:
		return math.Inf(1)
	case 253:
		return math.NaN()
	default:
		return parseScore(r.raw(uint64(n)))
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
	must(len(z) > 0)
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
	must((width == 2 || width == 4 || width == 8) && uint64(len(b)) == width*n)
	all := make([][]byte, 0, n)
	for ; len(b) > 0; b = b[width:] {
		all = append(all, decimal(signed(b[:width])))
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
