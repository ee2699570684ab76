package cluster

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/meowdis/meowdis/redis/glob"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/redis/slot"
)

// SCAN of a cluster reads slot by slot. A cursor is the number of slots that have been read, and in the bits above
// slotBits how many names of the next slot, in order. So a cursor means the same in every session.

const slotBits = 14

// slotAt returns the i-th slot to read. Consecutive slots are far apart, so that they are on different nodes.
func slotAt(i int) int { return i * 10125 % slot.Count }

// scanner holds what SCAN remembers between calls.
type scanner struct {
	batch int              // slots to read at a time
	views map[string]*view // the last view of each master
	rest  rest
}

// rest holds names that the next call of a scan returns.
type rest struct {
	cursor string
	names  map[int][][]byte // by slot
}

// scanCall holds a parsed SCAN.
type scanCall struct {
	index, offset int
	match, typ    string
	count         int
}

const defaultCount = 10

// parseScan reads SCAN cursor [MATCH pattern] [COUNT n] [TYPE type].
func parseScan(args [][]byte) (c scanCall, ok bool) {
	c.count = defaultCount
	if len(args)%2 != 0 {
		return c, false
	}
	cursor, err := strconv.ParseUint(string(args[1]), 10, 63)
	if err != nil {
		return c, false
	}
	c.index, c.offset = int(cursor%slot.Count), int(cursor>>slotBits)
	for i := 2; i < len(args); i += 2 {
		switch value := string(args[i+1]); strings.ToUpper(string(args[i])) {
		case "MATCH":
			c.match = value
		case "TYPE":
			c.typ = strings.ToLower(value)
		case "COUNT":
			if c.count, err = strconv.Atoi(value); err != nil || c.count < 1 {
				return c, false
			}
		default:
			return c, false
		}
	}
	return c, true
}

// scan runs SCAN.
func (s *Session) scan(ctx context.Context, calls [][][]byte, replies []resp.Value) (int, error) {
	c, parsed := parseScan(calls[0])
	if !parsed { // the error is a node's
		v, err := s.node(s.anyNode()).Do(ctx, calls[0]...)
		if err == nil && !v.IsError() {
			v = resp.MakeError("ERR syntax error")
		}
		replies[0] = v
		return 1, err
	}
	names, next, refusal, err := s.page(ctx, c, string(calls[0][1]))
	if err != nil || refusal.IsError() {
		replies[0] = refusal
		return 1, err
	}
	if names, err = s.filter(ctx, names, c); err != nil {
		return 1, err
	}
	found := resp.Value{Kind: resp.Array, Elems: make([]resp.Value, len(names))}
	for i, name := range names {
		found.Elems[i] = resp.MakeBulk(name)
	}
	replies[0] = resp.MakeArray(resp.MakeString(next), found)
	return 1, nil
}

// page reads about c.count names and returns the cursor after them.
func (s *Session) page(ctx context.Context, c scanCall, cursor string) (names [][]byte, next string, refusal resp.Value, err error) {
	read, n, refusal, err := s.readAhead(ctx, c, cursor)
	if err != nil || refusal.IsError() {
		return nil, "", refusal, err
	}
	index, offset := c.index, c.offset
	for end := c.index + n; index < end; index++ {
		at := slotAt(index)
		found := read[at]
		if len(found) > 4*c.count || offset > 0 {
			slices.SortFunc(found, bytes.Compare) // the order of offsets
		}
		found = found[min(offset, len(found)):]
		if room := c.count - len(names); len(found) > 4*c.count {
			if room > 0 {
				names, offset = append(names, found[:room]...), offset+room
			}
			break
		}
		if len(names) >= c.count {
			break
		}
		names, offset = append(names, found...), 0
		delete(read, at)
	}
	if index == slot.Count {
		return names, "0", resp.Value{}, nil
	}
	next = strconv.Itoa(offset<<slotBits | index)
	s.scans.rest = rest{cursor: next, names: read}
	return names, next, resp.Value{}, nil
}

