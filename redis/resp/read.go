package resp

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/meowdis/meowdis/internal/readfull"
)

// Limits on the sizes that a peer may announce: Redis's defaults.
const (
	MaxBulk     = 512 << 20     // proto-max-bulk-len
	MaxElements = math.MaxInt32 // words of a command, elements of a reply
	maxCommand  = 1 << 30       // all of its bytes: client-query-buffer-limit
	maxLine     = 64 << 10      // count line of a command, or line of a reply
	inlineStep  = 16 << 10      // bytes of an inline command beyond maxLine
	maxDepth    = 128
)

// ProtocolError is a violation of the protocol by the peer. Its text is Redis's reply before
// it closes the connection.
type ProtocolError string

func (e ProtocolError) Error() string { return "Protocol error: " + string(e) }

var errDepth = ProtocolError("nesting too deep")

// Reader reads commands (on a server) and replies (on a client).
type Reader struct {
	r               *bufio.Reader
	maxBulk         int64 // per argument of a command
	maxQuery        int64 // per command
	unauthenticated bool
	parser          CommandParser
}

const (
	readerBuffer = 64 << 10
	unauthBuffer = 4 << 10
)

// NewReader reads from r through its own buffer.
func NewReader(r io.Reader) *Reader {
	return &Reader{r: bufio.NewReaderSize(r, readerBuffer), maxBulk: MaxBulk, maxQuery: maxCommand}
}

// NewUnauthenticatedReader reads from an unauthenticated peer. Its buffer is small until
// Unauthenticated(false).
func NewUnauthenticatedReader(r io.Reader) *Reader {
	return &Reader{r: bufio.NewReaderSize(r, unauthBuffer), unauthenticated: true, maxBulk: MaxBulk, maxQuery: maxCommand}
}

// Unauthenticated sets whether the peer has yet to authenticate. Until then, only short
// commands are accepted, which bounds the reader's memory.
func (r *Reader) Unauthenticated(yes bool) {
	r.unauthenticated = yes
	if !yes && r.r.Size() < readerBuffer {
		r.r = bufio.NewReaderSize(r.r, readerBuffer) // begins with the contents of the small buffer
	}
}

// Limit bounds commands, in bytes per argument and in total.
func (r *Reader) Limit(bulk, query int64) { r.maxBulk, r.maxQuery = bulk, query }

// ErrTooBig is the violation by a command beyond Limit.
const ErrTooBig = ProtocolError("too big request")

// Ahead reads into the buffer, where Next finds commands, until it is full or reading fails.
// The error is the reason.
func (r *Reader) Ahead() error {
	for n := r.r.Buffered(); n < r.r.Size(); n = r.r.Buffered() {
		if _, err := r.r.Peek(n + 1); err != nil {
			return err
		}
	}
	return nil
}

// ReadCommand reads the next command, as an array of bulks or an inline line, and skips empty
// ones. The error is a ProtocolError or a read error: io.EOF between commands,
// io.ErrUnexpectedEOF inside one.
func (r *Reader) ReadCommand() ([][]byte, error) {
	for {
		if args := r.Next(); args != nil {
			return args, nil
		}
		first, err := r.r.ReadByte()
		if err != nil {
			return nil, err
		}
		if err = r.r.UnreadByte(); err != nil {
			return nil, err
		}
		// The whole command may have arrived with that byte.
		if args := r.Next(); args != nil {
			return args, nil
		}
		args, err := r.readCommand(first)
		if err != nil || len(args) > 0 {
			return args, err
		}
	}
}

// readCommand reads a command byte by byte and waits for the missing bytes.
func (r *Reader) readCommand(first byte) ([][]byte, error) {
	if first != '*' {
		return r.readInline()
	}
	if _, err := r.r.Discard(1); err != nil {
		return nil, err
	}
	return r.readArray()
}

func (r *Reader) readInline() ([][]byte, error) {
	tooBig := ProtocolError("too big inline request")
	line, err := r.until('\n', maxLine, tooBig)
	if errors.Is(err, tooBig) && !r.unauthenticated {
		line, err = r.endOfInline(bytes.Clone(line), tooBig)
	}
	if err != nil {
		return nil, err
	}
	args, err := SplitLine(string(bytes.TrimSuffix(line, []byte("\r"))))
	if err != nil {
		return nil, ProtocolError("unbalanced quotes in request")
	}
	return args, nil
}

// Redis's limits for an unauthenticated peer, and our limit for all words of a command
// together.
const (
	unauthElements = 10
	unauthBulk     = 16 << 10
	unauthCommand  = 32 << 10
)

