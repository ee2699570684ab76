package tracking

import (
	"sync"

	"github.com/meowdis/meowdis/redis/resp"
)

// Message tells a client that what it keeps of some keys is no longer true.
type Message struct {
	Keys [][]byte // nil for all that it keeps

	gone   int64 // in place of that: the client that was to be told is not there any more
	encode [2]sync.Once
	wire   [2][]byte
}

// Channel is the one that messages come from to a client that speaks RESP2.
const Channel = "__redis__:invalidate"

// Wire is the message in RESP3, or as one of pub/sub in RESP2. It is made once, and empty when there
// is none in RESP2.
func (m *Message) Wire(resp3 bool) []byte {
	if resp3 {
		m.encode[1].Do(func() { m.wire[1] = resp.Append3(nil, m.pushed()) })
		return m.wire[1]
	}
	if m.gone == 0 {
		m.encode[0].Do(func() {
			m.wire[0] = resp.Append2(nil, push(resp.MakeString("message"), resp.MakeString(Channel), m.keys()))
		})
	}
	return m.wire[0]
}

// Weight is how many bytes the message is about.
func (m *Message) Weight() (n int) {
	for _, key := range m.Keys {
		n += len(key)
	}
	return n
}

func (m *Message) pushed() resp.Value {
	if m.gone != 0 {
		return push(resp.MakeString("tracking-redir-broken"), resp.MakeInt(m.gone))
	}
	return push(resp.MakeString("invalidate"), m.keys())
}

func (m *Message) keys() resp.Value {
	if m.Keys == nil {
		return resp.Nil
	}
	keys := make([]resp.Value, len(m.Keys))
	for i, key := range m.Keys {
		keys[i] = resp.MakeBulk(key)
	}
	return resp.MakeArray(keys...)
}

func push(elems ...resp.Value) resp.Value { return resp.Value{Kind: resp.Push, Elems: elems} }
