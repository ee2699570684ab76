package decode

import (
	"math"
	"math/big"
	"strconv"
	"strings"
)

// pickle shows a Python pickle of protocol 2 or later. It shows the calls in a pickle and never
// runs them.
func pickle(b []byte, most int) (string, bool) {
	if len(b) < 3 || len(b) > most || b[0] != 0x80 || b[1] < 2 || b[1] > 5 {
		return "", false
	}
	m := unpickler{byteSource: byteSource{rest: b}, memo: map[uint64]*tree{}}
	t := m.run()
	if t == nil {
		return "", false
	}
	return t.layout(most), true
}

// unpickler interprets pickle opcodes with a stack of values, marks in the stack, and a memo.
type unpickler struct {
	byteSource
	stack []*tree
	marks []int
	memo  map[uint64]*tree
}

// run returns the result of the program, or nil if it cannot be shown.
func (m *unpickler) run() *tree {
	for m.err == nil && m.count() {
		op := m.byte()
		if op == '.' {
			t := m.pop()
			if m.err != nil || len(m.rest) > 0 {
				return nil
			}
			return t
		}
		if m.err == nil && !m.scalar(op) && !m.builds(op) && !m.remembers(op) {
			return nil
		}
	}
	return nil
}

func (m *unpickler) push(t *tree) bool {
	m.stack = append(m.stack, t)
	return true
}

func (m *unpickler) pop() *tree {
	if len(m.stack) == 0 || len(m.marks) > 0 && len(m.stack) == m.marks[len(m.marks)-1] {
		m.fail()
		return leaf("")
	}
	t := m.stack[len(m.stack)-1]
	m.stack = m.stack[:len(m.stack)-1]
	return t
}

func (m *unpickler) top() *tree {
	t := m.pop()
	m.push(t)
	return t
}

// marked pops the last mark and the values above it.
func (m *unpickler) marked() []*tree {
	if len(m.marks) == 0 {
		m.fail()
		return nil
	}
	from := m.marks[len(m.marks)-1]
	m.marks = m.marks[:len(m.marks)-1]
	items := append([]*tree(nil), m.stack[from:]...)
	m.stack = m.stack[:from]
	return items
}

// scalar executes an opcode that pushes a scalar.
func (m *unpickler) scalar(op byte) bool {
	switch op {
	case 'N':
		return m.push(leaf("None"))
	case 0x88, 0x89:
		return m.push(leaf(map[byte]string{0x88: "True", 0x89: "False"}[op]))
	case 'J':
		return m.push(leaf(strconv.FormatInt(int64(int32(m.little(4))), 10)))
	case 'K':
		return m.push(leaf(strconv.FormatUint(m.little(1), 10)))
	case 'M':
		return m.push(leaf(strconv.FormatUint(m.little(2), 10)))
	case 0x8a:
		return m.push(leaf(pickledInt(m.take(m.little(1)))))
	case 0x8b:
		return m.push(leaf(pickledInt(m.take(m.little(4)))))
	case 'G':
		return m.push(leaf(strconv.FormatFloat(math.Float64frombits(m.big(8)), 'g', -1, 64)))
	case 'I', 'L', 'F':
		return m.push(leaf(printable([]byte(strings.TrimSuffix(m.until("\n"), "L")))))
	case 'S', 'V':
		return m.push(leaf(printable([]byte(m.until("\n")))))
	case 'X':
		return m.push(leaf(quote(m.take(m.little(4)))))
	case 0x8c:
		return m.push(leaf(quote(m.take(m.little(1)))))
	case 0x8d:
		return m.push(leaf(quote(m.take(m.little(8)))))
	case 'T', 'B':
		return m.push(leaf("b" + quote(m.take(m.little(4)))))
	case 'U', 'C':
		return m.push(leaf("b" + quote(m.take(m.little(1)))))
	case 0x8e, 0x96:
		return m.push(leaf("b" + quote(m.take(m.little(8)))))
	case 'c':
		module, name := m.until("\n"), m.until("\n")
		return m.push(leaf(printable([]byte(module + "." + name))))
	case 'P':
		return m.push(leaf("persistent " + printable([]byte(m.until("\n")))))
	case 0x82, 0x83, 0x84:
		return m.push(leaf("extension " + strconv.FormatUint(m.little(1<<(op-0x82)), 10)))
	case 0x97:
		return m.push(leaf("buffer"))
	}
	return false
}

