package resp

import "strconv"

// raw prints values as redis-cli does into a pipe: unchanged bytes, elements of arrays (nested
// ones, too) joined by between, errors with a newline of their own. Nil prints nothing.
type raw struct {
	between string
	quoted  bool // quote strings for a command line
	utf8    bool // as in AppendQuoted
}

func (r raw) append(out []byte, v Value) []byte {
	switch v.Kind {
	case Null, NullArray:
		return out
	case Error:
		return append(append(out, v.Str...), '\n')
	case Int:
		return strconv.AppendInt(out, v.Int, 10)
	case Double:
		return append(out, v.doubleText()...)
	case Bool:
		if v.Int != 0 {
			return append(out, "(true)"...)
		}
		return append(out, "(false)"...)
	case Map:
		return r.appendMap(out, v.Elems)
	case Array, Set, Push, Scored:
		return r.appendArray(out, v.Elems)
	}
	if r.quoted && v.Kind == Bulk {
		return AppendQuoted(out, v.Str, r.utf8)
	}
	return append(out, v.Str...)
}

func (r raw) appendMap(out []byte, pairs []Value) []byte {
	for i := 0; i+1 < len(pairs); i += 2 {
		if i > 0 {
			out = append(out, r.between...)
		}
		out = append(r.append(out, pairs[i]), ' ')
		out = r.append(out, pairs[i+1])
	}
	return out
}

func (r raw) appendArray(out []byte, elems []Value) []byte {
	for i, e := range elems {
		if i > 0 {
			out = append(out, r.between...)
		}
		out = r.append(out, e)
	}
	return out
}
