package script

import (
	"math"
	"strconv"
	"strings"
	"unsafe"

	"github.com/meowdis/meowdis/redis/lua"
	"github.com/meowdis/meowdis/redis/resp"
)

// value converts a reply to a Lua value, in the protocol that the script has selected. While a table is built, it is
// one of the state's Roots.
func (m *Machine) value(v resp.Value) lua.Value {
	if !m.resp3 {
		return m.value2(v)
	}
	if v.RESP3 != nil {
		v = *v.RESP3
	}
	switch v.Kind {
	case resp.Null, resp.NullArray:
		return lua.Nil
	case resp.Bool:
		return lua.Bool(v.Int != 0)
	case resp.Double:
		return m.field("double", lua.Number(v.Float))
	case resp.BigNumber:
		return m.field("big_number", m.string(v.Str))
	case resp.Verbatim:
		text := m.state.Table(0, 2)
		defer m.state.Built(len(m.state.Roots) - 1)
		text.SetField("format", lua.String("txt"))
		text.SetField("string", m.string(v.Str))
		return m.field("verbatim_string", lua.Of(text))
	case resp.Map, resp.PairMap:
		t := m.state.Table(0, 0)
		defer m.state.Built(len(m.state.Roots) - 1)
		for i := 0; i+1 < len(v.Elems); i += 2 {
			if k := m.value(v.Elems[i]); !k.IsNil() {
				m.state.Set(t, k, m.value(v.Elems[i+1]))
			}
		}
		return m.field("map", lua.Of(t))
	case resp.Set:
		t := m.state.Table(0, 0)
		defer m.state.Built(len(m.state.Roots) - 1)
		for _, e := range v.Elems {
			if k := m.value(e); !k.IsNil() {
				m.state.Set(t, k, lua.True)
			}
		}
		return m.field("set", lua.Of(t))
	case resp.Scored:
		return m.array(pairs(v.Elems))
	case resp.Array, resp.Push:
		return m.array(v.Elems)
	}
	return m.value2(v)
}

func (m *Machine) value2(v resp.Value) lua.Value {
	switch v.Kind {
	case resp.Null, resp.NullArray:
		return lua.False
	case resp.Status:
		return m.field("ok", m.string(v.Str))
	case resp.Error:
		return commandError(string(v.Str))
	case resp.Int, resp.Bool:
		return lua.Number(float64(v.Int))
	case resp.PairMap:
		return m.array(pairs(v.Elems))
	case resp.Array, resp.Push, resp.Map, resp.Set, resp.Scored:
		return m.array(v.Elems)
	case resp.Double:
		if v.Str == nil {
			return m.string([]byte(resp.FormatDouble(v.Float)))
		}
	}
	return m.string(v.Str)
}

func (m *Machine) string(b []byte) lua.Value {
	m.state.Grow(len(b))
	return lua.String(string(b))
}

func pairs(elems []resp.Value) []resp.Value {
	list := make([]resp.Value, 0, len(elems)/2)
	for i := 0; i+1 < len(elems); i += 2 {
		list = append(list, resp.MakeArray(elems[i:i+2]...))
	}
	return list
}

func (m *Machine) array(elems []resp.Value) lua.Value {
	t := m.state.Table(len(elems), 0)
	defer m.state.Built(len(m.state.Roots) - 1)
	for i := range elems {
		t.SetIndex(i+1, m.value(elems[i]))
	}
	return lua.Of(t)
}

// field charges and returns a table with one field.
func (m *Machine) field(name string, v lua.Value) lua.Value {
	m.state.Grow(fieldBytes)
	return field(name, v)
}

// A table with one field takes fieldBytes of memory.
const fieldBytes = 144

func field(name string, v lua.Value) lua.Value {
	t := lua.NewTable(0, 1)
	t.SetField(name, v)
	return lua.Of(t)
}

// errorTable returns the error table for a message, or for a whole error reply, which begins with "-".
func errorTable(msg string) lua.Value {
	return field("err", lua.String(withCode(msg)))
}

// commandError returns the error table for an error reply of a command.
func commandError(msg string) lua.Value {
	v := field("err", lua.String(msg))
	v.AsTable().SetField("ignore_error_stats_update", lua.True)
	return v
}

const maxReplyDepth = 3998 // the tables that fit on the stack of the reference implementation

// A resp.Value takes valueBytes of memory.
const valueBytes = int(unsafe.Sizeof(resp.Value{}))

