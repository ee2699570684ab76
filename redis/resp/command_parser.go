package resp

// A command that has arrived completely is parsed without waiting. Its words come
// from slabs shared by many commands: a word keeps at most one slab alive.
const (
	wordsSlab = 512
	bytesSlab = 16 << 10
	// Longer commands are read byte by byte, into memory of their own.
	maxBuffered = 4 << 10
)

// Next returns the next command if the buffer holds it completely. It returns nil for one that
// is incomplete, not an array, malformed or long: ReadCommand reads those commands.
func (r *Reader) Next() [][]byte {
	n := min(r.r.Buffered(), maxBuffered)
	if n == 0 || r.unauthenticated {
		return nil
	}
	buf, err := r.r.Peek(n)
	if err != nil {
		return nil
	}
	args, n, _ := r.parser.Parse(buf)
	if _, err := r.r.Discard(n); err != nil {
		return nil
	}
	return args
}

// CommandParser parses commands from received bytes. The zero CommandParser is ready to use.
type CommandParser struct {
	words [][]byte
	bytes []byte
}

// Parse copies the command at the start of buf, which takes n bytes there. args is nil if the
// command is incomplete, and then more is true; or if it needs a Reader, being inline, empty,
// malformed or long.
func (c *CommandParser) Parse(buf []byte) (args [][]byte, n int, more bool) {
	if len(buf) == 0 || buf[0] != '*' {
		return nil, 0, len(buf) == 0
	}
	words, at := cutCount(buf, 1)
	if words <= 0 || words > wordsSlab {
		return nil, 0, at > len(buf)
	}
	args = c.reserve(words)
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
	c.commit(args, at)
	return args, at, false
}

// reserve returns space for n words. The next call returns the same space unless keep is called.
func (c *CommandParser) reserve(n int) [][]byte {
	if len(c.words) < n {
		c.words = make([][]byte, wordsSlab)
	}
	return c.words[:n:n]
}

// commit copies args out of the buffer, at most size bytes.
func (c *CommandParser) commit(args [][]byte, size int) {
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

// maxCount limits the digits of a count; a longer one needs a Reader.
const maxCount = 6

// cutCount parses the count between position at and CRLF, and returns it and the position
// after it. n is -1 if the count is invalid or incomplete; if incomplete, next is beyond buf.
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
