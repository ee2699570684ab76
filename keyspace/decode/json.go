package decode

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"math"
	"time"

	"github.com/vmihailenco/msgpack/v5"
	"github.com/vmihailenco/msgpack/v5/msgpcode"
)

// prettyJSON indents b if it is a JSON object or array. Bare strings and numbers count as text.
func prettyJSON(b []byte, most int) (string, bool) {
	b = bytes.TrimSpace(b)
	if len(b) < 2 || len(b) > most || b[0] != '{' && b[0] != '[' || !json.Valid(b) {
		return "", false
	}
	out, ok := indentedJSON(b)
	return printable(out), ok
}

// maxIndented limits the size of an indented document in bytes: each line of a deeply nested
// document begins with many spaces.
const maxIndented = 64 << 20

// indentedJSON indents a JSON document. It returns false if b is invalid or the result too large.
func indentedJSON(b []byte) ([]byte, bool) {
	size, depth := len(b), 0
	inside := false // in a string
	for i := 0; i < len(b) && size <= maxIndented; i++ {
		switch c := b[i]; {
		case inside && c == '\\':
			i++
		case c == '"':
			inside = !inside
		case inside:
		case c == '{' || c == '[':
			depth++
			size += 1 + 2*depth
		case c == '}' || c == ']':
			depth--
			size += 1 + 2*depth
		case c == ',':
			size += 1 + 2*depth
		}
	}
	var out bytes.Buffer
	if size > maxIndented || json.Indent(&out, b, "", "  ") != nil {
		return nil, false
	}
	return out.Bytes(), true
}

// messagePack shows b as JSON if it is exactly one MessagePack map or array. Scalars are not
// recognised, as any byte is one.
func messagePack(b []byte, most int) (string, bool) {
	p, ok := readPack(b, most, nil)
	if !ok {
		return "", false
	}
	return prettyJSON(p.out, most)
}

// readPack reads b if it is one map or array. It records the positions of values in root unless
// root is nil.
func readPack(b []byte, most int, root *packed) (*packReader, bool) {
	if len(b) < 2 || len(b) > most || !beginsPack(b[0]) {
		return nil, false
	}
	in := bytes.NewReader(b)
	p := &packReader{in: in, dec: msgpack.NewDecoder(in), budget: most, data: b, root: root}
	if err := p.read(p.root, 0); err != nil {
		return nil, false
	}
	if _, err := p.dec.PeekCode(); !errors.Is(err, io.EOF) {
		return nil, false
	}
	return p, true
}

func beginsPack(c byte) bool {
	return msgpcode.IsFixedMap(c) || msgpcode.IsFixedArray(c) ||
		c == msgpcode.Map16 || c == msgpcode.Map32 || c == msgpcode.Array16 || c == msgpcode.Array32
}

// packReader writes MessagePack as JSON. It keeps the order of maps. It trusts no length, so
// every element costs a byte of input.
type packReader struct {
	in     *bytes.Reader // input not yet read by dec
	dec    *msgpack.Decoder
	out    []byte
	budget int
	data   []byte  // whole input
	root   *packed // recorded positions; nil to record none
	nodes  int
}

// maxPackNodes limits the values recorded for editing.
const maxPackNodes = 200_000

// child returns a record for a value in a map or an array, or nil if positions are not
// recorded.
func (p *packReader) child() *packed {
	if p.root == nil {
		return nil
	}
	p.nodes++
	return &packed{}
}

// read writes a value and records its position in to, unless to is nil.
func (p *packReader) read(to *packed, depth int) error {
	if to == nil {
		return p.value(nil, depth)
	}
	to.from, to.shownFrom = len(p.data)-p.in.Len(), len(p.out)
	if to.from < len(p.data) {
		to.code = p.data[to.from]
	}
	if err := p.value(to, depth); err != nil {
		return err
	}
	if p.nodes > maxPackNodes {
		return errPack
	}
	to.to, to.shownTo = len(p.data)-p.in.Len(), len(p.out)
	return nil
}

const maxDepth = 64

var errPack = errors.New("not MessagePack that can be shown")