// readAhead returns the names in the next n slots of a call by slot. It begins with slots that the call before has read
// and had no room for.
func (s *Session) readAhead(ctx context.Context, c scanCall, cursor string) (read map[int][][]byte, n int, refusal resp.Value, err error) {
	if s.scans.batch == 0 {
		s.scans.batch = 256
	}
	n = min(s.scans.batch, slot.Count-c.index)
	if s.scans.rest.cursor == cursor && cursor != "0" {
		read = s.scans.rest.names
	}
	s.scans.rest = rest{}
	var missing []int
	for i := range n {
		if _, has := read[slotAt(c.index+i)]; !has {
			missing = append(missing, slotAt(c.index+i))
		}
	}
	if len(read) > 0 { // read those first
		if first := slices.IndexFunc(slotRange(c.index, n), func(at int) bool { _, has := read[at]; return !has }); first > 0 {
			n, missing = first, nil
		}
	}
	if len(missing) == 0 {
		return read, n, resp.Value{}, nil
	}
	fresh, refusal, err := s.readSlots(ctx, missing)
	if err != nil || refusal.IsError() {
		return nil, 0, refusal, err
	}
	maps.Copy(fresh, read)
	s.adapt(fresh, c.count)
	return fresh, n, resp.Value{}, nil
}

// slotRange returns the n slots from the index-th.
func slotRange(index, n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = slotAt(index + i)
	}
	return all
}

// adapt sets how many slots are read at a time, from how many names the last ones had.
func (s *Session) adapt(read map[int][][]byte, count int) {
	n := 0
	for _, names := range read {
		n += len(names)
	}
	switch {
	case n < count/2:
		s.scans.batch = min(2*s.scans.batch, 2048)
	case n > 2*count:
		s.scans.batch = max(s.scans.batch/2, 1)
	}
}

// filter returns the names that MATCH and TYPE select.
func (s *Session) filter(ctx context.Context, names [][]byte, c scanCall) ([][]byte, error) {
	if c.match != "" && c.match != "*" {
		names = slices.DeleteFunc(names, func(name []byte) bool { return !glob.MatchKey([]byte(c.match), name) })
	}
	if c.typ == "" {
		return names, nil
	}
	calls := make([][][]byte, len(names))
	for i, name := range names {
		calls[i] = [][]byte{[]byte("TYPE"), name}
	}
	types, err := s.Pipeline(ctx, calls)
	if err != nil {
		return nil, err
	}
	var wanted [][]byte
	for i, name := range names {
		if strings.ToLower(string(types[i].Str)) == c.typ {
			wanted = append(wanted, name)
		}
	}
	return wanted, nil
}

// mostNames limits the names that one call asks for. A slot with more is asked again.
const mostNames = 1 << 20

func keysInSlot(at, most int) [][]byte {
	return [][]byte{[]byte("CLUSTER"), []byte("GETKEYSINSLOT"), strconv.AppendInt(nil, int64(at), 10), strconv.AppendInt(nil, int64(most), 10)}
}

var clusterNodes = [][]byte{[]byte("CLUSTER"), []byte("NODES")}

// mastersRead holds the replies of a master about some slots, between two views of its slots.
type mastersRead struct {
	slots         []int
	replies       []resp.Value // by slot
	before, after *view
	nodes         resp.Value // the reply with after
}

// readSlots returns the names in slots. One master owned the whole slot at the moment
// when it was read. A slot that moves is read from the old owner, and then from the new one.
func (s *Session) readSlots(ctx context.Context, slots []int) (found map[int][][]byte, refusal resp.Value, err error) {
	found = map[int][][]byte{}
	if s.scans.views == nil {
		s.scans.views = map[string]*view{}
	}
	var w waiting
	for attempt := 1; len(slots) > 0; attempt++ {
		reads, unowned := s.byOwner(slots)
		failed := each(addressesOf(reads), func(at string) error { return s.readFrom(ctx, at, reads[at]) })
		if ctx.Err() != nil {
			return nil, refusal, context.Cause(ctx)
		}
		left := unowned
		if attempt > 1 && len(failed) == 0 { // the slots were just asked for: these have no owner and no keys
			for _, at := range unowned {
				found[at] = nil
			}
			left = nil
		}
		for address, r := range reads {
			if failed[address] != nil {
				delete(s.scans.views, address)
				left = append(left, r.slots...)
				continue
			}
			again, refusal, err := s.take(ctx, address, r, found)
			if err != nil || refusal.IsError() {
				return nil, refusal, err
			}
			left = append(left, again...)
		}
		if err := w.next(ctx, s, len(left) < len(slots), left, failed); err != nil {
			return nil, refusal, err
		}
		slots = left
	}
	return found, resp.Value{}, nil
}

// take adds the names in a master's replies to found, and returns the slots to read again. It fails only if ctx has
// ended.
func (s *Session) take(ctx context.Context, address string, r *mastersRead, found map[int][][]byte) (again []int, refusal resp.Value, err error) {
	s.scans.views[address] = r.after
	moving, again, refusal := s.accept(r, found)
	if refusal.IsError() {
		return nil, refusal, nil
	}
	still, err := s.readMoving(ctx, address, r, moving, found)
	if err != nil && ctx.Err() != nil {
		return nil, refusal, err
	}
	return append(again, still...), refusal, nil
}