func (r *Reader) readArray() ([][]byte, error) {
	n, err := r.readLength(ProtocolError("too big mbulk count string"))
	switch {
	case err != nil || n > MaxElements:
		return nil, violation(err, "invalid multibulk length")
	case r.unauthenticated && n > unauthElements:
		return nil, ProtocolError("unauthenticated multibulk length")
	case n <= 0:
		return nil, nil
	}
	args := make([][]byte, 0, min(n, 1024))
	const header = 24 // size of a slice header
	for size := 0; int64(len(args)) < n; {
		arg, err := r.readArg()
		if err != nil {
			return nil, err
		}
		switch size += header + len(arg); {
		case int64(size) > r.maxQuery:
			return nil, ErrTooBig
		case r.unauthenticated && size > unauthCommand:
			return nil, ProtocolError("unauthenticated bulk length")
		}
		args = append(args, arg)
	}
	return args, nil
}

func (r *Reader) readArg() ([]byte, error) {
	kind, err := r.r.ReadByte()
	if err != nil {
		return nil, unexpected(err)
	}
	if kind != '$' {
		return nil, ProtocolError(fmt.Sprintf("expected '$', got '%c'", kind))
	}
	n, err := r.readLength(ProtocolError("too big bulk count string"))
	switch {
	case err != nil || n < 0 || int64(n) > r.maxBulk:
		return nil, violation(err, "invalid bulk length")
	case r.unauthenticated && n > unauthBulk:
		return nil, ProtocolError("unauthenticated bulk length")
	}
	return r.readBytes(int(n))
}

// violation returns err if it is a read error, and else the ProtocolError msg.
func violation(err error, msg ProtocolError) error {
	if err != nil && !errors.Is(err, strconv.ErrSyntax) && !errors.Is(err, strconv.ErrRange) {
		return err
	}
	return msg
}

func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// readBytes reads n bytes and CRLF. Its allocation grows with the received bytes, not with n.
func (r *Reader) readBytes(n int) ([]byte, error) {
	buf, err := readfull.Bytes(r.r, int64(n)+2)
	if err != nil {
		return nil, unexpected(err)
	}
	return buf[:n:n], nil
}

// endOfInline reads the end of a line longer than maxLine. Redis checks the limit after each
// read, not at each byte, so it accepts a line whose end arrives with the next read.
func (r *Reader) endOfInline(line []byte, tooBig error) ([]byte, error) {
	if _, err := r.r.Peek(1); err != nil {
		return nil, tooBig
	}
	piece, _ := r.r.Peek(min(r.r.Buffered(), inlineStep))
	end := bytes.IndexByte(piece, '\n')
	if end < 0 {
		return nil, tooBig
	}
	line = append(line, piece[:end]...)
	_, err := r.r.Discard(end + 1)
	return line, err
}

// until reads up to delim and drops it. The line is valid until the next read. After limit
// bytes without delim it returns them, and tooLong. The limit is lower for an unauthenticated
// peer.
func (r *Reader) until(delim byte, limit int, tooLong error) ([]byte, error) {
	if r.unauthenticated {
		limit = unauthCommand
	}
	line, err := r.r.ReadSlice(delim)
	if errors.Is(err, bufio.ErrBufferFull) && len(line) < limit {
		var whole []byte
		for whole = bytes.Clone(line); errors.Is(err, bufio.ErrBufferFull) && len(whole) < limit; whole = append(whole, line...) {
			line, err = r.r.ReadSlice(delim)
		}
		line = whole
	}
	switch {
	case errors.Is(err, bufio.ErrBufferFull):
		return line, tooLong
	case err != nil:
		return nil, unexpected(err)
	}
	return line[:len(line)-1], nil
}

// readLine reads up to LF and drops the line ending.
func (r *Reader) readLine(tooLong error) ([]byte, error) {
	line, err := r.until('\n', maxLine, tooLong)
	return bytes.TrimSuffix(line, []byte("\r")), err
}

// readCount reads the count of a reply.
func (r *Reader) readCount(tooLong error) (int64, error) {
	line, err := r.readLine(tooLong)
	if err != nil {
		return 0, err
	}
	return asCount(line)
}

// readLength reads a count of a command as Redis does: up to CR and any one byte after it. So
// a count that ends with LF alone is invalid.
func (r *Reader) readLength(tooLong error) (int64, error) {
	line, err := r.until('\r', maxLine, tooLong)
	if err != nil {
		return 0, err
	}
	n, bad := asCount(line) // parse before the line is overwritten
	if _, err := r.r.Discard(1); err != nil {
		return 0, unexpected(err)
	}
	return n, bad
}

