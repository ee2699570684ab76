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
		for i := 0; i+1 < len(v.Elems); i += 2 {
			if i > 0 {
				out = append(out, r.between...)
			}
			out = append(r.append(out, v.Elems[i]), ' ')
			out = r.append(out, v.Elems[i+1])
		}
		return out
	case Array, Set, Push, Scored:
		for i, e := range v.Elems {
			if i > 0 {
				out = append(out, r.between...)
			}
			out = r.append(out, e)
		}
		return out
	}
	if r.quoted && v.Kind == Bulk {
		return AppendQuoted(out, v.Str, r.utf8)
	}
	return append(out, v.Str...)
}
