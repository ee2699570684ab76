package resp

import (
	"bytes"
	"math"
	"strconv"
)

// Append2 appends v in RESP2. What RESP2 lacks becomes what Redis sends instead:
// a map is a flat array, a double or a verbatim string a bulk, a boolean 0 or 1.
func Append2(out []byte, v Value) []byte {
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
		return appendBulk(out, '$', v.Str)
	case PairMap:
		return appendPairs(out, v.Elems, Append2)
	}
	out = appendNumber(out, '*', int64(len(v.Elems)))
	for i := range v.Elems {
		out = Append2(out, v.Elems[i])
	}
	return out
}

// Append3 appends v in RESP3.
func Append3(out []byte, v Value) []byte {
	if v.RESP3 != nil {
		return Append3(out, *v.RESP3)
	}
	n := int64(len(v.Elems))
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
		return appendBulk(out, '=', append([]byte("txt:"), v.Str...))
	case BigNumber:
		return appendLine(out, '(', v.Str)
	case Scored:
		return appendPairs(out, v.Elems, Append3)
	case Map, PairMap:
		out = appendNumber(out, '%', n/2)
	case Set:
		out = appendNumber(out, '~', n)
	case Push:
		out = appendNumber(out, '>', n)
	case Array:
		out = appendNumber(out, '*', n)
	default:
		return Append2(out, v)
	}
	for i := range v.Elems {
		out = Append3(out, v.Elems[i])
	}
	return out
}

func appendPairs(out []byte, elems []Value, write func([]byte, Value) []byte) []byte {
	out = appendNumber(out, '*', int64(len(elems)/2))
	for i := 0; i+1 < len(elems); i += 2 {
		out = append(out, "*2\r\n"...)
		out = write(write(out, elems[i]), elems[i+1])
	}
	return out
}

// AppendCommand appends a command as a client sends it.
func AppendCommand(out []byte, args ...[]byte) []byte {
	out = appendNumber(out, '*', int64(len(args)))
	for _, a := range args {
		out = appendBulk(out, '$', a)
	}
	return out
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

// doubleText is a double as it is sent.
func (v Value) doubleText() []byte {
	if v.Str != nil {
		return v.Str
	}
	return []byte(FormatDouble(v.Float))
}

// Downgrade is v as a RESP2 client sees it: only nulls, statuses, errors,
// integers, bulks and arrays.
func Downgrade(v Value) Value {
	switch v.Kind {
	case Double:
		return MakeBulk(v.doubleText())
	case Verbatim, BigNumber:
		return MakeBulk(v.Str)
	case Bool:
		return MakeInt(v.Int)
	case PairMap:
		return Downgrade(pairArray(v.Elems))
	case Array, Map, Set, Push, Scored:
		elems := make([]Value, len(v.Elems))
		for i := range elems {
			elems[i] = Downgrade(v.Elems[i])
		}
		return MakeArray(elems...)
	}
	v.RESP3 = nil
	return v
}

// Upgrade is v as a RESP3 client sees it.
func Upgrade(v Value) Value {
	if v.RESP3 != nil {
		return Upgrade(*v.RESP3)
	}
	if len(v.Elems) > 0 {
		elems := make([]Value, len(v.Elems))
		for i := range elems {
			elems[i] = Upgrade(v.Elems[i])
		}
		v.Elems = elems
	}
	return v
}

// parseDouble reads RESP3's doubles.
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
