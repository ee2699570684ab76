//go:build !wasip1

package engine

import (
	"bytes"

	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
)

// Reading and claiming have the effects that Redis sends: XCLAIM sets the consumer, the time and the count of deliveries of
// pending entries, XACK removes deleted entries, and XGROUP SETID moves the group.

// mostAsked limits the pending entries that are asked for one after another.
const mostAsked = 32

// groupEffects derives the effects on one group of a stream.
type groupEffects struct {
	*effectWriter
	key, group, consumer []byte
}

// readByGroup reports what XREADGROUP has delivered.
func readByGroup(w *effectWriter) {
	args := w.call.args
	keys := w.call.keys()
	if len(args) < 4 || !commands.Is(args[1], "GROUP") || w.keys == nil {
		w.states()
		return
	}
	noAck, from := false, args[len(args)-len(keys):]
	for _, arg := range args[4 : len(args)-2*len(keys)] {
		noAck = noAck || commands.Is(arg, "NOACK")
	}
	delivered, ok := streamReply(w.reply())
	for i, key := range keys {
		if !isOneOf(key, w.keys) {
			continue
		}
		g := groupEffects{w, key, args[2], args[3]}
		g.put("XGROUP", []byte("CREATECONSUMER"), key, g.group, g.consumer)
		entries, isNew := delivered[string(key)], string(from[i]) == ">"
		ids, whole := idsOf(entries)
		if !ok || !whole || len(keys) != len(delivered) && len(keys) > 1 && isOneOf(key, keys[:i]) {
			w.state(w.db, key)
			continue
		}
		if !(noAck && isNew) && !g.pending(ids, true) {
			w.state(w.db, key)
			continue
		}
		if isNew {
			g.setID()
		}
	}
}

// streamReply returns the entries of a reply to XREADGROUP by key.
func streamReply(v resp.Value) (byKey map[string][]resp.Value, ok bool) {
	byKey = map[string][]resp.Value{}
	if v.Kind == resp.Map || v.Kind == resp.PairMap {
		for i := 0; i+1 < len(v.Elems); i += 2 {
			byKey[string(v.Elems[i].Str)] = v.Elems[i+1].Elems
		}
		return byKey, true
	}
	for _, pair := range v.Elems {
		if len(pair.Elems) != 2 {
			return nil, false
		}
		byKey[string(pair.Elems[0].Str)] = pair.Elems[1].Elems
	}
	return byKey, !v.IsError()
}

// idsOf returns the IDs of entries, or of a reply with JUSTID. whole is false if an entry was deleted.
func idsOf(entries []resp.Value) (ids [][]byte, whole bool) {
	for _, e := range entries {
		switch {
		case len(e.Elems) == 0:
			ids = append(ids, e.Str)
		case len(e.Elems) != 2 || e.Elems[1].IsNull():
			return nil, false
		default:
			ids = append(ids, e.Elems[0].Str)
		}
	}
	return ids, true
}

// claimed reports XCLAIM and XAUTOCLAIM.
func claimed(w *effectWriter) {
	args := w.call.args
	g := groupEffects{w, args[1], args[2], args[3]}
	v := w.reply()
	auto := w.call.cmd.Name == "XAUTOCLAIM"
	entries := v.Elems
	if auto {
		if len(v.Elems) < 3 {
			w.states()
			return
		}
		entries = v.Elems[1].Elems
	}
	ids, whole := idsOf(entries)
	if !whole || v.IsError() {
		w.states()
		return
	}
	g.put("XGROUP", []byte("CREATECONSUMER"), g.key, g.group, g.consumer)
	if !g.pending(ids, auto) {
		w.states()
		return
	}
	if auto {
		deleted, _ := idsOf(v.Elems[2].Elems)
		g.acknowledge(deleted)
		return
	}
	for i := 5; i < len(args); i++ {
		if commands.Is(args[i], "LASTID") {
			g.setID()
		}
	}
	// XCLAIM ends the delivery of an entry that was deleted from the stream.
	var deleted [][]byte
	for _, arg := range args[5:] {
		if id, is := wholeID(arg); !is {
			break
		} else if !isOneOf(id, ids) {
			found, ok := w.ask([]byte("XPENDING"), g.key, g.group, id, id, []byte("1"))
			if !ok {
				return
			}
			if len(found.Elems) == 0 {
				deleted = append(deleted, id)
			}
		}
	}
	g.acknowledge(deleted)
}

