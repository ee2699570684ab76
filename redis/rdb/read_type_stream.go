package rdb

import (
	"encoding/binary"
	"math"
	"strconv"
)

// A stream's entries are stored in listpacks, the nodes. A node begins with its base ID and a
// master entry, whose fields the entries may share. Each entry has its flags, the difference
// of its ID from the base, its fields unless it shares the master's, its values, and its
// number of listpack elements.
const (
	entryDeleted    = 1
	entrySameFields = 2
)

// stream reads a stream. The last piece has everything except the entries.
func (r *reader) stream(typ byte) pieces {
	left := r.length()
	var first, last ID
	entries := uint64(0)
	return func() (Value, bool) {
		s := &Stream{}
		for ; left > 0 && !r.pieceFull(len(s.Entries)); left-- {
			id, entries := r.string(), r.string()
			r.attempt(func() { s.readNode(idOf(id), listpack(entries)) })
		}
		if n := len(s.Entries); n > 0 {
			r.must(entries == 0 || last.Less(s.Entries[0].ID))
			if entries == 0 {
				first = s.Entries[0].ID
			}
			last = s.Entries[n-1].ID
			entries += uint64(n)
		}
		if left > 0 {
			return s, false
		}
		n := r.length()
		r.must(n == entries)
		r.streamEnd(typ, s, int64(entries), first, last)
		return s, true
	}
}

// streamEnd reads the part after the entries; entries is their number.
func (r *reader) streamEnd(typ byte, s *Stream, entries int64, first, last ID) {
	s.Last = r.id()
	r.must(entries == 0 || !s.Last.Less(last))
	s.Added = entries
	if typ != typeStream {
		r.id() // of the first entry
		s.Deleted = r.id()
		s.Added = r.number()
	}
	for n := r.length(); n > 0; n-- {
		g := r.group(typ)
		if typ == typeStream {
			g.Read = s.read(g.Last, entries, first)
		}
		s.Groups = append(s.Groups, g)
	}
	r.attempt(func() { unique(len(s.Groups), func(i int) []byte { return s.Groups[i].Name }) })
}

// id reads an ID stored as two lengths.
func (r *reader) id() ID {
	ms := r.length()
	return ID{ms, r.length()}
}

// idOf decodes an ID of 16 bytes.
func idOf(b []byte) ID {
	must(len(b) == 16)
	return ID{binary.BigEndian.Uint64(b), binary.BigEndian.Uint64(b[8:])}
}

// node is the unread part of a node.
type node [][]byte

func (n *node) take(count int64) [][]byte {
	must(0 <= count && count <= int64(len(*n)))
	taken := (*n)[:count:count]
	*n = (*n)[count:]
	return taken
}

func (n *node) number() int64 {
	i, err := strconv.ParseInt(string(n.take(1)[0]), 10, 64)
	must(err == nil)
	return i
}

func (s *Stream) readNode(base ID, n node) {
	live, deleted := n.number(), n.number()
	must(live >= 0 && deleted >= 0 && deleted <= math.MaxInt64-live)
	master := n.take(n.number())
	must(n.number() == 0)
	total := live + deleted
	for ; len(n) > 0; total-- {
		before := len(n)
		flags := n.number()
		id := ID{base.Ms + uint64(n.number()), base.Seq + uint64(n.number())}
		var fields [][]byte
		if flags&entrySameFields != 0 {
			values := n.take(int64(len(master)))
			for i := range values {
				fields = append(fields, master[i], values[i])
			}
		} else {
			count := n.number()
			must(count >= 0 && count <= int64(len(n)))
			fields = n.take(2 * count)
		}
		took := int64(before - len(n))
		must(n.number() == took)
		if flags&entryDeleted != 0 {
			continue
		}
		live--
		must(len(fields) > 0)
		must(len(s.Entries) == 0 || s.Entries[len(s.Entries)-1].ID.Less(id))
		s.Entries = append(s.Entries, Entry{id, fields})
	}
	must(total == 0 && live == 0)
}

// group reads a group: its pending entries, then its consumers with the IDs of their pending
// entries.
func (r *reader) group(typ byte) Group {
	g := Group{Name: r.string(), Last: r.id()}
	if typ != typeStream {
		g.Read = int64(r.length())
	}
	pending := map[ID]Pending{}
	for n := r.length(); n > 0; n-- {
		p := Pending{ID: idOf(r.raw(16)), DeliveredAt: int64(r.uint64()), Deliveries: r.number()}
		_, again := pending[p.ID]
		r.must(!again)
		pending[p.ID] = p
	}
	for n := r.length(); n > 0; n-- {
		c := Consumer{Name: r.string(), SeenAt: int64(r.uint64())}
		c.ActiveAt = c.SeenAt
		if typ == typeStream3 {
			c.ActiveAt = int64(r.uint64())
		}
		for m := r.length(); m > 0; m-- {
			p, ok := pending[idOf(r.raw(16))]
			r.must(ok && (len(c.Pending) == 0 || c.Pending[len(c.Pending)-1].ID.Less(p.ID)))
			delete(pending, p.ID)
			c.Pending = append(c.Pending, p)
		}
		g.Consumers = append(g.Consumers, c)
	}
	r.must(len(pending) == 0)
	r.attempt(func() { unique(len(g.Consumers), func(i int) []byte { return g.Consumers[i].Name }) })
	return g
}

// read returns the number of entries that a group at id must have read. The first stream
// format does not record deletions.
func (s *Stream) read(id ID, entries int64, first ID) int64 {
	switch {
	case entries == 0:
		return s.Added
	case id == s.Last:
		return s.Added
	case s.Last.Less(id):
		return Unknown
	case id.Less(first):
		return 0
	case id == first:
		return 1
	}
	return Unknown
}
