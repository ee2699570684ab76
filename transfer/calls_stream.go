package transfer

import (
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/meowdis/meowdis/internal/smallsort"
	"github.com/meowdis/meowdis/redis/rdb"
)

// stream emits the commands that add the entries and, after the last part, the ids, counters
// and groups.
//
// XCLAIM cannot claim an entry that is missing from the stream. A deleted entry that is still
// pending is therefore added, claimed and removed again if the stream is one part; for a longer
// stream see Writer.rebuildStreams.
func (w *callBuilder) stream(s *rdb.Stream, first, last bool) {
	var placeholders []rdb.Entry
	if first && last {
		placeholders = missing(s)
	}
	entries := withPlaceholders(s.Entries, placeholders)
	if first && len(entries) == 0 {
		// No other command sequence creates an empty stream.
		w.put(append(call("XGROUP", []byte("CREATE"), w.name), words("none", "0", "MKSTREAM")...))
		w.put(append(call("XGROUP", []byte("DESTROY"), w.name), []byte("none")))
	}
	w.entries(entries)
	if !last {
		return
	}
	// XADD alone already sets the ids and counters of a stream without deletions.
	added := first && s.Deleted == rdb.ID{} && s.Added == int64(len(entries)) && len(entries) > 0 && entries[len(entries)-1].ID == s.Last
	w.state(s, placeholders, s.Entries, added && len(placeholders) == 0)
}

func (w *callBuilder) entries(entries []rdb.Entry) {
	for _, e := range entries {
		w.put(append(call("XADD", w.name, formatID(e.ID)), e.Fields...))
	}
}

// state emits the commands that create groups, remove placeholders and, unless set, restore the
// stream's ids and counters. entries holds the stream's entries, or only its first. Placeholders at
// the beginning are removed with XTRIM, which leaves no trace. Only later placeholders need XDEL,
// which the stream records in max-deleted-entry-id.
func (w *callBuilder) state(s *rdb.Stream, placeholders, entries []rdb.Entry, set bool) {
	for _, g := range s.Groups {
		w.group(g)
	}
	trim := []string{"MAXLEN", "0"}
	var deleted [][]byte
	if len(entries) > 0 {
		trim = []string{"MINID", string(formatID(entries[0].ID))}
		for _, e := range placeholders {
			if entries[0].ID.Less(e.ID) {
				deleted = append(deleted, formatID(e.ID))
			}
		}
	}
	for ids := range slices.Chunk(deleted, callElements) {
		w.put(append(call("XDEL", w.name), ids...))
	}
	if len(deleted) < len(placeholders) {
		w.put(append(call("XTRIM", w.name), words(trim...)...))
	}
	if !set {
		w.put(call("XSETID", w.name, formatID(s.Last), []byte("ENTRIESADDED"), decimal(s.Added), []byte("MAXDELETEDID"), formatID(s.Deleted)))
	}
}

// withPlaceholders merges entries and placeholders in id order.
func withPlaceholders(entries, placeholders []rdb.Entry) []rdb.Entry {
	if len(placeholders) == 0 {
		return entries
	}
	all := slices.Concat(entries, placeholders)
	smallsort.Sort(all, func(a, b rdb.Entry) int { return compareIDs(a.ID, b.ID) })
	return all
}

// placeholder returns a placeholder for a deleted entry until it is claimed.
func placeholder(id rdb.ID) rdb.Entry {
	return rdb.Entry{ID: id, Fields: [][]byte{[]byte("deleted"), nil}}
}

func compareIDs(a, b rdb.ID) int { return cmp.Or(cmp.Compare(a.Ms, b.Ms), cmp.Compare(a.Seq, b.Seq)) }

// missing returns placeholders for the pending ids that are missing from the stream.
func missing(s *rdb.Stream) []rdb.Entry {
	var out []rdb.Entry
	seen := map[rdb.ID]bool{}
	for _, g := range s.Groups {
		for _, c := range g.Consumers {
			for _, p := range c.Pending {
				_, there := slices.BinarySearchFunc(s.Entries, p.ID, func(e rdb.Entry, id rdb.ID) int { return compareIDs(e.ID, id) })
				if !there && !seen[p.ID] {
					seen[p.ID] = true
					out = append(out, placeholder(p.ID))
				}
			}
		}
	}
	return out
}

func (w *callBuilder) group(g rdb.Group) {
	args := call("XGROUP", []byte("CREATE"), w.name, g.Name, formatID(g.Last))
	if g.Read >= 0 { // a negative count means unknown
		args = append(args, []byte("ENTRIESREAD"), decimal(g.Read))
	}
	w.put(args)
	for _, c := range g.Consumers {
		w.put(call("XGROUP", []byte("CREATECONSUMER"), w.name, g.Name, c.Name))
		for _, p := range c.Pending {
			args := call("XCLAIM", w.name, g.Name, c.Name, []byte("0"), formatID(p.ID),
				[]byte("TIME"), decimal(p.DeliveredAt), []byte("RETRYCOUNT"), decimal(p.Deliveries))
			w.put(append(args, []byte("FORCE"), []byte("JUSTID")))
		}
	}
}

// idList holds the ids of a stream's entries in order, as deltas of a few bytes each.
type idList struct {
	deltas []byte
	last   rdb.ID
}

func (l *idList) add(id rdb.ID) {
	l.deltas = binary.AppendUvarint(l.deltas, id.Ms-l.last.Ms)
	if id.Ms == l.last.Ms {
		l.deltas = binary.AppendUvarint(l.deltas, id.Seq-l.last.Seq)
	} else {
		l.deltas = binary.AppendUvarint(l.deltas, id.Seq)
	}
	l.last = id
}

// missingPending counts the pending entries whose ids are not in the list.
func (l *idList) missingPending(groups []rdb.Group) (n int) {
	pending := map[rdb.ID]int{}
	for _, g := range groups {
		for _, c := range g.Consumers {
			for _, p := range c.Pending {
				pending[p.ID]++
				n++
			}
		}
	}
	at := rdb.ID{}
	for b := l.deltas; len(b) > 0; {
		ms, size := binary.Uvarint(b)
		seq, more := binary.Uvarint(b[size:])
		b = b[size+more:]
		if ms > 0 {
			at.Seq = 0
		}
		at = rdb.ID{Ms: at.Ms + ms, Seq: at.Seq + seq}
		n -= pending[at]
	}
	return n
}