// wholeID returns an ID of an entry with its sequence number, and whether arg is one.
func wholeID(arg []byte) (id []byte, is bool) {
	ms, seq, has := bytes.Cut(arg, []byte("-"))
	if !isNumber(ms) || has && !isNumber(seq) {
		return nil, false
	}
	if !has {
		arg = append(bytes.Clone(arg), "-0"...)
	}
	return arg, true
}

func isNumber(b []byte) bool {
	return len(b) > 0 && bytes.IndexFunc(b, func(r rune) bool { return r < '0' || r > '9' }) < 0
}

func isOneOf(name []byte, all [][]byte) bool {
	for _, other := range all {
		if bytes.Equal(name, other) {
			return true
		}
	}
	return false
}

func (g groupEffects) acknowledge(ids [][]byte) {
	if len(ids) > 0 {
		g.put("XACK", append([][]byte{g.key, g.group}, ids...)...)
	}
}

// delivery holds the state of a pending entry.
type delivery struct{ at, count int64 }

// pending reports entries that are pending with the consumer. inOrder means that the IDs rise. It returns false if an
// entry is not pending.
func (g groupEffects) pending(ids [][]byte, inOrder bool) bool {
	if len(ids) == 0 {
		return true
	}
	g.now = g.engine.now() // of all questions, so that idle times can be subtracted
	defer func() { g.now = 0 }()
	found := map[string]delivery{}
	look := func(first, last []byte, most int) bool {
		v, ok := g.ask([]byte("XPENDING"), g.key, g.group, first, last, number(int64(most)), g.consumer)
		for _, p := range v.Elems {
			if ok && len(p.Elems) == 4 {
				found[string(p.Elems[0].Str)] = delivery{g.now - p.Elems[2].Int, p.Elems[3].Int}
			}
		}
		return ok
	}
	switch {
	case inOrder:
		if !look(ids[0], ids[len(ids)-1], len(ids)+mostAsked) {
			return true // the changes are unknown
		}
	case len(ids) > mostAsked:
		return false
	default:
		for _, id := range ids {
			if !look(id, id, 1) {
				return true
			}
		}
	}
	for len(ids) > 0 { // entries that were delivered together are one command
		one, has := found[string(ids[0])]
		if !has {
			return false
		}
		n := 1
		for n < len(ids) && found[string(ids[n])] == one {
			n++
		}
		args := append([][]byte{g.key, g.group, g.consumer, []byte("0")}, ids[:n]...)
		g.put("XCLAIM", append(args, []byte("TIME"), number(one.at), []byte("RETRYCOUNT"), number(one.count), []byte("FORCE"), []byte("JUSTID"))...)
		ids = ids[n:]
	}
	return true
}

// setID reports what the group has read.
func (g groupEffects) setID() {
	groups, ok := g.ask([]byte("XINFO"), []byte("GROUPS"), g.key)
	if !ok {
		return
	}
	for _, about := range groups.Elems {
		facts := map[string]resp.Value{}
		for i := 0; i+1 < len(about.Elems); i += 2 {
			facts[string(about.Elems[i].Str)] = about.Elems[i+1]
		}
		if !bytes.Equal(facts["name"].Str, g.group) {
			continue
		}
		read := int64(-1) // unknown
		if n := facts["entries-read"]; !n.IsNull() {
			read = n.Int
		}
		if read < -1 { // a count that overflowed, which SETID refuses
			g.state(g.db, g.key)
			return
		}
		g.put("XGROUP", []byte("SETID"), g.key, g.group, facts["last-delivered-id"].Str, []byte("ENTRIESREAD"), number(read))
	}
}
