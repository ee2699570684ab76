package resp

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
	if n == 0 || r.unauthenticated {
		return nil
	}
	buf, err := r.r.Peek(n)
	if err != nil {
		return nil
	}
	args, n, _ := r.cutter.Cut(buf)
	if _, err := r.r.Discard(n); err != nil {
		return nil
	}
	return args
}

// Cutter cuts commands out of what has arrived. The zero Cutter is ready.
type Cutter struct {
	words [][]byte
	bytes []byte
}

// Cut copies the command out that buf begins with, which has n bytes there. args is nil
// when it has not arrived whole, and then more reports whether the rest may follow: otherwise it
// is none that is cut, but for a Reader: inline, empty, malformed or of many args.
func (c *Cutter) Cut(buf []byte) (args [][]byte, n int, more bool) {
	if len(buf) == 0 || buf[0] != '*' {
		return nil, 0, len(buf) == 0
	}
	words, at := cutCount(buf, 1)
	if words <= 0 || words > wordsSlab {
		return nil, 0, at > len(buf)
	}
	args = c.room(words)
	for i := range args {
		if at >= len(buf) || buf[at] != '$' {
			return nil, 0, at >= len(buf)
		}
		size, from := cutCount(buf, at+1)
		if size < 0 {
			return nil, 0, from > len(buf)
		}
		if at = from + size + 2; at > len(buf) {
			return nil, 0, true
		}
		args[i] = buf[from : from+size]
	}
	c.keep(args, at)
	return args, at, false
}

// room is that for n words. It is taken again by the next call, unless keep
// confirms it.
func (c *Cutter) room(n int) [][]byte {
	if len(c.words) < n {
		c.words = make([][]byte, wordsSlab)
	}
	return c.words[:n:n]
}

// keep moves args out of the buffer, where they take at most size bytes.
func (c *Cutter) keep(args [][]byte, size int) {
	slab := c.bytes
	switch {
	case size > bytesSlab/4:
		slab = make([]byte, size)
	case len(slab) < size:
		slab = make([]byte, bytesSlab)
	}
	at := 0
	for i, arg := range args {
		end := at + copy(slab[at:], arg)
		args[i] = slab[at:end:end]
		at = end
	}
	if size <= bytesSlab/4 {
		c.bytes = slab[at:]
	}
	c.words = c.words[len(args):]
}

// maxCount is how many digits of a count are cut; a longer one is for a Reader.
const maxCount = 6

// cutCount reads the count that stands in buf from position at up to CRLF, and returns it
// and the position after it. It is -1 when that is not what is there, and the position is
// after buf when the rest may follow.
func cutCount(buf []byte, at int) (n, next int) {
	for i := at; i < at+maxCount+2; i++ {
		switch {
		case i+1 >= len(buf):
			return -1, len(buf) + 1
		case buf[i] == '\r':
			count, ok := parseCount(buf[at:i])
			if !ok || count < 0 || buf[i+1] != '\n' {
				return -1, at
			}
			return int(count), i + 2
		}
	}
	return -1, at
}
