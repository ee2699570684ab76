package resp

import (
	"bytes"
	"io"
	"math"
	"strconv"
)

// Append2 appends v in RESP2. Kinds that RESP2 lacks are sent as Redis does: a map as a flat
// array, a double or a verbatim string as a bulk, a boolean as 0 or 1.
func Append2(out []byte, v Value) []byte { return (&writer{}).two(out, v) }

// Append3 appends v in RESP3.
func Append3(out []byte, v Value) []byte { return (&writer{}).three(out, v) }

// Stream appends v in RESP3 or RESP2. It passes out to sink whenever that holds a Piece, so a
// long reply is never in memory twice, and returns the rest.
func Stream(out []byte, v Value, resp3 bool, sink func([]byte)) []byte {
	w := writer{sink: sink}
	if resp3 {
		return w.three(out, v)
	}
	return w.two(out, v)
}

// Piece is the least number of bytes passed to sink, except for the rest.
const Piece = 64 << 10

// writer appends values to a buffer, and flushes it to sink, if not nil.
type writer struct{ sink func([]byte) }

// flush flushes out if it holds a Piece.
func (w *writer) flush(out []byte) []byte {
	if w.sink == nil || len(out) < Piece {
		return out
	}
	w.sink(out)
	return out[:0]
}

func (w *writer) two(out []byte, v Value) []byte {
	switch v.Kind {
	case Null:
		return append(out, "$-1\r\n"...)
	case NullArray:
		return append(out, "*-1\r\n"...)
	case Status:
		return appendLine(out, '+', v.Str)
	case Error:
		return appendLine(out, '-', v.Str)
	case Int, Bool:
		return appendNumber(out, ':', v.Int)
	case Double:
		return appendBulk(out, '$', v.doubleText())
	case Bulk, Verbatim, BigNumber:
		return w.bulk(out, v.Str)
	case PairMap:
		return w.pairs(out, v.Unpacked().Elems, w.two)
	case Several:
	default:
		out = appendNumber(out, '*', int64(v.Len()))
	}
	if v.Packed != nil {
		return w.packed(out, v.Packed, w.two)
	}
	for i := range v.Elems {
		out = w.flush(w.two(out, v.Elems[i]))
	}
	return out
}

func (w *writer) three(out []byte, v Value) []byte {
	if v.RESP3 != nil {
		return w.three(out, *v.RESP3)
	}
	n := int64(v.Len())
	switch v.Kind {
	case Null, NullArray:
		return append(out, "_\r\n"...)
	case Double:
		return appendLine(out, ',', v.doubleText())
	case Bool:
		if v.Int != 0 {
			return append(out, "#t\r\n"...)
		}
		return append(out, "#f\r\n"...)
	case Verbatim:
		return appendBulk(out, '=', append(v.format(), v.Str...))
	case BigNumber:
		return appendLine(out, '(', v.Str)
	case Scored:
		if v.Packed != nil {
			return w.packedPairs(out, v.Packed)
		}
		return w.pairs(out, v.Elems, w.three)
	case Map, PairMap:
		out = appendNumber(out, '%', n/2)
	case Set:
		out = appendNumber(out, '~', n)
	case Push:
		out = appendNumber(out, '>', n)
	case Array:
		out = appendNumber(out, '*', n)
	case Several:
	default:
		return w.two(out, v)
	}
	if v.Packed != nil {
		return w.packed(out, v.Packed, w.three)
	}
	for i := range v.Elems {
		out = w.flush(w.three(out, v.Elems[i]))
	}
	return out
}

func (w *writer) pairs(out []byte, elems []Value, write func([]byte, Value) []byte) []byte {
	out = appendNumber(out, '*', int64(len(elems)/2))
	for i := 0; i+1 < len(elems); i += 2 {
		out = append(out, "*2\r\n"...)
		out = w.flush(write(write(out, elems[i]), elems[i+1]))
	}
	return out
}

func (w *writer) packed(out []byte, p *Packed, write func([]byte, Value) []byte) []byte {
	for v := range p.All() {
		out = w.flush(write(out, v))
	}
	return out
}

// packedPairs is pairs in RESP3.
func (w *writer) packedPairs(out []byte, p *Packed) []byte {
	out = appendNumber(out, '*', int64(p.Len()/2))
	second := false
	for v := range p.All() {
		if !second {
			out = append(out, "*2\r\n"...)
		}
		out, second = w.flush(w.three(out, v)), !second
	}
	return out
}

