package decode

import (
	"errors"
	"strings"

	"github.com/meowdis/meowdis/redis/resp"
)

// tree holds a deserialized value: text, or parts in brackets. Parts may be shared and may
// contain each other.
type tree struct {
	text  string // a leaf, or a class name before the bracket
	open  byte   // '{', '[', '('; 0 for a leaf
	parts []part
}

type part struct {
	label string // "" in a list
	value *tree
}

// Limits of a serialized value that is read and shown: cyclic parts have no end.
const (
	maxNodes     = 1 << 20
	maxTreeDepth = 64
)

var errSerialized = errors.New("not a serialized value that can be shown")

func leaf(text string) *tree { return &tree{text: text} }

// quote formats bytes as a leaf.
func quote(b []byte) string { return string(resp.AppendQuoted(nil, b, true)) }

func (t *tree) add(label string, value *tree) { t.parts = append(t.parts, part{label, value}) }

// layout formats the tree as lines, truncated to most bytes.
func (t *tree) layout(most int) string {
	l := treeFormatter{maxBytes: most, parents: map[*tree]bool{}}
	l.tree(0, "", t)
	text := strings.TrimSuffix(l.out.String(), "\n")
	if l.out.Len() > most {
		text += "\n…"
	}
	return text
}

type treeFormatter struct {
	out      strings.Builder
	maxBytes int
	parents  map[*tree]bool // trees being laid out, to detect cycles
}

var closers = map[byte]string{'{': "}", '[': "]", '(': ")"}

func (l *treeFormatter) line(depth int, text string) {
	l.out.WriteString(strings.Repeat("  ", depth) + text + "\n")
}

func (l *treeFormatter) tree(depth int, label string, t *tree) {
	if label != "" {
		label += ": "
	}
	head := label + t.text
	if t.open != 0 && t.text != "" {
		head += " "
	}
	switch {
	case l.out.Len() > l.maxBytes:
	case t.open == 0:
		l.line(depth, head)
	case len(t.parts) == 0:
		l.line(depth, head+string(t.open)+closers[t.open])
	case depth >= maxTreeDepth || l.parents[t]:
		l.line(depth, head+string(t.open)+"…"+closers[t.open])
	default:
		l.line(depth, head+string(t.open))
		l.parents[t] = true
		for _, p := range t.parts {
			l.tree(depth+1, p.label, p.value)
		}
		delete(l.parents, t)
		l.line(depth, closers[t.open])
	}
}

// oneLine formats the tree as a label: a leaf, or its beginning on one line.
func (t *tree) oneLine() string {
	if t.open == 0 {
		return t.text
	}
	const longest = 200
	return strings.Join(strings.Fields(t.layout(longest)), " ")
}

// byteSource reads bytes from the front. After an error it is empty.
type byteSource struct {
	rest  []byte
	nodes int
	err   error
}

func (s *byteSource) fail() { s.rest, s.err = nil, errSerialized }

// take returns the next n bytes, or nil if fewer remain.
func (s *byteSource) take(n uint64) []byte {
	if n > uint64(len(s.rest)) {
		s.fail()
		return nil
	}
	b := s.rest[:n]
	s.rest = s.rest[n:]
	return b
}

// count counts a node and reports whether the limit is not reached.
func (s *byteSource) count() bool {
	if s.nodes++; s.nodes > maxNodes {
		s.fail()
	}
	return s.err == nil
}

func (s *byteSource) byte() byte {
	if b := s.take(1); b != nil {
		return b[0]
	}
	return 0
}

// big reads an n-byte big-endian number; little reads a little-endian one.
func (s *byteSource) big(n uint64) (v uint64) {
	for _, c := range s.take(n) {
		v = v<<8 | uint64(c)
	}
	return v
}

func (s *byteSource) little(n uint64) (v uint64) {
	for i, c := range s.take(n) {
		v |= uint64(c) << (8 * i)
	}
	return v
}

// until returns the bytes before end and skips end.
func (s *byteSource) until(end string) string {
	before, after, ok := strings.Cut(string(s.rest), end)
	if !ok {
		s.fail()
		return ""
	}
	s.rest = s.rest[len(s.rest)-len(after):]
	return before
}
