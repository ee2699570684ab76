package pubsub

import (
	"sync"

	"github.com/meowdis/meowdis/redis/resp"
)

// Kind is what a subscription is to.
type Kind byte

const (
	Channel  Kind = iota // the messages of a channel
	Pattern              // those of the channels that match a pattern
	Shard                // those of a shard channel, which patterns do not reach
	Commands             // the commands that are run, under the name ""
	kinds
)

// names are those of Redis: of the confirmations and of the messages.
var names = [...]struct{ subscribed, unsubscribed, message string }{
	Channel: {"subscribe", "unsubscribe", "message"},
	Pattern: {"psubscribe", "punsubscribe", "pmessage"},
	Shard:   {"ssubscribe", "sunsubscribe", "smessage"},
}

// Message is one message for the subscribers of one name. It must not be changed.
type Message struct {
	Kind    Kind
	Pattern []byte // of the subscription, when that is one
	Channel []byte // "" for Commands
	Payload []byte // for Commands the line of MONITOR

	encode [2]sync.Once
	wire   [2][]byte
}

// Value is the message as a client gets it.
func (m *Message) Value() resp.Value {
	if m.Kind == Commands {
		return resp.Value{Kind: resp.Status, Str: m.Payload}
	}
	v := resp.Value{Kind: resp.Push, Elems: []resp.Value{resp.MakeString(names[m.Kind].message)}}
	if m.Kind == Pattern {
		v.Elems = append(v.Elems, resp.MakeBulk(m.Pattern))
	}
	v.Elems = append(v.Elems, resp.MakeBulk(m.Channel), resp.MakeBulk(m.Payload))
	return v
}

// Weight returns about how many bytes of memory the message takes.
func (m *Message) Weight() int { return len(m.Pattern) + len(m.Channel) + len(m.Payload) }

// Wire is the message in RESP3 or RESP2. It is made once, however many subscribers there are.
func (m *Message) Wire(resp3 bool) []byte {
	if resp3 {
		m.encode[1].Do(func() { m.wire[1] = resp.Append3(nil, m.Value()) })
		return m.wire[1]
	}
	m.encode[0].Do(func() { m.wire[0] = resp.Append2(nil, m.Value()) })
	return m.wire[0]
}

// Subscribed is the confirmation of a subscription, when the subscriber has n.
func Subscribed(kind Kind, name []byte, n int) resp.Value {
	return confirmation(names[kind].subscribed, resp.MakeBulk(name), n)
}

// Unsubscribed is the confirmation of its end. The name is nil when there was none to end.
func Unsubscribed(kind Kind, name []byte, n int) resp.Value {
	of := resp.Nil
	if name != nil {
		of = resp.MakeBulk(name)
	}
	return confirmation(names[kind].unsubscribed, of, n)
}

func confirmation(what string, name resp.Value, n int) resp.Value {
	return resp.Value{Kind: resp.Push, Elems: []resp.Value{resp.MakeString(what), name, resp.MakeInt(int64(n))}}
}
