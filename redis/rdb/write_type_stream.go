package rdb

import (
	"bytes"
	"encoding/binary"
	"slices"

	"github.com/meowdis/meowdis/internal/smallsort"
)

// Limits of a stream's node, in entries and bytes: Redis's defaults.
const (
	nodeEntries   = 100
	nodeEntrySize = 4096
)

func (s *Stream) append(out []byte) []byte {
	nodes, n := s.appendNodes(nil)
	out = append(appendLength(append(out, typeStream2), n), nodes...)
	first := ID{}
	if len(s.Entries) > 0 {
		first = s.Entries[0].ID
	}
	return s.appendEnd(out, uint64(len(s.Entries)), first, false)
}

// dump encodes the stream as Redis 7.2 and later do, with the last active times of consumers.
func (s *Stream) dump() []byte {
	nodes, n := s.appendNodes(nil)
	first := ID{}
	if len(s.Entries) > 0 {
		first = s.Entries[0].ID
	}
	return s.appendEnd(append(appendLength([]byte{typeStream3}, n), nodes...), uint64(len(s.Entries)), first, true)
}

// appendNodes appends the entries in nodes, and returns the number of nodes.
func (s *Stream) appendNodes(out []byte) (_ []byte, nodes uint64) {
	for _, n := range s.nodes() {
		out = appendBytes(out, n[0].ID.append(nil))
		out = appendBytes(out, packNode(n))
		nodes++
	}
	return out, nodes
}

// appendEnd appends the part after the entries; entries is their number. With active, it
// includes the last active times of consumers.
func (s *Stream) appendEnd(out []byte, entries uint64, first ID, active bool) []byte {
	out = appendLength(out, entries)
	out = s.Last.appendLengths(out)
	out = first.appendLengths(out)
	out = s.Deleted.appendLengths(out)
	out = appendLength(out, uint64(s.Added))
	out = appendLength(out, uint64(len(s.Groups)))
	for _, g := range s.Groups {
		out = g.append(out, active)
	}
	return out
}

// nodes splits the entries into nodes.
func (s *Stream) nodes() [][]Entry {
	var nodes [][]Entry
	start, size := 0, 0
	for i, e := range s.Entries {
		if i > start && (i-start == nodeEntries || size > nodeEntrySize) {
			nodes = append(nodes, s.Entries[start:i])
			start, size = i, 0
		}
		for _, f := range e.Fields {
			size += len(f)
		}
	}
	if start < len(s.Entries) {
		nodes = append(nodes, s.Entries[start:])
	}
	return nodes
}

// append appends the ID as 16 bytes.
func (id ID) append(out []byte) []byte {
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(out, id.Ms), id.Seq)
}

// appendLengths appends the ID as two lengths.
func (id ID) appendLengths(out []byte) []byte {
	return appendLength(appendLength(out, id.Ms), id.Seq)
}

// packNode encodes a node. Its first entry is the master entry.
func packNode(entries []Entry) []byte {
	first := entries[0]
	p := newListpackFor(slices.Concat(fieldsOf(entries)...)...)
	p.addInt(int64(len(entries)))
	p.addInt(0) // no deleted entries
	p.addInt(int64(len(first.Fields) / 2))
	for i := 0; i < len(first.Fields); i += 2 {
		p.add(first.Fields[i])
	}
	p.addInt(0)
	for _, e := range entries {
		before := p.count
		same := sameNames(e.Fields, first.Fields)
		flags := int64(0)
		if same {
			flags = entrySameFields
		}
		p.addInt(flags)
		p.addInt(int64(e.ID.Ms - first.ID.Ms))
		p.addInt(int64(e.ID.Seq - first.ID.Seq))
		if !same {
			p.addInt(int64(len(e.Fields) / 2))
		}
		for i, f := range e.Fields {
			if !same || i%2 == 1 {
				p.add(f)
			}
		}
		p.addInt(int64(p.count - before))
	}
	return p.end()
}

func fieldsOf(entries []Entry) (all [][][]byte) {
	for _, e := range entries {
		all = append(all, e.Fields)
	}
	return all
}

// sameNames reports whether two entries have the same fields in the same order.
func sameNames(a, b [][]byte) bool {
	if len(a) != len(b) {
		return false
	}
	for i := 0; i < len(a); i += 2 {
		if !bytes.Equal(a[i], b[i]) {
			return false
		}
	}
	return true
}

func (g Group) append(out []byte, active bool) []byte {
	out = appendBytes(out, g.Name)
	out = g.Last.appendLengths(out)
	out = appendLength(out, uint64(g.Read))
	var all []Pending
	for _, c := range g.Consumers {
		all = append(all, c.Pending...)
	}
	smallsort.Sort(all, func(a, b Pending) int { return bytes.Compare(a.ID.append(nil), b.ID.append(nil)) })
	out = appendLength(out, uint64(len(all)))
	for _, p := range all {
		out = binary.LittleEndian.AppendUint64(p.ID.append(out), uint64(p.DeliveredAt))
		out = appendLength(out, uint64(p.Deliveries))
	}
	out = appendLength(out, uint64(len(g.Consumers)))
	for _, c := range g.Consumers {
		out = binary.LittleEndian.AppendUint64(appendBytes(out, c.Name), uint64(c.SeenAt))
		if active {
			out = binary.LittleEndian.AppendUint64(out, uint64(c.ActiveAt))
		}
		out = appendLength(out, uint64(len(c.Pending)))
		for _, p := range c.Pending {
			out = p.ID.append(out)
		}
	}
	return out
}
