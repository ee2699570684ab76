package pubsub

import (
	"bytes"
	"slices"

	"github.com/meowdis/meowdis/redis/glob"
	"github.com/meowdis/meowdis/redis/resp"
)

// Peers connects a hub to the other processes that use the same data.
type Peers struct {
	// Ask sends a call to the other processes, where Hub.Answer answers it, and returns the replies that arrive
	// before its timeout. The timeout is shorter in a hurry, when other clients wait for this process.
	Ask func(args [][]byte, hurry bool) []resp.Value
	// Watched reports whether another process has a client of MONITOR.
	Watched func() bool
	// Show sends a line of MONITOR to those processes.
	Show func(line []byte)
	// Join is called before a subscription, so that messages of the other processes arrive from then on. Its
	// error is the reason why they cannot.
	Join func(Kind) error
}

// SetPeers connects the hub to other processes.
func (h *Hub) SetPeers(o Peers) { h.peers.Store(&o) }

// Join prepares for a subscription, so that the messages of other processes arrive, too. Its error is the
// reason why they cannot; messages of this process arrive in any case.
func (h *Hub) Join(kind Kind) error {
	if o := h.peers.Load(); o != nil {
		return o.Join(kind)
	}
	return nil
}

// Publish sends a message to the subscribers of all processes and returns the number of deliveries. The kind is
// Channel or Shard.
func (h *Hub) Publish(kind Kind, channel, payload []byte) int64 {
	return h.PublishCounted(kind, channel, payload, nil)
}

// PublishCounted is like Publish, and calls step, if not nil, with the steps of matching patterns, before any delivery.
func (h *Hub) PublishCounted(kind Kind, channel, payload []byte, step func(n int)) int64 {
	n := h.deliverLocal(kind, channel, payload, step)
	for _, v := range h.ask(tell[kind], channel, payload) {
		n += v.Int
	}
	return n
}

// Receivers returns the number of deliveries that Publish would make now.
func (h *Hub) Receivers(kind Kind, channel []byte) int64 {
	n := h.localReceivers(kind, channel)
	for _, v := range h.ask(count[kind], channel) {
		n += v.Int
	}
	return n
}

// Watched reports whether any process has a client of MONITOR.
func (h *Hub) Watched() bool {
	if h.watched.Load() > 0 {
		return true
	}
	o := h.peers.Load()
	return o != nil && o.Watched()
}

// Show sends a line of MONITOR to its clients in all processes.
func (h *Hub) Show(line []byte) {
	if h.watched.Load() > 0 {
		h.DeliverLocal(Commands, nil, line)
	}
	if o := h.peers.Load(); o != nil && o.Watched() {
		o.Show(line)
	}
}

// The calls between processes.
var (
	tell  = map[Kind]string{Channel: "TELL", Shard: "STELL"}
	count = map[Kind]string{Channel: "COUNT", Shard: "SCOUNT"}
)

const (
	show     = "SHOW"     // line
	patterns = "PATTERNS" // names of patterns with subscribers
)

func (h *Hub) ask(what string, args ...[]byte) []resp.Value {
	o := h.peers.Load()
	if o == nil {
		return nil
	}
	// A script that publishes holds the file while it asks.
	hurry := what == count[Channel] || what == count[Shard]
	return o.Ask(append([][]byte{[]byte(what)}, args...), hurry)
}

// ShowCall returns the call that sends a line of MONITOR to another process.
func ShowCall(line []byte) [][]byte { return [][]byte{[]byte(show), line} }

// Answer returns the reply to a call of another process.
func (h *Hub) Answer(args [][]byte) resp.Value {
	name := string(args[0])
	for kind := range tell {
		switch {
		case name == tell[kind] && len(args) == 3:
			return resp.MakeInt(h.DeliverLocal(kind, args[1], args[2]))
		case name == count[kind] && len(args) == 2:
			return resp.MakeInt(h.localReceivers(kind, args[1]))
		}
	}
	switch {
	case name == show && len(args) == 2:
		return resp.MakeInt(h.DeliverLocal(Commands, nil, args[1]))
	case name == patterns:
		return resp.MakeArray(bulks(h.names(Pattern, nil, nil))...)
	case name == "PUBSUB" && len(args) > 1:
		return h.pubsub(args, nil)
	}
	return resp.MakeError("ERR unknown command")
}

// Info returns the reply to PUBSUB for all processes together. ok is false for an unknown subcommand or too
// many arguments. step receives the number of steps of matching a pattern.
func (h *Hub) Info(sub string, args [][]byte, step func(int)) (v resp.Value, ok bool) {
	switch sub {
	case "CHANNELS", "SHARDCHANNELS":
		if len(args) > 3 {
			return v, false
		}
		v = h.pubsub(args, step)
		for _, other := range h.ask("PUBSUB", args[1:]...) {
			v.Elems = union(v.Elems, other.Elems)
		}
	case "NUMSUB", "SHARDNUMSUB":
		v = h.pubsub(args, step)
		for _, other := range h.ask("PUBSUB", args[1:]...) {
			for i := 1; i < min(len(v.Elems), len(other.Elems)); i += 2 {
				v.Elems[i].Int += other.Elems[i].Int
			}
		}
	case "NUMPAT":
		all := bulks(h.names(Pattern, nil, nil))
		for _, other := range h.ask(patterns) {
			all = union(all, other.Elems)
		}
		v = resp.MakeInt(int64(len(all)))
	default:
		return v, false
	}
	return v, true
}

// pubsub returns the reply of this process to PUBSUB CHANNELS, NUMSUB, SHARDCHANNELS or SHARDNUMSUB.
func (h *Hub) pubsub(args [][]byte, step func(int)) resp.Value {
	kind, v := Channel, resp.EmptyArray
	switch string(bytes.ToUpper(args[1])) {
	case "SHARDCHANNELS":
		kind = Shard
		fallthrough
	case "CHANNELS":
		var pattern []byte
		if len(args) > 2 {
			pattern = args[2]
		}
		return resp.MakeArray(bulks(h.names(kind, pattern, step))...)
	case "SHARDNUMSUB":
		kind = Shard
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, name := range args[2:] {
		n := 0
		if t := h.topics[kind][string(name)]; t != nil {
			n = len(t.subscribers)
		}
		v.Elems = append(v.Elems, resp.MakeBulk(name), resp.MakeInt(int64(n)))
	}
	return v
}

// names returns the sorted names with subscribers in this process; a non-nil pattern selects among them.
// A non-nil step receives the number of steps of the matching.
func (h *Hub) names(kind Kind, pattern []byte, step func(int)) [][]byte {
	h.mu.Lock()
	all := make([][]byte, 0, len(h.topics[kind]))
	for _, t := range h.topics[kind] {
		all = append(all, t.name)
	}
	h.mu.Unlock() // matching may take long
	if pattern != nil {
		all = slices.DeleteFunc(all, func(name []byte) bool { return !glob.MatchCounted(pattern, name, false, step) })
	}
	slices.SortFunc(all, bytes.Compare)
	return all
}

func bulks(names [][]byte) []resp.Value {
	all := make([]resp.Value, len(names))
	for i, name := range names {
		all[i] = resp.MakeBulk(name)
	}
	return all
}

// union appends the values of others that are missing in all.
func union(all, others []resp.Value) []resp.Value {
	has := map[string]bool{}
	for _, v := range all {
		has[string(v.Str)] = true
	}
	for _, v := range others {
		if !has[string(v.Str)] {
			all = append(all, v)
		}
	}
	return all
}
