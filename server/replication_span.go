package server

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"

	"github.com/meowdis/meowdis/engine"
)

// span holds the place of a part of the replication log that is for some replicas. The others get a PING of the same length in its place, so that
// the offsets of all replicas mean the same.
type span struct {
	start, end int64 // offsets before the first byte, and of the last one
	who        engine.Audience
}

// endsBefore compares the end of the span with an offset.
func (s span) endsBefore(at int64) int { return cmp.Compare(s.end, at+1) }

// fits reports whether a replica gets the span.
func (s span) fits(r *replica) bool { return r.modules == (s.who == engine.WithModules) }

// visible returns the bytes b after offset at as a replica gets them.
func (l *replicationLog) visible(r *replica, b []byte, at int64) []byte {
	first, _ := slices.BinarySearchFunc(l.spans, at, span.endsBefore)
	cloned := false
	for _, s := range l.spans[first:] {
		if s.start >= at+int64(len(b)) {
			break
		}
		if s.fits(r) {
			continue
		}
		if !cloned {
			b, cloned = bytes.Clone(b), true
		}
		from := max(s.start, at)
		fill(b[from-at:min(s.end, at+int64(len(b)))-at], from-s.start, s.end-s.start)
	}
	return b
}

// fillHead returns the beginning of a PING of length bytes, which a text and a line break follow; nil if no PING has that
// length: one more digit of the text's length takes one byte of the text.
func fillHead(length int64) []byte {
	for digits := int64(1); digits < 20; digits++ {
		text := length - int64(len("*2\r\n$4\r\nPING\r\n$\r\n\r\n")) - digits
		if text < 0 {
			return nil
		}
		if head := fmt.Appendf(nil, "*2\r\n$4\r\nPING\r\n$%d\r\n", text); int64(len(head))+text+2 == length {
			return head
		}
	}
	return nil
}

// canFill reports whether a PING can have a length. If not, it can have the length of one more PING without a text.
func canFill(length int64) bool { return fillHead(length) != nil }

// fill overwrites b with the bytes from offset on of a PING of length bytes.
func fill(b []byte, offset, length int64) {
	head := fillHead(length)
	for i := range b {
		switch at := offset + int64(i); {
		case at < int64(len(head)):
			b[i] = head[at]
		case at == length-2:
			b[i] = '\r'
		case at == length-1:
			b[i] = '\n'
		default:
			b[i] = '.'
		}
	}
}