func addressesOf(reads map[string]*mastersRead) []string {
	all := make([]string, 0, len(reads))
	for address := range reads {
		all = append(all, address)
	}
	return all
}

func (s *Session) byOwner(slots []int) (reads map[string]*mastersRead, unowned []int) {
	reads = map[string]*mastersRead{}
	for _, at := range slots {
		address := s.owner(at)
		if address == "" {
			unowned = append(unowned, at)
			continue
		}
		if reads[address] == nil {
			reads[address] = &mastersRead{before: s.scans.views[address]}
			s.node(address)
		}
		reads[address].slots = append(reads[address].slots, at)
	}
	return reads, unowned
}

// readFrom asks a master for the names in slots. The view before is the one after the last read, if there was one:
// the epoch changes if a slot left and came back since.
func (s *Session) readFrom(ctx context.Context, address string, r *mastersRead) error {
	var calls [][][]byte
	if r.before == nil {
		calls = append(calls, clusterNodes)
	}
	first := len(calls)
	for _, at := range r.slots {
		calls = append(calls, keysInSlot(at, mostNames))
	}
	replies, err := s.nodes[address].Pipeline(ctx, append(calls, clusterNodes))
	if err != nil {
		return err
	}
	ok := true
	if r.before == nil {
		r.before, ok = readView(replies[0])
	}
	r.nodes = replies[len(replies)-1]
	after, ok2 := readView(r.nodes)
	if !ok || !ok2 {
		return fmt.Errorf("%s: an unreadable reply to CLUSTER NODES: %.80q", address, r.nodes.Str)
	}
	r.after, r.replies = after, replies[first:len(replies)-1]
	return nil
}

// accept adds the names of the slots that a master owned while they were read. It returns the slots that are moving,
// and the slots to read again.
func (s *Session) accept(r *mastersRead, found map[int][][]byte) (moving, again []int, refusal resp.Value) {
	same := r.before.epoch == r.after.epoch
	for i, at := range r.slots {
		v := r.replies[i]
		switch {
		case has(v, "LOADING"):
			again = append(again, at)
		case v.IsError():
			return nil, nil, v
		case !r.after.owns[at]:
			again = append(again, at)
		case r.after.open[at] != "":
			moving = append(moving, at)
		case !same || !r.before.owns[at] || r.before.open[at] != "":
			again = append(again, at)
		case len(v.Elems) == mostNames:
			moving = append(moving, at)
		default:
			found[at] = namesOf(v)
		}
	}
	return moving, again, resp.Value{}
}

func namesOf(v resp.Value) [][]byte {
	names := make([][]byte, len(v.Elems))
	for i, e := range v.Elems {
		names[i] = e.Str
	}
	return names
}

// readMoving reads slots that move from the master at address to another: keys go one way, so each is in one of two
// replies, if the first is the old owner's. It reads a slot with more than mostNames in the same way. It returns the
// slots to read again.
func (s *Session) readMoving(ctx context.Context, address string, r *mastersRead, moving []int, found map[int][][]byte) (again []int, err error) {
	for i, at := range moving {
		here, err := s.nodes[address].Do(ctx, keysInSlot(at, 1<<30)...)
		if err != nil {
			return moving[i:], err
		}
		var there resp.Value
		if id := r.after.open[at]; id != "" {
			to := s.addressOf(r.nodes, id, address)
			if to == "" {
				again = append(again, at)
				continue
			}
			if there, err = s.node(to).Do(ctx, keysInSlot(at, 1<<30)...); err != nil {
				return moving[i:], err
			}
		}
		nodes, err := s.nodes[address].Do(ctx, clusterNodes...)
		if err != nil {
			return moving[i:], err
		}
		after, ok := readView(nodes)
		if !ok || here.IsError() || there.IsError() || !after.owns[at] || after.epoch != r.after.epoch || after.open[at] != r.after.open[at] {
			again = append(again, at)
			continue
		}
		found[at] = distinct(append(namesOf(here), namesOf(there)...))
	}
	return again, nil
}

// distinct removes the names of keys that moved between two replies.
func distinct(names [][]byte) [][]byte {
	slices.SortFunc(names, bytes.Compare)
	return slices.CompactFunc(names, bytes.Equal)
}