// grow charges an element of the reply and its n bytes.
func (m *Machine) grow(n int) {
	if m.run.Host.Grow != nil {
		m.run.Host.Grow(valueBytes + n)
	}
}

// reply converts a Lua value to a reply.
func (m *Machine) reply(v lua.Value, depth int) resp.Value {
	switch v.Type() {
	case "string":
		s, _ := v.AsString()
		m.grow(len(s))
		if s == "" {
			return resp.MakeString(s)
		}
		return resp.MakeBulk(unsafe.Slice(unsafe.StringData(s), len(s))) // not copied: a script may return one string many times
	case "number":
		n, _ := v.AsNumber()
		return resp.MakeInt(int64(lua.Integer(n)))
	case "boolean":
		b, _ := v.AsBool()
		switch {
		case m.resp3:
			return resp.Value{Kind: resp.Bool, Int: map[bool]int64{true: 1}[b]}
		case b:
			return resp.One
		}
	case "table":
		if depth > maxReplyDepth {
			return resp.MakeError("ERR reached lua stack limit")
		}
		return m.tableReply(v.AsTable(), depth+1)
	}
	return resp.Nil
}

// tableReply converts a table: by its field err, ok or another special field, or as an array up to the first
// nil.
func (m *Machine) tableReply(t *lua.Table, depth int) resp.Value {
	if msg, ok := t.Field("err").AsString(); ok {
		m.grow(len(msg))
		msg, _, _ = strings.Cut(msg, "\x00")
		return resp.MakeError(errorLine(msg))
	}
	if msg, ok := t.Field("ok").AsString(); ok {
		m.grow(len(msg))
		msg, _, _ = strings.Cut(msg, "\x00")
		return resp.MakeStatus(oneLine(msg))
	}
	if n, ok := t.Field("double").AsNumber(); ok {
		return resp.MakeDouble(n)
	}
	if elems := t.Field("map").AsTable(); elems != nil {
		v := resp.Value{Kind: resp.Map}
		for k, e, _ := elems.Next(lua.Nil); !k.IsNil(); k, e, _ = elems.Next(k) {
			m.grow(valueBytes)
			v.Elems = append(v.Elems, m.reply(k, depth), m.reply(e, depth))
		}
		return v
	}
	if elems := t.Field("set").AsTable(); elems != nil {
		v := resp.Value{Kind: resp.Set}
		for k, _, _ := elems.Next(lua.Nil); !k.IsNil(); k, _, _ = elems.Next(k) {
			m.grow(0)
			v.Elems = append(v.Elems, m.reply(k, depth))
		}
		return v
	}
	if n, ok := t.Field("big_number").AsString(); ok {
		m.grow(len(n))
		return resp.Value{Kind: resp.BigNumber, Str: []byte(oneLine(n))}
	}
	if text := t.Field("verbatim_string").AsTable(); text != nil {
		s, isString := text.Field("string").AsString()
		if format, hasFormat := text.Field("format").AsString(); isString && hasFormat {
			m.grow(len(s))
			return resp.MakeVerbatim(format, []byte(s))
		}
	}
	v := resp.Value{Kind: resp.Array}
	for i := 1; ; i++ {
		e := t.Index(i)
		if e.IsNil() {
			return v
		}
		m.grow(0)
		v.Elems = append(v.Elems, m.reply(e, depth))
	}
}

// arguments copies the arguments of redis.call. ok is false if one has an invalid type.
func arguments(s *lua.State, args []lua.Value) (words [][]byte, ok bool) {
	size := 0
	for _, arg := range args {
		text, _ := arg.AsString()
		size += 24 + len(text)
	}
	s.Grow(size)
	words = make([][]byte, len(args))
	for i, arg := range args {
		if words[i], ok = argument(arg); !ok {
			return nil, false
		}
	}
	return words, true
}

// argument returns an argument of redis.call as bytes, if its type is valid.
func argument(v lua.Value) ([]byte, bool) {
	if s, ok := v.AsString(); ok {
		return []byte(s), true
	}
	n, ok := v.AsNumber()
	if !ok {
		return nil, false
	}
	const most = 1<<63 - 1
	if i := int64(lua.Integer(n)); float64(i) == n && n > -most/2 && n < most/2 {
		return strconv.AppendInt(nil, i, 10), true
	}
	if n != n && math.Signbit(n) {
		return []byte("-nan"), true
	}
	return []byte(resp.FormatDouble(n)), true
}
