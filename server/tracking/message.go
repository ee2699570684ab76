package tracking

import (
	"sync"

	"github.com/meowdis/meowdis/redis/resp"
)

// Message notifies a client that keys in its cache are no longer valid.
type Message struct {
	Keys [][]byte // nil for all keys

	gone   int64 // if not 0, the message is: the redirection target with this ID is gone
	encode [2]sync.Once
	wire   [2][]byte
}

// Channel is the pub/sub channel of invalidation messages in RESP2.
const Channel = "__redis__:invalidate"

// Wire returns the message as a RESP3 push, or as a pub/sub message in RESP2. It encodes once. It returns nothing for
// a message without a RESP2 form.
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

// Weight returns the total size of the keys in bytes.
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