func (p *packReader) value(to *packed, depth int) error {
	code, err := p.dec.PeekCode()
	if err != nil || depth > maxDepth || len(p.out) > p.budget {
		return errors.Join(err, errPack)
	}
	switch {
	case msgpcode.IsFixedMap(code) || code == msgpcode.Map16 || code == msgpcode.Map32:
		n, err := p.dec.DecodeMapLen()
		if err != nil {
			return err
		}
		if to != nil {
			to.keys = []*packed{}
		}
		return p.list('{', '}', n, func() error { return p.pair(to, depth) })
	case msgpcode.IsFixedArray(code) || code == msgpcode.Array16 || code == msgpcode.Array32:
		n, err := p.dec.DecodeArrayLen()
		if err != nil {
			return err
		}
		return p.list('[', ']', n, func() error {
			child := p.child()
			if to != nil {
				to.parts = append(to.parts, child)
			}
			return p.read(child, depth+1)
		})
	case msgpcode.IsString(code) || msgpcode.IsBin(code):
		return p.text(msgpcode.IsBin(code))
	case msgpcode.IsExt(code):
		return p.extension()
	}
	v, err := p.dec.DecodeInterface()
	if err != nil {
		return err
	}
	if f, isFloat := v.(float64); isFloat && (math.IsInf(f, 0) || math.IsNaN(f)) {
		v = "not a number"
	}
	return p.add(v)
}

// text reads a string, or binary data, which JSON shows as base64.
func (p *packReader) text(binary bool) error {
	n, err := p.dec.DecodeBytesLen()
	if err != nil {
		return err
	}
	b, err := p.bytes(n)
	switch {
	case err != nil:
		return err
	case binary:
		return p.add(map[string]string{"base64": base64.StdEncoding.EncodeToString(b)})
	}
	return p.add(string(b))
}

// bytes reads n bytes, or fails if fewer remain.
func (p *packReader) bytes(n int) ([]byte, error) {
	if n < 0 || n > p.in.Len() {
		return nil, errPack
	}
	b := make([]byte, n)
	return b, p.dec.ReadFull(b)
}

// extension shows a timestamp, the only extension that the format defines, as a time, and any
// other extension as its bytes.
func (p *packReader) extension() error {
	id, n, err := p.dec.DecodeExtHeader()
	if err != nil {
		return err
	}
	body, err := p.bytes(n)
	if err != nil {
		return err
	}
	if at, ok := packedTime(id, body); ok {
		return p.add(at.UTC().Format(time.RFC3339Nano))
	}
	return p.add(map[string]any{"extension": id, "base64": base64.StdEncoding.EncodeToString(body)})
}

// packedTime reads the timestamp extension: seconds in 4 bytes, or nanoseconds and seconds in 8
// or 12 bytes.
func packedTime(id int8, b []byte) (time.Time, bool) {
	number := func(b []byte) (n uint64) {
		for _, c := range b {
			n = n<<8 | uint64(c)
		}
		return n
	}
	switch {
	case id == -1 && len(b) == 4:
		return time.Unix(int64(number(b)), 0), true
	case id == -1 && len(b) == 8:
		return time.Unix(int64(number(b)&(1<<34-1)), int64(number(b)>>34)), true
	case id == -1 && len(b) == 12:
		return time.Unix(int64(number(b[4:])), int64(number(b[:4]))), true
	}
	return time.Time{}, false
}

func (p *packReader) list(begin, end byte, n int, each func() error) error {
	p.out = append(p.out, begin)
	for i := range n {
		if i > 0 {
			p.out = append(p.out, ',')
		}
		if err := each(); err != nil {
			return err
		}
	}
	p.out = append(p.out, end)
	return nil
}

// pair writes a key and its value. It converts a key of another type to a string.
func (p *packReader) pair(to *packed, depth int) error {
	from := len(p.out)
	key, value := p.child(), p.child()
	if err := p.read(key, depth+1); err != nil {
		return err
	}
	name := string(p.out[from:])
	if name[0] != '"' {
		p.out = p.out[:from]
		if err := p.add(name); err != nil {
			return err
		}
	}
	if to != nil {
		if name[0] == '"' {
			if err := json.Unmarshal([]byte(name), &name); err != nil {
				return err
			}
		}
		to.names, to.keys, to.parts = append(to.names, name), append(to.keys, key), append(to.parts, value)
	}
	p.out = append(p.out, ':')
	return p.read(value, depth+1)
}

func (p *packReader) add(v any) error {
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}
	p.out = append(p.out, bytes.TrimSuffix(text.Bytes(), []byte("\n"))...)
	return nil
}
