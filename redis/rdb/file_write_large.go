package rdb

import (
	"encoding/binary"
	"math"
)

// Values of at least largeValue bytes are written element by element, which avoids a second
// copy in memory, except for one node of a list or stream at a time.
const largeValue = 1 << 20

// Weight returns the approximate size of v's elements in bytes.
func Weight(v Value) (n int) {
	add := func(all ...[]byte) {
		for _, b := range all {
			n += len(b)
		}
	}
	switch v := v.(type) {
	case String:
		add(v)
	case List:
		add(v...)
	case Set:
		add(v...)
	case ZSet:
		for i := range v {
			add(v[i].Name)
		}
	case Hash:
		for i := range v {
			add(v[i].Name, v[i].Value)
		}
	case *Stream:
		for _, e := range v.Entries {
			add(e.Fields...)
		}
	}
	return n
}

// large writes a large key that comes in one piece. w.buf holds the bytes before its type.
func (w *FileWriter) large(p Piece) error {
	start := func(typ byte, n int) { w.write(appendLength(appendBytes(append(w.buf, typ), p.Key), uint64(n))) }
	switch v := p.Value.(type) {
	case String:
		start(typeString, len(v))
		return w.write(v)
	case List:
		nodes := 0
		for range v.nodes() {
			nodes++
		}
		start(typeQuicklist2, nodes)
		for node := range v.nodes() {
			w.write([]byte{packedNode})
			w.string(node())
		}
	case Set:
		start(typeSet, len(v))
		for _, m := range v {
			w.string(m)
		}
	case ZSet:
		start(typeZSet2, len(v))
		for _, m := range v.sorted() {
			w.string(m.Name)
			w.write(binary.LittleEndian.AppendUint64(nil, math.Float64bits(m.Score)))
		}
	case Hash:
		w.largeHash(p.Key, v)
	case *Stream:
		nodes := v.nodes()
		start(typeStream2, len(nodes))
		for _, n := range nodes {
			w.string(n[0].ID.append(nil))
			w.string(packNode(n))
		}
		first := ID{}
		if len(v.Entries) > 0 {
			first = v.Entries[0].ID
		}
		w.write(v.appendEnd(nil, uint64(len(v.Entries)), first, false))
	}
	return w.write(nil) // returns the first error of all writes
}

func (w *FileWriter) largeHash(key []byte, h Hash) {
	first := h.firstExpiry()
	if first == 0 {
		w.write(appendLength(appendBytes(append(w.buf, typeHash), key), uint64(len(h))))
		for _, f := range h {
			w.string(f.Name)
			w.string(f.Value)
		}
		return
	}
	w.version = versionExpiry
	w.write(binary.LittleEndian.AppendUint64(appendBytes(append(w.buf, typeHashExpiry), key), uint64(first)))
	w.write(appendLength(nil, uint64(len(h))))
	for _, f := range h {
		w.write(f.appendOffset(nil, first))
		w.string(f.Name)
		w.string(f.Value)
	}
}

// string writes a string, a long one without compaction.
func (w *FileWriter) string(b []byte) {
	if len(b) < nodeSize {
		w.write(appendBytes(nil, b))
		return
	}
	w.write(appendLength(nil, uint64(len(b))))
	w.write(b)
}
