package transfer

import (
	"cmp"
	"slices"

	"github.com/meowdis/meowdis/rdb"
)

// stream hands out the commands that add the entries and, behind the last part,
// what else a stream has.
//
// XCLAIM cannot make pending what is not in the stream. An entry that was deleted
// while it was pending is therefore added, claimed and removed again, where all
// of the stream is at hand: by XDEL, which the stream remembers as max-deleted-entry-id,
// only where that must have been, and by XTRIM, which leaves no trace, at its beginning.
func (w *caller) stream(s *rdb.Stream, first, last bool) {
	var ghosts []rdb.Entry
	entries := s.Entries
	if first && last {
		ghosts = missing(s)
		entries = slices.SortedFunc(slices.Values(slices.Concat(s.Entries, ghosts)), func(a, b rdb.Entry) int { return compareIDs(a.ID, b.ID) })
	}
	if first && len(entries) == 0 {
		// There is no other way to make a stream without entries.
		w.put(append(call("XGROUP", []byte("CREATE"), w.name), words("none", "0", "MKSTREAM")...))
		w.put(append(call("XGROUP", []byte("DESTROY"), w.name), []byte("none")))
	}
	for _, e := range entries {
		w.put(append(call("XADD", w.name, formatID(e.ID)), e.Fields...))
	}
	if !last {
		return
	}
	for _, g := range s.Groups {
		w.group(g)
	}
	args := call("XDEL", w.name)
	for _, e := range ghosts {
		if len(s.Entries) > 0 && s.Entries[0].ID.Less(e.ID) {
			args = append(args, formatID(e.ID))
		}
	}
	if len(args) > 2 {
		w.put(args)
	}
	if len(args)-2 < len(ghosts) {
		w.put(call("XTRIM", w.name, []byte("MAXLEN"), decimal(int64(len(s.Entries)))))
	}
	// Of what was only added to, all is as it should be.
	added := first && s.Deleted == rdb.ID{} && s.Added == int64(len(entries)) && len(entries) > 0 && entries[len(entries)-1].ID == s.Last
	if len(ghosts) > 0 || !added {
		w.put(call("XSETID", w.name, formatID(s.Last), []byte("ENTRIESADDED"), decimal(s.Added), []byte("MAXDELETEDID"), formatID(s.Deleted)))
	}
}

func compareIDs(a, b rdb.ID) int { return cmp.Or(cmp.Compare(a.Ms, b.Ms), cmp.Compare(a.Seq, b.Seq)) }

// missing are entries in place of those that are pending but not in the stream.
func missing(s *rdb.Stream) []rdb.Entry {
	var out []rdb.Entry
	seen := map[rdb.ID]bool{}
	for _, g := range s.Groups {
		for _, c := range g.Consumers {
			for _, p := range c.Pending {
				_, there := slices.BinarySearchFunc(s.Entries, p.ID, func(e rdb.Entry, id rdb.ID) int { return compareIDs(e.ID, id) })
				if !there && !seen[p.ID] {
					seen[p.ID] = true
					out = append(out, rdb.Entry{ID: p.ID, Fields: [][]byte{[]byte("deleted"), nil}})
				}
			}
		}
	}
	return out
}

func (w *caller) group(g rdb.Group) {
	args := call("XGROUP", []byte("CREATE"), w.name, g.Name, formatID(g.Last))
	if g.Read >= 0 { // a count past the largest cannot be set
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