// bulk passes a long string to sink without copying it.
func (w *writer) bulk(out, s []byte) []byte {
	if w.sink == nil || len(s) < Piece {
		return appendBulk(out, '$', s)
	}
	w.sink(appendNumber(out, '$', int64(len(s))))
	w.sink(s)
	return append(out[:0], "\r\n"...)
}

// AppendCommand appends a command in wire format.
func AppendCommand(out []byte, args ...[]byte) []byte {
	out = appendNumber(out, '*', int64(len(args)))
	for _, a := range args {
		out = appendBulk(out, '$', a)
	}
	return out
}

// WriteCommands writes commands in wire format. Long words are not copied: only about a Piece
// is buffered.
func WriteCommands(to io.Writer, calls [][][]byte) (err error) {
	size := 0
	for _, args := range calls {
		for _, a := range args {
			size += len(a) + 8
		}
	}
	out := make([]byte, 0, min(size+8*len(calls), 2*Piece))
	write := func(b []byte) {
		if err == nil && len(b) > 0 {
			_, err = to.Write(b)
		}
	}
	for _, args := range calls {
		out = appendNumber(out, '*', int64(len(args)))
		for _, a := range args {
			if out = appendNumber(out, '$', int64(len(a))); len(a) >= Piece {
				write(out)
				write(a)
				out = out[:0]
			} else {
				out = append(out, a...)
			}
			out = append(out, '\r', '\n')
		}
		if len(out) >= Piece {
			write(out)
			out = out[:0]
		}
	}
	write(out)
	return err
}

func appendLine(out []byte, kind byte, s []byte) []byte {
	out = append(out, kind)
	if bytes.ContainsAny(s, "\r\n") {
		s = bytes.ReplaceAll(bytes.ReplaceAll(s, []byte("\r"), []byte(" ")), []byte("\n"), []byte(" "))
	}
	out = append(out, s...)
	return append(out, '\r', '\n')
}

func appendNumber(out []byte, kind byte, n int64) []byte {
	out = append(out, kind)
	out = strconv.AppendInt(out, n, 10)
	return append(out, '\r', '\n')
}

func appendBulk(out []byte, kind byte, s []byte) []byte {
	out = appendNumber(out, kind, int64(len(s)))
	out = append(out, s...)
	return append(out, '\r', '\n')
}

// doubleText formats a double for the wire.
func (v Value) doubleText() []byte {
	if v.Str != nil {
		return v.Str
	}
	return []byte(FormatDouble(v.Float))
}

// format returns the format of a verbatim string and a colon.
func (v *Value) format() []byte {
	if v.Int == 0 {
		return []byte("txt:")
	}
	return []byte{byte(v.Int >> 16), byte(v.Int >> 8), byte(v.Int), ':'}
}

// Downgrade converts v for a RESP2 client: only nulls, statuses, errors, integers, bulks and
// arrays.
func Downgrade(v Value) Value {
	v = v.Unpacked()
	switch v.Kind {
	case Double:
		return MakeBulk(v.doubleText())
	case Verbatim, BigNumber:
		return MakeBulk(v.Str)
	case Bool:
		return MakeInt(v.Int)
	case PairMap:
		return Downgrade(pairArray(v.Elems))
	case Array, Map, Set, Push, Scored, Several:
		elems := make([]Value, len(v.Elems))
		for i := range elems {
			elems[i] = Downgrade(v.Elems[i])
		}
		return MakeArray(elems...)
	}
	v.RESP3 = nil
	return v
}

// Upgrade converts v for a RESP3 client.
func Upgrade(v Value) Value {
	if v.RESP3 != nil {
		return Upgrade(*v.RESP3)
	}
	v = v.Unpacked()
	if len(v.Elems) > 0 {
		elems := make([]Value, len(v.Elems))
		for i := range elems {
			elems[i] = Upgrade(v.Elems[i])
		}
		v.Elems = elems
	}
	return v
}

// parseDouble parses RESP3's doubles.
func parseDouble(s string) (float64, error) {
	switch s {
	case "inf":
		return math.Inf(1), nil
	case "-inf":
		return math.Inf(-1), nil
	case "nan", "-nan":
		return math.NaN(), nil
	}
	return strconv.ParseFloat(s, 64)
}
