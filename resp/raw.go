package resp

import "strconv"

// AppendRaw appends v as redis-cli prints it into a pipe: bytes as they are,
// elements of an array joined by delim, nested ones too, an error with a newline
// of its own. Nothing stands for nil.
func AppendRaw(out []byte, v Value, delim string) []byte {
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
				out = append(out, delim...)
			}
			out = append(AppendRaw(out, v.Elems[i], delim), ' ')
			out = AppendRaw(out, v.Elems[i+1], delim)
		}
		return out
	case Array, Set, Push, Scored:
		for i, e := range v.Elems {
			if i > 0 {
				out = append(out, delim...)
			}
			out = AppendRaw(out, e, delim)
		}
		return out
	}
	return append(out, v.Str...)
}