// pickledInt decodes a little-endian number in two's complement.
func pickledInt(b []byte) string {
	const longest = 1 << 10 // formatting takes quadratic time
	if len(b) > longest {
		return "a number of " + strconv.Itoa(len(b)) + " bytes"
	}
	n, high := new(big.Int), make([]byte, len(b))
	for i, c := range b {
		high[len(b)-1-i] = c
	}
	n.SetBytes(high)
	if len(high) > 0 && high[0] >= 0x80 {
		n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
	}
	return n.String()
}

// builds executes an opcode that builds a value from other values.
func (m *unpickler) builds(op byte) bool {
	switch op {
	case ')':
		m.push(&tree{open: '('})
	case ']':
		m.push(&tree{open: '['})
	case '}':
		m.push(&tree{open: '{'})
	case 0x8f:
		m.push(&tree{text: "set", open: '{'})
	case 't':
		m.push(listOf('(', "", m.marked()))
	case 'l':
		m.push(listOf('[', "", m.marked()))
	case 0x91:
		m.push(listOf('{', "frozenset", m.marked()))
	case 'd':
		m.push(&tree{open: '{'})
		dict := m.pop()
		m.pairs(dict, m.marked())
		m.push(dict)
	case 0x85, 0x86, 0x87:
		items := make([]*tree, op-0x84)
		for i := range items {
			items[len(items)-1-i] = m.pop()
		}
		m.push(listOf('(', "", items))
	case 'a':
		value := m.pop()
		m.top().add("", value)
	case 'e', 0x90:
		items := m.marked()
		list := m.top()
		for _, t := range items {
			list.add("", t)
		}
	case 's':
		value, key := m.pop(), m.pop()
		m.top().add(key.oneLine(), value)
	case 'u':
		items := m.marked()
		m.pairs(m.top(), items)
	case 0x93:
		name, module := m.pop(), m.pop()
		m.push(leaf(strings.Trim(module.text, `"`) + "." + strings.Trim(name.text, `"`)))
	case 'R', 0x81:
		args, class := m.pop(), m.pop()
		m.push(listOf('(', class.oneLine(), values(args)))
	case 0x92:
		named, args, class := m.pop(), m.pop(), m.pop()
		t := listOf('(', class.oneLine(), values(args))
		t.parts = append(t.parts, named.parts...)
		m.push(t)
	case 'i', 'o':
		return m.instance(op)
	case 'b':
		state := m.pop()
		m.top().add("state", state)
	case 'Q':
		m.push(leaf("persistent " + m.pop().oneLine()))
	default:
		return false
	}
	return true
}

// instance creates an object as in early protocols.
func (m *unpickler) instance(op byte) bool {
	class := ""
	if op == 'i' {
		module, name := m.until("\n"), m.until("\n")
		class = printable([]byte(module + "." + name))
	}
	items := m.marked()
	if op == 'o' && len(items) > 0 {
		class, items = items[0].oneLine(), items[1:]
	}
	return m.push(listOf('(', class, items))
}

func (m *unpickler) pairs(dict *tree, items []*tree) {
	if len(items)%2 != 0 {
		m.fail()
		return
	}
	for i := 0; i < len(items); i += 2 {
		dict.add(items[i].oneLine(), items[i+1])
	}
}

func listOf(open byte, text string, items []*tree) *tree {
	t := &tree{text: text, open: open}
	for _, item := range items {
		t.add("", item)
	}
	return t
}

func values(t *tree) []*tree {
	var items []*tree
	for _, p := range t.parts {
		items = append(items, p.value)
	}
	return items
}

// remembers executes an opcode for the stack or the memo.
func (m *unpickler) remembers(op byte) bool {
	switch op {
	case 0x80:
		m.byte()
	case 0x95:
		m.take(8)
	case 0x98:
	case '(':
		m.marks = append(m.marks, len(m.stack))
	case '0':
		m.pop()
	case '1':
		m.marked()
	case '2':
		m.push(m.top())
	case 'q', 'r':
		m.memo[m.little(1+3*uint64(op-'q'))] = m.top()
	case 0x94:
		m.memo[uint64(len(m.memo))] = m.top()
	case 'p':
		n, err := strconv.ParseUint(m.until("\n"), 10, 32)
		if err != nil {
			return false
		}
		m.memo[n] = m.top()
	case 'h':
		return m.recall(m.little(1))
	case 'j':
		return m.recall(m.little(4))
	case 'g':
		n, err := strconv.ParseUint(m.until("\n"), 10, 32)
		return err == nil && m.recall(n)
	default:
		return false
	}
	return true
}

func (m *unpickler) recall(n uint64) bool {
	t, ok := m.memo[n]
	return ok && m.push(t)
}
