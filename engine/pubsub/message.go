package pubsub

import (
	"sync"

	"github.com/meowdis/meowdis/redis/resp"
)

// Kind is a kind of subscription.
type Kind byte

const (
	Channel  Kind = iota // a channel
	Pattern              // all channels that match a pattern
	Shard                // a shard channel, which patterns do not match
	Commands             // the commands that run, as lines of MONITOR; the name is ""
	kinds
)

// names are Redis's names in confirmations and messages.
var names = [...]struct{ subscribed, unsubscribed, message string }{
	Channel: {"subscribe", "unsubscribe", "message"},
	Pattern: {"psubscribe", "punsubscribe", "pmessage"},
	Shard:   {"ssubscribe", "sunsubscribe", "smessage"},
}

// Message is one message for the subscribers of one name. It must not be modified.
type Message struct {
	Kind    Kind
	Pattern []byte // pattern of the subscription; nil for the other kinds
	Channel []byte // "" for Commands
	Payload []byte // the line of MONITOR for Commands

	encode [2]sync.Once
	wire   [2][]byte
}

// Value returns the message as a client receives it.
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

// Weight returns the approximate bytes of memory of the message.
func (m *Message) Weight() int { return len(m.Pattern) + len(m.Channel) + len(m.Payload) }

// Wire returns the message encoded in RESP3 or RESP2. It is encoded once for all subscribers.
func (m *Message) Wire(resp3 bool) []byte {
	if resp3 {
		m.encode[1].Do(func() { m.wire[1] = resp.Append3(nil, m.Value()) })
		return m.wire[1]
	}
	m.encode[0].Do(func() { m.wire[0] = resp.Append2(nil, m.Value()) })
	return m.wire[0]
}

// Subscribed returns the confirmation of a subscription; n is the subscriber's count.
func Subscribed(kind Kind, name []byte, n int) resp.Value {
	return confirmation(names[kind].subscribed, resp.MakeBulk(name), n)
}

// Unsubscribed returns the confirmation of an ended subscription. The name is nil if there was none to end.
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
