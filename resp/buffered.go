package resp

import "bytes"

// A command that has arrived whole is cut out of the buffer without waiting, and
// its words come from slabs that many commands share: a word keeps at most a
// slab alive.
const (
	wordsSlab = 512
	bytesSlab = 16 << 10
	// A longer command is read byte by byte, into memory of its own.
	maxBuffered = 4 << 10
)

// Next returns the next command when it lies in the buffer, and nil when it has
// not arrived, is not an array, is malformed or long: ReadCommand reads those.
func (r *Reader) Next() [][]byte {
	n := min(r.r.Buffered(), maxBuffered)
	if n == 0 || r.stranger {
		return nil
	}
	buf, err := r.r.Peek(n)
	if err != nil || buf[0] != '*' {
		return nil
	}
	words, at := cutCount(buf, 1)
	if words <= 0 || words > wordsSlab {
		return nil
	}
	args := r.words(words)
	for i := range args {
		if at >= n || buf[at] != '$' {
			return nil
		}
		size, from := cutCount(buf, at+1)
		at = from + size + 2
		if size < 0 || at > n {
			return nil
		}
		args[i] = buf[from : from+size]
	}
	r.keep(args, at)
	if _, err := r.r.Discard(at); err != nil {
		return nil
	}
	return args
}

// words is room for n words. It is taken again by the next call, unless keep
// confirms it.
func (r *Reader) words(n int) [][]byte {
	if len(r.wordsSlab) < n {
		r.wordsSlab = make([][]byte, wordsSlab)
	}
	return r.wordsSlab[:n:n]
}

// keep moves args out of the buffer, where they take at most size bytes.
func (r *Reader) keep(args [][]byte, size int) {
	if len(r.bytesSlab) < size {
		r.bytesSlab = make([]byte, bytesSlab)
	}
	at := 0
	for i, arg := range args {
		end := at + copy(r.bytesSlab[at:], arg)
		args[i] = r.bytesSlab[at:end:end]
		at = end
	}
	r.bytesSlab = r.bytesSlab[at:]
	r.wordsSlab = r.wordsSlab[len(args):]
}

// cutCount reads the count that stands in buf from position at up to CRLF, and
// returns it and the position after it. -1 when that is not what is there.
func cutCount(buf []byte, at int) (n, next int) {
	digits, _, whole := bytes.Cut(buf[at:min(len(buf), at+8)], []byte("\r\n"))
	count, ok := parseCount(digits)
	if !whole || !ok || count < 0 {
		return -1, at
	}
	return int(count), at + len(digits) + 2
}