func asCount(line []byte) (int64, error) {
	n, ok := parseCount(line)
	if !ok {
		return 0, strconv.ErrSyntax
	}
	return n, nil
}

// parseCount parses an integer without a plus and without leading zeros, like Redis's
// string2ll.
func parseCount(line []byte) (int64, bool) {
	digits := bytes.TrimPrefix(line, []byte("-"))
	if len(digits) == 0 || digits[0] < '0' || digits[0] == '0' && len(line) > 1 {
		return 0, false
	}
	// Most counts have one or two digits.
	if len(digits) == len(line) && len(line) < 10 {
		n := int64(0)
		for _, c := range line {
			if c < '0' || c > '9' {
				return 0, false
			}
			n = n*10 + int64(c-'0')
		}
		return n, true
	}
	n, err := strconv.ParseInt(string(line), 10, 64)
	return n, err == nil
}

// ReadReply reads one reply in RESP2 or RESP3. Attributes are skipped.
func (r *Reader) ReadReply() (Value, error) { return r.readReply(0) }

func (r *Reader) readReply(depth int) (Value, error) {
	if depth > maxDepth {
		return Value{}, errDepth
	}
	kind, err := r.r.ReadByte()
	if err != nil {
		if depth > 0 {
			err = unexpected(err)
		}
		return Value{}, err
	}
	switch kind {
	case '+', '-', ',', '(', '#', '_', ':':
		return r.readScalar(kind)
	case '$', '=', '!':
		return r.readBlob(kind)
	case '|': // counts as a nesting level, so the number of attributes is bounded
		if _, err := r.readElems(Map, depth); err != nil {
			return Value{}, err
		}
		return r.readReply(depth + 1)
	}
	if k, ok := aggregates[kind]; ok {
		return r.readElems(k, depth)
	}
	return Value{}, ProtocolError(fmt.Sprintf("unknown reply type %q", kind))
}

var aggregates = map[byte]Kind{'*': Array, '%': Map, '~': Set, '>': Push}

func (r *Reader) readScalar(kind byte) (Value, error) {
	raw, err := r.readLine(ProtocolError("line too long"))
	if err != nil {
		return Value{}, err
	}
	line := string(raw)
	switch kind {
	case '+':
		return MakeStatus(line), nil
	case '-':
		return MakeError(line), nil
	case '(':
		return Value{Kind: BigNumber, Str: []byte(line)}, nil
	case ',':
		f, err := parseDouble(line)
		v := MakeDouble(f)
		if line != FormatDouble(f) {
			v.Str = []byte(line)
		}
		return v, err
	case '#':
		b := Value{Kind: Bool}
		if line == "t" {
			b.Int = 1
		}
		return b, nil
	case '_':
		return Nil, nil
	}
	n, err := strconv.ParseInt(line, 10, 64)
	if err != nil {
		return Value{}, ProtocolError("invalid integer")
	}
	return MakeInt(n), nil
}

func (r *Reader) readBlob(kind byte) (Value, error) {
	n, err := r.readCount(ProtocolError("too long a length"))
	switch {
	case err != nil || n < -1 || n > MaxBulk:
		return Value{}, violation(err, "invalid bulk length")
	case n == -1:
		return Nil, nil
	}
	b, err := r.readBytes(int(n))
	if err != nil {
		return Value{}, err
	}
	switch {
	case kind == '!':
		return Value{Kind: Error, Str: b}, nil
	case kind == '=' && len(b) >= 4:
		return MakeVerbatim(string(b[:3]), b[4:]), nil
	}
	return MakeBulk(b), nil
}

func (r *Reader) readElems(kind Kind, depth int) (Value, error) {
	n, err := r.readCount(ProtocolError("too long a length"))
	switch {
	case err != nil || n < -1 || n > MaxElements:
		return Value{}, violation(err, "invalid multibulk length")
	case n == -1:
		return NilArray, nil
	case kind == Map:
		n *= 2
	}
	v := Value{Kind: kind, Elems: make([]Value, 0, min(n, 1024))}
	for range n {
		e, err := r.readReply(depth + 1)
		if err != nil {
			return Value{}, err
		}
		v.Elems = append(v.Elems, e)
	}
	return v, nil
}

// Buffered returns the number of bytes read from the connection but not yet returned.
func (r *Reader) Buffered() int { return r.r.Buffered() }
